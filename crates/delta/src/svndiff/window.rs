use super::{SvndiffError, WINDOW_SIZE, varint};

/// One instruction of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Copies from the source view.
    Source {
        /// Where in the view.
        offset: usize,
        /// How many bytes.
        len: usize,
    },
    /// Copies from what this window has written, perhaps running into what it writes.
    Target {
        /// Where in the window's target.
        offset: usize,
        /// How many bytes.
        len: usize,
    },
    /// Copies what comes next in the new data.
    New {
        /// How many bytes.
        len: usize,
    },
}

impl Op {
    /// Returns how many bytes the instruction writes.
    pub const fn len(self) -> usize {
        match self {
            Self::Source { len, .. } | Self::Target { len, .. } | Self::New { len } => len,
        }
    }

    /// Tells whether the instruction writes nothing (no valid one does).
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    fn take(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let selector = *bytes.get(*at)?;
        *at += 1;
        let len = match selector & 0x3f {
            0 => varint::take(bytes, at)?,
            len => usize::from(len),
        };
        Some(match selector >> 6 {
            0 => Self::Source {
                offset: varint::take(bytes, at)?,
                len,
            },
            1 => Self::Target {
                offset: varint::take(bytes, at)?,
                len,
            },
            2 => Self::New { len },
            _ => return None,
        })
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        let (kind, offset) = match self {
            Self::Source { offset, .. } => (0, Some(offset)),
            Self::Target { offset, .. } => (1, Some(offset)),
            Self::New { .. } => (2, None),
        };
        match u8::try_from(self.len()) {
            Ok(len @ 1..=0x3f) => out.push(kind << 6 | len),
            _ => {
                out.push(kind << 6);
                varint::encode(self.len() as u64, out);
            }
        }
        if let Some(offset) = offset {
            varint::encode(offset as u64, out);
        }
    }
}

/// A part of the target text: how to make it from the source view, new data and itself. Only made
/// from checked instructions, so that applying it cannot fail.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    source_offset: u64,
    source_len: usize,
    target_len: usize,
    instructions: &'a [u8],
    new_data: &'a [u8],
}

impl<'a> Window<'a> {
    /// Checks instructions and makes the window.
    ///
    /// # Errors
    /// `WindowTooLarge`, and those that name an instruction.
    pub fn new(
        source_offset: u64,
        source_len: usize,
        target_len: usize,
        instructions: &'a [u8],
        new_data: &'a [u8],
    ) -> Result<Self, SvndiffError> {
        if source_len > WINDOW_SIZE || target_len > WINDOW_SIZE || new_data.len() > WINDOW_SIZE {
            return Err(SvndiffError::WindowTooLarge);
        }
        check(instructions, source_len, target_len, new_data.len())?;
        Ok(Self {
            source_offset,
            source_len,
            target_len,
            instructions,
            new_data,
        })
    }

    /// Returns where the source view begins in the base text.
    pub const fn source_offset(&self) -> u64 {
        self.source_offset
    }

    /// Returns the length of the source view.
    pub const fn source_len(&self) -> usize {
        self.source_len
    }

    /// Returns the length of what the window makes.
    pub const fn target_len(&self) -> usize {
        self.target_len
    }

    /// Returns the bytes that [`Op::New`] copies.
    pub const fn new_data(&self) -> &'a [u8] {
        self.new_data
    }

    /// Goes through the instructions.
    pub const fn ops(&self) -> Ops<'a> {
        Ops::of(self.instructions)
    }

    /// Returns what the window makes, if that is just its new data.
    pub fn fulltext(&self) -> Option<&'a [u8]> {
        // All new data is used and the target is filled, so equal lengths leave no other copies.
        (self.new_data.len() == self.target_len).then_some(self.new_data)
    }

    /// Appends what the window makes to `target`. `source` is the source view.
    ///
    /// # Panics
    /// If `source` is not as long as the view.
    pub fn apply(&self, source: &[u8], target: &mut Vec<u8>) {
        assert_eq!(source.len(), self.source_len, "the view is read whole");
        let start = target.len();
        let mut new_data = self.new_data;
        target.reserve(self.target_len);
        for op in self.ops() {
            match op {
                Op::Source { offset, len } => {
                    target.extend_from_slice(&source[offset..offset + len]);
                }
                Op::Target { offset, len } => copy_within(target, start + offset, len),
                Op::New { len } => {
                    let (now, later) = new_data.split_at(len);
                    target.extend_from_slice(now);
                    new_data = later;
                }
            }
        }
    }
}

/// Appends `len` bytes from `from` on, where the bytes written become the bytes read.
fn copy_within(target: &mut Vec<u8>, from: usize, len: usize) {
    let mut left = len;
    while left > 0 {
        // What is there doubles each time, so short patterns repeat in few steps.
        let now = left.min(target.len() - from);
        target.extend_from_within(from..from + now);
        left -= now;
    }
}

/// The instructions of a [`Window`].
#[derive(Clone, Debug)]
pub struct Ops<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Ops<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl Iterator for Ops<'_> {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        Op::take(self.bytes, &mut self.at)
    }
}

fn check(
    instructions: &[u8],
    source_len: usize,
    target_len: usize,
    new_len: usize,
) -> Result<(), SvndiffError> {
    let (mut at, mut index, mut target, mut new) = (0, 0, 0, 0);
    while at < instructions.len() {
        let op = Op::take(instructions, &mut at).ok_or(SvndiffError::BadInstruction(index))?;
        if op.is_empty() {
            return Err(SvndiffError::EmptyInstruction(index));
        }
        if op.len() > target_len - target {
            return Err(SvndiffError::TargetOverflow(index));
        }
        match op {
            Op::Source { offset, len } => {
                if offset > source_len || len > source_len - offset {
                    return Err(SvndiffError::SourceOverflow(index));
                }
            }
            Op::Target { offset, .. } => {
                if offset >= target {
                    return Err(SvndiffError::BeyondTarget(index));
                }
            }
            Op::New { len } => {
                if len > new_len - new {
                    return Err(SvndiffError::NewDataOverflow(index));
                }
                new += len;
            }
        }
        target += op.len();
        index += 1;
    }
    if target != target_len {
        Err(SvndiffError::TargetNotFilled)
    } else if new != new_len {
        Err(SvndiffError::NewDataUnused)
    } else {
        Ok(())
    }
}
