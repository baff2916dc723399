//! Bodies of fuzz targets.

use crate::config::{ConfigFile, ConfigOption};

/// A file of configuration that is read gives the same values when they are written and read again,
/// as far as they can be written.
pub fn config(data: &[u8]) {
    let mut file = ConfigFile::default();
    if file.parse(data).is_err() {
        return;
    }
    let mut text = String::new();
    for section in file.sections() {
        if section.contains(['\n', ']']) {
            return;
        }
        text.push_str(&format!("[{section}]\n"));
        for (name, _) in file.options(section) {
            let _ = file.get_bool(section, name, false);
            let _ = file.get_i64(section, name, 0);
            let raw = file.raw_value(section, name).unwrap_or_default();
            if raw.starts_with(' ') {
                // The value began in its second line.
                return;
            }
            text.push_str(&format!("{name}={raw}\n"));
        }
    }
    let mut again = ConfigFile::default();
    if again.parse(text.as_bytes()).is_err() {
        // A name without a first character cannot be written.
        return;
    }
    for section in file.sections() {
        for (name, value) in file.options(section) {
            if !name.is_empty() && !name.starts_with(['[', '#']) && !section.is_empty() {
                assert_eq!(again.get(section, name), Some(value), "[{section}] {name}");
            }
        }
    }
    let _ = file.find_group("svn.example.org", "groups");
}

/// The argument of `--config-option`.
pub fn config_option(data: &[u8]) {
    let _ = ConfigOption::parse(&String::from_utf8_lossy(data));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn targets_hold(
            choices in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            const PIECES: [&str; 20] = [
                "[s]\n", "[DEFAULT]\n", "[groups]\n", "a", "b", "=", ":", " ", "\n", "\n ", "#",
                "%(a)s", "%(b)s", "%(", ")s", "\r\n", "yes", "[", "]", "*.org, h",
            ];
            let mut data: Vec<u8> = b"[s]\na=1\n".to_vec();
            data.extend(choices.iter().flat_map(|choice| choice.get(&PIECES).bytes()));
            super::config(&data);
            super::config_option(&data);
            for (at, byte) in &noise {
                let at = at.index(data.len());
                data[at] = *byte;
            }
            super::config(&data);
        }
    }
}
