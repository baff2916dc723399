use flate2::{Compress, Compression, FlushCompress, Status};

use super::{Op, Version, WINDOW_SIZE, varint};

/// Writes a stream, window by window.
#[derive(Debug)]
pub struct Encoder {
    version: Version,
    deflate: Option<Compress>,
    instructions: Vec<u8>,
    packed: Vec<u8>,
}

/// Sections shorter than this are not worth compressing with zlib.
const MIN_DEFLATE: usize = 512;
/// LZ4 makes nothing shorter that is shorter than this.
const MIN_LZ4: usize = 13;

impl Encoder {
    /// Makes an encoder, and appends the stream's first bytes to `out`. `level` is that of zlib
    /// (0 to 9), used by version 1 only.
    pub fn new(version: Version, level: u32, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&version.magic());
        Self {
            version,
            deflate: (version == Version::V1)
                .then(|| Compress::new(Compression::new(level.min(9)), true)),
            instructions: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Appends a window to `out`. `ops` must fill the target and use all of `new_data`, or no
    /// reader accepts the stream.
    pub fn window(
        &mut self,
        source_offset: u64,
        source_len: usize,
        ops: &[Op],
        new_data: &[u8],
        out: &mut Vec<u8>,
    ) {
        let target_len: usize = ops.iter().map(|op| op.len()).sum();
        let mut instructions = std::mem::take(&mut self.instructions);
        let mut packed = std::mem::take(&mut self.packed);
        instructions.clear();
        packed.clear();
        ops.iter().for_each(|op| op.encode(&mut instructions));
        varint::encode(source_offset, out);
        varint::encode(source_len as u64, out);
        varint::encode(target_len as u64, out);
        self.pack(&instructions, &mut packed);
        let instructions_len = packed.len();
        self.pack(new_data, &mut packed);
        varint::encode(instructions_len as u64, out);
        varint::encode((packed.len() - instructions_len) as u64, out);
        out.extend_from_slice(&packed);
        self.instructions = instructions;
        self.packed = packed;
    }

    fn pack(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        if self.version == Version::V0 {
            out.extend_from_slice(plain);
            return;
        }
        varint::encode(plain.len() as u64, out);
        let worth_it = if self.deflate.is_some() {
            MIN_DEFLATE
        } else {
            MIN_LZ4
        };
        if plain.len() >= worth_it {
            let start = out.len();
            let done = match &mut self.deflate {
                Some(deflate) => deflate_all(deflate, plain, out),
                None => {
                    out.extend_from_slice(&lz4_flex::block::compress(plain));
                    true
                }
            };
            if done && out.len() - start < plain.len() {
                return;
            }
            out.truncate(start);
        }
        out.extend_from_slice(plain);
    }
}

/// Appends the compressed form unless it is longer than the plain one.
fn deflate_all(deflate: &mut Compress, plain: &[u8], out: &mut Vec<u8>) -> bool {
    deflate.reset();
    out.reserve(plain.len());
    matches!(
        deflate.compress_vec(plain, out, FlushCompress::Finish),
        Ok(Status::StreamEnd)
    )
}

/// Writes a whole stream that makes `text` from nothing.
pub fn encode_fulltext(version: Version, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 64);
    let mut encoder = Encoder::new(version, 5, &mut out);
    for part in text.chunks(WINDOW_SIZE) {
        encoder.window(0, 0, &[Op::New { len: part.len() }], part, &mut out);
    }
    out
}
