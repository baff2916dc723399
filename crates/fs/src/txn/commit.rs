//! Makes a revision of a transaction.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use sylvan_core::{
    Error, ErrorCode, NodeKind, RelPathBuf, Result, Revnum, Sha1, Timestamp, hash_dump,
};
use sylvan_io::Cancel;
use sylvan_io::file::{self, TempFile};

use super::rep::{is_mutable, props_kind};
use super::{CHECK_LOCKS, CLIENT_DATE, FLAG_PROPS, Txn, changes};
use crate::cache::{Cache, Kind};
use crate::change::{Change, ChangeKind};
use crate::dir::Directory;
use crate::fs::{Current, FileSystem, Options};
use crate::guard::WriteLock;
use crate::id::{IdPart, NodeRevId, Place};
use crate::index::{self, ITEM_CHANGES, ITEM_ROOT_NODE, ItemKind};
use crate::layout;
use crate::lock::Access;
use crate::node_rev::{NodeRev, Representation};
use crate::pack::PackOptions;
use crate::text::{base36, corrupt};

/// What came of a commit.
#[derive(Debug)]
pub struct Committed {
    /// The new revision.
    pub revision: Revnum,
    /// What failed after it was made, if anything did: texts may be stored twice then.
    pub after: Option<Error>,
}

/// Representations that this commit wrote, by digest.
#[derive(Debug, Default)]
pub(super) struct NewReps(HashMap<Sha1, Representation>);

impl NewReps {
    pub(super) fn get(&self, sha1: Sha1) -> Option<Representation> {
        self.0.get(&sha1).copied()
    }
}

/// What a revision is made with.
struct Final {
    revision: Revnum,
    before: Current,
    props: NewReps,
    to_cache: Vec<Representation>,
    nodes: Vec<Arc<NodeRev>>,
    directories: Vec<(Representation, Arc<Directory>)>,
}

/// What is taken back when a commit cannot go on.
struct Mark {
    items: usize,
    l2p: usize,
    written: usize,
    next_item: u64,
    next_node: u64,
    len: u64,
}

impl Txn {
    /// Commits the transaction; merges what others committed meanwhile. `now` becomes the
    /// revision's date, unless [`Txn::keep_date`] was said.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CONFLICT`] for changes that cannot be merged; after [`Txn::check_locks`], the lock errors for paths
    /// that others have locked. The transaction can be committed again or aborted then. If files
    /// cannot be brought in place it is dead, and no revision was made.
    pub fn commit(&mut self, access: &Access, now: Timestamp) -> Result<Committed> {
        if self.spent {
            let text = format!("Transaction '{}' is dead", self.id);
            return Err(Error::new(ErrorCode::FS_TRANSACTION_DEAD, text));
        }
        loop {
            let (lock, before) = self.fs.write_lock_and_current()?;
            if before.youngest != self.base {
                // Others may go on while what they committed is merged.
                drop(lock);
                self.merge_up_to(before.youngest)?;
                continue;
            }
            self.ensure_same_format()?;
            let made = self.commit_locked(&lock, before, access, now)?;
            drop(lock);
            return Ok(self.after_commit(made));
        }
    }

    fn ensure_same_format(&self) -> Result<()> {
        if crate::format::Format::read(self.fs.path())? == *self.fs.format() {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::FS_UNSUPPORTED_FORMAT,
            "The filesystem was upgraded while a transaction was open",
        ))
    }

    fn commit_locked(
        &mut self,
        lock: &WriteLock,
        before: Current,
        access: &Access,
        now: Timestamp,
    ) -> Result<Final> {
        let changed = changes::fold(&self.changes)?;
        self.verify_locks(&changed, access, now)?;
        let mark = self.mark();
        let mut new = Final {
            revision: before.youngest.next(),
            before,
            props: NewReps::default(),
            to_cache: Vec::new(),
            nodes: Vec::new(),
            directories: Vec::new(),
        };
        if let Err(error) = self.write_revision(&mut new, &changed) {
            self.take_back(&mark)?;
            return Err(error);
        }
        self.spent = true;
        self.publish(lock, &new, now)?;
        Ok(new)
    }

    fn mark(&self) -> Mark {
        Mark {
            items: self.proto.items.len(),
            l2p: self.proto.l2p.len(),
            written: self.proto.written.len(),
            next_item: self.proto.next_item,
            next_node: self.next_node,
            len: self.proto.len(),
        }
    }

    fn take_back(&mut self, mark: &Mark) -> Result<()> {
        self.proto.items.truncate(mark.items);
        self.proto.l2p.truncate(mark.l2p);
        self.proto.written.truncate(mark.written);
        self.proto.next_item = mark.next_item;
        self.next_node = mark.next_node;
        self.proto.truncate(mark.len)
    }

    fn verify_locks(
        &self,
        changed: &BTreeMap<RelPathBuf, Change>,
        access: &Access,
        now: Timestamp,
    ) -> Result<()> {
        // Who brings history back, and not a client's change, does not ask for it. Mostly nobody
        // ever locked anything.
        if !self.props.contains_key(CHECK_LOCKS) || !self.fs.was_ever_locked()? {
            return Ok(());
        }
        let mut verified: Option<&RelPathBuf> = None;
        for (path, change) in changed {
            if verified.is_some_and(|above| path.starts_with(above)) {
                continue;
            }
            let recurse = change.kind != ChangeKind::Modify;
            self.fs.allow_locked_operation(path, recurse, access, now)?;
            if recurse {
                verified = Some(path);
            }
        }
        Ok(())
    }

    /// Writes all items of the revision, and the indexes or the trailer.
    fn write_revision(
        &mut self,
        new: &mut Final,
        changed: &BTreeMap<RelPathBuf, Change>,
    ) -> Result<()> {
        let root = self.root_rev()?.id;
        let root = self.write_node(root, new, true)?;
        let changes = self.write_changes(changed);
        if !self.fs.format().is_logical() {
            let Place::Revision(_, offset) = root.place else {
                return Err(corrupt("Root of a revision in a transaction"));
            };
            let line = format!("{offset} {changes}\n");
            self.proto.tail.extend_from_slice(line.as_bytes());
            return Ok(());
        }
        for item in &mut self.proto.items {
            item.revision = new.revision;
        }
        let bytes = index::after_items(
            self.proto.l2p_index()?,
            &self.proto.items,
            new.revision,
            self.proto.len(),
            self.fs.conf(),
        );
        self.proto.tail.extend_from_slice(&bytes);
        Ok(())
    }

    /// Writes the list of changed paths, and returns where it begins.
    fn write_changes(&mut self, changed: &BTreeMap<RelPathBuf, Change>) -> u64 {
        let offset = self.proto.begin_item();
        let format = self.fs.format().number;
        for change in changed.values() {
            change.write_for(format, &mut self.proto.tail);
        }
        self.proto.tail.push(b'\n');
        if self.fs.format().is_logical() {
            self.proto.end_item(ItemKind::Changes, ITEM_CHANGES);
            self.proto.l2p.push((ITEM_CHANGES, offset));
        }
        offset
    }

    /// Writes a node-revision and all below it that is new, and returns its final ID.
    fn write_node(&mut self, id: NodeRevId, new: &mut Final, at_root: bool) -> Result<NodeRevId> {
        if !is_mutable(&id) {
            return Ok(id);
        }
        let mut rev = self.txn_node(&id)?.rev.clone();
        match rev.kind {
            NodeKind::Dir => self.write_directory(&mut rev, new)?,
            _ => {
                if let Some(rep) = rev.text.as_mut().filter(|rep| rep.is_in_txn()) {
                    rep.revision = Some(new.revision);
                }
            }
        }
        self.write_props(&id, &mut rev, new)?;
        let offset = self.proto.begin_item();
        let number = if !self.fs.format().is_logical() {
            offset
        } else if at_root {
            self.proto.l2p.push((ITEM_ROOT_NODE, offset));
            ITEM_ROOT_NODE
        } else {
            self.proto.number_item()
        };
        rev.id = NodeRevId {
            node: self.final_part(rev.id.node, new, new.before.next_node),
            copy: self.final_part(rev.id.copy, new, new.before.next_copy),
            place: Place::Revision(new.revision, number),
        };
        rev.copyroot.revision.get_or_insert(new.revision);
        self.note_reps(&rev, new);
        self.drop_digests(&mut rev);
        rev.fresh_txn_root = false;
        if at_root {
            self.validate_root(&rev, new.revision)?;
        }
        rev.write(self.fs.format().number, &mut self.proto.tail);
        if self.fs.format().is_logical() {
            self.proto.end_item(ItemKind::NodeRev, number);
        }
        let id = rev.id;
        new.nodes.push(Arc::new(rev));
        Ok(id)
    }

    fn final_part(&self, part: IdPart, new: &Final, counter: u64) -> IdPart {
        if !part.is_in_txn() {
            return part;
        }
        if self.fs.format().number.has_no_global_ids() {
            return IdPart {
                revision: Some(new.revision),
                number: part.number,
            };
        }
        IdPart {
            revision: Some(Revnum::ZERO),
            number: part.number.wrapping_add(counter),
        }
    }

    fn write_directory(&mut self, rev: &mut NodeRev, new: &mut Final) -> Result<()> {
        let mut directory = Arc::unwrap_or_clone(self.directory(rev)?);
        for entry in directory.entries_mut() {
            entry.id = self.write_node(entry.id, new, false)?;
        }
        if !rev.text.as_ref().is_some_and(Representation::is_in_txn) {
            return Ok(());
        }
        let deltify = self.fs.conf().deltify_directories;
        let mut writer = self.begin_rep(rev, ItemKind::DirRep, deltify)?;
        writer.push(self, &directory.to_bytes())?;
        let mut rep = writer.finish_data(self)?;
        let start = self.proto.item_start();
        writer.close(self, &mut rep, start);
        // Without a uniquifier: folders are not shared.
        rep.revision = Some(new.revision);
        rev.text = Some(rep);
        new.directories.push((rep, Arc::new(directory)));
        Ok(())
    }

    fn write_props(&mut self, id: &NodeRevId, rev: &mut NodeRev, new: &mut Final) -> Result<()> {
        if !rev.props.as_ref().is_some_and(Representation::is_in_txn) {
            return Ok(());
        }
        let props = self.txn_node(id)?.props.clone().unwrap_or_default();
        let uniquifier = self.new_uniquifier();
        let deltify = self.fs.conf().deltify_props;
        let mut writer = self.begin_rep(rev, props_kind(rev.kind), deltify)?;
        writer.push(self, &hash_dump::write(&props))?;
        let mut rep = writer.finish_data(self)?;
        rep.uniquifier = uniquifier;
        let start = self.proto.item_start();
        if let Some(mut shared) = self.shared_rep(&rep, start, Some(&new.props))? {
            self.proto.cancel_item()?;
            if shared.is_in_txn() {
                shared.revision = Some(new.revision);
            }
            rev.props = Some(shared);
            return Ok(());
        }
        writer.close(self, &mut rep, start);
        rep.revision = Some(new.revision);
        rev.props = Some(rep);
        Ok(())
    }

    /// Notes representations that others may share.
    fn note_reps(&self, rev: &NodeRev, new: &mut Final) {
        if !self.fs.conf().rep_sharing {
            return;
        }
        let is_new = |rep: &Representation| rep.revision == Some(new.revision);
        if rev.kind == NodeKind::File {
            new.to_cache.extend(rev.text.filter(is_new));
        }
        if let Some(rep) = rev.props.filter(is_new) {
            new.to_cache.push(rep);
            if let Some(sha1) = rep.sha1 {
                new.props.0.insert(sha1, rep);
            }
        }
    }

    /// Leaves out digests that nobody asks for.
    fn drop_digests(&self, rev: &mut NodeRev) {
        if rev.kind == NodeKind::Dir
            && let Some(rep) = &mut rev.text
        {
            rep.sha1 = None;
        }
        if self.fs.format().number.has_optional_rep_values()
            && let Some(rep) = &mut rev.props
        {
            rep.sha1 = None;
        }
    }

    /// Checks that the root changed once more than in the revision before.
    fn validate_root(&self, root: &NodeRev, revision: Revnum) -> Result<()> {
        let head = self.fs.node_rev(&self.fs.root_id(self.base)?)?;
        if root.predecessor_count == head.predecessor_count.saturating_add(1) {
            return Ok(());
        }
        Err(corrupt(format!(
            "predecessor count for the root node-revision is wrong: found ({}+1 != {}), \
             committing r{revision}",
            head.predecessor_count, root.predecessor_count
        )))
    }

    /// Brings the revision in place and makes it visible.
    ///
    /// The revision file comes under its name whole and after the properties, so that recovery,
    /// which takes it for a revision then, finds both.
    fn publish(&mut self, lock: &WriteLock, new: &Final, now: Timestamp) -> Result<()> {
        let fs = self.fs.clone();
        let (revision, sync) = (new.revision, fs.options().flush_to_disk);
        let mode = fs.rev_mode()?;
        self.proto.seal(mode, sync)?;
        fs.make_shard(revision)?;
        self.write_revprops(revision, mode, now)?;
        self.proto.move_to(&fs.layout().rev(revision))?;
        if sync {
            file::sync_dir(&fs.layout().rev_dir(revision))?;
        }
        let mut current = Current {
            youngest: revision,
            ..new.before
        };
        current.next_node = current.next_node.wrapping_add(self.next_node);
        current.next_copy = current.next_copy.wrapping_add(self.next_copy);
        if fs.conf().verify_before_commit {
            fs.verify_new_revision(revision)?;
        }
        fs.write_current(lock, current)?;
        self.finished = true;
        Ok(())
    }

    fn write_revprops(&self, revision: Revnum, mode: u32, now: Timestamp) -> Result<()> {
        let mut props = self.props.clone();
        let keeps_date = props.get(CLIENT_DATE).is_some_and(|value| value == b"1");
        for name in FLAG_PROPS {
            props.remove(name);
        }
        if !keeps_date {
            props.insert("svn:date".to_owned(), now.to_iso().into_bytes());
        }
        let path = self.fs.layout().revprops(revision);
        let out = match file::create_new(&path, mode) {
            // Of a commit that was killed: its revision must not get the properties of this one.
            Err(error) if file::error_kind(&error) == std::io::ErrorKind::AlreadyExists => {
                file::remove_if_exists(&self.fs.layout().rev(revision))?;
                file::create_final(&path, mode)?
            }
            created => created?,
        };
        out.write_all(&hash_dump::write(&props))?;
        if out.meta()?.mode != mode {
            file::set_mode(&path, mode)?;
        }
        if self.fs.options().flush_to_disk {
            out.sync()?;
        }
        Ok(())
    }

    /// Fills the caches, and removes what is left of the transaction.
    fn after_commit(&mut self, new: Final) -> Committed {
        let fs = &self.fs;
        for node in &new.nodes {
            if let Place::Revision(revision, item) = node.id.place {
                fs.keep_node(revision, item, node);
            }
        }
        for (rep, directory) in &new.directories {
            let key = fs.key(Kind::Directory, new.revision, rep.item_index);
            fs.cache().put_directory(key, directory, directory.weight());
        }
        fs.keep_written(new.revision, std::mem::take(&mut self.proto.written));
        let cached = fs.add_to_rep_cache(&new.to_cache);
        let purged = if self.on_disk {
            super::purge(fs, self.id)
        } else {
            Ok(())
        };
        let packed = if fs.conf().pack_after_commit {
            let (options, cancel) = (PackOptions::default(), Cancel::new());
            fs.pack(&options, &cancel, &mut |_| Ok(()))
        } else {
            Ok(())
        };
        Committed {
            revision: new.revision,
            after: cached.and(purged).and(packed).err(),
        }
    }
}

impl FileSystem {
    /// Checks a revision that is not visible yet, as it is on the disk.
    fn verify_new_revision(&self, revision: Revnum) -> Result<()> {
        let options = Options {
            cache: Cache::new(1 << 20),
            ..self.options().clone()
        };
        let fs = Self::open_as(self.path(), *self.format(), options)?;
        fs.note_youngest(revision);
        fs.verify_revision(revision, &Cancel::new())
    }

    /// Makes the folders of a new shard.
    fn make_shard(&self, revision: Revnum) -> Result<()> {
        let Some(size) = self.format().shard_size else {
            return Ok(());
        };
        if revision.number() % i64::from(size) != 0 {
            return Ok(());
        }
        for (dir, above) in [
            (self.layout().rev_dir(revision), layout::REVS),
            (self.layout().revprops_dir(revision), layout::REVPROPS),
        ] {
            match file::make_dir(&dir) {
                Err(error) if error.code().number() == rustix::io::Errno::EXIST.raw_os_error() => {}
                done => done?,
            }
            file::set_mode(&dir, file::stat(&self.layout().file(above))?.mode)?;
        }
        Ok(())
    }

    /// The permissions of a revision file: those of the one before.
    fn rev_mode(&self) -> Result<u32> {
        let before = self.known_youngest();
        let path = if self.is_packed(before) {
            self.layout().rev_packed(before, layout::PACK)
        } else {
            self.layout().rev(before)
        };
        Ok(file::stat(&path)?.mode)
    }

    /// Makes a revision the youngest.
    pub(crate) fn write_current(&self, _lock: &WriteLock, current: Current) -> Result<()> {
        let text = if self.format().number.has_no_global_ids() {
            format!("{}\n", current.youngest)
        } else {
            let (node, copy) = (base36(current.next_node), base36(current.next_copy));
            format!("{} {node} {copy}\n", current.youngest)
        };
        let path = self.layout().file(layout::CURRENT);
        self.replace_file(&path, text.as_bytes(), self.options().flush_to_disk)?;
        self.note_youngest(current.youngest);
        Ok(())
    }

    /// Replaces a file by another with its permissions, atomically.
    pub(crate) fn replace_file(
        &self,
        path: &std::path::Path,
        bytes: &[u8],
        sync: bool,
    ) -> Result<()> {
        self.replace_file_like(path, bytes, path, sync)
    }

    /// As [`FileSystem::replace_file`], with the permissions of the file `like`.
    pub(crate) fn replace_file_like(
        &self,
        path: &std::path::Path,
        bytes: &[u8],
        like: &std::path::Path,
        sync: bool,
    ) -> Result<()> {
        let dir = path.parent().unwrap_or(self.path());
        let write = || {
            let mode = file::stat(like)?.mode;
            let mut temp = TempFile::with_mode(dir, mode)?;
            temp.write_all(bytes)?;
            if let Some(file) = temp.file() {
                let has_mode = file.meta()?.mode == mode;
                if sync {
                    file.sync()?;
                }
                if !has_mode {
                    file::set_mode(temp.path(), mode)?;
                }
            }
            temp.persist(path)?;
            if sync { file::sync_dir(dir) } else { Ok(()) }
        };
        write().map_err(|error: Error| {
            error.context(format!("Can't write '{}' atomically", path.display()))
        })
    }
}
