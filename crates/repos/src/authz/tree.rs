//! The rules for one user in one repository, by path.

use std::collections::HashMap;

use sylvan_core::glob;

use super::rule::{Acl, Segment};
use super::{Limits, Reach, Rights};

/// A tree of names. Nodes are named by their place.
#[derive(Debug)]
pub(super) struct Tree(Vec<TreeNode>);

const ROOT: usize = 0;

/// The rule that counts at a node.
#[derive(Clone, Copy, Debug)]
struct Local {
    sequence: i64,
    rights: Rights,
}

/// A component of paths in rules.
#[derive(Debug)]
struct TreeNode {
    /// The rule that ends here.
    local: Option<Local>,
    /// The rights here and below.
    limits: Limits,
    /// Whether it is a `**`, which goes on below itself.
    repeats: bool,
    literals: HashMap<Vec<u8>, usize>,
    any: Option<usize>,
    any_recursive: Option<usize>,
    prefixes: Affixes,
    /// Ends of names, reversed.
    suffixes: Affixes,
    globs: Vec<(Vec<u8>, usize)>,
}

/// Beginnings of names, by length.
#[derive(Debug, Default)]
struct Affixes(Vec<(usize, HashMap<Vec<u8>, usize>)>);

impl Affixes {
    fn of_len(&mut self, len: usize) -> &mut HashMap<Vec<u8>, usize> {
        let at = match self.0.iter().position(|(known, _)| *known == len) {
            Some(at) => at,
            None => {
                self.0.push((len, HashMap::new()));
                self.0.len() - 1
            }
        };
        &mut self.0[at].1
    }

    fn nodes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|(_, nodes)| nodes.values().copied())
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        for (_, nodes) in &mut self.0 {
            nodes.retain(|_, node| keep(*node));
        }
        self.0.retain(|(_, nodes)| !nodes.is_empty());
    }

    fn matching(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        let found = self.0.iter().filter_map(move |(len, nodes)| {
            let begin = name.get(..*len)?;
            nodes.get(begin)
        });
        found.copied()
    }
}

impl TreeNode {
    fn new() -> Self {
        Self {
            local: None,
            limits: Limits::EMPTY,
            repeats: false,
            literals: HashMap::new(),
            any: None,
            any_recursive: None,
            prefixes: Affixes::default(),
            suffixes: Affixes::default(),
            globs: Vec::new(),
        }
    }

    fn children(&self) -> Vec<usize> {
        let patterns = self.any.iter().chain(&self.any_recursive).copied();
        let globs = self.globs.iter().map(|(_, node)| *node);
        patterns
            .chain(globs)
            .chain(self.literals.values().copied())
            .chain(self.prefixes.nodes())
            .chain(self.suffixes.nodes())
            .collect()
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        self.literals.retain(|_, node| keep(*node));
        self.any = self.any.filter(|node| keep(*node));
        self.any_recursive = self.any_recursive.filter(|node| keep(*node));
        self.prefixes.retain(&keep);
        self.suffixes.retain(&keep);
        self.globs.retain(|(_, node)| keep(*node));
    }
}

impl Tree {
    /// Makes the tree of the rules that say anything of a user in a repository.
    pub(super) fn new(acls: &[Acl], repository: &str, user: Option<&str>) -> Self {
        let mut tree = Self(vec![TreeNode::new()]);
        let applying: Vec<&Acl> = acls.iter().filter(|acl| acl.is_for(repository)).collect();
        // Of a path, the rule for the repository comes behind that for any. It goes first, unless
        // only the other says anything of the user.
        for same_path in applying.chunk_by(|a, b| a.path == b.path) {
            let rights = |acl: &&Acl| Some((acl.sequence, acl.rights_of(user)?));
            if let Some((sequence, rights)) = same_path.iter().rev().find_map(rights) {
                let path = &same_path[0].path;
                tree.insert(path, Local { sequence, rights });
            }
        }
        tree.0[ROOT].local.get_or_insert(Local {
            sequence: 0,
            rights: Rights::NONE,
        });
        tree.finish();
        tree
    }

    fn insert(&mut self, path: &[Segment], local: Local) {
        let mut at = ROOT;
        for segment in path {
            let fresh = self.0.len();
            let node = &mut self.0[at];
            at = match segment {
                Segment::Literal(name) => *node.literals.entry(name.clone()).or_insert(fresh),
                Segment::Prefix(begin) => {
                    let known = node.prefixes.of_len(begin.len());
                    *known.entry(begin.clone()).or_insert(fresh)
                }
                Segment::Suffix(end) => {
                    let known = node.suffixes.of_len(end.len());
                    *known.entry(end.clone()).or_insert(fresh)
                }
                Segment::Any => *node.any.get_or_insert(fresh),
                Segment::AnyRecursive => *node.any_recursive.get_or_insert(fresh),
                Segment::Glob(pattern) => {
                    match node.globs.iter().find(|(known, _)| known == pattern) {
                        Some((_, node)) => *node,
                        None => {
                            node.globs.push((pattern.clone(), fresh));
                            fresh
                        }
                    }
                }
            };
            if at == fresh {
                let mut node = TreeNode::new();
                node.repeats = *segment == Segment::AnyRecursive;
                self.0.push(node);
            }
        }
        self.0[at].local = Some(local);
    }

    /// Takes away rules that a later one ending with `**` covers, and sums up the limits.
    fn finish(&mut self) {
        // Nodes are in order of creation: those above come first.
        let mut covered = vec![-1; self.0.len()];
        for at in 0..self.0.len() {
            let node = &self.0[at];
            let recursive = node.any_recursive.and_then(|node| self.0[node].local);
            covered[at] = recursive.map_or(covered[at], |rule| covered[at].max(rule.sequence));
            let latest = covered[at];
            for child in node.children() {
                covered[child] = latest;
            }
            if node.local.is_some_and(|rule| rule.sequence < latest) {
                self.0[at].local = None;
            }
        }
        let mut is_empty = vec![false; self.0.len()];
        for at in (0..self.0.len()).rev() {
            self.0[at].retain(|child| !is_empty[child]);
            let children = self.0[at].children();
            let mut limits = Limits::EMPTY;
            if let Some(local) = self.0[at].local {
                limits.add(local.rights);
            }
            for child in &children {
                limits.combine(self.0[*child].limits);
            }
            self.0[at].limits = limits;
            is_empty[at] = children.is_empty() && self.0[at].local.is_none();
        }
    }

    /// Tells whether rights are given at a path.
    pub(super) fn allows(&self, path: &str, required: Rights, reach: Reach) -> bool {
        let root = Standing {
            local: self.0[ROOT].local,
            limits: self.0[ROOT].limits,
        };
        let (mut here, mut above) = (root, root);
        let mut current = vec![ROOT];
        if let Some(node) = self.0[ROOT].any_recursive {
            here.add(&self.0[node]);
            current.push(node);
        }
        let mut next = Vec::new();
        let trimmed = path.trim_matches('/');
        // The root has one empty name.
        let is_doubled = |name: &&str| name.is_empty() && !trimmed.is_empty();
        let mut names = trimmed
            .split('/')
            .filter(|name| !is_doubled(name))
            .peekable();
        while let Some(name) = names.next() {
            if current.is_empty() {
                break;
            }
            if !here.limits.max.has(required) {
                return false;
            }
            if here.limits.min.has(required) {
                return true;
            }
            here = Standing::NOWHERE;
            next.clear();
            for node in &current {
                self.descend(*node, name.as_bytes(), &mut here, &mut next);
            }
            if here.local.is_none() {
                here.local = above.local;
                let rights = above.local.map_or(Rights::NONE, |local| local.rights);
                here.limits.add(rights);
            }
            if names.peek().is_some() {
                std::mem::swap(&mut current, &mut next);
                above = here;
            }
        }
        let granted = match reach {
            Reach::Recursive => here.limits.min,
            Reach::Path => here.local.map_or(Rights::NONE, |local| local.rights),
        };
        granted.has(required)
    }

    /// Finds the nodes below one that a name leads to.
    fn descend(&self, at: usize, name: &[u8], here: &mut Standing, next: &mut Vec<usize>) {
        let node = &self.0[at];
        let mut go = |child: usize| {
            here.add(&self.0[child]);
            next.push(child);
            // It matches no names, too.
            if let Some(recursive) = self.0[child].any_recursive {
                here.add(&self.0[recursive]);
                next.push(recursive);
            }
        };
        node.literals.get(name).copied().map(&mut go);
        node.any.map(&mut go);
        if node.repeats {
            go(at);
        }
        node.prefixes.matching(name).for_each(&mut go);
        let globs = node.globs.iter();
        globs
            .filter(|(pattern, _)| glob::matches(pattern, name))
            .for_each(|(_, child)| go(*child));
        if !node.suffixes.0.is_empty() {
            let reversed: Vec<u8> = name.iter().rev().copied().collect();
            node.suffixes.matching(&reversed).for_each(&mut go);
        }
    }
}

/// What counts at a place.
#[derive(Clone, Copy, Debug)]
struct Standing {
    local: Option<Local>,
    limits: Limits,
}

impl Standing {
    const NOWHERE: Self = Self {
        local: None,
        limits: Limits::EMPTY,
    };

    /// Adds a node that the path leads to: the latest rule counts.
    fn add(&mut self, node: &TreeNode) {
        if let Some(rule) = node.local
            && self
                .local
                .is_none_or(|local| local.sequence < rule.sequence)
        {
            self.local = Some(rule);
        }
        self.limits.combine(node.limits);
    }
}
