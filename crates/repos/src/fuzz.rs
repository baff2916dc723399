//! Bodies of fuzz targets.

use sylvan_core::{Result, Revnum};
use sylvan_io::Cancel;

use crate::authz::{Authz, Reach, Rights};
use crate::dumpstream::{Body, Deltas, Headers, Sink, parse};
use crate::{DumpFilterOptions, DumpFilterReceiver, PathFilter, filter_dump};

/// Parses rules, and groups behind the first byte 0; asks what they allow, which must not
/// contradict itself.
pub fn authz(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == 0);
    let (rules, groups) = match at {
        Some(at) => (&data[..at], Some(&data[at + 1..])),
        None => (data, None),
    };
    let Ok(authz) = Authz::parse(rules, groups, &mut |_| {}) else {
        return;
    };
    for user in [None, Some("jo"), Some("kim"), Some("eve")] {
        let user = authz.for_user("calc", user);
        for path in ["/", "/trunk", "/trunk/x.key", "/branches/kim/a/b"] {
            let [reads, writes] = [Rights::READ, Rights::WRITE].map(|rights| {
                let allowed = user.allows(path, rights, Reach::Path);
                assert!(allowed || !user.allows(path, rights, Reach::Recursive));
                assert!(!allowed || user.allows_anywhere(rights));
                allowed
            });
            assert!(reads || !writes);
        }
    }
}

/// Parses a dump stream, which must tell of records in the order that [`Sink`] promises, and filters
/// it; what is left must be a dump stream.
pub fn dump_stream(data: &[u8]) {
    let cancel = Cancel::new();
    for deltas in [Deltas::Deltas, Deltas::Texts] {
        let mut order = Order::default();
        let parsed = parse(&mut &*data, &mut order, deltas, &cancel);
        assert!(parsed.is_err() || (order.within == Within::Stream && order.has_magic));
        assert!(
            order.told <= data.len() as u64,
            "more was told than there was"
        );
    }
    let Some(first) = data.last() else {
        return;
    };
    let flag = |bit: u8| first >> bit & 1 == 1;
    let options = DumpFilterOptions {
        filter: PathFilter {
            prefixes: vec!["/trunk/A".to_owned(), "/b*".to_owned()],
            glob: flag(0),
            exclude: flag(1),
        },
        drop_empty_revisions: flag(2),
        drop_all_empty_revisions: flag(3),
        renumber: flag(4),
        skip_missing_merge_sources: flag(5),
        preserve_revprops: flag(6),
    };
    let mut left = Left(Vec::new());
    if filter_dump(&mut &*data, &options, &cancel, &mut left).is_ok() {
        let again = parse(&mut &*left.0, &mut Order::default(), Deltas::Texts, &cancel);
        assert!(again.is_ok(), "{again:?}");
    }
}

/// What is left of a stream.
struct Left(Vec<u8>);

impl DumpFilterReceiver for Left {
    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn revision(&mut self, _: Revnum, _: Option<Revnum>) -> Result<()> {
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Stream,
    Revision,
    Node,
    Text,
}

/// Asserts the order of what is told.
#[derive(Default)]
struct Order {
    has_magic: bool,
    within: Within,
    /// How many bytes of contents.
    told: u64,
}

impl Order {
    fn moves(&mut self, from: &[Within], to: Within) {
        assert!(
            from.contains(&self.within),
            "{to:?} within {:?}",
            self.within
        );
        self.within = to;
    }
}

impl Sink for Order {
    fn magic(&mut self, _: i32) -> Result<()> {
        self.moves(&[Within::Stream], Within::Stream);
        assert!(!std::mem::replace(&mut self.has_magic, true));
        Ok(())
    }

    fn revision(&mut self, headers: &Headers) -> Result<()> {
        self.moves(&[Within::Stream], Within::Revision);
        let _ = headers.revision("Revision-number");
        Ok(())
    }

    fn revision_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        self.moves(&[Within::Revision], Within::Revision);
        self.told += (name.len() + value.len()) as u64;
        Ok(())
    }

    fn node(&mut self, headers: &Headers) -> Result<()> {
        self.moves(&[Within::Revision], Within::Node);
        headers.path("Node-path").map(drop)
    }

    fn remove_node_props(&mut self) -> Result<()> {
        self.moves(&[Within::Node], Within::Node);
        Ok(())
    }

    fn node_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        self.moves(&[Within::Node], Within::Node);
        self.told += (name.len() + value.len()) as u64;
        Ok(())
    }

    fn delete_node_prop(&mut self, name: &str) -> Result<()> {
        self.moves(&[Within::Node], Within::Node);
        self.told += name.len() as u64;
        Ok(())
    }

    fn text(&mut self, _: bool, body: &mut Body<'_>) -> Result<()> {
        self.moves(&[Within::Node], Within::Text);
        // What is not read is skipped.
        for _ in 0..2 {
            if let Some(piece) = body.next_piece()? {
                assert!(!piece.is_empty(), "a piece of nothing");
                self.told += piece.len() as u64;
            }
        }
        Ok(())
    }

    fn end_node(&mut self) -> Result<()> {
        self.moves(&[Within::Node, Within::Text], Within::Revision);
        Ok(())
    }

    fn end_revision(&mut self) -> Result<()> {
        self.moves(&[Within::Revision], Within::Stream);
        Ok(())
    }
}
