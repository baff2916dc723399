//! Changes revision properties.

use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, hash_dump};
use sylvan_io::file::{self, MODE_FILE, TempFile};

use super::RevpropPack;
use crate::fs::FileSystem;
use crate::guard::WriteLock;
use crate::layout;
use crate::text::corrupt;

/// What a number takes at most in the head of a packed file.
const NUMBER: u64 = 21;

impl FileSystem {
    /// Sets or removes a property of a revision. With `expected`, only if it has that value before.
    ///
    /// # Errors
    /// [`ErrorCode::FS_PROP_BASEVALUE_MISMATCH`], and those of [`FileSystem::revprops`].
    pub fn change_revprop(
        &self,
        revision: Revnum,
        name: &str,
        expected: Option<Option<&[u8]>>,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let lock = self.write_lock()?;
        let mut props = self.revprops(revision)?;
        let present = props.get(name).map(Vec::as_slice);
        if expected.is_some_and(|expected| expected != present) {
            return Err(Error::new(
                ErrorCode::FS_PROP_BASEVALUE_MISMATCH,
                format!("revprop '{name}' has unexpected value in filesystem"),
            ));
        }
        if present == value {
            return Ok(());
        }
        match value {
            Some(value) => drop(props.insert(name.to_owned(), value.to_vec())),
            None => drop(props.remove(name)),
        }
        self.set_revprops(&lock, revision, &props)
    }

    /// Replaces all properties of a revision.
    ///
    /// # Errors
    /// Those of [`FileSystem::revprops`].
    pub fn set_revprops(&self, _lock: &WriteLock, revision: Revnum, props: &Props) -> Result<()> {
        self.ensure_revision_exists(revision)?;
        let text = hash_dump::write(props);
        if self.is_packed_revprop(revision) {
            return self.set_packed_revprops(revision, text);
        }
        let path = self.layout().revprops(revision);
        self.put_revprops(&path, &text, self.mode_of(revision)?)
    }

    /// The permissions of a revision's file, which its properties get.
    fn mode_of(&self, revision: Revnum) -> Result<u32> {
        let path = if self.is_packed(revision) {
            self.layout().rev_packed(revision, layout::PACK)
        } else {
            self.layout().rev(revision)
        };
        Ok(file::stat(&path)?.mode)
    }

    fn put_revprops(&self, path: &std::path::Path, text: &[u8], mode: u32) -> Result<()> {
        let sync = self.options().flush_to_disk;
        let dir = path.parent().unwrap_or(self.path());
        let mut temp = TempFile::new_in(dir)?;
        temp.write_all(text)?;
        if sync && let Some(file) = temp.file() {
            file.sync()?;
        }
        file::set_mode(temp.path(), mode)?;
        temp.persist(path)?;
        if sync { file::sync_dir(dir) } else { Ok(()) }
    }

    pub(super) fn compression_level(&self) -> u32 {
        if self.conf().compress_packed_revprops {
            5
        } else {
            0
        }
    }

    fn set_packed_revprops(&self, revision: Revnum, text: Vec<u8>) -> Result<()> {
        let (mut manifest, pack) = self.read_revprop_pack(revision)?;
        let dir = self.layout().revprops_packed_dir(revision);
        let mode = self.mode_of(revision)?;
        let changed =
            usize::try_from(revision.number() - pack.first().number()).unwrap_or(usize::MAX);
        let mut all = pack.all().to_vec();
        let slot = all
            .get_mut(changed)
            .ok_or_else(|| corrupt(format!("Revprop pack file for r{revision} is corrupt")))?;
        *slot = text;
        let content: u64 = all.iter().map(|props| props.len() as u64).sum();
        let total = content + (all.len() as u64 + 2) * NUMBER;
        let limit = self.conf().revprop_pack_size;
        if total < limit || all.len() == 1 {
            let name = manifest.name(revision).unwrap_or_default();
            let bytes = RevpropPack::new(pack.first(), all).to_bytes(self.compression_level());
            return self.put_revprops(&dir.join(name), &bytes, mode);
        }
        let first_index = pack.first().number() - manifest.first.number();
        let first_index = usize::try_from(first_index).unwrap_or(usize::MAX);
        let mut old_names = Vec::new();
        for part in split(&all, changed, limit) {
            let names = manifest
                .names
                .get_mut(first_index + part.start..first_index + part.end);
            let names = names.ok_or_else(|| {
                corrupt(format!(
                    "Packed revprop manifest for r{revision} has too few entries"
                ))
            })?;
            let first = pack.first().number() + part.start as i64;
            let name = next_name(&names[0], first)?;
            old_names.push(std::mem::replace(&mut names[0], name.clone()));
            names.fill(name.clone());
            let part = RevpropPack::new(Revnum::new(first).unwrap_or_default(), all[part].to_vec());
            let out = file::create_final(&dir.join(&name), MODE_FILE)?;
            out.write_all(&part.to_bytes(self.compression_level()))?;
            if self.options().flush_to_disk {
                out.sync()?;
            }
        }
        // Readers find the old files until the manifest names the new ones.
        let lines: String = manifest
            .names
            .iter()
            .map(|name| format!("{name}\n"))
            .collect();
        self.put_revprops(&dir.join(layout::MANIFEST), lines.as_bytes(), mode)?;
        for name in old_names {
            file::remove_if_exists(&dir.join(name))?;
        }
        Ok(())
    }
}

/// Raises the counter in the name of a packed file.
fn next_name(name: &str, first: i64) -> Result<String> {
    let counter = name
        .split_once('.')
        .and_then(|(_, counter)| counter.parse::<i64>().ok());
    let counter = counter.ok_or_else(|| corrupt(format!("Packed file '{name}' misses a tag")))?;
    Ok(format!("{first}.{}", counter.saturating_add(1)))
}

/// Cuts a packed file that became too large in two of nearly equal size, or in three around the
/// properties that changed.
fn split(all: &[Vec<u8>], changed: usize, limit: u64) -> Vec<std::ops::Range<usize>> {
    let (mut left, mut right) = (0, all.len());
    let (mut left_size, mut right_size) = (2 * NUMBER, 2 * NUMBER);
    while left < right {
        let (first, last) = (all[left].len() as u64, all[right - 1].len() as u64);
        if left_size + first < right_size + last {
            left_size += first + NUMBER;
            left += 1;
        } else {
            right_size += last + NUMBER;
            right -= 1;
        }
    }
    let parts = if left_size > limit || right_size > limit {
        vec![0..changed, changed..changed + 1, changed + 1..all.len()]
    } else {
        vec![0..left, left..all.len()]
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_too_large_are_cut() {
        let sizes = |sizes: &[usize]| sizes.iter().map(|size| vec![0; *size]).collect::<Vec<_>>();
        assert_eq!(split(&sizes(&[10, 10, 10, 10]), 1, 200), [0..2, 2..4]);
        assert_eq!(split(&sizes(&[10, 500, 10]), 1, 200), [0..1, 1..2, 2..3]);
        assert_eq!(split(&sizes(&[500, 10, 10]), 0, 200), [0..1, 1..3]);
        assert_eq!(next_name("5.9", 7).unwrap(), "7.10");
        assert!(next_name("5", 7).is_err());
    }
}
