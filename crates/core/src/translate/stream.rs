use std::sync::Arc;

use super::Keywords;
use crate::{Error, ErrorCode, Result};

/// No keyword with its value and both `$` is longer.
const MAX_KEYWORD: usize = 255;

/// Translates line ends and keywords of a stream that comes in chunks.
///
/// Output is appended to the caller's buffer. At most 255 bytes are held back between chunks; the
/// result does not depend on where chunks end.
///
/// A keyword is `$Name$`, `$Name:$`, `$Name: value $` or `$Name:: value $` within one line. The
/// last form keeps its width: the value is padded with blanks, or cut with `#` in place of the last
/// blank.
#[derive(Debug)]
pub struct Translator {
    /// The line end to be written; `None` leaves line ends as they are.
    eol: Option<&'static [u8]>,
    /// Whether line ends that differ from the first one are translated too.
    repair: bool,
    keywords: Option<Arc<Keywords>>,
    expand: bool,
    /// The first line end of the input.
    first_eol: Option<Ending>,
    changed_eol: bool,
    /// Whether a CR came at the end of a chunk, an LF may follow.
    after_cr: bool,
    /// The beginning of what may be a keyword, from its `$`.
    held: Vec<u8>,
    /// Where in `held` another keyword may begin if this one has no end.
    next_start: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Lf,
    Cr,
    Crlf,
}

impl Ending {
    const fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::Cr => b"\r",
            Self::Crlf => b"\r\n",
        }
    }
}

impl Translator {
    /// Makes a translator that writes `eol` for each line end, and expands or contracts
    /// `keywords`. Without `repair`, line ends that are not all the same are an error.
    pub fn new(
        eol: Option<&'static [u8]>,
        repair: bool,
        keywords: Option<Arc<Keywords>>,
        expand: bool,
    ) -> Self {
        Self {
            eol,
            repair,
            keywords: keywords.filter(|keywords| !keywords.is_empty()),
            expand,
            first_eol: None,
            changed_eol: false,
            after_cr: false,
            held: Vec::new(),
            next_start: None,
        }
    }

    /// Tells whether a line end was written that differs from the one read.
    pub fn changed_eol(&self) -> bool {
        self.changed_eol
    }

    /// Translates the next chunk.
    ///
    /// # Errors
    /// [`ErrorCode::IO_INCONSISTENT_EOL`] for line ends that are not all the same, without repair.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut rest = input;
        while let Some(first) = rest.first() {
            if self.after_cr {
                self.after_cr = false;
                if *first == b'\n' {
                    rest = &rest[1..];
                    self.end_line(Ending::Crlf, out)?;
                } else {
                    self.end_line(Ending::Cr, out)?;
                }
                continue;
            }
            if !self.held.is_empty() {
                let used = self.hold(rest, out)?;
                rest = &rest[used..];
                continue;
            }
            let plain = self.plain_run(rest);
            out.extend_from_slice(&rest[..plain]);
            let Some(special) = rest.get(plain) else {
                break;
            };
            rest = &rest[plain + 1..];
            match special {
                b'$' => self.held.push(b'$'),
                b'\r' => self.after_cr = true,
                _ => self.end_line(Ending::Lf, out)?,
            }
        }
        Ok(())
    }

    /// Ends the stream: writes what was held back.
    ///
    /// # Errors
    /// As [`Translator::push`].
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if std::mem::take(&mut self.after_cr) {
            self.end_line(Ending::Cr, out)?;
        }
        out.append(&mut self.held);
        self.next_start = None;
        Ok(())
    }

    /// Counts the bytes up to the next that needs a look.
    fn plain_run(&self, rest: &[u8]) -> usize {
        let found = match (self.eol, &self.keywords) {
            (None, None) => None,
            (None, Some(_)) => memchr::memchr(b'$', rest),
            // LF in, LF out: only a CR can differ from the first line end.
            (Some(b"\n"), None) if self.first_eol == Some(Ending::Lf) => {
                memchr::memchr(b'\r', rest)
            }
            (Some(b"\n"), Some(_)) if self.first_eol == Some(Ending::Lf) => {
                memchr::memchr2(b'\r', b'$', rest)
            }
            (Some(_), None) => memchr::memchr2(b'\r', b'\n', rest),
            (Some(_), Some(_)) => memchr::memchr3(b'\r', b'\n', b'$', rest),
        };
        found.unwrap_or(rest.len())
    }

    fn end_line(&mut self, ending: Ending, out: &mut Vec<u8>) -> Result<()> {
        let first = *self.first_eol.get_or_insert(ending);
        if !self.repair && first != ending {
            return Err(Error::from_code(ErrorCode::IO_INCONSISTENT_EOL));
        }
        let eol = self.eol.unwrap_or(ending.bytes());
        self.changed_eol |= eol != ending.bytes();
        out.extend_from_slice(eol);
        Ok(())
    }

    /// Goes on with what may be a keyword; returns how many bytes were used.
    fn hold(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        for (at, byte) in rest.iter().enumerate() {
            match byte {
                b'$' => {
                    if let Some(reuse) = self.close(out) {
                        return Ok(if reuse { at } else { at + 1 });
                    }
                }
                b'\r' | b'\n' => {
                    self.give_up(out)?;
                    return Ok(at);
                }
                _ if self.held.len() == MAX_KEYWORD - 1 => {
                    self.give_up(out)?;
                    return Ok(at);
                }
                _ => self.held.push(*byte),
            }
        }
        Ok(rest.len())
    }

    /// Meets a `$` after the first. Returns `None` if the keyword may still go on, else whether
    /// this `$` begins another one.
    fn close(&mut self, out: &mut Vec<u8>) -> Option<bool> {
        let end = self.held.iter().position(|byte| *byte == b':');
        let name = &self.held[1..end.unwrap_or(self.held.len())];
        let name_len = name.len();
        let keywords = self.keywords.as_deref();
        let Some(value) = keywords.and_then(|keywords| keywords.get(name)) else {
            out.append(&mut self.held);
            self.next_start = None;
            return Some(true);
        };
        let start = self.held.len();
        self.held.push(b'$');
        let value = self.expand.then_some(value);
        if substitute(&self.held, name_len, value, out) {
            self.held.clear();
        } else if self.held.len() >= MAX_KEYWORD {
            out.append(&mut self.held);
        } else {
            self.next_start.get_or_insert(start);
            return None;
        }
        self.next_start = None;
        Some(false)
    }

    /// Writes what is no keyword, and looks again at what follows its second `$`.
    fn give_up(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let again = match self.next_start.take() {
            Some(start) => self.held.split_off(start),
            None => Vec::new(),
        };
        out.append(&mut self.held);
        self.push(&again, out)
    }
}

/// Writes the keyword in `held` (from `$` to `$`) expanded, or contracted without a `value`.
/// Returns false, having written nothing, if it has none of the forms of a keyword.
fn substitute(held: &[u8], name_len: usize, value: Option<&[u8]>, out: &mut Vec<u8>) -> bool {
    let len = held.len();
    if len < name_len + 2 || name_len > MAX_KEYWORD - 5 {
        return false;
    }
    let (name, rest) = held.split_at(1 + name_len);
    let before_end = held[len - 2];
    if rest.starts_with(b":: ") && matches!(before_end, b' ' | b'#') && len > 6 + name_len {
        out.extend_from_slice(&fixed_width(held, name_len, value));
        return true;
    }
    let is_contracted = rest[0] == b'$';
    let is_expanded = rest.starts_with(b": ") && len >= 4 + name_len && before_end == b' ';
    if !is_contracted && !is_expanded && !rest.starts_with(b":$") {
        return false;
    }
    let Some(value) = value else {
        // What is contracted stays as it is, whatever follows its second `$`.
        out.extend_from_slice(name);
        out.push(b'$');
        return true;
    };
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    if !value.is_empty() {
        out.extend_from_slice(&value[..value.len().min(MAX_KEYWORD - 5 - name_len)]);
        out.push(b' ');
    }
    out.push(b'$');
    true
}

/// Returns a keyword of the form `$Name:: value $` with another value, of the same length.
fn fixed_width(held: &[u8], name_len: usize, value: Option<&[u8]>) -> Vec<u8> {
    let mut keyword = held.to_vec();
    let room = held.len() - (6 + name_len);
    let start = name_len + 4;
    let mut pad_from = name_len + 3;
    if let Some(value) = value {
        let shown = value.len().min(room);
        keyword[start..start + shown].copy_from_slice(&value[..shown]);
        if value.len() > room {
            keyword[held.len() - 2] = b'#';
            return keyword;
        }
        pad_from = start + shown;
    }
    // Blanks go up to the next `$`, which need not be the last one.
    for byte in keyword[pad_from..]
        .iter_mut()
        .take_while(|byte| **byte != b'$')
    {
        *byte = b' ';
    }
    keyword
}
