//! Folders: entries by name.
//!
//! A listing is in the [format of properties](sylvan_core::hash_dump): for each name, `file` or
//! `dir`, a blank, and the ID of the node-revision. In a transaction, changes follow the `END`, each
//! an entry or, for a name that is gone, `D`, blank, its length, newline, the name, newline.

use sylvan_core::path::raw;
use sylvan_core::{NodeKind, Result};

use crate::id::NodeRevId;
use crate::text::{corrupt, parse_number, put_number, take_line, take_word};

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: String,
    /// A file or a folder.
    pub kind: NodeKind,
    /// The node-revision.
    pub id: NodeRevId,
}

/// The entries of a folder, in order of name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    entries: Vec<DirEntry>,
}

impl Directory {
    /// Parses a listing. `incremental` takes changes after the `END`. `owner` is for errors.
    ///
    /// # Errors
    /// [`FS_CORRUPT`](sylvan_core::ErrorCode::FS_CORRUPT), and what
    /// [`NodeRevId::parse`] tells.
    pub fn parse(text: &[u8], incremental: bool, owner: &NodeRevId) -> Result<Self> {
        let bad = || corrupt(format!("Directory representation corrupt in '{owner}'"));
        // Hardly an entry takes less.
        let mut directory = Self {
            entries: Vec::with_capacity(text.len() / 48 + 1),
        };
        let mut rest = text;
        loop {
            let line = take_line(&mut rest).ok_or_else(bad)?;
            if line == b"END" {
                break;
            }
            let name = counted(line, b"K ", &mut rest).ok_or_else(bad)?;
            let value = take_value(&mut rest).ok_or_else(bad)?;
            directory.entries.push(parse_entry(name, value, owner)?);
        }
        // Written in order, as a rule.
        if !directory.entries.is_sorted_by(|a, b| a.name < b.name) {
            directory.entries.sort_by(|a, b| a.name.cmp(&b.name));
        }
        if !incremental {
            return Ok(directory);
        }
        while let Some(line) = take_line(&mut rest) {
            if let Some(name) = counted(line, b"D ", &mut rest) {
                let name = raw::from_bytes(name).ok_or_else(bad)?;
                directory.remove(&name);
                continue;
            }
            let name = counted(line, b"K ", &mut rest).ok_or_else(bad)?;
            let value = take_value(&mut rest).ok_or_else(bad)?;
            directory.set(parse_entry(name, value, owner)?);
        }
        Ok(directory)
    }

    /// Returns the entries, in order of name.
    pub fn entries(&self) -> &[DirEntry] {
        &self.entries
    }

    /// Returns an entry.
    pub fn get(&self, name: &str) -> Option<&DirEntry> {
        self.position(name).ok().map(|at| &self.entries[at])
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [DirEntry] {
        &mut self.entries
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|entry| entry.name.as_str().cmp(name))
    }

    /// Adds or replaces an entry.
    pub(crate) fn set(&mut self, entry: DirEntry) {
        match self.position(&entry.name) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    /// Removes an entry; tells whether it was there.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let found = self.position(name);
        found.map(|at| self.entries.remove(at)).is_ok()
    }

    pub(crate) fn weight(&self) -> usize {
        let names: usize = self.entries.iter().map(|entry| entry.name.len()).sum();
        names + self.entries.len() * size_of::<DirEntry>() + 64
    }

    /// Writes the listing.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.entries.len() * 64 + 4);
        let mut value = Vec::with_capacity(64);
        for entry in &self.entries {
            write_entry(entry, &mut value, &mut out);
        }
        out.extend_from_slice(b"END\n");
        out
    }
}

/// Appends an entry as listings have it. `value` is a buffer.
fn write_entry(entry: &DirEntry, value: &mut Vec<u8>, out: &mut Vec<u8>) {
    value.clear();
    value.extend_from_slice(entry.kind.as_str().as_bytes());
    value.push(b' ');
    entry.id.put_into(value);
    for (letter, text) in [(b"K ", &*raw::to_bytes(&entry.name)), (b"V ", value)] {
        out.extend_from_slice(letter);
        put_number(text.len() as u64, out);
        out.push(b'\n');
        out.extend_from_slice(text);
        out.push(b'\n');
    }
}

/// Reads the text whose length the line tells, and the newline after it.
fn counted<'a>(line: &[u8], letter: &[u8], rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(parse_number(line.strip_prefix(letter)?)?).ok()?;
    let (text, later) = rest.split_at_checked(len)?;
    *rest = later.strip_prefix(b"\n")?;
    Some(text)
}

fn take_value<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let line = take_line(rest)?;
    counted(line, b"V ", rest)
}

fn parse_entry(name: &[u8], value: &[u8], owner: &NodeRevId) -> Result<DirEntry> {
    let bad = || corrupt(format!("Directory entry corrupt in '{owner}'"));
    let mut rest = value;
    let kind = match take_word(&mut rest) {
        Some(b"file") => NodeKind::File,
        Some(b"dir") => NodeKind::Dir,
        _ => return Err(bad()),
    };
    let id = NodeRevId::parse(take_word(&mut rest).ok_or_else(bad)?)?;
    let name = raw::from_bytes(name).ok_or_else(bad)?;
    // A name that is no component would lead out of the folder.
    if matches!(&*name, "" | "." | "..") || name.contains('/') {
        return Err(bad());
    }
    Ok(DirEntry {
        name: name.into_owned(),
        kind,
        id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "K 1\na\nV 15\nfile 1-1.0.r1/3\nK 3\nb c\nV 14\ndir 2-1.0.r1/4\nEND\n";

    fn owner() -> NodeRevId {
        NodeRevId::parse(b"0.0.r1/2").unwrap()
    }

    fn parse(text: &str, incremental: bool) -> Result<Directory> {
        Directory::parse(text.as_bytes(), incremental, &owner())
    }

    #[test]
    fn what_is_written_is_parsed() {
        let directory = parse(LISTING, false).unwrap();
        assert_eq!(directory.entries().len(), 2);
        assert_eq!(directory.get("b c").unwrap().kind, NodeKind::Dir);
        assert_eq!(directory.get("b"), None);
        assert_eq!(directory.to_bytes(), LISTING.as_bytes());
    }

    #[test]
    fn changes_follow() {
        let text = format!("{LISTING}D 1\na\nK 1\nz\nV 17\nfile _1.0.t1-1a\nx\n");
        assert!(parse(&text, true).is_err());
        let mut changes = LISTING.as_bytes().to_vec();
        changes.extend_from_slice(b"D 1\na\nD 4\nnone\n");
        let entry = DirEntry {
            name: "0".into(),
            kind: NodeKind::File,
            id: NodeRevId::parse(b"_1.0.t1-1a").unwrap(),
        };
        write_entry(&entry, &mut Vec::new(), &mut changes);
        let directory = Directory::parse(&changes, true, &owner()).unwrap();
        let names: Vec<_> = directory
            .entries()
            .iter()
            .map(|entry| &*entry.name)
            .collect();
        assert_eq!(names, ["0", "b c"]);
    }

    #[test]
    fn damage_is_named() {
        for (from, to, message) in [
            (
                "END\n",
                "",
                "E160004: Directory representation corrupt in '0.0.r1/2'",
            ),
            (
                "K 3",
                "K 4",
                "E160004: Directory representation corrupt in '0.0.r1/2'",
            ),
            (
                "K 3",
                "K 99999999999999999999",
                "E160004: Directory representation corrupt in '0.0.r1/2'",
            ),
            (
                "file ",
                "link ",
                "E160004: Directory entry corrupt in '0.0.r1/2'",
            ),
            (
                "b c",
                "b/c",
                "E160004: Directory entry corrupt in '0.0.r1/2'",
            ),
            (
                "1-1.0.r1/3",
                "1-1.0.x1/3",
                "E160062: Malformed node revision ID string '1-1.0.x1/3'",
            ),
        ] {
            let error = parse(&LISTING.replacen(from, to, 1), false).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
