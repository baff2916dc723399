//! The report while it arrives: in memory, and beyond a megabyte in a temporary file.
//!
//! An item is a byte of flags, then numbers (LEB128) and counted texts: the path; the revision if
//! there is one; the other path of a link; the lock token.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom, Write};

use sylvan_core::{Depth, Error, ErrorCode, RelPathBuf, Result, Revnum};

/// What may be in memory.
const IN_MEMORY: usize = 1 << 20;

const HAS_REV: u8 = 0x01;
const HAS_LINK: u8 = 0x02;
const HAS_TOKEN: u8 = 0x04;
const START_EMPTY: u8 = 0x08;
const DEPTH_SHIFT: u8 = 4;
const DEPTHS: [Depth; 5] = [
    Depth::Exclude,
    Depth::Empty,
    Depth::Files,
    Depth::Immediates,
    Depth::Infinity,
];

/// What the client says of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Below the anchor.
    pub(super) path: RelPathBuf,
    /// `None` if it is missing there.
    pub(super) rev: Option<Revnum>,
    /// Where it comes from, if it is switched.
    pub(super) link: Option<RelPathBuf>,
    pub(super) depth: Depth,
    pub(super) start_empty: bool,
    pub(super) lock_token: Option<String>,
}

/// Takes the items of a report.
#[derive(Debug, Default)]
pub(super) struct Store {
    memory: Vec<u8>,
    file: Option<File>,
}

/// Gives them back in order.
pub(super) struct Items {
    reader: Box<dyn Read + Send>,
}

impl Store {
    pub(super) fn push(&mut self, item: &Item) -> Result<()> {
        let depth = DEPTHS.iter().position(|depth| *depth == item.depth);
        let mut flags = (depth.unwrap_or(0) as u8) << DEPTH_SHIFT;
        for (bit, is_set) in [
            (HAS_REV, item.rev.is_some()),
            (HAS_LINK, item.link.is_some()),
            (HAS_TOKEN, item.lock_token.is_some()),
            (START_EMPTY, item.start_empty),
        ] {
            flags |= if is_set { bit } else { 0 };
        }
        self.memory.push(flags);
        self.text(item.path.as_str());
        if let Some(rev) = item.rev {
            self.number(rev.number().cast_unsigned());
        }
        if let Some(link) = &item.link {
            self.text(link.as_str());
        }
        if let Some(token) = &item.lock_token {
            self.text(token);
        }
        if self.memory.len() >= IN_MEMORY {
            self.spill()?;
        }
        Ok(())
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.memory.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.memory.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.memory.extend_from_slice(text.as_bytes());
    }

    fn spill(&mut self) -> Result<()> {
        let failed = |error: std::io::Error| Error::io(&error, "Can't write a temporary file");
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile().map_err(failed)?),
        };
        file.write_all(&self.memory).map_err(failed)?;
        self.memory.clear();
        Ok(())
    }

    /// Ends the report.
    pub(super) fn into_items(mut self) -> Result<Items> {
        let memory = Cursor::new(std::mem::take(&mut self.memory));
        let Some(mut file) = self.file.take() else {
            return Ok(Items {
                reader: Box::new(memory),
            });
        };
        file.seek(SeekFrom::Start(0)).map_err(read_failed)?;
        Ok(Items {
            reader: Box::new(BufReader::new(file).chain(memory)),
        })
    }
}

impl Items {
    /// Returns the next item, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>> {
        let Some(flags) = self.byte()? else {
            return Ok(None);
        };
        let path = self.path()?;
        let rev = if flags & HAS_REV == 0 {
            None
        } else {
            Revnum::new(self.number()?.cast_signed())
        };
        let link = (flags & HAS_LINK != 0).then(|| self.path()).transpose()?;
        let token = (flags & HAS_TOKEN != 0).then(|| self.text()).transpose()?;
        Ok(Some(Item {
            path,
            rev,
            link,
            depth: DEPTHS[usize::from(flags >> DEPTH_SHIFT).min(DEPTHS.len() - 1)],
            start_empty: flags & START_EMPTY != 0,
            lock_token: token,
        }))
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        let mut byte = [0];
        let count = self.reader.read(&mut byte).map_err(read_failed)?;
        Ok((count == 1).then_some(byte[0]))
    }

    fn number(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?.ok_or_else(cut)?;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 63 {
                return Ok(number);
            }
        }
    }

    fn text(&mut self) -> Result<String> {
        let len = self.number()?;
        let mut text = String::new();
        let read = (&mut self.reader)
            .take(len)
            .read_to_string(&mut text)
            .map_err(read_failed)?;
        if read as u64 == len {
            Ok(text)
        } else {
            Err(cut())
        }
    }

    fn path(&mut self) -> Result<RelPathBuf> {
        RelPathBuf::new(self.text()?)
    }
}

fn read_failed(error: std::io::Error) -> Error {
    Error::io(&error, "Can't read a temporary file")
}

fn cut() -> Error {
    Error::new(
        ErrorCode::REPOS_BAD_REVISION_REPORT,
        "The report ends unexpectedly",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn items() -> impl Strategy<Value = Item> {
        (
            "[a-z]{0,9}(/[a-z]{1,9}){0,3}",
            prop::option::of(0..i64::MAX),
            prop::option::of("[a-z]{1,9}"),
            0..DEPTHS.len(),
            any::<bool>(),
            prop::option::of(".{0,200}"),
        )
            .prop_map(|(path, rev, link, depth, start_empty, lock_token)| Item {
                path: RelPathBuf::canonicalize(&path).unwrap(),
                rev: rev.and_then(Revnum::new),
                link: link.map(|link| RelPathBuf::new(link).unwrap()),
                depth: DEPTHS[depth],
                start_empty,
                lock_token,
            })
    }

    proptest! {
        #[test]
        fn what_is_put_in_comes_out(
            items in prop::collection::vec(items(), 0..20),
            spill_at in prop::collection::vec(any::<bool>(), 20),
        ) {
            let mut store = Store::default();
            for (item, spill) in items.iter().zip(spill_at) {
                store.push(item).unwrap();
                if spill {
                    store.spill().unwrap();
                }
            }
            let mut stored = store.into_items().unwrap();
            for item in &items {
                prop_assert_eq!(stored.next().unwrap(), Some(item.clone()));
            }
            prop_assert_eq!(stored.next().unwrap(), None);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut store = Store::default();
        let item = Item {
            path: RelPathBuf::new("a".repeat(1000)).unwrap(),
            rev: Some(Revnum::ZERO),
            link: None,
            depth: Depth::Infinity,
            start_empty: false,
            lock_token: None,
        };
        for _ in 0..5000 {
            store.push(&item).unwrap();
            assert!(store.memory.len() < IN_MEMORY);
        }
        let mut items = store.into_items().unwrap();
        let mut count = 0;
        while items.next().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 5000);
    }
}
