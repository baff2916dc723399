use std::path::Path;

use crate::auth_store::AuthStore;
use crate::file;

const FILES: [(&str, &str); 3] = [
    ("README.txt", include_str!("defaults/README.txt")),
    ("servers", include_str!("defaults/servers")),
    ("config", include_str!("defaults/config")),
];

/// Makes the user's configuration folder with files that explain each option, and the folders for
/// credentials; what is there already stays.
///
/// Nothing depends on it, so what cannot be made is left out.
pub fn ensure(dir: &Path) {
    match file::stat(dir) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return,
        Err(_) if file::make_dir(dir).is_err() => return,
        Err(_) => {}
    }
    AuthStore::new(dir).ensure();
    for (name, text) in FILES {
        let path = dir.join(name);
        if matches!(file::exists(&path), Ok(false))
            && let Ok(new) = file::create_new(&path, file::MODE_FILE)
        {
            // A file that is cut short explains less.
            let _ = new.write_all(text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Category, Config, ConfigFile, Directories};
    use super::*;

    #[test]
    fn made_once_and_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("conf");
        ensure(&dir);
        let config = Config::load(&Directories::only(&dir)).unwrap();
        for category in [Category::Servers, Category::Config] {
            let file = config.file(category);
            assert!(
                file.sections()
                    .all(|section| file.options(section).count() == 0)
            );
        }
        assert!(dir.join("auth/svn.ssl.server").is_dir());
        std::fs::write(dir.join("config"), "[auth]\n").unwrap();
        ensure(&dir);
        assert_eq!(std::fs::read(dir.join("config")).unwrap(), b"[auth]\n");
        ensure(&dir.join("config"));
        ensure(&dir.join("no/such"));
    }

    #[test]
    fn what_is_shown_can_be_set() {
        for (_, text) in &FILES[1..] {
            let set: String = text
                .lines()
                .map(|line| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n")
                .collect();
            let mut file = ConfigFile::default();
            file.parse(set.as_bytes()).unwrap();
            let count: usize = file.sections().map(|name| file.options(name).count()).sum();
            assert!(count >= 20, "{count}");
        }
    }
}
