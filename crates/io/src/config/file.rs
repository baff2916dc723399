use std::collections::BTreeMap;
use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result, glob};

use super::parse::parse;

/// The section whose options every other section has too.
const DEFAULT_SECTION: &str = "DEFAULT";
/// A file could ask for exponential growth: no expanded value is longer, ….
const MAX_EXPANDED: usize = 1 << 20;
/// … and none replaces more variables.
const MAX_REPLACED: usize = 10_000;

/// One file of configuration: options in sections, each by name, mostly regardless of case.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    sections: Vec<Section>,
    by_name: BTreeMap<String, usize>,
    /// Whether names of sections and options that differ by case are two.
    case_sensitive: bool,
}

#[derive(Clone, Debug)]
struct Section {
    name: String,
    options: Vec<ConfigEntry>,
    by_name: BTreeMap<String, usize>,
    /// Expanded values of options that this section has from the default section.
    inherited: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct ConfigEntry {
    name: String,
    raw: String,
    /// The value with variables replaced, if it has any.
    expanded: Option<String>,
}

impl ConfigFile {
    /// Makes an empty file in which sections and options differ by case.
    pub fn with_case_sensitive_names() -> Self {
        Self {
            case_sensitive: true,
            ..Self::default()
        }
    }

    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    /// `MALFORMED_FILE` for what breaks the rules of the dialect, and errors of the system.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let mut file = Self::default();
        Ok(file.load(path)?.then_some(file))
    }

    /// Reads a file into this one; tells whether it exists.
    ///
    /// # Errors
    /// As [`ConfigFile::read`].
    pub fn load(&mut self, path: &Path) -> Result<bool> {
        let text = match std::fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => {
                let action = format!("Can't open file '{}'", path.display());
                return Err(Error::io(&error, action));
            }
        };
        self.parse(&text).map_err(|error| {
            error.context(format!(
                "Error while parsing config file: {}:",
                path.display()
            ))
        })?;
        Ok(true)
    }

    /// Reads text into this file; options that are there already are changed.
    ///
    /// # Errors
    /// `MALFORMED_FILE` for what breaks the rules of the dialect.
    pub fn parse(&mut self, text: &[u8]) -> Result<()> {
        parse(text, &mut |section, option, value| {
            self.put(section, option, value);
        })?;
        self.expand_all();
        Ok(())
    }

    /// Takes over all options of another file.
    pub fn merge(&mut self, other: &Self) {
        for section in &other.sections {
            for option in &section.options {
                self.put(&section.name, &option.name, &option.raw);
            }
        }
        self.expand_all();
    }

    /// Changes an option.
    pub fn set(&mut self, section: &str, option: &str, value: &str) {
        self.put(section, option, value);
        self.expand_all();
    }

    /// Tells whether there is such a section.
    pub fn has_section(&self, section: &str) -> bool {
        self.section(section).is_some()
    }

    /// Returns the value of an option, with its variables expanded.
    ///
    /// A section that exists has the options of `[DEFAULT]` too.
    pub fn get(&self, section: &str, option: &str) -> Option<&str> {
        let section = self.section(section)?;
        let key = self.key(option);
        if let Some(at) = section.by_name.get(&key) {
            return Some(section.options[*at].value());
        }
        if let Some(expanded) = section.inherited.get(&key) {
            return Some(expanded);
        }
        let default = self.section(DEFAULT_SECTION)?;
        Some(default.options[*default.by_name.get(&key)?].value())
    }

    /// Returns the value of an option of the section itself as it was written, with its variables.
    pub fn raw_value(&self, section: &str, option: &str) -> Option<&str> {
        let section = self.section(section)?;
        let at = section.by_name.get(&self.key(option))?;
        Some(&section.options[*at].raw)
    }

    /// Returns the value of a boolean option, or `default`: `true`, `yes`, `on`, `1` and their
    /// opposites, in any case.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` for other words.
    pub fn get_bool(&self, section: &str, option: &str, default: bool) -> Result<bool> {
        boolean(self.get(section, option), Some(section), option, default)
    }

    /// Returns the value of an option that is boolean or `ask`, which is `None`; or `default`.
    ///
    /// # Errors
    /// `BAD_CONFIG_VALUE` for other words.
    pub fn get_yes_no_ask(
        &self,
        section: &str,
        option: &str,
        default: Option<bool>,
    ) -> Result<Option<bool>> {
        match self.get(section, option) {
            None => Ok(default),
            Some(value) if value.eq_ignore_ascii_case("ask") => Ok(None),
            value => boolean(value, Some(section), option, false).map(Some),
        }
    }

    /// Returns the value of a decimal option, or `default`.
    ///
    /// # Errors
    /// `INCORRECT_PARAMS` for text that is no number.
    pub fn get_i64(&self, section: &str, option: &str, default: i64) -> Result<i64> {
        let Some(value) = self.get(section, option) else {
            return Ok(default);
        };
        value.trim_start().parse().map_err(|_| {
            Error::new(
                ErrorCode::INCORRECT_PARAMS,
                format!("Could not convert '{value}' into a number"),
            )
        })
    }

    /// Goes through the names of the sections.
    pub fn sections(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|section| section.name.as_str())
    }

    /// Goes through the options of a section, without those of `[DEFAULT]`: name and value.
    pub fn options(&self, section: &str) -> impl Iterator<Item = (&str, &str)> {
        let section = self.section(section);
        section
            .into_iter()
            .flat_map(|section| &section.options)
            .map(|option| (option.name.as_str(), option.value()))
    }

    /// Returns the name of the first option of `section` one of whose comma-separated glob patterns
    /// matches `key`.
    pub fn find_group(&self, key: &str, section: &str) -> Option<&str> {
        self.options(section)
            .find(|(_, patterns)| {
                list(patterns).any(|pattern| glob::matches(pattern.as_bytes(), key.as_bytes()))
            })
            .map(|(name, _)| name)
    }

    fn section(&self, name: &str) -> Option<&Section> {
        self.by_name
            .get(&self.key(name))
            .map(|at| &self.sections[*at])
    }

    fn key(&self, name: &str) -> String {
        if self.case_sensitive {
            name.to_owned()
        } else {
            name.to_ascii_lowercase()
        }
    }

    fn put(&mut self, section: &str, option: &str, value: &str) {
        let option_key = self.key(option);
        let key = self.key(section);
        let at = *self.by_name.entry(key).or_insert_with(|| {
            self.sections.push(Section {
                name: section.to_owned(),
                options: Vec::new(),
                by_name: BTreeMap::new(),
                inherited: BTreeMap::new(),
            });
            self.sections.len() - 1
        });
        let section = &mut self.sections[at];
        match section.by_name.get(&option_key) {
            Some(at) => value.clone_into(&mut section.options[*at].raw),
            None => {
                section.by_name.insert(option_key, section.options.len());
                section.options.push(ConfigEntry {
                    name: option.to_owned(),
                    raw: value.to_owned(),
                    expanded: None,
                });
            }
        }
    }

    /// Replaces the variables of every value anew.
    fn expand_all(&mut self) {
        let has_variable = |option: &&ConfigEntry| option.raw.contains("%(");
        let inherited: Vec<_> = self
            .section(DEFAULT_SECTION)
            .into_iter()
            .flat_map(|section| &section.options)
            .filter(has_variable)
            .map(|option| (self.key(&option.name), option.raw.clone()))
            .collect();
        for at in 0..self.sections.len() {
            let section = &self.sections[at];
            let own: Vec<_> = section
                .options
                .iter()
                .map(|option| {
                    has_variable(&option)
                        .then(|| self.expand(section, &self.key(&option.name), &option.raw))
                })
                .collect();
            let inherited = inherited
                .iter()
                .map(|(key, raw)| (key.clone(), self.expand(section, key, raw)))
                .collect();
            let section = &mut self.sections[at];
            section.inherited = inherited;
            for (option, expanded) in section.options.iter_mut().zip(own) {
                option.expanded = expanded;
            }
        }
    }

    /// Expands one value as seen from `section`; one that needs itself is empty.
    fn expand(&self, section: &Section, key: &str, raw: &str) -> String {
        let mut expanding = Expanding {
            keys: vec![key.to_owned()],
            replaced: 0,
        };
        self.expand_into(section, raw, &mut expanding)
            .unwrap_or_default()
    }

    fn expand_into(
        &self,
        section: &Section,
        raw: &str,
        expanding: &mut Expanding,
    ) -> Option<String> {
        let mut expanded = String::new();
        let mut rest = raw;
        while let Some((before, after)) = rest.split_once("%(") {
            let Some((name, behind)) = after.split_once(")s") else {
                break;
            };
            let key = self.key(name);
            match self.raw(section, &key) {
                Some(value) => {
                    expanding.begin(&key)?;
                    expanded.push_str(before);
                    expanded.push_str(&self.expand_into(section, value, expanding)?);
                    expanding.keys.pop();
                }
                None => expanded.push_str(&rest[..rest.len() - behind.len()]),
            }
            if expanded.len() > MAX_EXPANDED {
                return None;
            }
            rest = behind;
        }
        expanded.push_str(rest);
        Some(expanded)
    }

    fn raw<'a>(&'a self, section: &'a Section, key: &str) -> Option<&'a str> {
        let of = |section: &'a Section| {
            let at = section.by_name.get(key)?;
            Some(section.options[*at].raw.as_str())
        };
        of(section).or_else(|| of(self.section(DEFAULT_SECTION)?))
    }
}

/// The variables within which a value is being expanded.
struct Expanding {
    keys: Vec<String>,
    replaced: usize,
}

impl Expanding {
    /// Begins a variable; `None` if it needs itself, or there is no end.
    fn begin(&mut self, key: &str) -> Option<()> {
        self.replaced += 1;
        if self.keys.iter().any(|open| open == key)
            || self.keys.len() > 100
            || self.replaced > MAX_REPLACED
        {
            return None;
        }
        self.keys.push(key.to_owned());
        Some(())
    }
}

impl ConfigEntry {
    fn value(&self) -> &str {
        self.expanded.as_deref().unwrap_or(&self.raw)
    }
}

/// Splits a comma-separated list; elements are trimmed, empty ones left out.
pub(super) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim_ascii)
        .filter(|item| !item.is_empty())
}

pub(super) fn boolean(
    value: Option<&str>,
    section: Option<&str>,
    option: &str,
    default: bool,
) -> Result<bool> {
    let Some(value) = value else {
        return Ok(default);
    };
    let is = |words: [&str; 4]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    if is(["true", "yes", "on", "1"]) {
        return Ok(true);
    }
    if is(["false", "no", "off", "0"]) {
        return Ok(false);
    }
    let place = section.map_or_else(
        || format!("'{option}'"),
        |section| format!("'[{section}] {option}'"),
    );
    Err(Error::new(
        ErrorCode::BAD_CONFIG_VALUE,
        format!("Config error: invalid boolean value '{value}' for {place}"),
    ))
}

/// Reads a number as C's `strtol` does with base 0.
pub(super) fn integer_of_any_base(value: &str) -> Result<i64> {
    let trimmed = value.trim_start();
    let (sign, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let (base, digits) = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X"))
    {
        (16, hex)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let is_plain = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    let number = if value.is_empty() {
        Some(0)
    } else {
        i64::from_str_radix(&format!("{sign}{digits}"), base)
            .ok()
            .filter(|_| is_plain)
    };
    number.ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_CONFIG_VALUE,
            format!("Config error: invalid integer value '{value}'"),
        )
    })
}
