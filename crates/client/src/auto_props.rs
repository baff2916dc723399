//! What the configuration says of properties of new files.

use std::collections::BTreeMap;

use sylvan_core::{Props, Result};
use sylvan_io::{Category, Config};
use sylvan_wc::auto_props::{self, AutoProps, PROBED};

/// What the configuration says of properties of new files.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The rules of the section `[auto-props]`, if they are turned on.
    pub auto_props: AutoProps,
    /// MIME types by extension.
    pub mime_types: BTreeMap<String, String>,
}

impl Rules {
    /// Reads them; `wanted` decides whether rules are turned on, if it is set.
    ///
    /// # Errors
    /// `E125012` for a value that is neither yes nor no; those of reading the file of MIME types.
    pub fn read(config: &Config, wanted: Option<bool>) -> Result<Self> {
        let mut rules = Self::default();
        let enabled = match wanted {
            Some(wanted) => wanted,
            None => config.get_bool(Category::Config, "miscellany", "enable-auto-props", false)?,
        };
        if enabled {
            let file = config.file(Category::Config);
            let patterns: Vec<_> = file.options("auto-props").collect();
            for (pattern, _) in patterns {
                if let Some(values) = file.get("auto-props", pattern) {
                    rules.auto_props.add(pattern, values);
                }
            }
        }
        let types = config.get(Category::Config, "miscellany", "mime-types-file");
        if let Some(path) = types.filter(|path| !path.is_empty()) {
            let text = sylvan_io::file::read(std::path::Path::new(path))?;
            rules.mime_types = auto_props::parse_mime_types(&String::from_utf8_lossy(&text));
        }
        Ok(rules)
    }
    /// Returns the properties of a new file; of `beginning`, no more than [`PROBED`] bytes count.
    pub fn for_file(&self, name: &str, beginning: &[u8], is_executable: bool) -> Props {
        let beginning = &beginning[..beginning.len().min(PROBED)];
        self.auto_props
            .for_file(name, &self.mime_types, beginning, is_executable)
    }
}
