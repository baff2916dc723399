//! Changed paths of a revision: two lines each.
//!
//! ```text
//! 2-1.0.r3/5 modify-file true false false /trunk/file
//! 2 /branch/file            (or an empty line: not copied)
//! ```
//!
//! The words are: node-revision, action and kind, whether the text, the properties and (format 7)
//! the mergeinfo changed, path. An empty line or the end ends the list.

use sylvan_core::{NodeKind, RelPath, RelPathBuf, Result, Revnum};

use crate::format::FormatNumber;
use crate::id::NodeRevId;
use crate::text::{
    corrupt, or_corrupt, parse_fspath, parse_revnum, put_fspath, put_revnum, take_line, take_word,
};

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Its node changed.
    Modify,
    /// It is new.
    Add,
    /// It is gone.
    Delete,
    /// It is another node than before.
    Replace,
    /// What was said before of it does not count (in transactions).
    Reset,
}

impl ChangeKind {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Modify, "modify"),
        (Self::Add, "add"),
        (Self::Delete, "delete"),
        (Self::Replace, "replace"),
        (Self::Reset, "reset"),
    ];

    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, word)| *word)
    }
}

/// A changed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: RelPathBuf,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The node's kind; [`NodeKind::Unknown`] in formats before 4.
    pub node_kind: NodeKind,
    /// The new node-revision; for deletions, the one that is gone. `None` only for
    /// [`ChangeKind::Reset`].
    pub id: Option<NodeRevId>,
    /// Whether the content changed.
    pub text_mod: bool,
    /// Whether properties changed.
    pub prop_mod: bool,
    /// Whether `svn:mergeinfo` changed; not known in formats before 7.
    pub mergeinfo_mod: Option<bool>,
    /// The source, if it is a copy.
    pub copyfrom: Option<(Revnum, RelPathBuf)>,
}

impl Change {
    /// Parses a change at the front of `rest`, whole lines; `None` at the end of the list.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT) and
    /// [`FS_MALFORMED_NODEREV_ID`](sylvan_core::ErrorCode::FS_MALFORMED_NODEREV_ID).
    pub fn take(rest: &mut &[u8]) -> Result<Option<Self>> {
        const INVALID: &str = "Invalid changes line in rev-file";
        let Some(mut line) = take_line(rest).filter(|line| !line.is_empty()) else {
            return Ok(None);
        };
        let id = match or_corrupt(take_word(&mut line), INVALID)? {
            b"reset" => None,
            text => Some(NodeRevId::parse(text)?),
        };
        let action = or_corrupt(take_word(&mut line), INVALID)?;
        let (action, node_kind) = match action.iter().position(|byte| *byte == b'-') {
            None => (action, NodeKind::Unknown),
            Some(at) => match &action[at + 1..] {
                b"file" => (&action[..at], NodeKind::File),
                b"dir" => (&action[..at], NodeKind::Dir),
                _ => return Err(corrupt(INVALID)),
            },
        };
        let found = ChangeKind::ALL
            .iter()
            .find(|(_, word)| word.as_bytes() == action);
        let (kind, _) = *or_corrupt(found, "Invalid change kind in rev file")?;
        let mut flag = |message| match or_corrupt(take_word(&mut line), INVALID)? {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => Err(corrupt(message)),
        };
        let text_mod = flag("Invalid text-mod flag in rev-file")?;
        let prop_mod = flag("Invalid prop-mod flag in rev-file")?;
        let mergeinfo_mod = if line.first() == Some(&b'/') {
            None
        } else {
            let word = or_corrupt(take_word(&mut line), INVALID)?;
            match word {
                b"true" => Some(true),
                b"false" => Some(false),
                _ => return Err(corrupt("Invalid mergeinfo-mod flag in rev-file")),
            }
        };
        let path = or_corrupt(parse_fspath(line), "Invalid path in changes line")?;
        Ok(Some(Self {
            path,
            kind,
            node_kind,
            id,
            text_mod,
            prop_mod,
            mergeinfo_mod,
            copyfrom: take_copyfrom(rest)?,
        }))
    }

    /// Appends the change as it is stored. In transactions `kinds` and `mergeinfo` are always
    /// written.
    pub(crate) fn write(&self, kinds: bool, mergeinfo: bool, out: &mut Vec<u8>) {
        match &self.id {
            Some(id) => id.put_into(out),
            None => out.extend_from_slice(b"reset"),
        }
        let flag = |is: bool| if is { "true" } else { "false" };
        put_word(self.kind.word(), out);
        if kinds && self.node_kind != NodeKind::Unknown {
            out.push(b'-');
            out.extend_from_slice(self.node_kind.as_str().as_bytes());
        }
        put_word(flag(self.text_mod), out);
        put_word(flag(self.prop_mod), out);
        if let Some(changed) = self.mergeinfo_mod.filter(|_| mergeinfo) {
            put_word(flag(changed), out);
        }
        out.push(b' ');
        put_fspath(&self.path, out);
        out.push(b'\n');
        if let Some((revision, path)) = &self.copyfrom {
            put_revnum(*revision, out);
            out.push(b' ');
            put_fspath(path, out);
        }
        out.push(b'\n');
    }

    /// Appends the change as a revision of this format stores it.
    pub fn write_for(&self, format: FormatNumber, out: &mut Vec<u8>) {
        let kinds = format.has_kind_in_changes();
        self.write(kinds, format.has_mergeinfo_in_changes(), out);
    }

    /// Returns the source of a copy.
    pub fn copyfrom(&self) -> Option<(Revnum, &RelPath)> {
        self.copyfrom
            .as_ref()
            .map(|(revision, path)| (*revision, &**path))
    }
}

fn put_word(word: &str, out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(word.as_bytes());
}

fn take_copyfrom(rest: &mut &[u8]) -> Result<Option<(Revnum, RelPathBuf)>> {
    let Some(mut line) = take_line(rest).filter(|line| !line.is_empty()) else {
        return Ok(None);
    };
    let revision = match or_corrupt(take_word(&mut line), "Invalid changes line in rev-file")? {
        b"-1" => None,
        number => Some(or_corrupt(
            parse_revnum(number),
            "Invalid character in revision number",
        )?),
    };
    let path = or_corrupt(parse_fspath(line), "Invalid copy-from path in changes line")?;
    Ok(revision.map(|revision| (revision, path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "2-1.0.r3/5 modify-file true false false /trunk/a file\n\n\
        0.0.r3/2 add-dir false true true /x\n2 /branch/y z\n\n";

    fn parse(text: &str) -> Result<Vec<Change>> {
        let mut rest = text.as_bytes();
        let mut changes = Vec::new();
        while let Some(change) = Change::take(&mut rest)? {
            changes.push(change);
        }
        Ok(changes)
    }

    #[test]
    fn what_is_written_is_parsed() {
        let changes = parse(LIST).unwrap();
        assert_eq!(changes.len(), 2);
        let mut out = Vec::new();
        for change in &changes {
            change.write_for(FormatNumber::CURRENT, &mut out);
        }
        assert_eq!(
            String::from_utf8(out).unwrap(),
            LIST.strip_suffix('\n').unwrap()
        );
    }

    #[test]
    fn old_formats_have_less() {
        let change = &parse("1.0.r3/5 delete false false /a\n\n").unwrap()[0];
        assert_eq!(
            (change.node_kind, change.mergeinfo_mod),
            (NodeKind::Unknown, None)
        );
        let mut out = Vec::new();
        parse(LIST).unwrap()[1].write_for(FormatNumber::new(3).unwrap(), &mut out);
        assert_eq!(out, b"0.0.r3/2 add false true /x\n2 /branch/y z\n");
    }

    #[test]
    fn damage_is_named() {
        for (from, to, message) in [
            (
                "modify-file",
                "modify-link",
                "Invalid changes line in rev-file",
            ),
            (
                "modify-file",
                "move-file",
                "Invalid change kind in rev file",
            ),
            ("file true", "file yes", "Invalid text-mod flag in rev-file"),
            (
                "true false false",
                "true no false",
                "Invalid prop-mod flag in rev-file",
            ),
            (
                "false false /t",
                "false no /t",
                "Invalid mergeinfo-mod flag in rev-file",
            ),
            ("/trunk/a", "/trunk//a", "Invalid path in changes line"),
            (
                "2 /branch",
                "2 branch",
                "Invalid copy-from path in changes line",
            ),
            (
                "2 /branch",
                "x /branch",
                "Invalid character in revision number",
            ),
        ] {
            let error = parse(&LIST.replace(from, to)).unwrap_err();
            assert_eq!(error.to_string(), format!("E160004: {message}"));
        }
    }
}
