//! Revision properties.
//!
//! Each revision has a file in the [format of properties](sylvan_core::hash_dump). When a shard is
//! packed (format 6), several go into one file, and the file `manifest` has a line for each revision
//! with the name of the file that has it. Revision 0 is never packed. A packed file is compressed
//! (perhaps not smaller) and then is
//!
//! ```text
//! first revision \n count \n (size \n)×count \n properties…
//! ```

mod pack;
mod shard;
mod write;

use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, hash_dump};
use sylvan_io::file;

use crate::fs::{FileSystem, read_replaced};
use crate::layout;
use crate::text::corrupt;

pub use pack::RevpropPack;

/// How often a packed file that others replace meanwhile is looked for again.
const RETRIES: usize = 10;

/// The manifest of a packed shard: which file has the properties of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevpropManifest {
    /// The first revision that the manifest is of.
    pub first: Revnum,
    /// The names of the files, one a revision.
    pub names: Vec<String>,
}

impl RevpropManifest {
    /// Parses the manifest of the shard that has `revision`.
    ///
    /// # Errors
    /// [`ErrorCode::FS_CORRUPT`].
    pub fn parse(text: &[u8], revision: Revnum, shard_size: u32) -> Result<Self> {
        let bad = |what: &str| corrupt(format!("Packed revprop manifest for r{revision} {what}"));
        let size = i64::from(shard_size.max(1));
        let mut first = revision.number() / size * size;
        let mut count = size;
        if first == 0 {
            (first, count) = (1, size - 1);
        }
        // A name is the first revision it has, a full stop, and at least one digit.
        let shortest = first.to_string().len() + 2;
        let body = text
            .strip_suffix(b"\n")
            .filter(|_| text.len() as u64 >= (shortest as u64 + 1) * count.cast_unsigned())
            .ok_or_else(|| bad("not properly terminated"))?;
        let mut names = Vec::new();
        for line in body.split(|byte| *byte == b'\n') {
            let name = std::str::from_utf8(line)
                .ok()
                .filter(|name| is_pack_name(name));
            let name = name.ok_or_else(|| bad("has an invalid entry"))?;
            names.push(name.to_owned());
        }
        match names.len() as i64 - count {
            0 => Ok(Self {
                first: Revnum::new(first).unwrap_or_default(),
                names,
            }),
            1.. => Err(bad("has too many entries")),
            _ => Err(bad("has too few entries")),
        }
    }

    /// Returns the name of the file that has a revision.
    pub fn name(&self, revision: Revnum) -> Option<&str> {
        let at = usize::try_from(revision.number() - self.first.number()).ok()?;
        self.names.get(at).map(String::as_str)
    }
}

/// Reads the properties of many revisions; keeps the packed file used last.
#[derive(Debug)]
pub struct RevpropsReader {
    fs: FileSystem,
    pack: Option<RevpropPack>,
}

impl RevpropsReader {
    /// Reads the properties of a revision.
    ///
    /// # Errors
    /// Those of [`FileSystem::revprops`].
    pub fn read(&mut self, revision: Revnum) -> Result<Props> {
        if let Some(pack) = self.pack.as_ref().filter(|pack| pack.has(revision)) {
            return pack.props(revision);
        }
        if !self.fs.is_packed_revprop(revision) {
            return self.fs.revprops(revision);
        }
        let pack = self.fs.read_revprop_pack(revision)?.1;
        self.pack.insert(pack).props(revision)
    }
}

/// A name cannot lead out of the shard's folder.
fn is_pack_name(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('.')
        .is_some_and(|(first, count)| digits(first) && digits(count))
}

impl FileSystem {
    /// Reads the properties of a revision.
    ///
    /// # Errors
    /// [`ErrorCode::FS_NO_SUCH_REVISION`], [`ErrorCode::FS_CORRUPT`] and those of
    /// [`hash_dump::read`].
    pub fn revprops(&self, revision: Revnum) -> Result<Props> {
        self.ensure_revision_exists(revision)?;
        let packs = self.format().number.has_packed_revprops();
        if !self.is_packed_revprop(revision) {
            let path = self.layout().revprops(revision);
            match read_replaced(&path) {
                Ok(text) => return parse_revprops(&text, revision),
                Err(error) if packs && is_missing(&error) => {}
                Err(error) => return Err(error),
            }
            // It may have been packed meanwhile.
            self.refresh_min_unpacked()?;
        }
        if !self.is_packed_revprop(revision) {
            return Err(Error::new(
                ErrorCode::FS_NO_SUCH_REVISION,
                format!("No such packed revision {revision}"),
            ));
        }
        let pack = self.read_revprop_pack(revision)?.1;
        pack.props(revision)
    }

    /// Makes a reader for the properties of many revisions. What others change while it is used may
    /// not be seen.
    pub fn revprops_reader(&self) -> RevpropsReader {
        RevpropsReader {
            fs: self.clone(),
            pack: None,
        }
    }

    /// Tells whether a revision's properties are packed.
    pub(crate) fn is_packed_revprop(&self, revision: Revnum) -> bool {
        self.format().number.has_packed_revprops()
            && revision != Revnum::ZERO
            && self.is_packed(revision)
    }

    /// Reads the manifest and the packed file that has a revision.
    pub(crate) fn read_revprop_pack(
        &self,
        revision: Revnum,
    ) -> Result<(RevpropManifest, RevpropPack)> {
        let dir = self.layout().revprops_packed_dir(revision);
        let shard_size = self.format().shard_size.unwrap_or(1);
        for _ in 0..RETRIES {
            let text = read_replaced(&dir.join(layout::MANIFEST))?;
            let manifest = RevpropManifest::parse(&text, revision, shard_size)?;
            let name = manifest
                .name(revision)
                .ok_or_else(|| damaged_pack(revision))?;
            // A writer may have replaced the manifest and removed the file it named.
            let Some(packed) = file::read_if_exists(&dir.join(name))? else {
                continue;
            };
            let pack = RevpropPack::parse(&packed, revision, i64::from(shard_size));
            let pack = pack.map_err(|error| {
                error.wrap(
                    ErrorCode::FS_CORRUPT,
                    format!("Revprop pack file for r{revision} is corrupt"),
                )
            })?;
            return Ok((manifest, pack));
        }
        Err(Error::new(
            ErrorCode::FS_PACKED_REVPROP_READ_FAILURE,
            format!("Failed to read revprop pack file for r{revision}"),
        ))
    }

    /// Returns how many bytes the properties of a revision take on disk, unpacked.
    ///
    /// # Errors
    /// As [`FileSystem::revprops`].
    pub fn revprops_size(&self, revision: Revnum) -> Result<u64> {
        self.ensure_revision_exists(revision)?;
        if !self.is_packed_revprop(revision) {
            return Ok(file::stat(&self.layout().revprops(revision))?.size);
        }
        let pack = self.read_revprop_pack(revision)?.1;
        Ok(pack.serialized(revision).map_or(0, <[u8]>::len) as u64)
    }
}

pub(crate) fn parse_revprops(text: &[u8], revision: Revnum) -> Result<Props> {
    hash_dump::read(text)
        .map_err(|error| error.context(format!("Failed to parse revprops for r{revision}.")))
}

fn damaged_pack(revision: Revnum) -> Error {
    corrupt(format!("Revprop pack file for r{revision} is corrupt"))
}

pub(crate) fn is_missing(error: &Error) -> bool {
    error.code().number() == rustix::io::Errno::NOENT.raw_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_checked() {
        let parse = |text: &str, revision| {
            RevpropManifest::parse(text.as_bytes(), Revnum::new(revision).unwrap(), 3)
        };
        let manifest = parse("3.0\n3.0\n5.1\n", 4).unwrap();
        assert_eq!(manifest.name(Revnum::new(5).unwrap()), Some("5.1"));
        assert_eq!(parse("1.0\n2.0\n", 1).unwrap().first.number(), 1);
        for (text, what) in [
            ("3.0\n3.0\n", "not properly terminated"),
            ("3.0\n3.0\n5.1", "not properly terminated"),
            ("3.0\n3.0\n5.1\n5.1\n", "has too many entries"),
            ("3.0000000\n3.0\n", "has too few entries"),
            ("3.0\n../\n5.1\n", "has an invalid entry"),
        ] {
            let error = parse(text, 4).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("E160004: Packed revprop manifest for r4 {what}")
            );
        }
    }
}
