//! Whole texts on their way to a server.

use sylvan_delta::svndiff::{Encoder, Op, Version, WINDOW_SIZE};

/// Makes a text that comes in pieces into svndiff, window by window.
#[derive(Debug)]
pub(crate) struct WholeText {
    encoder: Encoder,
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl WholeText {
    pub(crate) fn new(version: Version, level: u32) -> Self {
        let mut out = Vec::new();
        Self {
            encoder: Encoder::new(version, level, &mut out),
            pending: Vec::new(),
            out,
        }
    }

    /// Takes the next piece, and returns what can be sent.
    pub(crate) fn push(&mut self, mut piece: &[u8]) -> Vec<u8> {
        while self.pending.len() + piece.len() >= WINDOW_SIZE {
            let (now, later) = piece.split_at(WINDOW_SIZE - self.pending.len());
            if self.pending.is_empty() {
                window(&mut self.encoder, now, &mut self.out);
            } else {
                self.pending.extend_from_slice(now);
                window(&mut self.encoder, &self.pending, &mut self.out);
                self.pending.clear();
            }
            piece = later;
        }
        self.pending.extend_from_slice(piece);
        if self.out.len() > 4 {
            std::mem::take(&mut self.out)
        } else {
            Vec::new()
        }
    }

    /// Returns the rest.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if !self.pending.is_empty() {
            window(&mut self.encoder, &self.pending, &mut self.out);
        }
        self.out
    }
}

fn window(encoder: &mut Encoder, text: &[u8], out: &mut Vec<u8>) {
    encoder.window(0, 0, &[Op::New { len: text.len() }], text, out);
}

#[cfg(test)]
mod tests {
    use sylvan_delta::{Applier, EmptyBase, TextFormat};

    use super::*;

    #[test]
    fn pieces_of_any_length_make_the_text() {
        let text: Vec<u8> = (0..250_000_u32).map(|n| (n / 7) as u8).collect();
        for piece in [1000, 102_400, 250_000] {
            let mut encoder = WholeText::new(Version::V1, 5);
            let mut stream = Vec::new();
            for piece in text.chunks(piece) {
                stream.extend(encoder.push(piece));
            }
            stream.extend(encoder.finish());
            let mut made = Vec::new();
            let mut applier = Applier::new(TextFormat::Svndiff, EmptyBase);
            applier
                .push(&stream, |bytes| {
                    made.extend_from_slice(bytes);
                    Ok(())
                })
                .unwrap();
            applier.finish().unwrap();
            assert!(made == text, "in pieces of {piece}");
        }
    }
}
