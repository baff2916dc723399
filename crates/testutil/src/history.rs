//! Repositories with a history of chance.

use sylvan_core::{NodeKind, RelPath, RelPathBuf, Revnum, Timestamp};
use sylvan_fs::lock::Access;
use sylvan_fs::{FileSystem, Tree, Txn};

/// Numbers that look like chance, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Makes a source.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit.max(1)
    }

    /// Chooses one of `items`.
    pub fn one<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

/// Commits `revisions` revisions of chance: additions, changes, deletions, copies, replacements.
pub fn random_history(fs: &FileSystem, seed: u64, revisions: usize) {
    let mut chance = Chance::new(seed);
    for number in 0..revisions {
        let now = Timestamp::from_micros(1_700_000_000_000_000 + number as i64 * 1_000_000);
        let youngest = fs.youngest().expect("a readable repository");
        let mut txn = Txn::begin(fs, youngest, now).expect("a writable repository");
        txn.set_prop(
            "svn:author",
            Some(["jo", "sam"][chance.below(2)].as_bytes().to_vec()),
        );
        txn.set_prop("svn:log", Some(format!("change {number}").into_bytes()));
        for _ in 0..=chance.below(5) {
            change(fs, &mut txn, &mut chance);
        }
        txn.commit(&Access::default(), now).expect("no conflicts");
    }
}

/// Returns all paths of a tree with their kinds, but for the root.
pub fn all_paths(tree: Tree<'_>) -> Vec<(RelPathBuf, NodeKind)> {
    let mut found = Vec::new();
    let mut folders = vec![tree.node(RelPath::ROOT).expect("there is a root")];
    while let Some(folder) = folders.pop() {
        for entry in folder.entries().expect("a readable folder").entries() {
            let node = folder.child(&entry.name).expect("a readable node");
            let node = node.expect("it was just listed");
            found.push((node.path().to_owned(), entry.kind));
            if entry.kind == NodeKind::Dir {
                folders.push(node);
            }
        }
    }
    found.sort();
    found
}

fn text(chance: &mut Chance) -> Vec<u8> {
    let lines = [0, 1, 3, 40, 4000][chance.below(5)];
    (0..lines)
        .flat_map(|line| format!("line {} {line}\n", chance.below(7)).into_bytes())
        .collect()
}

fn change(fs: &FileSystem, txn: &mut Txn, chance: &mut Chance) {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e f", "g.x", "h-1", "ä"];
    let paths = all_paths(Tree::from(&*txn));
    let mut dirs = vec![RelPathBuf::root()];
    dirs.extend(
        paths
            .iter()
            .filter(|(path, kind)| *kind == NodeKind::Dir && path.depth() < 5)
            .map(|(path, _)| path.clone()),
    );
    let dir = chance.one(&dirs).clone();
    let new = dir
        .child(NAMES[chance.below(NAMES.len())])
        .expect("a plain name");
    let is_free = txn.kind(&new).expect("readable") == NodeKind::None;
    let what = if paths.len() > 60 { 6 } else { chance.below(8) };
    let any = (!paths.is_empty()).then(|| chance.one(&paths).clone());
    match (what, any) {
        (0 | 1, _) if is_free => txn.make_dir(&new).expect("free"),
        (2 | 3, _) if is_free => {
            txn.make_file(&new).expect("free");
            write(txn, &new, chance);
        }
        (4, Some((path, NodeKind::File))) => write(txn, &path, chance),
        (5, Some((path, _))) => {
            let value = [None, Some(&b"x"[..]), Some(b"longer\nvalue")][chance.below(3)];
            let name = ["p", "q:r"][chance.below(2)];
            let value = value.map(<[u8]>::to_vec);
            txn.set_node_prop(&path, name, value).expect("it is there");
        }
        (6, Some((path, _))) => txn.delete(&path).expect("it is there"),
        (7, _) => copy(fs, txn, &new, is_free, chance),
        _ => {}
    }
}

fn write(txn: &mut Txn, path: &RelPath, chance: &mut Chance) {
    let mut writer = txn.begin_text(path).expect("a file");
    writer.push(&text(chance)).expect("writable");
    writer.finish(None).expect("no digest was given");
}

fn copy(fs: &FileSystem, txn: &mut Txn, to: &RelPath, is_free: bool, chance: &mut Chance) {
    let youngest = fs.youngest().expect("readable").number();
    let rev = chance.below(usize::try_from(youngest).unwrap_or(0) + 1);
    let rev = Revnum::new(rev as i64).unwrap_or_default();
    let root = fs.revision_root(rev).expect("it exists");
    let sources = all_paths(Tree::from(&root));
    if sources.is_empty() || sources.len() > 40 {
        return;
    }
    let (source, kind) = chance.one(&sources).clone();
    if !is_free {
        txn.delete(to).expect("it is there");
    }
    txn.copy(&root, &source, to).expect("a free place");
    if kind == NodeKind::File && chance.below(2) == 0 {
        write(txn, to, chance);
    }
}
