//! How much of a file system is what.

mod collect;

use std::collections::BTreeMap;

use sylvan_core::{RelPathBuf, Revnum};

/// How many values there are, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

/// Values by their order of magnitude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// All of them.
    pub total: Line,
    /// Those from 2^(i-1) up to but without 2^i; zero in the first.
    pub lines: [Line; 64],
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            total: Line::default(),
            lines: [Line::default(); 64],
        }
    }
}

impl Histogram {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        let at = (u64::BITS - value.leading_zeros()).min(63) as usize;
        for line in [&mut self.total, &mut self.lines[at]] {
            line.count += 1;
            line.sum = line.sum.wrapping_add(value);
        }
    }
}

/// What representations take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepPackStats {
    /// How many there are.
    pub count: u64,
    /// Their bytes in the files.
    pub packed_size: u64,
    /// Their bytes as full texts.
    pub expanded_size: u64,
    /// The bytes of their headers and trailers.
    pub overhead_size: u64,
}

/// Representations of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepStats {
    /// All.
    pub total: RepPackStats,
    /// Those that one node-revision uses.
    pub uniques: RepPackStats,
    /// Those that several use.
    pub shared: RepPackStats,
    /// How often they are used.
    pub references: u64,
    /// What the full texts would take if none was shared.
    pub expanded_size: u64,
    /// The sum of the lengths of their delta chains.
    pub chain_len: u64,
}

/// Node-revisions of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeStats {
    /// How many.
    pub count: u64,
    /// Their bytes, without representations.
    pub size: u64,
}

/// A change that takes much space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeChange {
    /// The bytes of the representation.
    pub size: u64,
    /// Its revision.
    pub revision: Revnum,
    /// The path of the node.
    pub path: RelPathBuf,
}

/// Files whose names end alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionStats {
    /// The sizes of representations.
    pub rep_histogram: Histogram,
    /// The sizes of full texts.
    pub node_histogram: Histogram,
}

/// What [`FileSystem::stats`](crate::FileSystem::stats) counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The bytes of all revision and pack files.
    pub total_size: u64,
    /// How many revisions there are.
    pub revision_count: u64,
    /// How many changed paths.
    pub change_count: u64,
    /// The bytes of their lists.
    pub change_len: u64,
    /// All representations.
    pub total_reps: RepStats,
    /// Those of files.
    pub file_reps: RepStats,
    /// Those of folders.
    pub dir_reps: RepStats,
    /// Those of properties of files.
    pub file_prop_reps: RepStats,
    /// Those of properties of folders.
    pub dir_prop_reps: RepStats,
    /// All node-revisions.
    pub total_nodes: NodeStats,
    /// Those of files.
    pub file_nodes: NodeStats,
    /// Those of folders.
    pub dir_nodes: NodeStats,
    /// The largest changes, the largest first.
    pub largest_changes: Vec<LargeChange>,
    /// Sizes of representations.
    pub rep_size: Histogram,
    /// Sizes of full texts.
    pub node_size: Histogram,
    /// Sizes of representations of what was added.
    pub added_rep_size: Histogram,
    /// Sizes of full texts of what was added.
    pub added_node_size: Histogram,
    /// Sizes of representations that nothing uses.
    pub unused_rep: Histogram,
    /// Sizes of files.
    pub file: Histogram,
    /// Sizes of their representations.
    pub file_rep: Histogram,
    /// Sizes of properties of files.
    pub file_prop: Histogram,
    /// Sizes of their representations.
    pub file_prop_rep: Histogram,
    /// Sizes of folders.
    pub dir: Histogram,
    /// Sizes of their representations.
    pub dir_rep: Histogram,
    /// Sizes of properties of folders.
    pub dir_prop: Histogram,
    /// Sizes of their representations.
    pub dir_prop_rep: Histogram,
    /// By what the names end with, from the last full stop on; `(none)` for those without.
    pub by_extension: BTreeMap<String, ExtensionStats>,
}
