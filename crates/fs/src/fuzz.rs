//! Bodies of fuzz targets.

use std::path::Path;

use sylvan_core::Revnum;

use crate::cache::Cache;
use crate::change::Change;
use crate::dir::Directory;
use crate::format::{Format, FormatNumber};
use crate::id::{NodeRevId, TxnId};
use crate::index::l2p::{L2pHeader, Offsets};
use crate::index::p2l::P2lHeader;
use crate::index::{Footer, Item};
use crate::node_rev::NodeRev;
use crate::rep::RepHeader;
use crate::rev_file::{RevFile, parse_manifest, parse_trailer};
use crate::revprops::{RevpropManifest, RevpropPack};

fn owner() -> NodeRevId {
    NodeRevId::logical_root(Revnum::ZERO)
}

/// Parses a node-revision, and again what it writes.
pub fn node_rev(data: &[u8]) {
    for more in [false, true] {
        let Ok(Some((node, used))) = NodeRev::parse(data, more) else {
            continue;
        };
        assert!(used <= data.len());
        for number in [1, 4, 7, 8].into_iter().filter_map(FormatNumber::new) {
            let mut out = Vec::new();
            node.write(number, &mut out);
            let again = NodeRev::parse(&out, false).expect("what was written is parsed");
            let (again, len) = again.expect("it is whole");
            assert_eq!(len, out.len());
            assert_eq!(
                (again.id, &again.created_path),
                (node.id, &node.created_path)
            );
        }
    }
}

/// Parses IDs and names of transactions, and again what they print.
pub fn id(data: &[u8]) {
    if let Ok(id) = NodeRevId::parse(data) {
        assert_eq!(NodeRevId::parse(id.to_string().as_bytes()).ok(), Some(id));
    }
    if let Some(id) = TxnId::from_bytes(data) {
        assert_eq!(TxnId::from_bytes(id.to_string().as_bytes()), Some(id));
    }
}

/// Parses the header of a representation, and again what it prints.
pub fn rep_header(data: &[u8]) {
    if let Ok((header, used)) = RepHeader::parse(data) {
        assert!(used <= data.len());
        let line = header.to_line();
        assert_eq!(
            RepHeader::parse(line.as_bytes()).ok(),
            Some((header, line.len()))
        );
    }
}

/// Parses a folder, with and without changes, and again what it writes.
pub fn directory(data: &[u8]) {
    for incremental in [false, true] {
        if let Ok(directory) = Directory::parse(data, incremental, &owner()) {
            let text = directory.to_bytes();
            let again = Directory::parse(&text, false, &owner()).expect("it was written here");
            for entry in directory.entries() {
                assert_eq!(
                    again.get(&entry.name).map(|entry| entry.kind),
                    Some(entry.kind)
                );
            }
        }
    }
}

/// Parses changed paths, and again what they write.
pub fn changes(data: &[u8]) {
    let mut rest = data;
    while let Ok(Some(change)) = Change::take(&mut rest) {
        let mut out = Vec::new();
        change.write(true, true, &mut out);
        let again = Change::take(&mut &out[..]).expect("it was written here");
        assert_eq!(again.as_ref(), Some(&change));
    }
}

/// Parses both indexes and looks up what they say.
pub fn indexes(data: &[u8]) {
    for shard_size in [1, 4] {
        let Ok(header) = L2pHeader::parse(data, data.len() as u64, Revnum::ZERO, shard_size) else {
            continue;
        };
        let count = header.item_count(Revnum::ZERO).unwrap_or(0);
        for item in (0..count.saturating_add(2)).take(100) {
            if let Ok((page, _, entry)) = header.find(Revnum::ZERO, item) {
                let (start, len) = (page.offset as usize, page.len as usize);
                if let Ok(offsets) = Offsets::parse(&data[start..start + len], page) {
                    let _ = offsets.get(entry, item, Revnum::ZERO);
                }
            }
        }
    }
    // The size of the file is the second number.
    for size in [1, 100, 5000] {
        if let Ok(header) = P2lHeader::parse(data, data.len() as u64, Revnum::ZERO, size) {
            for page in 0..header.page_count().min(100) {
                let range = header.description(page);
                let (start, end) = (range.start as usize, range.end as usize);
                let (Some(page_bytes), Some(next)) = (data.get(start..end), data.get(end..)) else {
                    continue;
                };
                let all = header.parse_page(page_bytes, next, page);
                for items in [all, header.parse_described(page_bytes)] {
                    let items = items.unwrap_or_default();
                    let described = &items[..items.len().saturating_sub(1)];
                    assert!(described.is_sorted_by_key(|item| item.offset));
                    let _ = items.last().map(Item::end);
                }
            }
        }
    }
    let _ = Footer::parse(data, Revnum::ZERO, 1000);
}

/// Opens bytes as a revision file and goes after all that it says.
pub fn rev_file(data: &[u8]) {
    let cache = Cache::new(1 << 20);
    let file = RevFile::of_bytes(data.to_vec(), Revnum::ZERO, &cache);
    for item in 0..10 {
        if let Ok(Some(offset)) = file.l2p(Revnum::ZERO, item, 1) {
            let _ = crate::fs::read_node_rev(&file, offset);
        }
    }
    if let Ok(p2l) = file.p2l() {
        let _ = file.page_items(&p2l, 0);
    }
    let _ = file.verify_index_digests();
    if let Ok(trailer) = file.read_trailer(Revnum::ZERO, 0, file.len()) {
        assert!(trailer.root < file.len());
        let _ = crate::fs::read_node_rev(&file, trailer.root);
    }
    let _ = parse_trailer(data, Revnum::ZERO, 0, data.len() as u64);
}

/// Parses what is small and about a whole file system.
pub fn metadata(data: &[u8]) {
    let path = Path::new("file");
    if let Ok(format) = Format::parse(data, path) {
        assert_eq!(
            Format::parse(format.to_text().as_bytes(), path).ok(),
            Some(format)
        );
    }
    let _ = crate::fs::parse_current(data, true);
    let _ = crate::fs::parse_current(data, false);
    let _ = parse_manifest(data, path, 3);
    for revision in [1, 5].into_iter().filter_map(Revnum::new) {
        if let Ok(manifest) = RevpropManifest::parse(data, revision, 4) {
            assert!(manifest.name(revision).is_some());
        }
        if let Ok(pack) = RevpropPack::parse(data, revision, 4) {
            let again = RevpropPack::parse(&pack.to_bytes(5), revision, 4);
            assert_eq!(again.ok(), Some(pack));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Body = fn(&[u8]);

    const SEEDS: &[(Body, &[u8])] = &[
        (
            node_rev,
            b"id: 2-1._3.t3-5\ntype: file\npred: 2-1.0.r1/7\ncount: 1\ntext: 3 4 30 52 \
              d41d8cd98f00b204e9800998ecf8427f da39a3ee5e6b4b0d3255bfef95601890afd80709 2-3/_6\n\
              cpath: /trunk/file\ncopyfrom: 2 /branch/file\ncopyroot: 3 /x\nminfo-cnt: 2\n\n",
        ),
        (id, b"2-1._3.t3-5"),
        (rep_header, b"DELTA 12 34 56\nSVN"),
        (directory, b"K 1\na\nV 15\nfile 1-1.0.r1/3\nEND\nD 1\na\nK 1\nz\nV 14\nfile 1-1.0.r1/3\n"),
        (changes, b"2-1.0.r3/5 modify-file true false false /trunk/a\n2 /x\n0.0.r3/2 add-dir false true /x\n\n"),
        (indexes, b"L2P-INDEX\n\x00\x08\x01\x01\x01\x06\x04\x00\xd6\x01\xd3\x01\x21"),
        (indexes, b"P2L-INDEX\n\x00\x64\x80\x08\x01\x13\x00\x11\x34\x00\x80\x01\x53\x13\x00\x05\x00\x83\x06\x00\x00\x00"),
        (metadata, b"8\nlayout sharded 1000\naddressing logical\n"),
        (metadata, b"359 j5 v\n"),
        (metadata, b"4.0\n4.0\n6.1\n6.1\n"),
        (metadata, b"\x0e4\n1\n4\n\nEND\n"),
        (metadata, b"0\n107\n300\n"),
        (rev_file, include_bytes!("../tests/fixtures/r0-logical")),
        (rev_file, include_bytes!("../tests/fixtures/r2-physical")),
    ];

    #[test]
    fn seeds_pass() {
        SEEDS.iter().for_each(|(body, seed)| body(seed));
    }

    proptest! {
        #[test]
        fn mutated_seeds_are_no_panic(
            which in 0..SEEDS.len(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..5),
        ) {
            let (body, seed) = SEEDS[which];
            let mut data = seed.to_vec();
            for (at, byte, how) in edits {
                if data.is_empty() {
                    break;
                }
                let at = at.index(data.len());
                match how {
                    0 => data[at] = byte,
                    1 => data.insert(at, byte),
                    2 => drop(data.remove(at)),
                    _ => data.truncate(at),
                }
            }
            body(&data);
        }

        #[test]
        fn any_bytes_are_no_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
            SEEDS.iter().for_each(|(body, _)| body(&data));
        }
    }
}
