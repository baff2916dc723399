//! One folder of a working copy before Subversion 1.7: its entries, pristine texts, properties and
//! what a server's URLs were, brought into the database.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read as _;
use std::rc::Rc;

use md5::Digest as _;
use rusqlite::params;
use sylvan_core::{
    Checksum, Dirent, Error, ErrorCode, Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum,
    Sha1, Url, hash_dump, props,
};
use sylvan_io::file::{self, Creation, Dir};

use super::conflicts::{self, Old, OldTree};
use super::entries::{Entries, Entry};
use super::layers::{Layers, Row, Subject, Text, Texts};
use super::{
    INSERT_ACTUAL, INSERT_LOCK, INSERT_NODE, INSERT_TEXT, SELECT_FILES, SELECT_LAYERS,
    SET_LOCAL_PROPERTIES, UPDATE_DAV_CACHE, UPDATE_PROPERTIES,
};
use crate::db::Db;
use crate::{ADM_DIR, pristine};

/// The last format in which a replaced node kept no properties of what it had replaced.
const NO_REVERT_FILES: i64 = 4;

/// The last format that had a file for each child's `wcprops`.
const WCPROPS_MANY_FILES: i64 = 7;

/// What a folder hands on to those below.
pub(super) struct Folder {
    layers: Layers,
    trees: BTreeMap<RelPathBuf, OldTree>,
}

/// Where folders are brought to.
pub(super) struct Target<'a> {
    /// The working copy's root.
    pub(super) root: &'a Dirent,
    pub(super) tree: &'a Dir,
    pub(super) db: &'a Db,
    pub(super) repos_id: i64,
    /// Where the pristine texts are collected, below the root.
    pub(super) store: RelPathBuf,
    /// Those that are there.
    pub(super) stored: HashSet<Sha1>,
}

impl Target<'_> {
    /// Brings a folder into the database.
    ///
    /// # Errors
    /// `E155016` for a folder whose entries or files contradict each other.
    pub(super) fn add(
        &mut self,
        path: &RelPath,
        format: i64,
        entries: &Entries,
        parent: Option<&Folder>,
    ) -> Result<Rc<Folder>> {
        let texts = self.texts(path)?;
        let folder = self
            .entries(path, entries, parent, &texts)
            .map_err(|error| {
                if error.code() == ErrorCode::WC_CORRUPT {
                    error.context(
                    "This working copy is corrupt and cannot be upgraded. Please check out a new \
                     working copy.",
                )
                } else {
                    error
                }
            })?;
        self.dav_cache(path, format)?;
        self.properties(path, format)?;
        Ok(Rc::new(folder))
    }

    fn entries(
        &self,
        path: &RelPath,
        entries: &Entries,
        parent: Option<&Folder>,
        texts: &BTreeMap<String, Texts>,
    ) -> Result<Folder> {
        let this_dir = entries
            .get("")
            .ok_or_else(|| Error::from_code(ErrorCode::ENTRY_NOT_FOUND))?;
        let layers = self.entry(path, this_dir, this_dir, parent, Texts::default())?;
        let mut trees = BTreeMap::new();
        for tree in this_dir
            .tree_conflicts
            .as_deref()
            .map(conflicts::parse_all)
            .transpose()?
            .unwrap_or_default()
        {
            trees.insert(path.child(&tree.victim)?, tree);
        }
        let folder = Folder { layers, trees };
        let mut seen = BTreeSet::new();
        for (name, entry) in entries.iter().filter(|(name, _)| !name.is_empty()) {
            let child = path.child(name)?;
            let texts = texts.get(name).copied().unwrap_or_default();
            self.entry(&child, entry, this_dir, Some(&folder), texts)?;
            seen.insert(child);
        }
        for (victim, tree) in &folder.trees {
            if !seen.contains(victim) {
                let conflict = Old {
                    tree: Some(tree.clone()),
                    ..Old::default()
                };
                self.insert_actual(victim, None, conflict)?;
            }
        }
        Ok(folder)
    }

    fn entry(
        &self,
        path: &RelPath,
        entry: &Entry,
        this_dir: &Entry,
        parent: Option<&Folder>,
        texts: Texts,
    ) -> Result<Layers> {
        let subject = Subject {
            root: self.root,
            path,
            entry,
            this_dir,
            parent: parent.map(|parent| &parent.layers),
            texts,
        };
        let layers = subject.layers()?;
        let rows = [&layers.hole, &layers.base, &layers.below, &layers.work];
        for row in rows.into_iter().flatten() {
            self.insert(path, row)?;
        }
        if let (Some(base), Some(lock)) = (&layers.base, &entry.lock)
            && let Some(repos_path) = base
                .repos_path
                .as_deref()
                .filter(|_| !entry.name.is_empty())
        {
            self.db.execute(
                INSERT_LOCK,
                params![
                    self.repos_id,
                    repos_path.as_str(),
                    lock.token,
                    lock.owner,
                    lock.comment,
                    (lock.date != 0).then_some(lock.date),
                ],
            )?;
        }
        let around = path.parent().unwrap_or(RelPath::ROOT);
        let folder = if entry.kind == NodeKind::Dir {
            path
        } else {
            around
        };
        let in_folder = |folder: &RelPath, file: &Option<RelPathBuf>| {
            file.as_deref().map(|file| folder.join(file))
        };
        let mut conflict = Old {
            prejfile: in_folder(folder, &entry.prejfile),
            tree: parent.and_then(|parent| parent.trees.get(path).cloned()),
            ..Old::default()
        };
        if entry.conflict_old.is_some() {
            conflict.old = in_folder(around, &entry.conflict_old);
            conflict.mine = in_folder(around, &entry.conflict_wrk);
            conflict.theirs = in_folder(around, &entry.conflict_new);
        }
        self.insert_actual(path, entry.changelist.as_deref(), conflict)?;
        Ok(layers)
    }

    fn insert(&self, path: &RelPath, row: &Row) -> Result<()> {
        let is_present = row.presence.is_present();
        let has_repos = row.repos_path.is_some();
        let is_file = row.kind == NodeKind::File && is_present;
        if is_file && row.checksum.is_none() && row.op_depth == 0 {
            return Err(Error::new(
                ErrorCode::WC_CORRUPT,
                format!("The file '{path}' has no checksum"),
            ));
        }
        let location = row
            .repos_path
            .as_deref()
            .filter(|_| row.presence != crate::db::Presence::BaseDeleted);
        let changed = (is_present && has_repos).then_some(&row.changed);
        let kind = match row.kind {
            NodeKind::None => NodeKind::Unknown,
            kind => kind,
        };
        let is_folder = row.kind == NodeKind::Dir && is_present;
        self.db.execute(
            INSERT_NODE,
            params![
                self.db.wc_id(),
                path.as_str(),
                i64::try_from(row.op_depth).unwrap_or(i64::MAX),
                path.parent().map(RelPath::as_str),
                location.map(|_| self.repos_id),
                location.map(RelPath::as_str),
                location.and(row.revision).map(Revnum::number),
                row.presence.as_str(),
                kind.as_str(),
                is_folder.then_some(row.depth.as_str()),
                row.stored_checksum().filter(|_| is_file),
                changed.and_then(|changed| changed.rev).map(Revnum::number),
                changed.map(|changed| changed.date),
                changed.and_then(|changed| changed.author.as_deref()),
                row.size.filter(|_| is_file && has_repos),
                (is_file && has_repos).then_some(row.time),
                row.is_file_external.then_some(1),
                (row.is_switched && is_present).then_some(b"()".as_slice()),
            ],
        )?;
        Ok(())
    }

    fn insert_actual(&self, path: &RelPath, changelist: Option<&str>, old: Old) -> Result<()> {
        let conflict = old.into_stored()?;
        if conflict.is_none() && changelist.is_none() {
            return Ok(());
        }
        self.db.execute(
            INSERT_ACTUAL,
            params![
                self.db.wc_id(),
                path.as_str(),
                path.parent().map(RelPath::as_str),
                changelist,
                conflict,
            ],
        )?;
        Ok(())
    }

    /// Copies the pristine texts of a folder into the store.
    fn texts(&mut self, folder: &RelPath) -> Result<BTreeMap<String, Texts>> {
        let mut found: BTreeMap<String, Texts> = BTreeMap::new();
        let place = folder.join(RelPath::new(&format!("{ADM_DIR}/text-base"))?);
        for (name, _) in self.tree.read_dir(&place)? {
            let Ok(name) = String::from_utf8(name) else {
                continue;
            };
            let text = self.store(&place.child(&name)?)?;
            if let Some(owner) = name.strip_suffix(".svn-revert") {
                found.entry(owner.to_owned()).or_default().revert = Some(text);
            } else if let Some(owner) = name.strip_suffix(".svn-base") {
                found.entry(owner.to_owned()).or_default().normal = Some(text);
            }
        }
        Ok(found)
    }

    fn store(&mut self, from: &RelPath) -> Result<Text> {
        let (text, size) = self.digest(from)?;
        if self.stored.contains(&text.sha1) {
            return Ok(text);
        }
        let to = self.store.join(&pristine::path(&text.sha1)?);
        if let Some(shard) = to.parent() {
            self.tree.make_dir_all(shard)?;
        }
        let mut source = self.tree.open_file(from)?;
        let out = self.tree.create(&to, 0o444, Creation::Fresh)?;
        read_chunks(&self.root.join_relpath(from), &mut source, |bytes| {
            out.write_all(bytes)
        })?;
        out.close()?;
        self.db.execute(
            INSERT_TEXT,
            params![
                Checksum::Sha1(text.sha1).to_db(),
                Checksum::Md5(text.md5).to_db(),
                size
            ],
        )?;
        self.stored.insert(text.sha1);
        Ok(text)
    }

    fn digest(&self, path: &RelPath) -> Result<(Text, i64)> {
        let (mut md5, mut sha1) = (md5::Md5::new(), sha1::Sha1::new());
        let mut size = 0;
        let mut source = self.tree.open_file(path)?;
        read_chunks(&self.root.join_relpath(path), &mut source, |bytes| {
            md5.update(bytes);
            sha1.update(bytes);
            size += bytes.len() as i64;
            Ok(())
        })?;
        let text = Text {
            sha1: Sha1(sha1.finalize().into()),
            md5: Md5(md5.finalize().into()),
        };
        Ok((text, size))
    }

    /// Keeps what a server said of its URLs.
    fn dav_cache(&self, folder: &RelPath, format: i64) -> Result<()> {
        let all = if format <= WCPROPS_MANY_FILES {
            self.wcprops_of_files(folder)?
        } else {
            match self.read_adm(folder, "all-wcprops")? {
                Some(text) => parse_wcprops(&text).map_err(|error| match error.code() {
                    ErrorCode::WC_CORRUPT => error.context(format!(
                        "Missing end of line in wcprops file for '{}'",
                        self.root.join_relpath(folder)
                    )),
                    _ => error,
                })?,
                None => BTreeMap::new(),
            }
        };
        for (name, cache) in all {
            let Ok(path) = child_or_self(folder, &name) else {
                continue;
            };
            self.db.execute(
                UPDATE_DAV_CACHE,
                params![self.db.wc_id(), path.as_str(), props::to_skel(&cache)],
            )?;
        }
        Ok(())
    }

    fn wcprops_of_files(&self, folder: &RelPath) -> Result<BTreeMap<String, Props>> {
        let mut all = BTreeMap::new();
        if let Some(found) = self.read_props(folder, "dir-wcprops")? {
            all.insert(String::new(), found);
        }
        for name in self.names_in(folder, "wcprops")? {
            if let Some(found) = self.read_props(folder, &format!("wcprops/{name}"))? {
                let owner = name.strip_suffix(".svn-work").unwrap_or(&name);
                all.insert(owner.to_owned(), found);
            }
        }
        Ok(all)
    }

    fn names_in(&self, folder: &RelPath, name: &str) -> Result<BTreeSet<String>> {
        let place = folder.join(RelPath::new(&format!("{ADM_DIR}/{name}"))?);
        if self.tree.lstat(&place)?.is_none() {
            return Ok(BTreeSet::new());
        }
        let names = self.tree.read_dir(&place)?.into_iter();
        Ok(names
            .filter_map(|(name, _)| String::from_utf8(name).ok())
            .collect())
    }

    fn read_adm(&self, folder: &RelPath, name: &str) -> Result<Option<Vec<u8>>> {
        let path = folder.join(RelPath::new(&format!("{ADM_DIR}/{name}"))?);
        match self.tree.read(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error)
                if matches!(
                    file::error_kind(&error),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a file of properties; an empty one means that there are none.
    fn read_props(&self, folder: &RelPath, name: &str) -> Result<Option<Props>> {
        match self.read_adm(folder, name)? {
            None => Ok(None),
            Some(text) if text.is_empty() => Ok(Some(Props::new())),
            Some(text) => hash_dump::read(&text).map(Some),
        }
    }

    /// Brings the properties of a folder and of the files in it.
    fn properties(&self, folder: &RelPath, format: i64) -> Result<()> {
        let own = Found {
            base: self.read_props(folder, "dir-prop-base")?,
            revert: self.read_props(folder, "dir-prop-revert")?,
            working: self.read_props(folder, "dir-props")?,
        };
        self.apply(folder, own, format)?;
        let bases = self.names_in(folder, "prop-base")?;
        let workings = self.names_in(folder, "props")?;
        let read = |names: &BTreeSet<String>, folder_name: &str, name: String| {
            if names.contains(&name) {
                self.read_props(folder, &format!("{folder_name}/{name}"))
            } else {
                Ok(None)
            }
        };
        let files = self.db.rows(
            SELECT_FILES,
            params![self.db.wc_id(), folder.as_str()],
            |row| crate::db::path_column(row, 0),
        )?;
        for path in files.into_iter().flatten() {
            let name = path.basename();
            let found = Found {
                base: read(&bases, "prop-base", format!("{name}.svn-base"))?,
                revert: read(&bases, "prop-base", format!("{name}.svn-revert"))?,
                working: read(&workings, "props", format!("{name}.svn-work"))?,
            };
            self.apply(&path, found, format)?;
        }
        Ok(())
    }

    /// Gives the rows of a node its properties: those of the entry go to the highest row if there is
    /// one row, or if others were kept for the one below; else to that.
    fn apply(&self, path: &RelPath, mut found: Found, format: i64) -> Result<()> {
        let rows = self.db.rows(
            SELECT_LAYERS,
            params![self.db.wc_id(), path.as_str()],
            |row| {
                let read = || -> rusqlite::Result<(i64, String)> { Ok((row.get(0)?, row.get(1)?)) };
                read().map_err(crate::db::sqlite_error)
            },
        )?;
        let place = || self.root.join_relpath(path);
        let Some((top, top_presence)) = rows.first() else {
            return Err(insufficient(&place()));
        };
        let is_gone = |presence: &str| matches!(presence, "not-present" | "base-deleted");
        let below = match rows.get(1) {
            // A layer between may but make room.
            Some((_, presence)) if is_gone(presence) => rows.get(2),
            below => below,
        };
        let is_unsure = format > NO_REVERT_FILES
            && found.revert.is_none()
            && top_presence == "normal"
            && below.is_some_and(|(_, presence)| presence != "not-present");
        if is_unsure {
            return Err(Error::new(
                ErrorCode::WC_CORRUPT,
                format!(
                    "The properties of '{}' are in an indeterminate state and cannot be upgraded. \
                     See issue #2530.",
                    place()
                ),
            ));
        }
        if below.is_none() && found.revert.is_some() {
            return Err(insufficient(&place()));
        }
        if found.revert.is_some() || below.is_none() {
            self.set_properties(path, *top, found.base.as_ref())?;
        }
        if let Some((below, _)) = below {
            let of_below = found.revert.as_ref().or(found.base.as_ref());
            self.set_properties(path, *below, of_below)?;
        }
        if found.working == found.base {
            found.working = None;
        }
        if let Some(working) = found.working {
            self.db.execute(
                SET_LOCAL_PROPERTIES,
                params![
                    self.db.wc_id(),
                    path.as_str(),
                    path.parent().map(RelPath::as_str),
                    props::to_skel(&working)
                ],
            )?;
        }
        Ok(())
    }

    fn set_properties(&self, path: &RelPath, op_depth: i64, found: Option<&Props>) -> Result<()> {
        self.db.execute(
            UPDATE_PROPERTIES,
            params![
                self.db.wc_id(),
                path.as_str(),
                op_depth,
                found.map(props::to_skel)
            ],
        )?;
        Ok(())
    }
}

/// The properties of a node: of its entry, of what it has replaced, and with local changes.
struct Found {
    base: Option<Props>,
    revert: Option<Props>,
    working: Option<Props>,
}

fn insufficient(place: &Dirent) -> Error {
    Error::new(
        ErrorCode::WC_CORRUPT,
        format!("Insufficient NODES rows for '{place}'"),
    )
}

fn child_or_self(folder: &RelPath, name: &str) -> Result<RelPathBuf> {
    if name.is_empty() {
        Ok(folder.to_owned())
    } else {
        folder.child(name)
    }
}

/// Reads `all-wcprops`: the properties of the folder, then for each child its name and its own.
fn parse_wcprops(text: &[u8]) -> Result<BTreeMap<String, Props>> {
    let mut rest = text;
    let mut all = BTreeMap::new();
    all.insert(String::new(), hash_dump::read_next(&mut rest)?);
    while !rest.is_empty() {
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or_else(|| Error::from_code(ErrorCode::WC_CORRUPT))?;
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        all.insert(name, hash_dump::read_next(&mut rest)?);
    }
    Ok(all)
}

fn read_chunks(
    path: &Dirent,
    source: &mut std::fs::File,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = source
            .read(&mut buffer)
            .map_err(|error| Error::io(&error, format_args!("Can't read file '{path}'")))?;
        if length == 0 {
            return Ok(());
        }
        take(&buffer[..length])?;
    }
}

/// Roots and UUIDs of repositories that are known, for folders that do not tell theirs.
#[derive(Default)]
pub(super) struct KnownRepositories(Vec<(Url, String)>);

impl KnownRepositories {
    /// Sees to it that a folder's own entry names its repository.
    ///
    /// # Errors
    /// What `ask` gives, who asks the repository at a URL for its root and UUID.
    pub(super) fn complete(
        &mut self,
        entry: &mut Entry,
        place: &Dirent,
        ask: &mut dyn FnMut(&Url) -> Result<(Url, String)>,
    ) -> Result<(Url, String)> {
        if entry.repos.is_none() || entry.uuid.is_none() {
            let Some(url) = &entry.url else {
                return Err(Error::new(
                    ErrorCode::WC_UNSUPPORTED_FORMAT,
                    format!(
                        "Working copy '{place}' can't be upgraded because it doesn't have a url"
                    ),
                ));
            };
            let known = self
                .0
                .iter()
                .find(|(root, _)| url.strip_prefix(root).is_some());
            if let Some((root, uuid)) = known {
                entry.repos.get_or_insert_with(|| root.clone());
                entry.uuid.get_or_insert_with(|| uuid.clone());
            } else {
                let (root, uuid) = ask(url)?;
                entry.repos = Some(root);
                entry.uuid = Some(uuid);
            }
        }
        let (Some(root), Some(uuid)) = (entry.repos.clone(), entry.uuid.clone()) else {
            return Err(Error::from_code(ErrorCode::WC_UNSUPPORTED_FORMAT));
        };
        if !self.0.iter().any(|(known, _)| *known == root) {
            self.0.push((root.clone(), uuid.clone()));
        }
        Ok((root, uuid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wcprops_of_a_folder_follow_each_other() {
        let text = b"K 3\nurl\nV 2\n/x\nEND\niota\nK 3\nurl\nV 2\n/y\nEND\n";
        let all = parse_wcprops(text).unwrap();
        assert_eq!(all[""]["url"], b"/x");
        assert_eq!(all["iota"]["url"], b"/y");
        assert!(parse_wcprops(b"END\niota").is_err());
    }
}
