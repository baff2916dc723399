//! Which paths are wanted.

use sylvan_core::glob;

/// Names paths by prefixes, or by patterns, and says whether those are in or out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFilter {
    /// Absolute paths, or patterns of them.
    pub prefixes: Vec<String>,
    /// Whether the prefixes are patterns, where `*` matches slashes too.
    pub glob: bool,
    /// Whether what the prefixes name is left out, rather than all else.
    pub exclude: bool,
}

impl PathFilter {
    /// Tells whether an absolute path is wanted.
    pub fn allows(&self, path: &str) -> bool {
        let matches = |prefix: &String| {
            if self.glob {
                return glob::matches(prefix, path);
            }
            path.strip_prefix(prefix.as_str())
                .is_some_and(|rest| prefix.len() == 1 || rest.is_empty() || rest.starts_with('/'))
        };
        self.prefixes.iter().any(matches) != self.exclude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_whole_components() {
        let filter = |prefix: &str, glob, exclude| PathFilter {
            prefixes: vec![prefix.to_owned()],
            glob,
            exclude,
        };
        for (prefix, glob, path, matches) in [
            ("/a", false, "/a", true),
            ("/a", false, "/a/b", true),
            ("/a", false, "/ab", false),
            ("/", false, "/ab", true),
            ("/a", true, "/a/b", false),
            ("/*/b", true, "/a/c/b", true),
        ] {
            for exclude in [false, true] {
                let filter = filter(prefix, glob, exclude);
                assert_eq!(filter.allows(path), matches != exclude, "{prefix} {path}");
            }
        }
    }
}
