//! Properties that new files get by themselves: from rules in the configuration and in
//! `svn:auto-props`, from their content and from their mode.

use std::collections::BTreeMap;

use sylvan_core::props::{self, SVN_EXECUTABLE, SVN_MIME_TYPE};
use sylvan_core::{Props, glob};

/// So many bytes of a file are looked at to tell whether it is text.
pub const PROBED: usize = 1024;

/// Rules by pattern of names, the later ones stronger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutoProps(Vec<(String, BTreeMap<String, String>)>);

impl AutoProps {
    /// Adds a rule of the configuration: a pattern and `name=value;name=value…`, where `;;` stands
    /// for a semicolon in a value.
    pub fn add(&mut self, pattern: &str, values: &str) {
        if values.is_empty() {
            return;
        }
        for setting in split(values) {
            let (name, value) = match setting.split_once('=') {
                Some((name, value)) => (name.trim(), unquote(value.trim())),
                None => (setting.trim(), ""),
            };
            if name.is_empty() {
                continue;
            }
            let value = if props::is_boolean(name) { "*" } else { value };
            let at = self.0.iter().position(|(known, _)| known == pattern);
            let at = at.unwrap_or_else(|| {
                self.0.push((pattern.to_owned(), BTreeMap::new()));
                self.0.len() - 1
            });
            self.0[at].1.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Adds the rules of a value of `svn:auto-props`: a line each, `pattern = name=value;…`.
    pub fn add_property(&mut self, value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        for line in text.split('\n') {
            let (pattern, values) = line.split_once('=').unwrap_or((line, ""));
            self.add(pattern.trim(), values.trim());
        }
    }

    /// Returns the properties of a new file: those of the rules that match its name; a MIME type
    /// by its extension or its first bytes ([`PROBED`]) unless a rule has one; and
    /// `svn:executable` if it is so.
    pub fn for_file(
        &self,
        name: &str,
        mime_types: &BTreeMap<String, String>,
        beginning: &[u8],
        is_executable: bool,
    ) -> Props {
        let mut found = Props::new();
        for (pattern, settings) in &self.0 {
            if glob::matches_ignore_case(pattern, name) {
                for (name, value) in settings {
                    found.insert(name.clone(), value.clone().into_bytes());
                }
            }
        }
        if !found.contains_key(SVN_MIME_TYPE)
            && let Some(mime_type) = mime_type(name, mime_types, beginning)
        {
            found.insert(SVN_MIME_TYPE.to_owned(), mime_type.into_bytes());
        }
        if is_executable && !found.contains_key(SVN_EXECUTABLE) {
            found.insert(SVN_EXECUTABLE.to_owned(), Vec::new());
        }
        found
    }
}

/// Reads a file of MIME types: a type and its extensions on each line.
pub fn parse_mime_types(text: &str) -> BTreeMap<String, String> {
    let mut types = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let Some(mime_type) = words.next() else {
            continue;
        };
        for extension in words {
            types.insert(extension.to_ascii_lowercase(), mime_type.to_owned());
        }
    }
    types
}

fn mime_type(
    name: &str,
    mime_types: &BTreeMap<String, String>,
    beginning: &[u8],
) -> Option<String> {
    let extension = match name.rfind('.') {
        Some(at) if at > 0 && at + 1 < name.len() => &name[at + 1..],
        _ => "",
    };
    match mime_types.get(&extension.to_ascii_lowercase()) {
        Some(known) => Some(known.clone()),
        None => is_binary(beginning).then(|| "application/octet-stream".to_owned()),
    }
}

/// Tells whether the beginning of a file looks like anything but text.
pub fn is_binary(beginning: &[u8]) -> bool {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    if beginning.is_empty() || beginning == BOM {
        return false;
    }
    if beginning.contains(&0) {
        return true;
    }
    let odd = |byte: &&u8| matches!(**byte, 0..=6 | 14..=31 | 128..);
    let count = beginning.iter().filter(odd).count();
    count * 1000 / beginning.len() > 850
}

/// Splits at semicolons that are not doubled.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ';' && chars.next_if_eq(&';').is_none() {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

fn unquote(text: &str) -> &str {
    for quote in ['"', '\''] {
        if text.len() > 1
            && let Some(inner) = text
                .strip_prefix(quote)
                .and_then(|text| text.strip_suffix(quote))
        {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_split_and_unquoted() {
        let mut rules = AutoProps::default();
        rules.add(
            "*.c",
            "svn:eol-style=native ; a = 'b;;c';svn:executable=no; ;alone",
        );
        rules.add_property(b"*.C = a=other\n\nno-value\n*.png=svn:mime-type=image/png");
        let types = parse_mime_types("#x\ntext/c c h\nlone\n");
        let found = |name: &str, text: &[u8]| -> Vec<String> {
            rules
                .for_file(name, &types, text, false)
                .iter()
                .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value)))
                .collect()
        };
        assert_eq!(
            found("x.C", b""),
            [
                "a=other",
                "alone=",
                "svn:eol-style=native",
                "svn:executable=*",
                "svn:mime-type=text/c"
            ]
        );
        assert_eq!(found("x.png", b""), ["svn:mime-type=image/png"]);
        assert_eq!(
            found("x", b"\0"),
            ["svn:mime-type=application/octet-stream"]
        );
        assert_eq!(found(".h", b"text"), [""; 0]);
    }

    #[test]
    fn text_is_told_from_other_content() {
        for (bytes, binary) in [
            (&b""[..], false),
            (b"\xef\xbb\xbf", false),
            (b"plain\n", false),
            (b"\x01\x02\x03\x04\x05\x06\x0e", true),
            (b"a\0", true),
            ("äöü".as_bytes(), true),
            ("grün".as_bytes(), false),
        ] {
            assert_eq!(is_binary(bytes), binary, "{bytes:?}");
        }
    }
}
