//! Makes deltas as Subversion does, instruction by instruction.
//!
//! Blocks of 64 bytes of the source view are found by a checksum that can be moved along the
//! target a byte at a time; a block that is found is extended to both sides. So a stream that both
//! programs write is the same, compression aside.

use sylvan_core::Result;

use super::{Encoder, Op, Version, WINDOW_SIZE};

/// The blocks of the source that are looked for.
const BLOCK: usize = 64;
/// How many checksums the filter tells apart.
const FLAGS: usize = 32 * 1024;
/// Copies up to this length take more than the bytes they copy.
const SHORT: usize = 4;
const UNUSED: u32 = u32::MAX;

/// Instructions and new data of a window, while they are made.
#[derive(Debug, Default)]
struct Builder {
    ops: Vec<Op>,
    new_data: Vec<u8>,
}

impl Builder {
    fn clear(&mut self) {
        self.ops.clear();
        self.new_data.clear();
    }

    fn insert(&mut self, bytes: &[u8]) {
        self.new_data.extend_from_slice(bytes);
        if let Some(Op::New { len }) = self.ops.last_mut() {
            *len += bytes.len();
        } else {
            self.ops.push(Op::New { len: bytes.len() });
        }
    }

    fn copy(&mut self, from: usize, count: usize) {
        if let Some(Op::Source { offset, len }) = self.ops.last_mut()
            && *offset + *len == from
        {
            *len += count;
            return;
        }
        self.ops.push(Op::Source {
            offset: from,
            len: count,
        });
    }

    /// Takes back what the last instructions write, up to `limit` bytes; a copy only as a whole.
    /// Returns how many bytes.
    fn take_back(&mut self, limit: usize) -> usize {
        let mut taken = 0;
        while let Some(op) = self.ops.last_mut() {
            match op {
                Op::Target { .. } => break,
                Op::New { len } if *len + taken > limit => {
                    let part = limit - taken;
                    *len -= part;
                    self.new_data.truncate(self.new_data.len() - part);
                    return limit;
                }
                Op::Source { len, .. } if *len + taken > limit => break,
                Op::New { len } => {
                    taken += *len;
                    self.new_data.truncate(self.new_data.len() - *len);
                }
                Op::Source { len, .. } => taken += *len,
            }
            self.ops.pop();
        }
        taken
    }
}

/// The blocks of a source view, by checksum.
#[derive(Debug)]
struct Blocks {
    /// Checksum and position; open addressing.
    slots: Vec<(u32, u32)>,
    /// A bit for each checksum that there may be.
    flags: Vec<u8>,
}

const fn flag_of(sum: u32) -> (usize, u8) {
    ((sum >> 16) as usize & (FLAGS / 8 - 1), 1 << (sum & 7))
}

fn checksum(block: &[u8]) -> u32 {
    let (mut low, mut high) = (0u32, 0u32);
    for byte in &block[..BLOCK] {
        low += u32::from(*byte);
        high += low;
    }
    (high << 16).wrapping_add(low)
}

/// Moves a checksum one byte along.
const fn roll(sum: u32, out: u8, next: u8) -> u32 {
    let (out, next) = (out as u32, next as u32);
    let sum = sum.wrapping_sub((BLOCK as u32 * out) << 16);
    let sum = sum.wrapping_sub(out).wrapping_add(next);
    sum.wrapping_add(sum << 16)
}

impl Blocks {
    const fn new() -> Self {
        Self {
            slots: Vec::new(),
            flags: Vec::new(),
        }
    }

    fn fill(&mut self, source: &[u8]) {
        let count = (source.len() / BLOCK + 2).next_power_of_two() * 2;
        self.slots.clear();
        self.slots.resize(count, (0, UNUSED));
        self.flags.clear();
        self.flags.resize(FLAGS / 8, 0);
        for (number, block) in source.chunks_exact(BLOCK).enumerate() {
            let sum = checksum(block);
            let (at, found) = self.probe(sum, block, source);
            if found.is_none() {
                // A window is far smaller than 32 bits can count.
                self.slots[at] = (sum, (number * BLOCK) as u32);
                let (byte, bit) = flag_of(sum);
                self.flags[byte] |= bit;
            }
        }
    }

    /// Looks for a block; returns the slot where the search ended, and the block's position.
    fn probe(&self, sum: u32, block: &[u8], source: &[u8]) -> (usize, Option<usize>) {
        let mask = self.slots.len() - 1;
        let mut at = (sum ^ (sum >> 12)) as usize & mask;
        loop {
            let (found, position) = self.slots[at];
            if position == UNUSED {
                return (at, None);
            }
            let position = position as usize;
            if found == sum && source[position..position + BLOCK] == block[..BLOCK] {
                return (at, Some(position));
            }
            at = (at + 1) & mask;
        }
    }

    fn may_have(&self, sum: u32) -> bool {
        let (byte, bit) = flag_of(sum);
        self.flags[byte] & bit != 0
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (left, right) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let whole = left.iter().zip(right).take_while(|(a, b)| a == b).count() * 8;
    whole
        + a[whole..]
            .iter()
            .zip(&b[whole..])
            .take_while(|(a, b)| a == b)
            .count()
}

fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    a.iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(a, b)| a == b)
        .count()
}

/// Makes the instructions of one window.
#[derive(Debug)]
struct Xdelta {
    blocks: Blocks,
    builder: Builder,
}

impl Xdelta {
    fn run(&mut self, source: &[u8], target: &[u8]) {
        self.builder.clear();
        if source.is_empty() {
            self.builder.insert(target);
            return;
        }
        let mut at = common_prefix(source, target);
        if at > SHORT || at == target.len() {
            self.builder.copy(0, at);
        } else {
            at = 0;
        }
        if target.len() - at < BLOCK || source.len() < BLOCK {
            self.rest(source, target, at);
            return;
        }
        self.blocks.fill(source);
        let done = self.matches(source, target, at);
        self.rest(source, target, done);
    }

    /// Copies what is found; returns how much of the target the instructions write.
    fn matches(&mut self, source: &[u8], target: &[u8], mut at: usize) -> usize {
        let (blocks, builder) = (&self.blocks, &mut self.builder);
        let mut done = at;
        let last = target.len() - BLOCK;
        let mut sum = checksum(&target[at..]);
        while at < last {
            while !blocks.may_have(sum) && at < last {
                sum = roll(sum, target[at], target[at + BLOCK]);
                at += 1;
            }
            let Some(mut from) = blocks.probe(sum, &target[at..], source).1 else {
                if at + BLOCK < target.len() {
                    sum = roll(sum, target[at], target[at + BLOCK]);
                }
                at += 1;
                continue;
            };
            let mut len = BLOCK + common_prefix(&source[from + BLOCK..], &target[at + BLOCK..]);
            let back = common_suffix(&source[..from], &target[done..at]);
            (from, at, len) = (from - back, at - back, len + back);
            if at > done {
                builder.insert(&target[done..at]);
            } else {
                // Perhaps better than the copy just before.
                let back = common_suffix(&source[..from], &target[..at]);
                if back > 0 {
                    let back = builder.take_back(back);
                    (from, at, len) = (from - back, at - back, len + back);
                }
            }
            at += len;
            done = at;
            builder.copy(from, len);
            if at + BLOCK <= target.len() {
                sum = checksum(&target[at..]);
            }
        }
        done
    }

    /// Writes the end of the target; copies it if the source ends alike.
    fn rest(&mut self, source: &[u8], target: &[u8], done: usize) {
        let rest = &target[done..];
        if rest.is_empty() {
            return;
        }
        let alike = common_suffix(source, rest);
        let alike = if alike <= SHORT { 0 } else { alike };
        if rest.len() > alike {
            self.builder.insert(&rest[..rest.len() - alike]);
        }
        if alike > 0 {
            self.builder.copy(source.len() - alike, alike);
        }
    }
}

/// The text that a delta is made against, read from its beginning.
pub trait TextSource {
    /// Appends the next `len` bytes to `buffer`, fewer only at the end.
    ///
    /// # Errors
    /// If they cannot be read.
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()>;
}

impl TextSource for &[u8] {
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        let (now, later) = self.split_at(len.min(self.len()));
        buffer.extend_from_slice(now);
        *self = later;
        Ok(())
    }
}

/// Without a source, the empty text.
impl<S: TextSource> TextSource for Option<S> {
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        match self {
            Some(source) => source.fill(buffer, len),
            None => Ok(()),
        }
    }
}

impl<S: TextSource + ?Sized> TextSource for Box<S> {
    fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
        (**self).fill(buffer, len)
    }
}

/// Writes the svndiff stream that makes a text, which comes in pieces, from another.
///
/// ```
/// use sylvan_delta::svndiff::{Deltifier, Version};
/// use sylvan_delta::{Applier, TextFormat};
///
/// let (old, new) = (b"a line\n".repeat(99), b"a line\n".repeat(98));
/// let mut stream = Vec::new();
/// let mut deltifier = Deltifier::new(&old[..], Version::V0, 0, &mut stream);
/// deltifier.push(&new, &mut stream)?;
/// deltifier.finish(&mut stream)?;
/// assert!(stream.len() < 20);
/// let mut text = Vec::new();
/// let mut applier = Applier::new(TextFormat::Svndiff, &old[..]);
/// applier.push(&stream, |piece| Ok(text.extend_from_slice(piece)))?;
/// assert_eq!(text, new);
/// # Ok::<_, sylvan_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Deltifier<S> {
    source: S,
    encoder: Encoder,
    view: Vec<u8>,
    view_offset: u64,
    target: Vec<u8>,
    xdelta: Xdelta,
}

impl<S: TextSource> Deltifier<S> {
    /// Makes one, and appends the stream's first bytes to `out`. `level` is that of zlib.
    pub fn new(source: S, version: Version, level: u32, out: &mut Vec<u8>) -> Self {
        Self {
            source,
            encoder: Encoder::new(version, level, out),
            view: Vec::new(),
            view_offset: 0,
            target: Vec::new(),
            xdelta: Xdelta {
                blocks: Blocks::new(),
                builder: Builder::default(),
            },
        }
    }

    /// Takes the next piece of the text, and appends the windows that it completes to `out`.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>) -> Result<()> {
        while !piece.is_empty() {
            let room = WINDOW_SIZE - self.target.len();
            let (now, later) = piece.split_at(room.min(piece.len()));
            self.target.extend_from_slice(now);
            piece = later;
            if self.target.len() == WINDOW_SIZE {
                self.window(out)?;
            }
        }
        Ok(())
    }

    /// Appends what is left to `out`.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.target.is_empty() {
            return Ok(());
        }
        self.window(out)
    }

    fn window(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.view.clear();
        self.source.fill(&mut self.view, WINDOW_SIZE)?;
        self.xdelta.run(&self.view, &self.target);
        let builder = &self.xdelta.builder;
        let (offset, len) = (self.view_offset, self.view.len());
        self.encoder
            .window(offset, len, &builder.ops, &builder.new_data, out);
        self.view_offset += len as u64;
        self.target.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Applier, TextFormat};

    fn round_trip(old: &[u8], new: &[u8], version: Version) -> Vec<u8> {
        let mut stream = Vec::new();
        let mut deltifier = Deltifier::new(old, version, 5, &mut stream);
        for piece in new.chunks(1000) {
            deltifier.push(piece, &mut stream).unwrap();
        }
        deltifier.finish(&mut stream).unwrap();
        let mut text = Vec::new();
        let mut applier = Applier::new(TextFormat::Svndiff, old);
        applier
            .push(&stream, |piece| {
                text.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        applier.finish().unwrap();
        assert!(text == new);
        stream
    }

    /// Texts of few letters that repeat, cut and joined, so that there is much to find.
    fn texts() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let parts = prop::collection::vec((0usize..3000, 0usize..400), 0..12);
        (prop::collection::vec(0u8..4, 3400), parts.clone(), parts).prop_map(|(pool, a, b)| {
            let join = |parts: Vec<(usize, usize)>| {
                let cut = |(from, len): (usize, usize)| pool[from..from + len].to_vec();
                parts.into_iter().flat_map(cut).collect::<Vec<u8>>()
            };
            (join(a), join(b))
        })
    }

    proptest! {
        #[test]
        fn what_is_made_makes_the_text((old, new) in texts()) {
            for version in Version::ALL {
                round_trip(&old, &new, version);
            }
        }
    }

    #[test]
    fn windows_follow_each_other() {
        let old: Vec<u8> = (0..350_000u64).map(|at| ((at * at) >> 9) as u8).collect();
        let mut new = old.clone();
        new.splice(1000..1000, *b"something else");
        let stream = round_trip(&old, &new, Version::V0);
        assert!(stream.len() < 400, "{}", stream.len());
        round_trip(&old, &old[..204_800], Version::V1);
        round_trip(&old[..10], &old, Version::V2);
        round_trip(&old, &[], Version::V0);
    }
}
