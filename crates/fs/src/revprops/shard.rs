//! Packs the revision properties of a shard.

use sylvan_core::{Result, Revnum};
use sylvan_io::Cancel;
use sylvan_io::file::{self, MODE_FILE};

use super::RevpropPack;
use crate::fs::FileSystem;
use crate::layout;
use crate::pack::remove_folder;

/// What a number takes at most in the head of a packed file.
const NUMBER: u64 = 21;

impl FileSystem {
    /// Packs the properties of the shard that begins with `first`, but those of revision 0.
    pub(crate) fn pack_revprops(&self, first: Revnum, cancel: &Cancel) -> Result<()> {
        let dir = self.layout().revprops_packed_dir(first);
        remove_folder(&dir, cancel)?;
        file::make_dir(&dir)?;
        // Room is left, so that not each change cuts the file in two.
        let size = self.conf().revprop_pack_size;
        let limit = (size - size.div_ceil(10)).max(1);
        let end = first.number() + self.shard_size().cast_signed();
        let mut manifest = String::new();
        let mut part = Part::new(first);
        for number in first.number().max(1)..end {
            cancel.check()?;
            let revision = Revnum::new(number).unwrap_or_default();
            let props = file::read(&self.layout().revprops(revision))?;
            let added = NUMBER + props.len() as u64;
            if !part.props.is_empty() && part.size.saturating_add(added) > limit {
                part.write(self, &dir)?;
                part = Part::new(revision);
            }
            if part.props.is_empty() {
                part = Part::new(revision);
            }
            manifest.push_str(&format!("{}\n", part.name()));
            part.size += added;
            part.props.push(props);
        }
        if !part.props.is_empty() {
            part.write(self, &dir)?;
        }
        let out = file::create_new(&dir.join(layout::MANIFEST), MODE_FILE)?;
        out.write_all(manifest.as_bytes())?;
        if self.options().flush_to_disk {
            out.sync()?;
        }
        drop(out);
        self.finish_folder(&dir, &self.layout().revprops_dir(first))
    }

    /// Removes the properties of a shard that are packed; not those of revision 0.
    pub(crate) fn remove_packed_revprops(&self, first: Revnum, cancel: &Cancel) -> Result<()> {
        if first != Revnum::ZERO {
            return remove_folder(&self.layout().revprops_dir(first), cancel);
        }
        let dir = self.layout().revprops_dir(first);
        for (name, _) in file::read_dir(&dir)? {
            cancel.check()?;
            let name = String::from_utf8_lossy(&name).into_owned();
            let revision = Revnum::parse(&name).filter(|revision| *revision > Revnum::ZERO);
            if revision.is_some_and(|revision| self.shard_start(revision) == first) {
                file::remove_if_exists(&dir.join(name))?;
            }
        }
        Ok(())
    }
}

/// A packed file that is being collected.
struct Part {
    first: Revnum,
    props: Vec<Vec<u8>>,
    size: u64,
}

impl Part {
    fn new(first: Revnum) -> Self {
        Self {
            first,
            props: Vec::new(),
            size: 2 * NUMBER,
        }
    }

    fn name(&self) -> String {
        format!("{}.0", self.first)
    }

    fn write(&mut self, fs: &FileSystem, dir: &std::path::Path) -> Result<()> {
        let path = dir.join(self.name());
        let pack = RevpropPack::new(self.first, std::mem::take(&mut self.props));
        let out = file::create_new(&path, MODE_FILE)?;
        out.write_all(&pack.to_bytes(fs.compression_level()))?;
        if fs.options().flush_to_disk {
            out.sync()?;
        }
        Ok(())
    }
}
