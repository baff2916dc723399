//! In which order node-revisions and representations stand in a pack file.
//!
//! Readers of the youngest revisions, and deltas of later shards, want the newest node of each path
//! and what it is a delta of. So the order is: nodes that are likely to be asked for (those that
//! changed seldom, and those at which skip-deltas end); then, for each path that is left, the chain
//! of deltas from its newest node on; then the rest. Within each, nodes are sorted by path, those
//! of trunks and branches first, and a path's newest node is first.

use std::cmp::Reverse;
use std::collections::HashMap;

use sylvan_core::Revnum;

use crate::id::IdPart;
use crate::node_rev::NodeRev;

/// The number of an item and the revision it is in.
pub(super) type ItemId = (Revnum, u64);

/// A node-revision, as far as it matters for its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    path: Vec<u8>,
    node: IdPart,
    revision: Revnum,
    predecessors: i64,
    /// Whether it is the newest of its path.
    pub(super) is_head: bool,
    pub(super) node_rev: ItemId,
    /// Its content, if that is among what is placed.
    pub(super) rep: Option<ItemId>,
}

impl Placed {
    /// Makes one of a node-revision that is the item `node_rev`; `rep` is its content.
    pub(super) fn new(rev: &NodeRev, node_rev: ItemId, rep: Option<ItemId>) -> Self {
        Self {
            path: sort_key(rev.created_path.as_str()),
            node: rev.id.node,
            revision: rev.id.revision().unwrap_or_default(),
            predecessors: rev.predecessor_count,
            is_head: false,
            node_rev,
            rep,
        }
    }
}

/// Lets what has `trunk` or `branch` in its path come before all else.
fn sort_key(path: &str) -> Vec<u8> {
    let mut key = format!("/{path}").into_bytes();
    for (word, first) in [(b"trunk".as_slice(), 1), (b"branch", 2)] {
        for at in 0..(key.len() + 1).saturating_sub(word.len()) {
            if key[at..].starts_with(word) {
                key[at] = first;
            }
        }
    }
    key
}

/// The largest power of two that divides a number; 0 for 0.
const fn roundness(number: i64) -> i64 {
    number - (number & (number - 1))
}

/// Brings nodes in order. `bases` has the representations that deltas are against; `max_linear` is
/// how long deltas are against the version before.
pub(super) fn sort(nodes: &mut Vec<Placed>, bases: &HashMap<ItemId, ItemId>, max_linear: i64) {
    nodes.sort_by(|a, b| {
        let newest_first = |node: &Placed| Reverse((node.node, node.revision));
        let by_path = a.path.cmp(&b.path);
        by_path.then_with(|| newest_first(a).cmp(&newest_first(b)))
    });
    for at in 0..nodes.len() {
        nodes[at].is_head = at == 0 || nodes[at - 1].path != nodes[at].path;
    }
    let (mut sorted, rest): (Vec<_>, Vec<_>) = nodes.drain(..).partition(|node| {
        let round = roundness(node.predecessors);
        let ends_skip_delta = round >= max_linear && round >= node.predecessors / 4;
        ends_skip_delta || node.predecessors < max_linear
    });
    let mut left = Vec::new();
    let mut chain: Option<(Vec<u8>, Option<ItemId>)> = None;
    for node in rest {
        let wanted = match &chain {
            Some((path, wanted)) if *path == node.path => *wanted,
            _ => node.rep,
        };
        if node.rep == wanted {
            let next = wanted.and_then(|rep| bases.get(&rep).copied()).or(wanted);
            chain = Some((node.path.clone(), next));
            sorted.push(node);
        } else {
            chain = Some((node.path.clone(), wanted));
            left.push(node);
        }
    }
    sorted.append(&mut left);
    *nodes = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(path: &str, revision: i64, predecessors: i64) -> Placed {
        let revision = Revnum::new(revision).unwrap();
        Placed {
            path: sort_key(path),
            node: IdPart::ROOT,
            revision,
            predecessors,
            is_head: false,
            node_rev: (revision, 4),
            rep: Some((revision, 3)),
        }
    }

    #[test]
    fn trunk_comes_first_and_the_newest_of_a_path() {
        let mut nodes = vec![
            node("a", 1, 0),
            node("trunk/b", 1, 0),
            node("trunk/b", 2, 1),
            node("x/branches", 3, 1),
        ];
        sort(&mut nodes, &HashMap::new(), 16);
        let order: Vec<_> = nodes
            .iter()
            .map(|node| (node.revision.number(), node.is_head))
            .collect();
        assert_eq!(order, [(2, true), (1, false), (1, true), (3, true)]);
    }

    #[test]
    fn chains_of_deltas_stay_together() {
        let rev = |number| Revnum::new(number).unwrap();
        let mut nodes: Vec<_> = (17..=32).map(|count| node("f", count, count)).collect();
        // Each even one is a delta of the one two before.
        let bases: HashMap<_, _> = (17..=32)
            .map(|count| ((rev(count), 3), (rev(count - 2), 3)))
            .collect();
        sort(&mut nodes, &bases, 16);
        let order: Vec<_> = nodes.iter().map(|node| node.revision.number()).collect();
        // 32 ends a skip-delta; the chain begins with the newest that is left.
        let odd = [31, 29, 27, 25, 23, 21, 19, 17];
        let even = [30, 28, 26, 24, 22, 20, 18];
        assert_eq!(order, [&[32][..], &odd, &even].concat());
    }
}
