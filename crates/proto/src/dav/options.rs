//! Answers to `OPTIONS`.

use sylvan_core::{Result, Revnum};

use super::xml::{At, Attrs, Gather, Handler, Ns, Opened, trimmed};

/// What a server says of bulk updates (`SVN-Allow-Bulk-Updates`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkUpdates {
    /// It does not make them.
    Off,
    /// It makes them.
    On,
    /// It would rather make them.
    Prefer,
}

/// What the headers of an `OPTIONS` response tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether there was a `DAV` header at all.
    pub is_dav: bool,
    /// The capabilities named in `DAV` headers, without Subversion's prefix.
    capabilities: Vec<String>,
    /// The youngest revision.
    pub youngest: Option<Revnum>,
    /// The repository's UUID.
    pub uuid: Option<String>,
    /// The path of the repository's root.
    pub root: Option<String>,
    /// The "me resource"; whoever has one speaks HTTP protocol v2.
    pub me_resource: Option<String>,
    /// What revision numbers are appended to for revision properties.
    pub rev_stub: Option<String>,
    /// What revision numbers and paths are appended to for nodes.
    pub rev_root_stub: Option<String>,
    /// What transaction names are appended to for transactions.
    pub txn_stub: Option<String>,
    /// What transaction names and paths are appended to for nodes in transactions.
    pub txn_root_stub: Option<String>,
    /// What can be posted to the "me resource".
    pub posts: Vec<String>,
    /// What the server says of bulk updates.
    pub bulk_updates: Option<BulkUpdates>,
    /// Whether the repository tracks merges, if the server says.
    pub repository_mergeinfo: Option<bool>,
}

const CAPABILITY_PREFIX: &str = "http://subversion.tigris.org/xmlns/dav/svn/";

impl Options {
    /// Takes one header.
    pub fn header(&mut self, name: &str, value: &str) {
        let value = value.trim();
        let text = || Some(value.to_owned());
        match name.to_ascii_lowercase().as_str() {
            "dav" => {
                self.is_dav = true;
                let known = value
                    .split(',')
                    .filter_map(|word| word.trim().strip_prefix(CAPABILITY_PREFIX));
                self.capabilities.extend(known.map(str::to_owned));
            }
            "svn-youngest-rev" => self.youngest = Revnum::parse(value),
            "svn-repository-uuid" => self.uuid = text(),
            "svn-repository-root" => self.root = text(),
            "svn-me-resource" => self.me_resource = text(),
            "svn-rev-stub" => self.rev_stub = text(),
            "svn-txn-stub" => self.txn_stub = text(),
            "svn-txn-root-stub" => self.txn_root_stub = text(),
            "svn-supported-posts" => {
                let words = value.split(',').map(|word| word.trim().to_owned());
                self.posts.extend(words);
            }
            "svn-rev-root-stub" => self.rev_root_stub = text(),
            "svn-allow-bulk-updates" => {
                self.bulk_updates = Some(match value.to_ascii_lowercase().as_str() {
                    "off" => BulkUpdates::Off,
                    "prefer" => BulkUpdates::Prefer,
                    _ => BulkUpdates::On,
                });
            }
            "svn-repository-mergeinfo" => match value.to_ascii_lowercase().as_str() {
                "yes" => self.repository_mergeinfo = Some(true),
                "no" => self.repository_mergeinfo = Some(false),
                _ => {}
            },
            _ => {}
        }
    }

    /// Tells whether a capability was named: `depth`, `log-revprops`, `inline-props`, ….
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }
}

/// Reads the body of an `OPTIONS` response.
#[derive(Debug, Default)]
pub struct ActivityCollection {
    /// Where activities are made.
    pub href: Option<String>,
}

/// States of [`ActivityCollection`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum State {
    Root,
    Set,
    Href,
}

impl Handler for ActivityCollection {
    type State = State;

    fn open(&mut self, at: At<'_, State>, _attrs: &Attrs<'_>) -> Opened<State> {
        Ok(match at {
            (None, Ns::Dav, "options-response") => Some((State::Root, Gather::Nothing)),
            (Some(State::Root), Ns::Dav, "activity-collection-set") => {
                Some((State::Set, Gather::Nothing))
            }
            (Some(State::Set), Ns::Dav, "href") => Some((State::Href, Gather::Text)),
            _ => None,
        })
    }

    fn close(&mut self, state: State, text: &str) -> Result<()> {
        if matches!(state, State::Href) {
            self.href = Some(trimmed(text).to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn headers_tell_version_and_capabilities() {
        let mut options = Options::default();
        for (name, value) in [
            ("DAV", "1,2"),
            (
                "dav",
                "http://subversion.tigris.org/xmlns/dav/svn/depth, http://subversion.tigris.org/xmlns/dav/svn/list",
            ),
            ("SVN-Youngest-Rev", "42"),
            ("SVN-Me-Resource", "/r/!svn/me"),
            ("SVN-Allow-Bulk-Updates", "Prefer"),
            ("SVN-Repository-MergeInfo", "no"),
            ("Server", "x"),
        ] {
            options.header(name, value);
        }
        assert!(options.is_dav && options.has("depth") && options.has("list"));
        assert!(!options.has("log-revprops"));
        assert_eq!(options.youngest, Revnum::new(42));
        assert_eq!(options.me_resource.as_deref(), Some("/r/!svn/me"));
        assert_eq!(options.bulk_updates, Some(BulkUpdates::Prefer));
        assert_eq!(options.repository_mergeinfo, Some(false));
    }

    #[test]
    fn body_names_the_activity_collection() {
        let mut document = Document::new(ActivityCollection::default());
        document
            .push(
                b"<D:options-response xmlns:D=\"DAV:\">\n<D:activity-collection-set>\
                  <D:href>/r/!svn/act/</D:href></D:activity-collection-set></D:options-response>",
            )
            .unwrap();
        assert_eq!(
            document.finish().unwrap().href.as_deref(),
            Some("/r/!svn/act/")
        );
    }
}
