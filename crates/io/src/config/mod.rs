//! Subversion's configuration files.
//!
//! [`ConfigFile`] is one file in Subversion's dialect of INI, [`Config`] the two of a client,
//! `servers` and `config`, from the system's and the user's directory.
//!
//! ```
//! use sylvan_io::config::{Category, Config, ConfigOption};
//!
//! let mut config = Config::default();
//! let (option, _) = ConfigOption::parse("config:working-copy:exclusive-locking=yes")?;
//! config.apply(&[option], "--config-option");
//! assert!(config.get_bool(Category::Config, "working-copy", "exclusive-locking", false)?);
//! # Ok::<(), sylvan_core::Error>(())
//! ```

mod defaults;
mod file;
mod option;
mod parse;

use std::path::{Path, PathBuf};

use sylvan_core::Result;

pub use defaults::ensure;
pub use file::ConfigFile;
pub use option::ConfigOption;
pub use parse::{ConfigItem, parse_items};

/// One of the two files of a client's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// `servers`: options by server.
    Servers,
    /// `config`: everything else.
    Config,
}

impl Category {
    /// Returns the name of the file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Servers => "servers",
            Self::Config => "config",
        }
    }
}

/// Where configuration is read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directories {
    /// The system's folder, read first.
    pub system: Option<PathBuf>,
    /// The user's folder, whose options win.
    pub user: Option<PathBuf>,
}

impl Directories {
    /// Returns the folders that are used without `--config-dir`.
    pub fn standard(home: Option<&Path>) -> Self {
        Self {
            system: Some(PathBuf::from("/etc/subversion")),
            user: home.map(|home| home.join(".subversion")),
        }
    }

    /// Returns the one folder of `--config-dir`.
    pub fn only(dir: impl Into<PathBuf>) -> Self {
        Self {
            system: None,
            user: Some(dir.into()),
        }
    }
}

/// A client's configuration. The default is empty.
#[derive(Clone, Debug, Default)]
pub struct Config {
    servers: ConfigFile,
    config: ConfigFile,
    user_dir: Option<PathBuf>,
}

impl Config {
    /// Reads the configuration; files that do not exist are empty.
    ///
    /// # Errors
    /// Those of [`ConfigFile::read`].
    pub fn load(directories: &Directories) -> Result<Self> {
        let read = |category: Category| -> Result<ConfigFile> {
            let mut file = ConfigFile::default();
            for dir in [&directories.system, &directories.user]
                .into_iter()
                .flatten()
            {
                if let Some(found) = ConfigFile::read(&dir.join(category.file_name()))? {
                    file.merge(&found);
                }
            }
            Ok(file)
        };
        Ok(Self {
            servers: read(Category::Servers)?,
            config: read(Category::Config)?,
            user_dir: directories.user.clone(),
        })
    }

    /// Returns the user's folder, where credentials are stored too.
    pub fn user_dir(&self) -> Option<&Path> {
        self.user_dir.as_deref()
    }

    /// Returns one of the files.
    pub fn file(&self, category: Category) -> &ConfigFile {
        match category {
            Category::Servers => &self.servers,
            Category::Config => &self.config,
        }
    }

    /// Returns the value of an option, with its variables expanded.
    pub fn get(&self, category: Category, section: &str, option: &str) -> Option<&str> {
        self.file(category).get(section, option)
    }

    /// Returns the value of a boolean option, or `default`.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` for a word that is no boolean.
    pub fn get_bool(
        &self,
        category: Category,
        section: &str,
        option: &str,
        default: bool,
    ) -> Result<bool> {
        self.file(category).get_bool(section, option, default)
    }

    /// Returns the value of a decimal option, or `default`.
    ///
    /// # Errors
    /// `INCORRECT_PARAMS` for text that is no number.
    pub fn get_i64(
        &self,
        category: Category,
        section: &str,
        option: &str,
        default: i64,
    ) -> Result<i64> {
        self.file(category).get_i64(section, option, default)
    }

    /// Changes an option.
    pub fn set(&mut self, category: Category, section: &str, option: &str, value: &str) {
        let file = match category {
            Category::Servers => &mut self.servers,
            Category::Config => &mut self.config,
        };
        file.set(section, option, value);
    }

    /// Changes options as the command line asks. Returns warnings for files that do not exist;
    /// `argument` is the name of the command line's option.
    pub fn apply(&mut self, options: &[ConfigOption], argument: &str) -> Vec<sylvan_core::Error> {
        let mut warnings = Vec::new();
        for option in options {
            match option.category() {
                Some(category) => {
                    self.set(category, &option.section, &option.option, &option.value);
                }
                None => warnings.push(option::unknown_file(argument)),
            }
        }
        warnings
    }

    /// Returns the group of `servers` that `host` belongs to.
    pub fn server_group(&self, host: &str) -> Option<&str> {
        self.servers.find_group(host, "groups")
    }

    /// Returns an option of `servers` for `host`: that of its group, else the global one.
    pub fn server_option(&self, host: &str, option: &str) -> Option<&str> {
        self.server_group(host)
            .and_then(|group| self.servers.get(group, option))
            .or_else(|| self.servers.get("global", option))
    }

    /// Returns a boolean option of `servers` for `host`, or `default`.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` for a word that is no boolean.
    pub fn server_bool(&self, host: &str, option: &str, default: bool) -> Result<bool> {
        let value = self.server_option(host, option);
        file::boolean(value, self.server_group(host), option, default)
    }

    /// Returns a number from `servers` for `host`, or `default`; decimal, octal after `0`,
    /// hexadecimal after `0x`.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` for text that is no number.
    pub fn server_i64(&self, host: &str, option: &str, default: i64) -> Result<i64> {
        self.server_option(host, option)
            .map_or(Ok(default), file::integer_of_any_base)
    }
}

#[cfg(test)]
mod tests;
