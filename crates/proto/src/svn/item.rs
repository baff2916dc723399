//! Items: the syntax of everything that is sent.
//!
//! ```text
//! item   = word | number | string | list
//! word   = letter (letter | digit | "-")* space
//! number = digit+ space
//! string = digit+ ":" byte* space        the digits count the bytes
//! list   = "(" space item* ")" space
//! space  = (" " | newline)+
//! ```
//!
//! A [`Parser`] goes once over the bytes, which may come in any pieces, and notes where each item
//! is; [`Item`] and [`List`] then are views of the bytes. Lists longer than their prototype are
//! fine: what follows is for later versions of the protocol.

use sylvan_core::Revnum;

use super::ProtocolError;

type Result<T, E = ProtocolError> = std::result::Result<T, E>;

/// The longest word.
pub const MAX_WORD: usize = 31;

/// How deep lists nest; the protocol itself needs about five levels.
pub const MAX_DEPTH: usize = 64;

/// The longest item taken whole. (File contents are not: they are passed on as they come.)
pub const MAX_ITEM: usize = 512 << 20;

/// The most parts of one item,
const MAX_PARTS: usize = 32 << 20;
/// and of an item that may have few bytes: one for so many bytes,
const PARTS_PER_BYTE: usize = 8;
/// but as many as every command may need.
const LEAST_PARTS: usize = 1 << 10;

/// A view of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A literal of the protocol.
    Word(&'a str),
    /// A number.
    Number(u64),
    /// Bytes.
    String(&'a [u8]),
    /// Items.
    List(List<'a>),
}

impl<'a> Item<'a> {
    /// Returns the list.
    ///
    /// # Errors
    /// `Malformed` if it is something else.
    pub fn list(self) -> Result<List<'a>> {
        match self {
            Self::List(list) => Ok(list),
            _ => Err(ProtocolError::Malformed),
        }
    }

    /// Tells whether this is the given word.
    pub fn is_word(self, word: &str) -> bool {
        matches!(self, Self::Word(is) if is == word)
    }
}

/// A view of a list's items.
#[derive(Clone, Copy)]
pub struct List<'a> {
    bytes: &'a [u8],
    parts: &'a [Part],
}

impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.items().eq(other.items())
    }
}

impl Eq for List<'_> {}

impl std::fmt::Debug for List<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.items()).finish()
    }
}

impl<'a> List<'a> {
    /// Tells whether the list has no items.
    pub const fn is_empty(self) -> bool {
        self.parts.is_empty()
    }

    /// Goes through the items.
    pub const fn items(self) -> Items<'a> {
        Items(self)
    }

    /// Reads the items one by one as a tuple.
    pub const fn fields(self) -> Fields<'a> {
        Fields(self)
    }
}

/// The items of a [`List`].
#[derive(Clone, Debug)]
pub struct Items<'a>(List<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let (first, rest) = self.0.parts.split_first()?;
        self.0.parts = rest;
        Some(match *first {
            Part::Word { start, end } => {
                let word = &self.0.bytes[start as usize..end as usize];
                Item::Word(std::str::from_utf8(word).unwrap_or_default())
            }
            Part::Number(number) => Item::Number(number),
            Part::String { start, end } => {
                Item::String(&self.0.bytes[start as usize..end as usize])
            }
            Part::List { inside } => {
                let (inside, after) = rest.split_at(inside as usize);
                self.0.parts = after;
                Item::List(List {
                    bytes: self.0.bytes,
                    parts: inside,
                })
            }
        })
    }
}

/// Reads a list as a tuple, field by field. Every method fails with `Malformed` if the next item
/// is missing or of another kind.
#[derive(Clone, Debug)]
pub struct Fields<'a>(List<'a>);

impl<'a> Fields<'a> {
    /// Tells whether all fields were read.
    pub const fn is_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads any item.
    ///
    /// # Errors
    /// `Malformed` at the end.
    pub fn item(&mut self) -> Result<Item<'a>> {
        let mut items = self.0.items();
        let item = items.next().ok_or(ProtocolError::Malformed)?;
        self.0 = items.0;
        Ok(item)
    }

    /// Reads a word.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn word(&mut self) -> Result<&'a str> {
        match self.item()? {
            Item::Word(word) => Ok(word),
            _ => Err(ProtocolError::Malformed),
        }
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn bool(&mut self) -> Result<bool> {
        match self.word()? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(ProtocolError::Malformed),
        }
    }

    /// Reads a number.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn number(&mut self) -> Result<u64> {
        match self.item()? {
            Item::Number(number) => Ok(number),
            _ => Err(ProtocolError::Malformed),
        }
    }

    /// Reads a revision.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn rev(&mut self) -> Result<Revnum> {
        i64::try_from(self.number()?)
            .ok()
            .and_then(Revnum::new)
            .ok_or(ProtocolError::Malformed)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        match self.item()? {
            Item::String(bytes) => Ok(bytes),
            _ => Err(ProtocolError::Malformed),
        }
    }

    /// Reads text, which must be UTF-8.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| ProtocolError::Malformed)
    }

    /// Reads a list.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn list(&mut self) -> Result<List<'a>> {
        self.item()?.list()
    }

    /// Reads an optional tuple: a list that is empty, or has what `read` reads.
    ///
    /// # Errors
    /// `Malformed`, and those of `read`.
    pub fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        let mut fields = self.list()?.fields();
        if fields.is_end() {
            Ok(None)
        } else {
            read(&mut fields).map(Some)
        }
    }

    /// Reads what may be missing at the end of a tuple.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn if_more<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.is_end() {
            Ok(None)
        } else {
            read(self).map(Some)
        }
    }
}

/// Where a part of an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Word { start: u32, end: u32 },
    Number(u64),
    String { start: u32, end: u32 },
    List { inside: u32 },
}

/// What the parser is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Space between items.
    Gap,
    Word {
        start: usize,
    },
    Digits {
        value: u64,
    },
    String {
        start: usize,
        end: usize,
    },
    /// The one space that ends an item.
    End,
}

/// Finds the next item in bytes that grow.
///
/// ```
/// use sylvan_proto::svn::item::{Item, Parser};
///
/// let mut parser = Parser::new();
/// assert_eq!(parser.advance(b"( word 22 6:str")?, None);
/// let bytes = b"( word 22 6:string ( ) ) more";
/// assert_eq!(parser.advance(bytes)?, Some(25));
/// let Item::List(list) = parser.item(bytes) else { panic!() };
/// let mut fields = list.fields();
/// assert_eq!(fields.word()?, "word");
/// assert_eq!(fields.number()?, 22);
/// assert_eq!(fields.bytes()?, b"string");
/// # Ok::<_, sylvan_proto::svn::ProtocolError>(())
/// ```
#[derive(Debug)]
pub struct Parser {
    parts: Vec<Part>,
    open: Vec<usize>,
    at: usize,
    within: Within,
    largest: usize,
    most_parts: usize,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// Makes one that awaits an item.
    pub const fn new() -> Self {
        Self {
            parts: Vec::new(),
            open: Vec::new(),
            at: 0,
            within: Within::Gap,
            largest: MAX_ITEM,
            most_parts: MAX_PARTS,
        }
    }

    /// Makes one that takes items of at most so many bytes, if that is less than others take. What
    /// it notes of an item takes no more memory than twice that.
    pub fn with_limit(bytes: usize) -> Self {
        Self {
            largest: bytes.min(MAX_ITEM),
            most_parts: (bytes / PARTS_PER_BYTE).clamp(LEAST_PARTS, MAX_PARTS),
            ..Self::new()
        }
    }

    /// Makes it await the next item.
    pub fn reset(&mut self) {
        self.parts.clear();
        self.open.clear();
        self.at = 0;
        self.within = Within::Gap;
    }

    /// Forgets what was found, and the memory for it.
    pub fn release(&mut self) {
        self.parts = Vec::new();
        self.open = Vec::new();
        self.reset();
    }

    /// Makes it await the end of the list that is open `depth` levels above, to skip a rest.
    pub fn reset_within(&mut self, depth: usize) {
        self.reset();
        for level in 0..depth {
            self.parts.push(Part::List { inside: 0 });
            self.open.push(level);
        }
    }

    /// Tells whether nothing was seen of an item yet.
    pub const fn is_fresh(&self) -> bool {
        self.at == 0
    }

    /// Goes on. `bytes` begins where the item (or space before it) begins, and has all that came
    /// since. Returns how many bytes the item takes once it is complete; what was found stays
    /// until [`reset`](Self::reset).
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn advance(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        while let Some(&byte) = bytes.get(self.at) {
            match self.within {
                Within::Gap => self.begin(byte)?,
                Within::Word { start } => self.word(bytes, start)?,
                Within::Digits { value } => self.digits(byte, value)?,
                Within::String { start, end } => {
                    if bytes.len() <= end {
                        return Ok(None);
                    }
                    self.push(Part::String {
                        start: narrow(start)?,
                        end: narrow(end)?,
                    })?;
                    self.at = end;
                    self.within = Within::End;
                }
                Within::End => {
                    if !is_space(byte) {
                        return Err(ProtocolError::Malformed);
                    }
                    self.at += 1;
                    self.within = Within::Gap;
                    if self.open.is_empty() {
                        return Ok(Some(self.at));
                    }
                }
            }
        }
        if self.at > self.largest {
            return Err(ProtocolError::TooLong);
        }
        Ok(None)
    }

    /// Returns how many bytes an item needs at least beyond those seen; a hint.
    pub fn missing(&self, seen: usize) -> usize {
        match self.within {
            Within::String { end, .. } => (end + 1).saturating_sub(seen),
            _ => 1,
        }
    }

    /// Returns the item that [`advance`](Self::advance) found in `bytes`.
    pub fn item<'a>(&'a self, bytes: &'a [u8]) -> Item<'a> {
        let whole = List {
            bytes,
            parts: &self.parts,
        };
        whole.items().next().unwrap_or(Item::List(whole))
    }

    fn begin(&mut self, byte: u8) -> Result<()> {
        match byte {
            b' ' | b'\n' => {
                self.at += 1;
            }
            b'0'..=b'9' => {
                self.at += 1;
                self.within = Within::Digits {
                    value: u64::from(byte - b'0'),
                };
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                self.within = Within::Word { start: self.at };
                self.at += 1;
            }
            b'(' => {
                if self.open.len() + 1 >= MAX_DEPTH {
                    return Err(ProtocolError::TooDeep);
                }
                self.open.push(self.parts.len());
                self.push(Part::List { inside: 0 })?;
                self.at += 1;
            }
            b')' => {
                let list = self.open.pop().ok_or(ProtocolError::Malformed)?;
                let inside = narrow(self.parts.len() - list - 1)?;
                self.parts[list] = Part::List { inside };
                self.at += 1;
                self.within = Within::End;
            }
            _ => return Err(ProtocolError::Malformed),
        }
        Ok(())
    }

    fn word(&mut self, bytes: &[u8], start: usize) -> Result<()> {
        let rest = &bytes[self.at..];
        let len = rest
            .iter()
            .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'-'));
        self.at += len.unwrap_or(rest.len());
        if self.at - start > MAX_WORD {
            return Err(ProtocolError::WordTooLong);
        }
        if len.is_some() {
            self.push(Part::Word {
                start: narrow(start)?,
                end: narrow(self.at)?,
            })?;
            self.within = Within::End;
        }
        Ok(())
    }

    fn digits(&mut self, byte: u8, value: u64) -> Result<()> {
        match byte {
            b'0'..=b'9' => {
                let value = value
                    .checked_mul(10)
                    .and_then(|value| value.checked_add(u64::from(byte - b'0')))
                    .ok_or(ProtocolError::NumberTooLarge)?;
                self.within = Within::Digits { value };
                self.at += 1;
            }
            b':' => {
                self.at += 1;
                let end = usize::try_from(value)
                    .ok()
                    .and_then(|len| self.at.checked_add(len))
                    .filter(|end| *end <= self.largest)
                    .ok_or(ProtocolError::TooLong)?;
                self.within = Within::String {
                    start: self.at,
                    end,
                };
            }
            _ => {
                self.push(Part::Number(value))?;
                self.within = Within::End;
            }
        }
        Ok(())
    }

    fn push(&mut self, part: Part) -> Result<()> {
        if self.parts.len() >= self.most_parts {
            return Err(ProtocolError::TooLong);
        }
        self.parts.push(part);
        Ok(())
    }
}

fn narrow(at: usize) -> Result<u32> {
    u32::try_from(at).map_err(|_| ProtocolError::TooLong)
}

pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n')
}

/// Writes items.
///
/// ```
/// use sylvan_proto::svn::item::Writer;
///
/// let mut out = Writer::new();
/// out.open().word("get-latest-rev").open().close().close();
/// assert_eq!(out.as_bytes(), b"( get-latest-rev ( ) ) ");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Makes an empty one.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns what was written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes what was written.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    /// Forgets what was written; keeps the buffer.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Opens a list.
    pub fn open(&mut self) -> &mut Self {
        self.0.extend_from_slice(b"( ");
        self
    }

    /// Closes a list.
    pub fn close(&mut self) -> &mut Self {
        self.0.extend_from_slice(b") ");
        self
    }

    /// Writes a literal of the protocol.
    pub fn word(&mut self, word: &str) -> &mut Self {
        debug_assert!(word.len() <= MAX_WORD);
        self.0.extend_from_slice(word.as_bytes());
        self.0.push(b' ');
        self
    }

    /// Writes a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.digits(number);
        self.0.push(b' ');
        self
    }

    /// Writes bytes.
    pub fn string(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        self.digits(bytes.len() as u64);
        self.0.push(b':');
        self.0.extend_from_slice(bytes);
        self.0.push(b' ');
        self
    }

    /// Writes `true` or `false`.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.word(if value { "true" } else { "false" })
    }

    /// Writes a revision.
    pub fn rev(&mut self, rev: Revnum) -> &mut Self {
        self.number(rev.number().unsigned_abs())
    }

    /// Writes items that were written elsewhere.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Writes an optional tuple.
    pub fn optional<T>(
        &mut self,
        value: Option<T>,
        write: impl FnOnce(&mut Self, T) -> &mut Self,
    ) -> &mut Self {
        self.open();
        if let Some(value) = value {
            write(self, value);
        }
        self.close()
    }

    /// Writes an optional tuple with a revision.
    pub fn optional_rev(&mut self, rev: Option<Revnum>) -> &mut Self {
        self.optional(rev, |out, rev| out.rev(rev))
    }

    /// Writes an optional tuple with bytes.
    pub fn optional_string(&mut self, bytes: Option<impl AsRef<[u8]>>) -> &mut Self {
        self.optional(bytes, |out, bytes| out.string(bytes))
    }

    /// Writes an item again.
    pub fn item(&mut self, item: Item<'_>) -> &mut Self {
        match item {
            Item::Word(word) => self.word(word),
            Item::Number(number) => self.number(number),
            Item::String(bytes) => self.string(bytes),
            Item::List(list) => {
                self.open();
                list.items().for_each(|item| {
                    self.item(item);
                });
                self.close()
            }
        }
    }

    fn digits(&mut self, number: u64) {
        let mut digits = [0; 20];
        let (mut at, mut left) = (digits.len(), number);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10).to_le_bytes()[0];
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.0.extend_from_slice(&digits[at..]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(bytes: &[u8], cut: usize) -> Result<(Vec<u8>, usize)> {
        let mut parser = Parser::new();
        for end in (0..bytes.len()).step_by(cut.max(1)).chain([bytes.len()]) {
            if let Some(used) = parser.advance(&bytes[..end])? {
                let mut out = Writer::new();
                out.item(parser.item(bytes));
                return Ok((out.take(), used));
            }
        }
        Err(ProtocolError::Malformed)
    }

    #[test]
    fn items_are_found_however_they_are_cut() {
        for (bytes, again) in [
            (&b"word "[..], &b"word "[..]),
            (b" \n12\n", b"12 "),
            (b"3:a b ", b"3:a b "),
            (b"0: ", b"0: "),
            (b"( ) ", b"( ) "),
            (b"(a\n(1  )\n2:() ) ", b"( a ( 1 ) 2:() ) "),
            (b"18446744073709551615 ", b"18446744073709551615 "),
        ] {
            let whole = [bytes, b"next"].concat();
            for cut in 1..whole.len() {
                let (written, used) = parse(&whole, cut).unwrap();
                assert_eq!((written.as_slice(), used), (again, bytes.len()));
            }
        }
    }

    #[test]
    fn bad_items_are_refused() {
        let deep = [b"( ".repeat(64), b") ".repeat(64)].concat();
        for (bytes, error) in [
            (&b")"[..], ProtocolError::Malformed),
            (b"()x", ProtocolError::Malformed),
            (b"1x", ProtocolError::Malformed),
            (b"1:abc ", ProtocolError::Malformed),
            (b"-", ProtocolError::Malformed),
            (b"\r", ProtocolError::Malformed),
            (b"a_", ProtocolError::Malformed),
            (&[b'x'; 32], ProtocolError::WordTooLong),
            (b"18446744073709551616 ", ProtocolError::NumberTooLarge),
            (b"18446744073709551615:", ProtocolError::TooLong),
            (b"999999999999:", ProtocolError::TooLong),
            (&deep, ProtocolError::TooDeep),
        ] {
            for cut in [1, 100] {
                assert_eq!(parse(bytes, cut).unwrap_err(), error, "{bytes:?}");
            }
        }
        let fits = [b"( ".repeat(63), b") ".repeat(63)].concat();
        assert!(parse(&fits, 1).is_ok());
    }

    #[test]
    fn items_may_be_limited() {
        for (bytes, fits) in [
            (b"40:".to_vec(), true),
            (b"98:".to_vec(), false),
            (b" ".repeat(101), false),
            ([b"( ".to_vec(), b"1 ".repeat(2000)].concat(), false),
        ] {
            let found = Parser::with_limit(100).advance(&bytes);
            assert_eq!(found.is_ok(), fits, "{bytes:?}");
        }
        let many = [b"( ".to_vec(), b"1 ".repeat(1100)].concat();
        assert!(Parser::with_limit(1 << 12).advance(&many).is_err());
        assert!(Parser::with_limit(1 << 14).advance(&many).is_ok());
    }

    #[test]
    fn tuples_may_be_longer_and_end_early() {
        let bytes = b"( 5 ( ) ( 2:ab ) true more ) ";
        let mut parser = Parser::new();
        parser.advance(bytes).unwrap().unwrap();
        let mut fields = parser.item(bytes).list().unwrap().fields();
        assert_eq!(fields.rev().unwrap(), Revnum::new(5).unwrap());
        assert_eq!(fields.optional(Fields::text).unwrap(), None);
        assert_eq!(fields.optional(Fields::text).unwrap(), Some("ab"));
        assert_eq!(fields.if_more(Fields::bool).unwrap(), Some(true));
        assert!(fields.clone().number().is_err());
        assert_eq!(fields.word().unwrap(), "more");
        assert_eq!(fields.if_more(Fields::bool).unwrap(), None);
        assert!(fields.item().is_err());
    }

    #[test]
    fn a_rest_is_skipped() {
        let bytes = b" extra ( 1 ) ) ) ( next";
        let mut parser = Parser::new();
        parser.reset_within(2);
        assert_eq!(parser.advance(bytes).unwrap(), Some(17));
    }

    /// Writes any item.
    fn item(depth: u32) -> BoxedStrategy<Vec<u8>> {
        let leaf = prop_oneof![
            "[a-z][a-z0-9-]{0,30}".prop_map(|word| Writer::new().word(&word).take()),
            any::<u64>().prop_map(|number| Writer::new().number(number).take()),
            prop::collection::vec(any::<u8>(), 0..20)
                .prop_map(|bytes| Writer::new().string(bytes).take()),
        ];
        leaf.prop_recursive(depth, 40, 6, |inner| {
            prop::collection::vec(inner, 0..6)
                .prop_map(|items| [b"( ".to_vec(), items.concat(), b") ".to_vec()].concat())
        })
        .boxed()
    }

    proptest! {
        #[test]
        fn writing_undoes_parsing(bytes in item(5), cut in 1..50usize) {
            let (written, used) = parse(&bytes, cut).unwrap();
            prop_assert_eq!(used, bytes.len());
            prop_assert_eq!(written, bytes);
        }

        #[test]
        fn truncation_awaits_more(bytes in item(3), at in any::<prop::sample::Index>()) {
            let len = at.index(bytes.len());
            prop_assert_eq!(Parser::new().advance(&bytes[..len]).unwrap(), None);
        }

        #[test]
        fn garbage_is_no_panic(bytes in "[ ()a0-9:\n-]{0,60}") {
            crate::fuzz::svn_item(bytes.as_bytes());
            crate::fuzz::svn_request(bytes.as_bytes());
        }
    }
}
