//! Files and folders of copies.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use sylvan_core::props::SVN_SPECIAL;
use sylvan_core::{Error, Md5, NodeKind, RelPath, RelPathBuf, Result, Sha1};
use sylvan_io::Cancel;
use sylvan_io::file::{Creation, FileKind, Meta};

use crate::conflict::Conflict;
use crate::db::NodeState;
use crate::delete::conflict_markers;
use crate::install::{self, Source};
use crate::site::{self, Site};
use crate::work_queue::item;
use crate::working::Current;
use crate::{ADM_DIR, WorkingCopy, modified, path_error, pristine, work_queue};

/// What was prepared for a copy.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// Work items, in order.
    pub items: Vec<Vec<u8>>,
    /// Files and folders made in the administrative folder, below it.
    temps: Vec<RelPathBuf>,
}

impl Prepared {
    /// Removes what was prepared, after an error.
    pub(super) fn give_up(self, site: &Site, error: Error) -> Error {
        self.temps.iter().fold(error, |error, temp| {
            match site.adm.remove_tree(temp, &Cancel::new()) {
                Ok(()) => error,
                Err(other) => error.attach(other),
            }
        })
    }
}

/// Finds out what a copy needs on disk, and copies what cannot be made from pristine texts. `wc` is
/// the source's working copy, and the two sites are those of source and target.
pub(super) fn prepare(
    wc: &WorkingCopy,
    (source, site): (&Site, &Site),
    from: &RelPath,
    to: &RelPath,
    cancel: &Cancel,
) -> Result<Prepared> {
    let nodes = wc.db().current_within(from)?;
    let known: BTreeMap<&RelPath, &Current> =
        nodes.iter().map(|node| (&*node.path, node)).collect();
    let mut preparer = Preparer {
        wc,
        source,
        site,
        cancel,
        known,
        prepared: Prepared::default(),
    };
    match preparer.node(from, to) {
        Ok(()) => Ok(preparer.prepared),
        Err(error) => Err(preparer.prepared.give_up(site, error)),
    }
}

struct Preparer<'a> {
    /// The working copy of the source.
    wc: &'a WorkingCopy,
    source: &'a Site,
    /// Where the target is.
    site: &'a Site,
    cancel: &'a Cancel,
    known: BTreeMap<&'a RelPath, &'a Current>,
    prepared: Prepared,
}

impl Preparer<'_> {
    fn node(&mut self, from: &RelPath, to: &RelPath) -> Result<()> {
        self.cancel.check()?;
        let Some(node) = self.known.get(from).copied() else {
            return Ok(());
        };
        let meta = self.source.root.lstat(from)?;
        if node.layer.kind == NodeKind::Dir {
            self.folder(node, meta, to)
        } else {
            self.file(node, meta, to)
        }
    }

    fn folder(&mut self, node: &Current, meta: Option<Meta>, to: &RelPath) -> Result<()> {
        match meta {
            None => {}
            Some(meta) if meta.is_dir() => self.prepared.items.push(item::dir_install(to)),
            Some(meta) => {
                // Something else is in the folder's place, and goes along as it is.
                self.temp(&node.path, meta, to)?;
                return Ok(());
            }
        }
        let is_there = meta.is_some();
        let mut versioned = BTreeSet::new();
        for child in self.wc.db().children(&node.path)? {
            if matches!(child.state(), NodeState::Normal | NodeState::Added) {
                if child.top().is_some_and(|top| top.file_external) {
                    versioned.insert(child.path.basename().to_owned());
                    continue;
                }
                versioned.insert(child.path.basename().to_owned());
                if is_there {
                    let target = to.child(child.path.basename())?;
                    self.node(&child.path, &target)?;
                }
            }
        }
        if is_there {
            self.unversioned(&node.path, to, &versioned)?;
        }
        Ok(())
    }

    /// Copies what is in a folder but not under version control, except the files that tell of
    /// conflicts.
    fn unversioned(
        &mut self,
        from: &RelPath,
        to: &RelPath,
        versioned: &BTreeSet<String>,
    ) -> Result<()> {
        let mut markers = BTreeSet::new();
        for child in self.wc.db().children(from)? {
            markers.extend(conflict_markers(child.actual.conflict.as_deref())?);
        }
        if let Some(node) = self.known.get(from) {
            markers.extend(conflict_markers(node.actual.conflict.as_deref())?);
        }
        let mut names = self.source.root.read_dir(from)?;
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, _) in names {
            self.cancel.check()?;
            if name == ADM_DIR.as_bytes() {
                continue;
            }
            let Ok(text) = std::str::from_utf8(&name) else {
                return Err(path_error::not_utf8(&self.source.root.full(from), &name));
            };
            let path = from.child(text)?;
            if versioned.contains(text) || markers.contains(&path) {
                continue;
            }
            if let Some(meta) = self.source.root.lstat(&path)? {
                self.temp(&path, meta, &to.child(text)?)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, node: &Current, meta: Option<Meta>, to: &RelPath) -> Result<()> {
        // Of a text in conflict the user's own version is copied.
        let mine = mine_of(node)?;
        if let Some(mine) = mine
            && let Some(meta) = self.source.root.lstat(&mine)?
            && meta.is_file()
        {
            return self.temp(&mine, meta, to);
        }
        let Some(meta) = meta else {
            return Ok(());
        };
        if !meta.is_dir() && self.is_unmodified(node, meta)? {
            self.prepared
                .items
                .push(item::file_install(to, false, true));
            return Ok(());
        }
        self.temp(&node.path, meta, to)
    }

    fn is_unmodified(&self, node: &Current, meta: Meta) -> Result<bool> {
        let Some(sha1) = node.layer.sha1()? else {
            return Ok(false);
        };
        let size = i64::try_from(meta.size).unwrap_or(-1);
        let props = node.props()?;
        if props.contains_key(SVN_SPECIAL) != meta.is_symlink() {
            return Ok(false);
        }
        if node.layer.recorded() == Some((size, meta.mtime.micros())) {
            return Ok(true);
        }
        let _ = pristine::path(&sha1)?;
        let recipe = work_queue::recipe_with(self.wc, &node.layer, &props, false)?;
        let root = &self.source.root;
        let differs = modified::differs(root, &node.path, &node.layer, || Ok(recipe.translation))?;
        Ok(!differs)
    }

    /// Copies a file, symlink or folder to the administrative folder, from where a work item moves
    /// it into place.
    fn temp(&mut self, from: &RelPath, meta: Meta, to: &RelPath) -> Result<()> {
        let temp = site::tmp().child(&install::temp_name())?;
        self.site.adm.make_dir_all(site::tmp())?;
        self.prepared.temps.push(temp.clone());
        if !self.duplicate(from, meta, &temp)? {
            return Ok(());
        }
        let adm = RelPath::new(ADM_DIR)?;
        self.prepared
            .items
            .push(item::file_move(&adm.join(&temp), to));
        Ok(())
    }

    /// Copies to a path in the administrative folder; tells whether there was something that can
    /// be copied.
    fn duplicate(&self, from: &RelPath, meta: Meta, temp: &RelPath) -> Result<bool> {
        self.cancel.check()?;
        let (root, adm) = (&self.source.root, &*self.site.adm);
        match meta.kind {
            FileKind::Symlink => {
                let target = root.read_link(from)?;
                adm.make_symlink(OsStr::from_bytes(&target), temp)?;
            }
            FileKind::File => {
                // What is copied can be written, even if it could not where it was.
                let mode = (meta.mode & 0o777) | 0o200;
                let file = adm.create(temp, mode, Creation::Exclusive)?;
                install::copy_plain(&file, Source::File(root, from))?;
                file.close()?;
                if mode & 0o111 != 0 {
                    adm.set_mode(temp, mode)?;
                }
            }
            FileKind::Dir => {
                adm.make_dir(temp)?;
                for (name, _) in root.read_dir(from)? {
                    let Ok(name) = std::str::from_utf8(&name) else {
                        return Err(path_error::not_utf8(&root.full(from), &name));
                    };
                    let child = from.child(name)?;
                    if let Some(meta) = root.lstat(&child)? {
                        self.duplicate(&child, meta, &temp.child(name)?)?;
                    }
                }
            }
            FileKind::Other => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the file with the user's own text of a text conflict.
fn mine_of(node: &Current) -> Result<Option<RelPathBuf>> {
    match node.actual.conflict.as_deref() {
        Some(stored) => Ok(Conflict::parse(stored)?.text.and_then(|text| text.mine)),
        None => Ok(None),
    }
}

/// Lists the files that told of conflicts, where they are after a move: conflicts do not go along.
pub(super) fn markers_of_moved(
    wc: &WorkingCopy,
    from: &RelPath,
    to: &RelPath,
    kind: NodeKind,
) -> Result<Vec<RelPathBuf>> {
    let mut markers = Vec::new();
    for node in wc.db().current_within(from)? {
        for marker in conflict_markers(node.actual.conflict.as_deref())? {
            // Those of a file alone stay where it was.
            let moved = (kind == NodeKind::Dir)
                .then(|| marker.strip_prefix(from).map(|below| to.join(below)))
                .flatten();
            markers.push(moved.unwrap_or(marker));
        }
    }
    Ok(markers)
}

/// Copies the pristine texts of a node and all below it to another working copy; returns what is to
/// be recorded of them.
pub(super) fn transfer_pristines(
    source: (&WorkingCopy, &Site),
    target: (&WorkingCopy, &Site),
    from: &RelPath,
    cancel: &Cancel,
) -> Result<Vec<(Sha1, Md5, u64)>> {
    let mut taken: BTreeMap<String, (Sha1, Md5, u64)> = BTreeMap::new();
    for node in source.0.db().current_within(from)? {
        cancel.check()?;
        let Some(sha1) = node.layer.sha1()? else {
            continue;
        };
        if taken.contains_key(&sha1.to_string()) || target.0.db().pristine(&sha1)?.is_some() {
            continue;
        }
        let Some((md5, size)) = source.0.db().pristine(&sha1)? else {
            continue;
        };
        let path = pristine::path(&sha1)?;
        let (from, adm) = (&*source.1.adm, &*target.1.adm);
        adm.make_dir_all(site::tmp())?;
        let temp = site::tmp().child(&install::temp_name())?;
        let file = adm.create(&temp, 0o444, Creation::Exclusive)?;
        install::copy_plain(&file, Source::File(from, &path))?;
        file.close()?;
        if let Some(shard) = path.parent() {
            adm.make_dir_all(shard)?;
        }
        adm.rename(&temp, &path)?;
        taken.insert(sha1.to_string(), (sha1, md5, size));
    }
    Ok(taken.into_values().collect())
}
