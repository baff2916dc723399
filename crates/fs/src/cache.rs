//! What is kept in memory, for all file systems of a process.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use sylvan_core::{Props, Revnum};

use crate::dir::Directory;
use crate::id::NodeRevId;
use crate::index::l2p::Offsets;
use crate::node_rev::NodeRev;
use crate::rev_file::RevFile;

/// A bounded cache of what never changes: node-revisions, folders, texts, blocks of files, open
/// files. Clones share it, and so may any number of file systems and threads.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

struct Inner {
    shards: Vec<Mutex<Shard>>,
    /// Of each shard.
    budget: usize,
    owners: Mutex<HashMap<(PathBuf, String), u64>>,
    next_owner: AtomicU64,
}

/// A cache for what is itself kept in it, and would else keep it alive for ever.
#[derive(Clone)]
pub(crate) struct WeakCache(Weak<Inner>);

impl WeakCache {
    /// Returns the cache, if anybody else has it.
    pub(crate) fn get(&self) -> Option<Cache> {
        self.0.upgrade().map(Cache)
    }
}

/// More than threads, which wait for each other seldom then; few enough for large values.
const SHARDS: usize = 8;

type Table = HashMap<Key, (Value, usize), BuildHasherDefault<KeyHasher>>;

/// Two generations: what is used moves to the young one, and when that is full, the old one goes.
#[derive(Default)]
struct Shard {
    young: Table,
    old: Table,
    weight: usize,
    /// The folder used last of those that are too large for the rest: it is in memory anyway, and
    /// would else be parsed again for each of its entries.
    large: Option<(Key, Value)>,
}

/// What a value is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The file system or file.
    pub(crate) owner: u64,
    pub(crate) kind: Kind,
    /// A revision or number.
    pub(crate) a: i64,
    /// An item, offset or page.
    pub(crate) b: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    NodeRev,
    Directory,
    Props,
    Text,
    RootId,
    File,
    PackFile,
    Block,
    Offsets,
    Chain,
    Checked,
}

#[derive(Clone)]
pub(crate) enum Value {
    NodeRev(Arc<NodeRev>),
    Directory(Arc<Directory>),
    Props(Arc<Props>),
    Text(Bytes),
    RootId(NodeRevId),
    File(Arc<RevFile>),
    Offsets(Arc<Offsets>),
    /// How many deltas a representation needs, and in how many shards.
    Chain(Chain),
    /// How many nodes in a folder, all of which were checked, have mergeinfo.
    Checked(i64),
}

/// How long a chain of deltas is, and in how many shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) len: i64,
    pub(crate) shards: u32,
}

impl Cache {
    /// The size of [`Cache::default`].
    pub const DEFAULT_SIZE: usize = 32 << 20;

    /// Makes a cache that holds about `bytes`.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Inner {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            budget: bytes / SHARDS,
            owners: Mutex::default(),
            next_owner: AtomicU64::new(1),
        }))
    }

    pub(crate) fn downgrade(&self) -> WeakCache {
        WeakCache(Arc::downgrade(&self.0))
    }

    /// Returns how many bytes are held, nearly.
    pub fn weight(&self) -> usize {
        let weigh = |shard: &Mutex<Shard>| {
            let shard = lock(shard);
            shard.weight + shard.old.values().map(|(_, weight)| weight).sum::<usize>()
        };
        self.0.shards.iter().map(weigh).sum()
    }

    /// Returns the number of a file system, the same each time it is opened.
    pub(crate) fn owner_of_fs(&self, path: &Path, instance: &str) -> u64 {
        let mut owners = lock(&self.0.owners);
        let key = (path.to_owned(), instance.to_owned());
        *owners.entry(key).or_insert_with(|| self.new_owner())
    }

    /// Returns a number that nobody has.
    pub(crate) fn new_owner(&self) -> u64 {
        self.0.next_owner.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the largest weight of a value that is worth keeping.
    pub(crate) fn largest(&self) -> usize {
        self.0.budget / 2
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Value> {
        let mut shard = lock(self.shard(key));
        if let Some((value, _)) = shard.young.get(key) {
            return Some(value.clone());
        }
        if let Some((large, value)) = &shard.large
            && large == key
        {
            return Some(value.clone());
        }
        let (value, weight) = shard.old.remove(key)?;
        shard.put(*key, value.clone(), weight, self.0.budget);
        Some(value)
    }

    /// Keeps a value that takes about `weight` bytes.
    pub(crate) fn put(&self, key: Key, value: Value, weight: usize) {
        // What the tables take for each entry.
        let weight = weight + 96;
        let mut shard = lock(self.shard(&key));
        if weight <= self.largest() {
            shard.put(key, value, weight, self.0.budget);
        } else if key.kind == Kind::Directory {
            shard.large = Some((key, value));
        }
    }

    fn shard(&self, key: &Key) -> &Mutex<Shard> {
        // Bits that the tables do not look at first.
        &self.0.shards[(key.mixed() >> 40) as usize % SHARDS]
    }
}

impl Shard {
    fn put(&mut self, key: Key, value: Value, weight: usize, budget: usize) {
        if let Some((_, before)) = self.young.insert(key, (value, weight)) {
            self.weight = self.weight.saturating_sub(before);
        }
        self.weight += weight;
        if self.weight > budget / 2 {
            // The tables stay as large as they were.
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
            self.weight = 0;
        }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(Self::DEFAULT_SIZE)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

/// A panic elsewhere leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

macro_rules! typed {
    ($($get:ident $put:ident $variant:ident $type:ty;)*) => {
        impl Cache {$(
            pub(crate) fn $get(&self, key: &Key) -> Option<$type> {
                match self.get(key) {
                    Some(Value::$variant(value)) => Some(value),
                    _ => None,
                }
            }

            pub(crate) fn $put(&self, key: Key, value: &$type, weight: usize) {
                self.put(key, Value::$variant(value.clone()), weight);
            }
        )*}
    };
}

typed! {
    node_rev put_node_rev NodeRev Arc<NodeRev>;
    directory put_directory Directory Arc<Directory>;
    props put_props Props Arc<Props>;
    text put_text Text Bytes;
    root_id put_root_id RootId NodeRevId;
    file put_file File Arc<RevFile>;
    offsets put_offsets Offsets Arc<Offsets>;
    chain put_chain Chain Chain;
    checked put_checked Checked i64;
}

impl Key {
    /// All of it in one number: parts that count up give numbers far apart.
    const fn mixed(&self) -> u64 {
        let mut hash = self.owner ^ (self.kind as u64) << 56;
        hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 32 ^ self.a.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 32 ^ self.b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    }

    pub(crate) const fn new(owner: u64, kind: Kind, revision: Revnum, b: u64) -> Self {
        Self {
            owner,
            kind,
            a: revision.number(),
            b,
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mixed());
    }
}

/// Takes the number that a [`Key`] has mixed for what it is.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(b: u64) -> Key {
        Key::new(1, Kind::Text, Revnum::ZERO, b)
    }

    #[test]
    fn what_is_used_stays_and_the_size_is_bounded() {
        let cache = Cache::new(1 << 20);
        let text = Bytes::from(vec![0; 1000]);
        for number in 0..100_000 {
            cache.put_text(key(number), &text, text.len());
            assert!(cache.text(&key(0)).is_some(), "{number}");
            assert!(number % 1000 != 0 || cache.weight() <= 1 << 20);
        }
        assert!(cache.text(&key(1)).is_none());
        assert!(cache.text(&key(99_999)).is_some());
        let large = Bytes::from(vec![0; 1 << 20]);
        cache.put_text(key(5), &large, large.len());
        assert!(cache.text(&key(5)).is_none());
        let folder = Key {
            kind: Kind::Directory,
            ..key(6)
        };
        cache.put_directory(folder, &Arc::default(), 1 << 20);
        assert!(cache.directory(&folder).is_some());
    }

    #[test]
    fn file_systems_are_told_apart() {
        let cache = Cache::default();
        let path = Path::new("/r/db");
        let first = cache.owner_of_fs(path, "a");
        assert_eq!(cache.owner_of_fs(path, "a"), first);
        assert_ne!(cache.owner_of_fs(path, "b"), first);
    }
}
