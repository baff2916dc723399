//! Showing changes as unified differences.

use std::ffi::OsString;

use sylvan_core::props::{self, PropKind, SVN_MIME_TYPE};
use sylvan_core::{Dirent, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_diff::{Source, binary, props as prop_diff, unified};
use sylvan_io::file::TempFile;

use super::change::{Change, Receiver, Side};
use super::git::{self, Operation};
use super::text::Text;
use super::{Format, Output, Program, external};
use crate::Context;
use crate::wc_node::WcNode;

const EQUALS: &str = "===================================================================";
const UNDERLINE: &str = "___________________________________________________________________";

/// What paths are shown as; known once it is known what is compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Driver {
    /// What stands before the paths of a working copy.
    pub(crate) anchor: Option<Dirent>,
    /// Where the session is below the repository's root.
    pub(crate) session_relpath: Option<RelPathBuf>,
    /// What was compared, as URLs or paths.
    pub(crate) targets: [String; 2],
}

/// Shows changes as they come.
pub(crate) struct Writer<'a> {
    context: &'a Context,
    format: &'a Format,
    driver: Driver,
    out: &'a mut dyn Output,
}

/// A revision in a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rev {
    Number(Revnum),
    Working,
    Nonexistent,
}

impl Rev {
    fn of(side: &Side) -> Self {
        side.rev.map_or(Self::Working, Self::Number)
    }

    fn label(self, path: &str) -> String {
        match self {
            Self::Number(rev) => format!("{path}\t(revision {rev})"),
            Self::Working => format!("{path}\t(working copy)"),
            Self::Nonexistent => format!("{path}\t(nonexistent)"),
        }
    }
}

/// The two sides of a content that is shown.
struct Pair<'c> {
    path: &'c RelPath,
    revs: [Rev; 2],
    props: [&'c Props; 2],
    texts: [&'c Text; 2],
    operation: Operation<'c>,
    /// Whether headers are shown even if nothing differs.
    always: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        context: &'a Context,
        format: &'a Format,
        driver: Driver,
        out: &'a mut dyn Output,
    ) -> Self {
        Self {
            context,
            format,
            driver,
            out,
        }
    }

    fn file_changed(&mut self, change: &Change, left: &Side, right: &Side) -> Result<()> {
        let mut shown = false;
        if let (true, Some(old), Some(new)) = (change.text, &left.text, &right.text) {
            shown = self.content(&Pair {
                path: &change.path,
                revs: [Rev::of(left), Rev::of(right)],
                props: [&left.props, &right.props],
                texts: [old, new],
                operation: Operation::Modified,
                always: false,
            })?;
        }
        let revs = [Rev::of(left), Rev::of(right)];
        self.props(&change.path, revs, [&left.props, &right.props], !shown)
    }

    fn file_added(&mut self, change: &Change, right: &Side) -> Result<()> {
        if self.format.no_added {
            return self.only_named(&change.path, " (added)");
        }
        let none = (Props::new(), Text::empty());
        let copy = change.copy.as_ref().filter(|_| !self.format.copies_as_adds);
        let (left_rev, left_props, left_text, operation) = match copy {
            None => (Rev::Nonexistent, &none.0, &none.1, Operation::Added),
            Some(copy) => {
                let rev = copy.source.rev;
                let operation = match &copy.moved_from {
                    Some(from) => Operation::Moved(from),
                    None => Operation::Copied(&copy.repos_path, rev),
                };
                let text = copy.source.text.as_ref().unwrap_or(&none.1);
                let rev = Rev::of(&copy.source);
                (rev, &copy.source.props, text, operation)
            }
        };
        let revs = [left_rev, Rev::of(right)];
        let props = [left_props, &right.props];
        let mut shown = false;
        if let Some(text) = &right.text {
            shown = self.content(&Pair {
                path: &change.path,
                revs,
                props,
                texts: [left_text, text],
                operation,
                always: true,
            })?;
        }
        self.props(&change.path, revs, props, !shown)
    }

    fn file_deleted(&mut self, change: &Change, left: &Side) -> Result<()> {
        if self.format.no_deleted {
            return self.only_named(&change.path, " (deleted)");
        }
        let none = (Props::new(), Text::empty());
        let revs = [Rev::of(left), Rev::Nonexistent];
        let props = [&left.props, &none.0];
        let mut shown = false;
        if let Some(text) = &left.text {
            shown = self.content(&Pair {
                path: &change.path,
                revs,
                props,
                texts: [text, &none.1],
                operation: Operation::Deleted,
                always: false,
            })?;
        }
        self.props(&change.path, revs, props, !shown)
    }

    fn dir(&mut self, change: &Change) -> Result<()> {
        let none = Props::new();
        let (left, right) = (change.left.as_ref(), change.right.as_ref());
        let copy = change.copy.as_ref().filter(|_| !self.format.copies_as_adds);
        let left = left.or(copy.map(|copy| &copy.source));
        let is_wanted = match (&change.left, &change.right) {
            (None, _) => !self.format.no_added,
            (_, None) => !self.format.no_deleted,
            _ => true,
        };
        if !is_wanted {
            return Ok(());
        }
        let rev = |side: Option<&Side>| side.map_or(Rev::Nonexistent, Rev::of);
        let side_props =
            |side: Option<&'_ Side>| side.map_or(none.clone(), |side| side.props.clone());
        let (old, new) = (side_props(left), side_props(right));
        self.props(&change.path, [rev(left), rev(right)], [&old, &new], true)
    }

    /// Names a file of which no more is said.
    fn only_named(&mut self, path: &RelPath, suffix: &str) -> Result<()> {
        let index = self.below_anchor(path);
        self.index(&index, suffix)
    }

    fn index(&mut self, path: &str, suffix: &str) -> Result<()> {
        self.out
            .write(format!("Index: {path}{suffix}\n{EQUALS}\n").as_bytes())
    }

    fn below_anchor(&self, path: &RelPath) -> String {
        match &self.driver.anchor {
            Some(anchor) => anchor.join(path.as_str()).as_str().to_owned(),
            None => path.as_str().to_owned(),
        }
    }

    /// Returns what a path is named by, and for each side with what is different there.
    fn names(&self, path: &RelPath) -> (String, [String; 2]) {
        let mut name = self.below_anchor(path);
        if name.is_empty() {
            name.push('.');
        }
        let targets = [&self.driver.targets[0], &self.driver.targets[1]];
        let common = common_len(targets[0], targets[1]);
        let labels = targets.map(|target| match &target[common..] {
            "" => name.clone(),
            own if Url::is_url(own) => format!("{name}\t({own})"),
            own if own.starts_with('/') => format!("{name}\t(...{own})"),
            own => format!("{name}\t(.../{own})"),
        });
        (name, labels)
    }

    /// Shows how a content changed; tells whether the file was named.
    fn content(&mut self, pair: &Pair<'_>) -> Result<bool> {
        if self.format.properties_only {
            return Ok(false);
        }
        let (name, paths) = self.names(pair.path);
        let labels = [pair.revs[0].label(&paths[0]), pair.revs[1].label(&paths[1])];
        let links = if self.format.git {
            [0, 1].map(|side| git::link(pair.props[side], pair.texts[side]))
        } else {
            [Ok(None), Ok(None)]
        };
        let [old_link, new_link] = links;
        let (old_link, new_link) = (old_link?, new_link?);
        let index_shas = match (&old_link, &new_link) {
            (Some(old), Some(new)) => Some(format!("{}..{}", old.sha, new.sha)),
            _ => None,
        };
        let old = old_link.as_ref().map_or(pair.texts[0], |link| &link.text);
        let new = new_link.as_ref().map_or(pair.texts[1], |link| &link.text);
        let texts = [old, new];
        let binary = pair.props.map(binary_type);
        if !self.format.force && (binary[0].is_some() || binary[1].is_some()) {
            self.index(&name, "")?;
            if self.format.git {
                self.git_header(pair.path, pair, index_shas.as_deref())?;
                self.binary(texts)?;
            } else {
                self.out.write(cannot_display(&binary).as_bytes())?;
            }
            return Ok(true);
        }
        match &self.format.program {
            Program::External(program, words) => {
                let (program, words) = (program.clone(), words.clone());
                self.index(&name, "")?;
                self.external(&program, &words, &labels, texts)?;
                Ok(true)
            }
            Program::Internal(options) => {
                let options = options.clone();
                self.compare(pair, &name, labels, texts, index_shas.as_deref(), &options)
            }
        }
    }

    fn external(
        &mut self,
        program: &OsString,
        words: &[String],
        labels: &[String; 2],
        texts: [&Text; 2],
    ) -> Result<()> {
        let mut keepers: [Option<TempFile>; 2] = [None, None];
        let [old_keeper, new_keeper] = &mut keepers;
        let files = [texts[0].as_file(old_keeper)?, texts[1].as_file(new_keeper)?];
        self.out.flush()?;
        external::run(program, words, [&labels[0], &labels[1]], files)
    }

    fn binary(&mut self, texts: [&Text; 2]) -> Result<()> {
        let (old, new) = (texts[0].open()?, texts[1].open()?);
        let (context, out) = (self.context, &mut *self.out);
        binary::write(
            [&old as &dyn Source, &new],
            &mut |bytes| out.write(bytes),
            &mut || context.cancel.check(),
        )
    }

    fn compare(
        &mut self,
        pair: &Pair<'_>,
        name: &str,
        labels: [String; 2],
        texts: [&Text; 2],
        index_shas: Option<&str>,
        options: &sylvan_diff::Options,
    ) -> Result<bool> {
        let (old, new) = (texts[0].open()?, texts[1].open()?);
        let sources: [&dyn Source; 2] = [&old, &new];
        let context = self.context;
        let diff = sylvan_diff::diff(sources, options, &mut || context.cancel.check())?;
        if !pair.always && !self.format.git && diff.is_empty() {
            return Ok(false);
        }
        self.index(name, "")?;
        let labels = match self.format.git {
            true => self.git_header(pair.path, pair, index_shas)?,
            false => labels,
        };
        if diff.is_empty() {
            return Ok(true);
        }
        let out = &mut *self.out;
        let mut sink = |bytes: &[u8]| out.write(bytes);
        unified::write(&diff, sources, [&labels[0], &labels[1]], options, &mut sink)?;
        Ok(true)
    }

    /// Writes the header of Git; returns the labels that follow it.
    fn git_header(
        &mut self,
        path: &RelPath,
        pair: &Pair<'_>,
        index_shas: Option<&str>,
    ) -> Result<[String; 2]> {
        let paths = [self.repos_relpath(path, 0)?, self.repos_relpath(path, 1)?];
        let header = git::Header {
            operation: pair.operation,
            paths: [&paths[0], &paths[1]],
            props: pair.props,
            index_shas,
        };
        let (text, shown) = header.write();
        self.out.write(text.as_bytes())?;
        Ok([pair.revs[0].label(&shown[0]), pair.revs[1].label(&shown[1])])
    }

    /// Returns where a path is in the repository, as a header of Git has it.
    fn repos_relpath(&self, path: &RelPath, side: usize) -> Result<String> {
        let target = &self.driver.targets[side];
        let session = &self.driver.session_relpath;
        let is_local = self.driver.anchor.is_some() && !Url::is_url(target);
        if session.is_none() || is_local {
            let local = Dirent::new(&self.below_anchor(path));
            let found = WcNode::open(self.context, &local).and_then(|node| {
                let (url, root) = (node.url()?, node.repos_root()?);
                Ok(url
                    .zip(root)
                    .and_then(|(url, root)| url.strip_prefix(&root)))
            });
            match (found, session) {
                (Ok(found), _) => return Ok(found.unwrap_or_default().into_string()),
                (Err(error), None) => return Err(error),
                (Err(error), _) if error.code() != sylvan_core::ErrorCode::WC_PATH_NOT_FOUND => {
                    return Err(error);
                }
                _ => {}
            }
        }
        let session = session.as_deref().unwrap_or(RelPath::ROOT);
        Ok(session.join(path).into_string())
    }

    /// Shows how properties changed, if any did.
    fn props(
        &mut self,
        path: &RelPath,
        revs: [Rev; 2],
        props: [&Props; 2],
        shows_header: bool,
    ) -> Result<()> {
        if self.format.ignore_properties {
            return Ok(());
        }
        let mut changes = props::diff(props[0], props[1]);
        changes.retain(|name, _| PropKind::of(name) == PropKind::Regular);
        if changes.is_empty() {
            return Ok(());
        }
        let (mut name, paths) = self.names(path);
        if shows_header {
            self.index(&name, "")?;
            let mut labels = [revs[0].label(&paths[0]), revs[1].label(&paths[1])];
            if self.format.git {
                let none = Text::empty();
                let pair = Pair {
                    path,
                    revs,
                    props,
                    texts: [&none, &none],
                    operation: Operation::Modified,
                    always: false,
                };
                labels = self.git_header(path, &pair, None)?;
            }
            let out = &mut *self.out;
            unified::write_header([&labels[0], &labels[1]], &mut |bytes| out.write(bytes))?;
        }
        if self.format.git {
            name = self.repos_relpath(path, 0)?;
        }
        let head = format!("\nProperty changes on: {name}\n{UNDERLINE}\n");
        self.out.write(head.as_bytes())?;
        let (context, out) = (self.context, &mut *self.out);
        prop_diff::write(
            &changes,
            props[0],
            sylvan_diff::Options::default().context,
            self.format.mergeinfo,
            &mut |bytes| out.write(bytes),
            &mut || context.cancel.check(),
        )
    }
}

impl Receiver for Writer<'_> {
    fn wants_texts(&self) -> bool {
        !self.format.properties_only
    }

    fn take(&mut self, change: Change) -> Result<()> {
        self.context.cancel.check()?;
        match (change.kind, &change.left, &change.right) {
            (NodeKind::Dir, ..) => self.dir(&change),
            (_, Some(left), Some(right)) => self.file_changed(&change, left, right),
            (_, None, Some(right)) => self.file_added(&change, right),
            (_, Some(left), None) => self.file_deleted(&change, left),
            (_, None, None) => Ok(()),
        }
    }
}

/// Returns the MIME type if it means that a file is no text.
fn binary_type(props: &Props) -> Option<String> {
    let value = String::from_utf8_lossy(props.get(SVN_MIME_TYPE)?).into_owned();
    props::mime_type_is_binary(&value).then_some(value)
}

fn cannot_display(types: &[Option<String>; 2]) -> String {
    let what = match types {
        [Some(old), Some(new)] if old != new => format!("({old}, {new})"),
        [Some(only), _] | [None, Some(only)] => only.clone(),
        [None, None] => String::new(),
    };
    format!("Cannot display: file marked as a binary type.\nsvn:mime-type = {what}\n")
}

/// Returns how long the place is that both targets are below.
fn common_len(a: &str, b: &str) -> usize {
    match (Url::is_url(a), Url::is_url(b)) {
        (true, true) => {
            let (Ok(a), Ok(b)) = (Url::parse(a), Url::parse(b)) else {
                return 0;
            };
            a.common_ancestor(&b)
                .map_or(0, |above| above.as_str().len())
        }
        (false, false) => common_dir(a, b),
        _ => 0,
    }
}

fn common_dir(a: &str, b: &str) -> usize {
    if a == b {
        return a.len();
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let ends = |path: &[u8]| path.len() == same || path.get(same) == Some(&b'/');
    if same > 0 && ends(a) && ends(b) {
        return same;
    }
    match a[..same].iter().rposition(|byte| *byte == b'/') {
        Some(0) => 1,
        Some(at) => at,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_targets_share_is_left_out() {
        for (a, b, len) in [
            ("A/B", "A/C", 1),
            ("A", "A/C", 1),
            ("AB", "AC", 0),
            ("", "x", 0),
            ("/a", "/b", 1),
            ("x", "x", 1),
            ("http://h/a", "x", 0),
            ("http://h/r/a", "http://h/r/ab", 10),
        ] {
            assert_eq!(common_len(a, b), len, "{a} {b}");
            assert_eq!(common_len(b, a), len, "{b} {a}");
        }
    }

    #[test]
    fn binary_files_are_told_by_their_types() {
        let of = |a: Option<&str>, b: Option<&str>| {
            let text = cannot_display(&[a.map(str::to_owned), b.map(str::to_owned)]);
            text.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(of(Some("a/b"), None), "svn:mime-type = a/b");
        assert_eq!(of(None, Some("a/c")), "svn:mime-type = a/c");
        assert_eq!(of(Some("a/b"), Some("a/b")), "svn:mime-type = a/b");
        assert_eq!(of(Some("a/b"), Some("a/c")), "svn:mime-type = (a/b, a/c)");
    }
}
