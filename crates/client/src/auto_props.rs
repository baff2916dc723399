//! Properties that new files get by rules: of the configuration, of `svn:auto-props`, of what is in
//! the file.

use std::collections::HashMap;

use sylvan_core::props::{SVN_EXECUTABLE, SVN_MIME_TYPE, is_boolean};
use sylvan_core::{Error, Props, Result, glob};
use sylvan_io::{Category, Config};

/// So much of a file tells whether it is text.
pub const HEAD: usize = 1024;
/// The MIME type of what is not text, where nothing better is known.
const BINARY: &str = "application/octet-stream";

/// The rules for the files below a folder.
#[derive(Clone, Debug, Default)]
pub struct AutoProps {
    patterns: Vec<(String, Vec<(String, String)>)>,
    /// By extension, in lower case.
    mime_types: HashMap<String, String>,
}

impl AutoProps {
    /// Reads the MIME types of the configuration, and nothing else: what files get with
    /// `--no-auto-props`.
    ///
    /// # Errors
    /// An operating system's error if the file `mime-types-file` cannot be read.
    pub fn none(config: &Config) -> Result<Self> {
        let file = config.get(Category::Config, "miscellany", "mime-types-file");
        Ok(Self {
            patterns: Vec::new(),
            mime_types: match file.filter(|file| !file.is_empty()) {
                Some(file) => mime_types(&read_mime_types(file)?),
                None => HashMap::new(),
            },
        })
    }

    /// Reads the rules of the configuration, if they are enabled there.
    ///
    /// # Errors
    /// As [`AutoProps::none`]; an error if the option that enables them makes no sense.
    pub fn from_config(config: &Config) -> Result<Self> {
        let mut rules = Self::none(config)?;
        if config.get_bool(Category::Config, "miscellany", "enable-auto-props", false)? {
            for (pattern, group) in config.file(Category::Config).options("auto-props") {
                rules.add_group(pattern, group);
            }
        }
        Ok(rules)
    }

    /// Adds the rules of a value of `svn:auto-props`; later ones win.
    pub fn add_property(&mut self, value: &str) {
        for line in value.split('\n') {
            let (pattern, group) = line.split_once('=').unwrap_or((line, ""));
            self.add_group(pattern.trim_ascii(), group.trim_ascii());
        }
    }

    fn add_group(&mut self, pattern: &str, group: &str) {
        if group.is_empty() {
            return;
        }
        for property in split_group(group) {
            let (name, value) = property.split_once('=').unwrap_or((&property, ""));
            let name = name.trim_ascii();
            if name.is_empty() {
                continue;
            }
            let value = match unquoted(value.trim_ascii()) {
                _ if is_boolean(name) => "*",
                value => value,
            };
            self.add(pattern, name, value);
        }
    }

    fn add(&mut self, pattern: &str, name: &str, value: &str) {
        let known = self.patterns.iter().position(|(known, _)| known == pattern);
        let at = known.unwrap_or_else(|| {
            self.patterns.push((pattern.to_owned(), Vec::new()));
            self.patterns.len() - 1
        });
        let props = &mut self.patterns[at].1;
        props.retain(|(known, _)| known != name);
        props.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the properties for a file called `name` whose content begins with `head` (up to
    /// [`HEAD`] bytes count).
    pub fn of_file(&self, name: &str, head: &[u8], is_executable: bool) -> Props {
        let mut props = Props::new();
        for (pattern, group) in &self.patterns {
            if glob::matches_ignore_case(pattern, name) {
                let group = group.iter();
                props.extend(group.map(|(name, value)| (name.clone(), value.clone().into())));
            }
        }
        if !props.contains_key(SVN_MIME_TYPE)
            && let Some(mime_type) = self.mime_type(name, head)
        {
            props.insert(SVN_MIME_TYPE.to_owned(), mime_type.as_bytes().to_vec());
        }
        if is_executable && !props.contains_key(SVN_EXECUTABLE) {
            props.insert(SVN_EXECUTABLE.to_owned(), Vec::new());
        }
        props
    }

    fn mime_type(&self, name: &str, head: &[u8]) -> Option<&str> {
        let extension = extension(name).to_ascii_lowercase();
        let known = self.mime_types.get(&extension).map(String::as_str);
        known.or_else(|| is_binary(&head[..head.len().min(HEAD)]).then_some(BINARY))
    }
}

/// Returns what follows the last dot, unless the name begins with it.
fn extension(name: &str) -> &str {
    match name.rfind('.') {
        None | Some(0) => "",
        Some(at) => &name[at + 1..],
    }
}

/// Tells whether the beginning of a file is not text, by Subversion's measure: a zero byte, or more
/// than 85 in 100 bytes beyond ASCII.
fn is_binary(head: &[u8]) -> bool {
    const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
    if head.is_empty() || head == UTF8_MARK {
        return false;
    }
    if head.contains(&0) {
        return true;
    }
    let strange = |byte: &&u8| !matches!(**byte, 0x07..=0x0d | 0x20..=0x7f);
    head.iter().filter(strange).count() * 1000 / head.len() > 850
}

/// Splits a group of properties at `;`; `;;` stands for one.
fn split_group(group: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut chars = group.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ';' && chars.next_if_eq(&';').is_none() {
            all.push(String::new());
        } else if let Some(last) = all.last_mut() {
            last.push(c);
        }
    }
    all
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if value.len() > 1
            && let Some(inner) = value.strip_prefix(quote)
            && let Some(inner) = inner.strip_suffix(quote)
        {
            return inner;
        }
    }
    value
}

fn read_mime_types(file: &str) -> Result<String> {
    let text = std::fs::read(file)
        .map_err(|error| Error::io(&error, format_args!("Can't open file '{file}'")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads a list of MIME types, each with its extensions on a line.
fn mime_types(text: &str) -> HashMap<String, String> {
    let mut types = HashMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        if let Some(mime_type) = words.next() {
            let extensions = words.map(|word| (word.to_ascii_lowercase(), mime_type.to_owned()));
            types.extend(extensions);
        }
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    fn props_of(rules: &AutoProps, name: &str, head: &[u8]) -> String {
        let props = rules.of_file(name, head, false);
        let shown = props
            .iter()
            .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value)));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rules_give_properties() {
        let mut rules = AutoProps::default();
        rules.add_property(
            "*.txt = svn:eol-style=native;svn:keywords=\"Author Date\"\n*.sh=svn:executable\n\
             x* = a = b;; c ;d\n*.none =\n",
        );
        for (name, expected) in [
            ("a.txt", "svn:eol-style=native svn:keywords=Author Date"),
            ("A.TXT", "svn:eol-style=native svn:keywords=Author Date"),
            ("a.sh", "svn:executable=*"),
            ("x", "a=b; c d="),
            ("a.none", ""),
        ] {
            assert_eq!(props_of(&rules, name, b"text"), expected, "{name}");
        }
        rules.add_property("*.txt = svn:eol-style=LF");
        assert_eq!(
            props_of(&rules, "a.txt", b""),
            "svn:eol-style=LF svn:keywords=Author Date"
        );
    }

    #[test]
    fn contents_tell_what_is_binary() {
        let high = [0x80; 100];
        for (head, expected) in [
            (&b""[..], false),
            (b"text\n", false),
            (b"text\0", true),
            (b"\xef\xbb\xbf", false),
            (&high, true),
            (b"\xff\xff\xffabc", false),
        ] {
            assert_eq!(is_binary(head), expected, "{head:?}");
        }
    }

    #[test]
    fn extensions_tell_types() {
        let rules = AutoProps {
            mime_types: mime_types("# x\nimage/png png PNG\ntext/none\n"),
            ..AutoProps::default()
        };
        assert_eq!(props_of(&rules, "a.Png", b""), "svn:mime-type=image/png");
        assert_eq!(props_of(&rules, ".png", b""), "");
        assert_eq!(
            props_of(&rules, "a", b"\0"),
            "svn:mime-type=application/octet-stream"
        );
    }
}
