//! HTTP authentication: Basic and Digest (RFC 7616, 7617), for servers and proxies.

use std::hash::{BuildHasher, Hasher, RandomState};

use sylvan_core::{Error, ErrorCode, Md5, Result};
use sylvan_proto::dav::encode_base64;

use super::failure::{AUTHN_FAILED, AUTHN_NOT_SUPPORTED, of_connection};

/// One way to authenticate that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    scheme: String,
    params: Vec<(String, String)>,
}

impl Challenge {
    /// Returns a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    pub(super) fn is_digest(&self) -> bool {
        self.is("digest")
    }

    /// Tells whether only the nonce was too old.
    pub(super) fn is_stale(&self) -> bool {
        self.get("stale")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Tells whether we can answer it: we know MD5 alone.
    fn is_answerable(&self) -> bool {
        let algorithm = self.get("algorithm").unwrap_or("MD5");
        self.is("basic")
            || self.is_digest()
                && self.get("nonce").is_some()
                && (algorithm.eq_ignore_ascii_case("MD5")
                    || algorithm.eq_ignore_ascii_case("MD5-sess"))
    }
}

/// Chooses the strongest of the challenges in `headers` that is allowed.
///
/// # Errors
/// serf's: none offered, or none that we know.
pub(super) fn choose(
    headers: impl Iterator<Item = String>,
    basic: bool,
    digest: bool,
) -> Result<Challenge> {
    let offered: Vec<_> = headers.flat_map(|header| parse(&header)).collect();
    if offered.is_empty() {
        return Err(of_connection(AUTHN_FAILED));
    }
    let find = |wanted: bool, scheme: &str| {
        offered
            .iter()
            .find(|challenge| wanted && challenge.is(scheme) && challenge.is_answerable())
    };
    find(digest, "digest")
        .or_else(|| find(basic, "basic"))
        .cloned()
        .ok_or_else(|| of_connection(AUTHN_NOT_SUPPORTED))
}

/// Takes the challenges of one header apart.
fn parse(header: &str) -> Vec<Challenge> {
    let mut challenges: Vec<Challenge> = Vec::new();
    for item in split_list(header) {
        let (word, rest) = match item.find(|c: char| c.is_ascii_whitespace() || c == '=') {
            Some(at) => item.split_at(at),
            None => (item, ""),
        };
        let rest = rest.trim_start();
        // `name=value` belongs to the challenge before, `Scheme`, `Scheme name=value` begin one.
        match (rest.strip_prefix('='), challenges.last_mut()) {
            (Some(value), Some(challenge)) => {
                challenge.params.push((word.to_owned(), unquote(value)));
            }
            (Some(_), None) => {}
            (None, _) => {
                let params = rest
                    .split_once('=')
                    .map(|(name, value)| (name.trim().to_owned(), unquote(value)));
                challenges.push(Challenge {
                    scheme: word.to_owned(),
                    params: params.into_iter().collect(),
                });
            }
        }
    }
    challenges
}

/// Splits at commas outside of quotes.
fn split_list(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[start..].trim());
    items.retain(|item| !item.is_empty());
    items
}

fn unquote(value: &str) -> String {
    let value = value.trim();
    let Some(inner) = value
        .strip_prefix('"')
        .map(|value| value.strip_suffix('"').unwrap_or(value))
    else {
        return value.to_owned();
    };
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let c = if c == '\\' { chars.next() } else { Some(c) };
        text.extend(c);
    }
    text
}

/// Makes the header that answers a challenge, request by request.
#[derive(Clone)]
pub(super) enum Answer {
    Basic(String),
    Digest(Box<Digest>),
}

/// The state of Digest authentication.
#[derive(Clone)]
pub(super) struct Digest {
    username: String,
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    qop: bool,
    ha1: String,
    cnonce: String,
    count: u32,
}

impl Answer {
    pub(super) fn new(challenge: &Challenge, username: &str, password: &str) -> Self {
        if !challenge.is_digest() {
            let pair = format!("{username}:{password}");
            return Self::Basic(format!("Basic {}", encode_base64(pair.as_bytes())));
        }
        let text = |name: &str| challenge.get(name).map(str::to_owned);
        let realm = text("realm").unwrap_or_default();
        let mut digest = Digest {
            ha1: md5(&[username, &realm, password]),
            username: username.to_owned(),
            realm,
            nonce: String::new(),
            opaque: None,
            algorithm: text("algorithm"),
            qop: false,
            cnonce: new_cnonce(),
            count: 0,
        };
        digest.renew(challenge);
        if digest.is_session() {
            digest.ha1 = md5(&[&digest.ha1, &digest.nonce, &digest.cnonce]);
        }
        Self::Digest(Box::new(digest))
    }

    /// Takes the nonce of a challenge that found ours too old; false if that does not help.
    pub(super) fn renew(&mut self, challenge: &Challenge) -> bool {
        match self {
            Self::Digest(digest) if challenge.is_stale() && !digest.is_session() => {
                digest.renew(challenge);
                true
            }
            _ => false,
        }
    }

    /// Returns the header's value for a request.
    pub(super) fn header(&mut self, method: &str, uri: &str) -> String {
        match self {
            Self::Basic(header) => header.clone(),
            Self::Digest(digest) => digest.header(method, uri),
        }
    }
}

impl Answer {
    /// Returns how many headers were made with the present nonce.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Basic(_) => 0,
            Self::Digest(digest) => digest.count,
        }
    }

    /// Tells whether what a server says of itself (`Authentication-Info`) shows that it knows the
    /// password; `count` is that of the request. Servers need not say it.
    pub(super) fn vouches(&self, info: &str, uri: &str, count: u32) -> bool {
        let Self::Digest(digest) = self else {
            return true;
        };
        let said = parse(&format!("Digest {info}"));
        match said.first().and_then(|said| said.get("rspauth")) {
            Some(said) => said.eq_ignore_ascii_case(&digest.response("", uri, count)),
            None => true,
        }
    }
}

impl Digest {
    fn is_session(&self) -> bool {
        self.algorithm
            .as_deref()
            .is_some_and(|algorithm| algorithm.eq_ignore_ascii_case("MD5-sess"))
    }

    fn renew(&mut self, challenge: &Challenge) {
        self.nonce = challenge.get("nonce").unwrap_or_default().to_owned();
        self.opaque = challenge.get("opaque").map(str::to_owned);
        self.qop = challenge.get("qop").is_some_and(|list| {
            list.split(',')
                .any(|word| word.trim().eq_ignore_ascii_case("auth"))
        });
        self.count = 0;
    }

    /// Proves that one knows the password; servers do it with an empty method.
    fn response(&self, method: &str, uri: &str, count: u32) -> String {
        let ha2 = md5(&[method, uri]);
        if self.qop {
            let count = format!("{count:08x}");
            md5(&[&self.ha1, &self.nonce, &count, &self.cnonce, "auth", &ha2])
        } else {
            md5(&[&self.ha1, &self.nonce, &ha2])
        }
    }

    fn header(&mut self, method: &str, uri: &str) -> String {
        self.count += 1;
        let count = format!("{:08x}", self.count);
        let response = self.response(method, uri, self.count);
        let mut header = format!(
            "Digest realm=\"{}\", username=\"{}\", nonce=\"{}\", uri=\"{uri}\"",
            quoted(&self.realm),
            quoted(&self.username),
            quoted(&self.nonce),
        );
        if self.qop {
            let cnonce = &self.cnonce;
            header.push_str(&format!(", nc={count}, cnonce=\"{cnonce}\", qop=\"auth\""));
        }
        header.push_str(&format!(", response=\"{response}\""));
        if let Some(opaque) = &self.opaque {
            header.push_str(&format!(", opaque=\"{}\"", quoted(opaque)));
        }
        if let Some(algorithm) = &self.algorithm {
            header.push_str(&format!(", algorithm=\"{algorithm}\""));
        }
        header
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Digests parts joined by colons, in hexadecimal.
fn md5(parts: &[&str]) -> String {
    Md5::of(parts.join(":").as_bytes()).to_string()
}

/// A number that is not the same twice; it only keeps servers from choosing what is digested.
fn new_cnonce() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// The error when a user has no more passwords to try.
pub(super) fn exhausted() -> Error {
    Error::new(
        ErrorCode::AUTHN_FAILED,
        "No more credentials or we tried too many times.\nAuthentication failed",
    )
}

/// The error when a proxy does not like the configured password, or none is configured.
pub(super) fn proxy_refused() -> Error {
    Error::new(ErrorCode::AUTHN_FAILED, "Proxy authentication failed")
}

/// Fuzzing: parses challenges and answers them.
pub(super) fn fuzz(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let headers = text.lines().map(str::to_owned);
    if let Ok(challenge) = choose(headers, true, true) {
        let mut answer = Answer::new(&challenge, "jo", "pw");
        answer.header("GET", "/");
        answer.renew(&challenge);
        answer.header("GET", "/");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(headers: &[&str], basic: bool, digest: bool) -> Result<Challenge> {
        choose(
            headers.iter().map(|&header| header.to_owned()),
            basic,
            digest,
        )
    }

    #[test]
    fn strongest_allowed_challenge_is_chosen() {
        let both = &[
            "Basic realm=\"a, \\\"b\\\"\"",
            "Digest realm=\"r\", nonce=\"n\", qop=\"auth,auth-int\"",
        ];
        let challenge = chosen(both, true, true).unwrap();
        assert!(challenge.is_digest());
        assert_eq!(challenge.get("QOP"), Some("auth,auth-int"));
        let challenge = chosen(both, true, false).unwrap();
        assert_eq!(challenge.get("realm"), Some("a, \"b\""));
        let one_line = &["Negotiate, NTLM abc==, Basic realm=x, charset=\"UTF-8\""];
        assert_eq!(
            chosen(one_line, true, true).unwrap().get("realm"),
            Some("x")
        );
        for (headers, code) in [
            (&[][..], AUTHN_FAILED),
            (&["Negotiate"][..], AUTHN_NOT_SUPPORTED),
            (
                &["Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256"][..],
                AUTHN_NOT_SUPPORTED,
            ),
        ] {
            assert_eq!(chosen(headers, true, true).unwrap_err().code(), code);
        }
        assert!(chosen(both, false, false).is_err());
    }

    #[test]
    fn basic_is_a_pair_in_base64() {
        let challenge = chosen(&["Basic realm=\"r\""], true, true).unwrap();
        let mut answer = Answer::new(&challenge, "Aladdin", "open sesame");
        assert_eq!(
            answer.header("GET", "/"),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
    }

    /// The example of RFC 7616, 3.9.1, with MD5.
    #[test]
    fn digest_matches_the_standard() {
        let challenge = chosen(
            &[
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=MD5, \
               nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
               opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"",
            ],
            true,
            true,
        )
        .unwrap();
        let Answer::Digest(mut digest) = Answer::new(&challenge, "Mufasa", "Circle of Life") else {
            panic!("the challenge is Digest");
        };
        digest.cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ".to_owned();
        let header = digest.header("GET", "/dir/index.html");
        assert!(
            header.contains("response=\"8ca523f5e9506fed4657c9700eebdbec\""),
            "{header}"
        );
        assert!(header.contains("nc=00000001") && header.contains("opaque=\"FQhe"));
        assert!(digest.header("GET", "/").contains("nc=00000002"));
    }

    #[test]
    fn servers_that_say_who_they_are_must_know_the_password() {
        let challenge = chosen(
            &["Digest realm=\"r\", nonce=\"n\", qop=\"auth\""],
            true,
            true,
        );
        let Answer::Digest(mut digest) = Answer::new(&challenge.unwrap(), "jo", "pw") else {
            panic!("the challenge is Digest");
        };
        digest.cnonce = "c".to_owned();
        digest.header("GET", "/a");
        digest.header("GET", "/b");
        let answer = Answer::Digest(digest);
        assert_eq!(answer.count(), 2);
        let ha1 = md5(&["jo", "r", "pw"]);
        let right = md5(&[&ha1, "n", "00000001", "c", "auth", &md5(&["", "/a"])]);
        let info = format!("rspauth=\"{right}\", cnonce=\"c\", nc=00000001, qop=auth");
        assert!(answer.vouches(&info, "/a", 1));
        assert!(!answer.vouches(&info, "/a", 2));
        assert!(!answer.vouches(&info, "/b", 1));
        assert!(answer.vouches("nextnonce=\"m\"", "/b", 1));
        assert!(Answer::Basic(String::new()).vouches(&info, "/b", 1));
    }

    #[test]
    fn stale_nonces_are_renewed() {
        let first = chosen(&["Digest realm=\"r\", nonce=\"1\""], true, true).unwrap();
        let stale = chosen(&["Digest realm=\"r\", nonce=\"2\", stale=TRUE"], true, true).unwrap();
        let mut answer = Answer::new(&first, "jo", "pw");
        assert!(!answer.renew(&first));
        assert!(answer.renew(&stale));
        assert!(answer.header("GET", "/").contains("nonce=\"2\""));
    }
}
