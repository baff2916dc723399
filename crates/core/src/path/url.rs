use std::fmt;

use super::{RelPath, RelPathBuf, split_last};
use crate::{Error, ErrorCode, Result};

/// A canonical URL.
///
/// Scheme and host are in lower case, a default port is left out, path components are separated by
/// single slashes without one at the end, each octet is escaped (`%20`, upper-case digits) where it
/// must be and nowhere else.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Url(String);

impl Url {
    /// Makes a URL canonical.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_URL`] if `text` has no scheme, or an escape does not decode to UTF-8 text.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || Error::new(ErrorCode::BAD_URL, format!("'{text}' is not a valid URL"));
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        if !Self::is_url(text) {
            return Err(bad());
        }
        let scheme = scheme.to_ascii_lowercase();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let authority = canonical_authority(&scheme, authority);
        let mut url = format!("{scheme}://{authority}");
        // An escaped slash or dot is one as well.
        let decoded = String::from_utf8(uri_decode(path)).map_err(|_| bad())?;
        if decoded.contains('\0') {
            return Err(bad());
        }
        for component in decoded.split('/').filter(|name| !matches!(*name, "" | ".")) {
            url.push('/');
            url.push_str(&uri_encode(component));
        }
        if url.ends_with("//") && authority.is_empty() && !path.is_empty() {
            url.push('/'); // file:/// is the root folder
        }
        Ok(Self(url))
    }

    /// Tells whether `text` looks like a URL (`scheme://…`), rather than a local path.
    pub fn is_url(text: &str) -> bool {
        text.split_once("://").is_some_and(|(scheme, _)| {
            !scheme.is_empty()
                && scheme
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        })
    }

    /// Returns the escaped URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the scheme: `http`, `svn+ssh`, ….
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }

    /// Returns user, host and port as they stand: `jo@host:8080`.
    pub fn authority(&self) -> &str {
        let rest = &self.0[self.authority_start()..];
        &rest[..rest.find('/').unwrap_or(rest.len())]
    }

    /// Returns the escaped path with its first slash; empty for a URL without path.
    pub fn escaped_path(&self) -> &str {
        &self.0[self.path_start()..]
    }

    /// Returns the decoded path below the authority.
    pub fn path(&self) -> String {
        decode_text(self.escaped_path())
    }

    /// Appends a path, escaping it.
    #[must_use]
    pub fn join(&self, path: &RelPath) -> Self {
        if path.is_root() {
            return self.clone();
        }
        Self(format!(
            "{}/{}",
            self.0.trim_end_matches('/'),
            uri_encode(path.as_str())
        ))
    }

    /// Returns the URL without its last component, `None` if it has none.
    pub fn parent(&self) -> Option<Self> {
        let path = self.escaped_path();
        if path.is_empty() || path == "/" {
            return None;
        }
        let keep = self.path_start() + split_last(path).0.len();
        let mut parent = self.0[..keep].to_owned();
        if parent.ends_with("//") {
            parent.push('/');
        }
        Some(Self(parent))
    }

    /// Returns the last component, decoded; empty if there is none.
    pub fn basename(&self) -> String {
        decode_text(split_last(self.escaped_path()).1)
    }

    /// Returns the decoded path of this URL below `ancestor`, the root if they are equal; `None` if
    /// it is not below.
    pub fn strip_prefix(&self, ancestor: &Self) -> Option<RelPathBuf> {
        let rest = self.0.strip_prefix(ancestor.0.trim_end_matches('/'))?;
        if rest.is_empty() {
            return Some(RelPathBuf::root());
        }
        RelPathBuf::canonicalize(&decode_text(rest.strip_prefix('/')?)).ok()
    }

    /// Returns the deepest URL that is this, or above this, and the same for `other`; `None` if
    /// they differ before the path.
    pub fn common_ancestor(&self, other: &Self) -> Option<Self> {
        if self.0[..self.path_start()] != other.0[..other.path_start()] {
            return None;
        }
        let pairs = self
            .escaped_path()
            .split('/')
            .zip(other.escaped_path().split('/'));
        let shared: Vec<_> = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
        Self::parse(&format!(
            "{}{}",
            &self.0[..self.path_start()],
            shared.join("/")
        ))
        .ok()
    }

    fn authority_start(&self) -> usize {
        self.0.find("://").map_or(0, |at| at + 3)
    }

    fn path_start(&self) -> usize {
        self.authority_start() + self.authority().len()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Escapes a path for a URL; slashes stay.
pub fn uri_encode(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    path.bytes()
        .for_each(|byte| push_escaped(&mut escaped, byte));
    escaped
}

/// Decodes the escapes of a URL; an incomplete escape stays as it is.
pub fn uri_decode(escaped: &str) -> Vec<u8> {
    let bytes = escaped.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match escape_at(bytes, at) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    decoded
}

fn decode_text(escaped: &str) -> String {
    String::from_utf8_lossy(&uri_decode(escaped)).into_owned()
}

fn escape_at(bytes: &[u8], at: usize) -> Option<u8> {
    if bytes[at] != b'%' {
        return None;
    }
    let digits = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
    digits
        .bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then_some(())?;
    u8::from_str_radix(digits, 16).ok()
}

fn push_escaped(escaped: &mut String, byte: u8) {
    if byte.is_ascii_alphanumeric() || b"!$&'()*+,-./:=@_~".contains(&byte) {
        escaped.push(char::from(byte));
    } else {
        escaped.push_str(&format!("%{byte:02X}"));
    }
}

/// Lower-cases the host and leaves out a default port; user information stays as it is.
fn canonical_authority(scheme: &str, authority: &str) -> String {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (format!("{user}@"), host),
        None => (String::new(), authority),
    };
    let host = host.to_ascii_lowercase();
    let default = match scheme {
        "http" => "80",
        "https" => "443",
        "svn" => "3690",
        _ => "",
    };
    let host = match host.rsplit_once(':') {
        Some((name, port))
            if (port.is_empty() || port == default)
                && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => &host,
    };
    format!("{user}{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_canonical() {
        for (typed, canonical) in [
            ("HTTP://Host.ORG:80/a//b/./c/", "http://host.org/a/b/c"),
            ("https://h:443", "https://h"),
            ("svn://Jo@H:3690/x", "svn://Jo@h/x"),
            ("http://h/a%41%7e b", "http://h/aA~%20b"),
            ("http://h/%c3%a9?", "http://h/%C3%A9%3F"),
            ("file:///", "file:///"),
            ("file:///a/", "file:///a"),
            ("http://h/a%2Fb", "http://h/a/b"),
            ("http://h/a/%2E/b%2f", "http://h/a/b"),
        ] {
            assert_eq!(Url::parse(typed).unwrap().as_str(), canonical, "{typed}");
            assert_eq!(Url::parse(canonical).unwrap().as_str(), canonical);
        }
        assert!(Url::parse("no/url").is_err());
        assert!(Url::parse("http://h/%ff").is_err());
    }

    #[test]
    fn parts_join_and_strip() {
        let url = Url::parse("svn://h/repos/a%20b").unwrap();
        assert_eq!(url.basename(), "a b");
        assert_eq!(url.parent().unwrap().as_str(), "svn://h/repos");
        assert_eq!(Url::parse("svn://h").unwrap().parent(), None);
        let below = url.join(RelPath::new("ü/%").unwrap());
        assert_eq!(below.as_str(), "svn://h/repos/a%20b/%C3%BC/%25");
        assert_eq!(below.strip_prefix(&url).unwrap().as_str(), "ü/%");
        assert_eq!(url.strip_prefix(&below), None);
        let other = Url::parse("svn://h/repos/c").unwrap();
        assert_eq!(
            url.common_ancestor(&other).unwrap().as_str(),
            "svn://h/repos"
        );
    }
}
