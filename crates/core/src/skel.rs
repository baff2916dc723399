//! Skels: nested lists of byte strings, as wc.db stores properties, work items and conflicts.
//!
//! A list is `(` elements `)`, separated by blanks. An atom is either its length in decimal digits,
//! one blank, and its bytes; or, if it starts with a letter, is shorter than 100 bytes and has
//! neither blank nor parenthesis (`()[]`), just its bytes.
//!
//! ```
//! use sylvan_core::skel::Skel;
//!
//! let skel = Skel::parse(b"(file-install 3 a b (x) 0 )")?;
//! assert_eq!(skel.elements().unwrap()[1].as_atom(), Some(&b"a b"[..]));
//! assert_eq!(skel.to_bytes(), b"(file-install 3 a b (x) 0 )");
//! # Ok::<(), sylvan_core::Error>(())
//! ```

use std::fmt;

use crate::{Error, ErrorCode, Props, Result};

/// Lists nested deeper are refused.
const MAX_DEPTH: usize = 64;
/// Atoms from this length on tell it.
const EXPLICIT_FROM: usize = 100;

/// An atom or a list.
#[derive(Clone, PartialEq, Eq)]
pub enum Skel {
    /// A byte string.
    Atom(Vec<u8>),
    /// A list.
    List(Vec<Self>),
}

impl Skel {
    /// Makes an atom.
    pub fn atom(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Atom(bytes.into())
    }

    /// Makes an atom of a number's decimal digits.
    pub fn number(number: i64) -> Self {
        Self::Atom(number.to_string().into_bytes())
    }

    /// Makes a list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(elements.into_iter().collect())
    }

    /// Reads the skel that `data` begins with; what follows it is ignored.
    ///
    /// # Errors
    /// [`ErrorCode::FS_MALFORMED_SKEL`] if there is none.
    pub fn parse(data: &[u8]) -> Result<Self> {
        Cursor(data).skel(0).ok_or_else(|| malformed(""))
    }

    /// Returns the bytes of an atom.
    pub fn as_atom(&self) -> Option<&[u8]> {
        match self {
            Self::Atom(bytes) => Some(bytes),
            Self::List(_) => None,
        }
    }

    /// Returns an atom's text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_atom()?).ok()
    }

    /// Returns the number that an atom tells in decimal digits.
    pub fn as_number(&self) -> Option<i64> {
        self.as_str()?.parse().ok()
    }

    /// Returns the elements of a list.
    pub fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::Atom(_) => None,
            Self::List(elements) => Some(elements),
        }
    }

    /// Tells whether this is an atom of these bytes.
    pub fn is_atom(&self, bytes: impl AsRef<[u8]>) -> bool {
        self.as_atom() == Some(bytes.as_ref())
    }

    /// Returns the bytes that [`Skel::parse`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Appends the bytes that [`Skel::parse`] reads.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Atom(bytes) => write_atom(bytes, out),
            Self::List(elements) => {
                out.push(b'(');
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(b' ');
                    }
                    element.write(out);
                }
                out.push(b')');
            }
        }
    }
}

impl From<&str> for Skel {
    fn from(text: &str) -> Self {
        Self::atom(text)
    }
}

impl From<&[u8]> for Skel {
    fn from(bytes: &[u8]) -> Self {
        Self::atom(bytes)
    }
}

impl fmt::Debug for Skel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_bytes().escape_ascii())
    }
}

/// Returns properties as a skel: a list of names and values in turn, in order of name.
pub fn props_to_skel(props: &Props) -> Vec<u8> {
    let mut out = Vec::with_capacity(2);
    write_props(props, &mut out);
    out
}

/// Reads what [`props_to_skel`] writes; names may come in any order.
///
/// # Errors
/// [`ErrorCode::FS_MALFORMED_SKEL`] for anything else.
pub fn props_from_skel(data: &[u8]) -> Result<Props> {
    let mut cursor = Cursor(data);
    cursor.props().ok_or_else(|| malformed(" proplist"))
}

/// Returns inherited properties as a skel: a list of paths or URLs and properties in turn.
pub fn inherited_props_to_skel<'a>(
    inherited: impl IntoIterator<Item = (&'a str, &'a Props)>,
) -> Vec<u8> {
    let mut out = vec![b'('];
    for (i, (parent, props)) in inherited.into_iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        write_atom(parent.as_bytes(), &mut out);
        out.push(b' ');
        write_props(props, &mut out);
    }
    out.push(b')');
    out
}

/// Reads what [`inherited_props_to_skel`] writes.
///
/// # Errors
/// [`ErrorCode::FS_MALFORMED_SKEL`] for anything else.
pub fn inherited_props_from_skel(data: &[u8]) -> Result<Vec<(String, Props)>> {
    let mut cursor = Cursor(data);
    let mut read = || {
        cursor.open_list()?;
        let mut inherited = Vec::new();
        while !cursor.close_list()? {
            let parent = cursor.text()?;
            cursor.skip_blanks();
            inherited.push((parent, cursor.props()?));
        }
        Some(inherited)
    };
    read().ok_or_else(|| malformed(" iprops"))
}

fn malformed(kind: &str) -> Error {
    let text = format!("Malformed{kind} skeleton");
    Error::new(ErrorCode::FS_MALFORMED_SKEL, text)
}

fn write_props(props: &Props, out: &mut Vec<u8>) {
    out.push(b'(');
    for (i, (name, value)) in props.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        write_atom(name.as_bytes(), out);
        out.push(b' ');
        write_atom(value, out);
    }
    out.push(b')');
}

fn write_atom(bytes: &[u8], out: &mut Vec<u8>) {
    let is_implicit = bytes.len() < EXPLICIT_FROM
        && bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && !bytes.iter().any(|byte| is_blank(*byte) || is_paren(*byte));
    if !is_implicit {
        out.extend_from_slice(bytes.len().to_string().as_bytes());
        out.push(b' ');
    }
    out.extend_from_slice(bytes);
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

const fn is_paren(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'[' | b']')
}

/// What is left to read. Every method returns `None` where the data is malformed.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn skel(&mut self, depth: usize) -> Option<Skel> {
        if self.0.first() != Some(&b'(') {
            return self.atom().map(Skel::atom);
        }
        if depth == MAX_DEPTH {
            return None;
        }
        self.open_list()?;
        let mut elements = Vec::new();
        while !self.close_list()? {
            elements.push(self.skel(depth + 1)?);
        }
        Some(Skel::List(elements))
    }

    fn props(&mut self) -> Option<Props> {
        self.open_list()?;
        let mut props = Props::new();
        while !self.close_list()? {
            let name = self.text()?;
            self.skip_blanks();
            props.insert(name, self.atom()?.to_vec());
        }
        Some(props)
    }

    fn open_list(&mut self) -> Option<()> {
        self.0 = self.0.strip_prefix(b"(")?;
        Some(())
    }

    /// Skips blanks, and the end of the list if it is there.
    fn close_list(&mut self) -> Option<bool> {
        self.skip_blanks();
        if *self.0.first()? == b')' {
            self.0 = &self.0[1..];
            return Some(true);
        }
        Some(false)
    }

    fn skip_blanks(&mut self) {
        let blanks = self.0.iter().take_while(|byte| is_blank(**byte)).count();
        self.0 = &self.0[blanks..];
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.atom()?.to_vec()).ok()
    }

    fn atom(&mut self) -> Option<&'a [u8]> {
        let data = self.0;
        let first = *data.first()?;
        let (start, len) = if first.is_ascii_alphabetic() {
            let len = data
                .iter()
                .position(|byte| is_blank(*byte) || is_paren(*byte));
            (0, len.unwrap_or(data.len()))
        } else {
            let digits = data.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let len = std::str::from_utf8(&data[..digits]).ok()?.parse().ok()?;
            is_blank(*data.get(digits)?).then_some((digits + 1, len))?
        };
        let atom = data[start..].get(..len)?;
        self.0 = &data[start + len..];
        Some(atom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn writes_as_subversion() {
        let long = "x".repeat(100);
        for (skel, text) in [
            (Skel::list([]), "()".to_owned()),
            (Skel::from("abc"), "abc".to_owned()),
            (Skel::from(""), "0 ".to_owned()),
            (Skel::from("a b"), "3 a b".to_owned()),
            (Skel::from("a[b"), "3 a[b".to_owned()),
            (Skel::from("1a"), "2 1a".to_owned()),
            (Skel::from("_a"), "2 _a".to_owned()),
            (Skel::from("a\u{b}"), "a\u{b}".to_owned()),
            (Skel::from(&long[1..]), long[1..].to_owned()),
            (Skel::from(long.as_str()), format!("100 {long}")),
            (
                Skel::list([
                    Skel::from("a"),
                    Skel::list([Skel::number(-1)]),
                    Skel::list([]),
                ]),
                "(a (2 -1) ())".to_owned(),
            ),
        ] {
            assert_eq!(skel.to_bytes(), text.as_bytes());
            assert_eq!(Skel::parse(text.as_bytes()).unwrap(), skel, "{text}");
        }
    }

    #[test]
    fn reads_loosely() {
        let skel = Skel::parse(b"(\n a\t1\nb(c)d  )rest").unwrap();
        assert_eq!(skel.to_bytes(), b"(a b (c) d)");
        assert_eq!(Skel::parse(b"1 \0").unwrap(), Skel::atom([0]));
    }

    #[test]
    fn refuses_malformed_data() {
        let deep = "(".repeat(100_000);
        for bad in [
            "",
            "(",
            ")",
            "(a",
            "5 a",
            "5",
            "x y)".trim_start_matches("x y"),
            "-1 a",
            "[",
            " a",
            "99999999999999999999999 a",
            "18446744073709551615 a",
            &deep,
        ] {
            assert!(Skel::parse(bad.as_bytes()).is_err(), "{bad:.20}");
        }
        for bad in [
            "a",
            "(a)",
            "(a (b))",
            "((a) b)",
            "(a b c)",
            "(1 \u{fffd}x b",
            "(1 \u{80} x)",
        ] {
            let error = props_from_skel(bad.as_bytes()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "E160027: Malformed proplist skeleton",
                "{bad}"
            );
        }
    }

    #[test]
    fn properties() {
        let props: Props = [
            ("svn:eol-style".to_owned(), b"native".to_vec()),
            ("b".to_owned(), b"".to_vec()),
        ]
        .into();
        let text = b"(b 0  svn:eol-style native)";
        assert_eq!(props_to_skel(&props), text);
        assert_eq!(props_from_skel(text).unwrap(), props);
        assert_eq!(props_to_skel(&Props::new()), b"()");
        let inherited = inherited_props_to_skel([("http://h/r", &props), ("", &Props::new())]);
        assert_eq!(inherited, b"(http://h/r (b 0  svn:eol-style native) 0  ())");
        assert_eq!(
            inherited_props_from_skel(&inherited).unwrap(),
            [
                ("http://h/r".to_owned(), props),
                (String::new(), Props::new())
            ]
        );
    }

    fn any_skel() -> impl Strategy<Value = Skel> {
        let atom =
            prop_oneof!["[a-z]{0,8}", "[ -~]{0,120}", Just("\n(".to_owned())].prop_map(Skel::atom);
        atom.prop_recursive(4, 40, 6, |inner| {
            prop::collection::vec(inner, 0..6).prop_map(Skel::List)
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(skel in any_skel()) {
            prop_assert_eq!(Skel::parse(&skel.to_bytes()).unwrap(), skel);
        }

        #[test]
        fn any_bytes_are_read_or_refused(data in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(skel) = Skel::parse(&data) {
                prop_assert_eq!(Skel::parse(&skel.to_bytes()).unwrap(), skel);
            }
        }
    }
}
