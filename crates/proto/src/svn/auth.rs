//! Authentication exchanges.
//!
//! Before each response a server may ask: `( success ( mechs realm ) )`. The client chooses a
//! mechanism, `( mech [ token ] )`, and the server answers `( step ( token ) )`,
//! `( failure ( message ) )` or `( success [ token ] )`. After a failure the client may choose
//! again.

use sylvan_core::{Error, ErrorCode, Md5};

use super::ProtocolError;
use super::item::{Fields, Item, Writer};
use super::message::{read_words, shown};

/// What a server asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthRequest {
    /// Names of mechanisms; none if all is well.
    pub mechanisms: Vec<String>,
    /// The place where credentials are valid.
    pub realm: String,
}

/// The mechanisms that a client here knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Who the tunnel says one is.
    External,
    /// Nobody.
    Anonymous,
    /// A password that is proved and not sent.
    CramMd5,
    /// A password that is sent.
    Plain,
}

impl Mechanism {
    const PREFERENCE: [Self; 4] = [Self::External, Self::Anonymous, Self::CramMd5, Self::Plain];

    /// Returns the name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::External => "EXTERNAL",
            Self::Anonymous => "ANONYMOUS",
            Self::CramMd5 => "CRAM-MD5",
            Self::Plain => "PLAIN",
        }
    }

    /// Tells whether it takes a user name and a password.
    pub const fn needs_password(self) -> bool {
        matches!(self, Self::CramMd5 | Self::Plain)
    }
}

impl AuthRequest {
    /// Reads the parameters of the request.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn read(mut fields: Fields<'_>) -> Result<Self, ProtocolError> {
        Ok(Self {
            mechanisms: read_words(&mut fields)?,
            realm: shown(fields.bytes()?),
        })
    }

    /// Chooses the best mechanism; that of tunnels only in one.
    pub fn choose(&self, is_tunneled: bool) -> Option<Mechanism> {
        Mechanism::PREFERENCE
            .into_iter()
            .filter(|mechanism| is_tunneled || *mechanism != Mechanism::External)
            .find(|mechanism| self.mechanisms.iter().any(|name| name == mechanism.name()))
    }
}

/// One attempt, consumed by each step.
#[derive(Debug)]
pub struct Exchange {
    mechanism: Mechanism,
    username: String,
    password: String,
}

/// What to do after a step.
#[derive(Debug)]
pub enum AuthStep {
    /// Send the bytes, then go on with the next item.
    Send(Exchange, Vec<u8>),
    /// It is done.
    Accepted,
    /// Try with something else; what the server says.
    Refused(String),
}

impl Exchange {
    /// Begins one and returns what to send. Name and password are only used if the mechanism needs
    /// them.
    pub fn begin(mechanism: Mechanism, username: &str, password: &str) -> (Self, Vec<u8>) {
        let token = match mechanism {
            Mechanism::External | Mechanism::Anonymous => Some(String::new()),
            Mechanism::CramMd5 => None,
            Mechanism::Plain => Some(base64(format!("\0{username}\0{password}").as_bytes())),
        };
        let mut out = Writer::new();
        out.open().word(mechanism.name());
        out.optional_string(token).close();
        let exchange = Self {
            mechanism,
            username: username.to_owned(),
            password: password.to_owned(),
        };
        (exchange, out.take())
    }

    /// Takes the server's next item.
    ///
    /// # Errors
    /// `RA_NOT_AUTHORIZED` if it does not belong there.
    pub fn handle(self, item: Item<'_>) -> Result<AuthStep, Error> {
        let mut fields = item.list()?.fields();
        let status = fields.word()?;
        let token = fields.optional(Fields::bytes)?;
        match (status, token, self.mechanism) {
            ("success", None, _) | ("success", Some(_), Mechanism::Plain) => Ok(AuthStep::Accepted),
            ("failure", message, _) => Ok(AuthStep::Refused(shown(message.unwrap_or_default()))),
            ("step", Some(challenge), Mechanism::CramMd5) => {
                let digest = hmac_md5(self.password.as_bytes(), challenge);
                let mut out = Writer::new();
                out.string(format!("{} {digest}", self.username));
                Ok(AuthStep::Send(self, out.take()))
            }
            _ => Err(Error::new(
                ErrorCode::RA_NOT_AUTHORIZED,
                "Unexpected server response to authentication",
            )),
        }
    }
}

/// A server's challenge of CRAM-MD5.
#[derive(Clone, Debug)]
pub struct Challenge(String);

impl Challenge {
    /// Makes one of what was never used before: a random number, the time in microseconds, and the
    /// name of the host.
    pub fn new(nonce: u64, micros: i64, host: &str) -> Self {
        Self(format!("<{nonce}.{micros}@{host}>"))
    }

    /// Returns the text to send.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Checks the answer of a client and returns its user's name. `password_of` knows the passwords.
    ///
    /// # Errors
    /// What to tell the client.
    pub fn verify<'a>(
        &self,
        answer: &'a [u8],
        password_of: impl FnOnce(&str) -> Option<String>,
    ) -> Result<&'a str, &'static str> {
        const MALFORMED: &str = "Malformed client response in authentication";
        let answer = std::str::from_utf8(answer).map_err(|_| MALFORMED)?;
        let (user, digest) = answer.rsplit_once(' ').ok_or(MALFORMED)?;
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digest.len() != 32 || !digest.bytes().all(is_hex) {
            return Err(MALFORMED);
        }
        let digest = Md5::parse_hex(digest).map_err(|_| MALFORMED)?;
        let password = password_of(user).ok_or("Username not found")?;
        let expected = hmac_md5(password.as_bytes(), self.0.as_bytes());
        if same_bytes(&digest.0, &expected.0) {
            Ok(user)
        } else {
            Err("Password incorrect")
        }
    }
}

/// Compares in a time that does not tell where the difference is.
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a ^ b));
    a.len() == b.len() && differing == 0
}

/// Reads the token of PLAIN, in base64: for whom one acts, user and password.
pub fn read_plain(token: &[u8]) -> Option<(String, String, String)> {
    let text = String::from_utf8(unbase64(token)?).ok()?;
    let mut parts = text.splitn(3, '\0').map(str::to_owned);
    Some((parts.next()?, parts.next()?, parts.next()?))
}

fn unbase64(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text
        .strip_suffix(b"==")
        .or(text.strip_suffix(b"="))
        .unwrap_or(text);
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for four in digits.chunks(4) {
        let mut bits = 0u32;
        for digit in four {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - four.len());
        let whole = four.len().checked_sub(1).filter(|whole| *whole > 0)?;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}

/// Digests as RFC 2195 says.
fn hmac_md5(password: &[u8], challenge: &[u8]) -> Md5 {
    let mut key = [0; 64];
    if password.len() <= key.len() {
        key[..password.len()].copy_from_slice(password);
    } else {
        key[..16].copy_from_slice(&Md5::of(password).0);
    }
    let keyed = |pad: u8, text: &[u8]| {
        let padded: Vec<u8> = key.iter().map(|byte| byte ^ pad).collect();
        Md5::of(&[&padded, text].concat())
    };
    keyed(0x5c, &keyed(0x36, challenge).0)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .chain(std::iter::repeat(&0))
            .take(3)
            .fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 0x3f;
            text.push(if digit <= three.len() {
                char::from(DIGITS[value as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svn::item::Parser;

    fn step(exchange: Exchange, bytes: &[u8]) -> Result<AuthStep, Error> {
        let mut parser = Parser::new();
        parser.advance(bytes)?.expect("a whole item");
        exchange.handle(parser.item(bytes))
    }

    #[test]
    fn mechanisms_are_chosen_by_preference() {
        for (offered, tunneled, chosen) in [
            ("ANONYMOUS EXTERNAL", true, Some(Mechanism::External)),
            ("ANONYMOUS EXTERNAL", false, Some(Mechanism::Anonymous)),
            ("EXTERNAL", false, None),
            ("DIGEST-MD5 PLAIN CRAM-MD5", false, Some(Mechanism::CramMd5)),
            ("PLAIN", false, Some(Mechanism::Plain)),
            ("DIGEST-MD5", true, None),
        ] {
            let request = AuthRequest {
                mechanisms: offered.split(' ').map(str::to_owned).collect(),
                realm: String::new(),
            };
            assert_eq!(request.choose(tunneled), chosen, "{offered}");
        }
    }

    #[test]
    fn cram_md5_proves_the_password() {
        // The example of RFC 2195.
        let (exchange, sent) = Exchange::begin(Mechanism::CramMd5, "tim", "tanstaaftanstaaf");
        assert_eq!(sent, b"( CRAM-MD5 ( ) ) ");
        let challenge = "<1896.697170952@postoffice.reston.mci.net>";
        let item = format!("( step ( {}:{challenge} ) ) ", challenge.len());
        let AuthStep::Send(exchange, sent) = step(exchange, item.as_bytes()).unwrap() else {
            panic!("no answer");
        };
        assert_eq!(sent, b"36:tim b913a602c7eda7a495b4e6e7334d3890 ");
        let refused = step(exchange, b"( failure ( 2:no ) ) ").unwrap();
        assert!(matches!(refused, AuthStep::Refused(text) if text == "no"));
        let long = hmac_md5(&[b'x'; 100], b"c");
        assert_eq!(long, hmac_md5(&Md5::of(&[b'x'; 100]).0, b"c"));
    }

    #[test]
    fn other_mechanisms_send_one_token() {
        for (mechanism, token) in [
            (Mechanism::External, "( EXTERNAL ( 0: ) ) "),
            (Mechanism::Anonymous, "( ANONYMOUS ( 0: ) ) "),
            (Mechanism::Plain, "( PLAIN ( 12:AGpvAHNlc2Ft ) ) "),
        ] {
            let (exchange, sent) = Exchange::begin(mechanism, "jo", "sesam");
            assert_eq!(String::from_utf8(sent).unwrap(), token);
            let done = step(exchange, b"( success ( ) ) ").unwrap();
            assert!(matches!(done, AuthStep::Accepted));
        }
        let (exchange, _) = Exchange::begin(Mechanism::Anonymous, "", "");
        let error = step(exchange, b"( step ( 1:x ) ) ").unwrap_err();
        assert_eq!(error.code(), ErrorCode::RA_NOT_AUTHORIZED);
    }

    #[test]
    fn servers_check_what_clients_prove() {
        let challenge = Challenge("<1896.697170952@postoffice.reston.mci.net>".to_owned());
        let know = |name: &str| (name == "tim").then(|| "tanstaaftanstaaf".to_owned());
        for (answer, result) in [
            ("tim b913a602c7eda7a495b4e6e7334d3890", Ok("tim")),
            (
                "tim b913a602c7eda7a495b4e6e7334d3891",
                Err("Password incorrect"),
            ),
            (
                "tom b913a602c7eda7a495b4e6e7334d3890",
                Err("Username not found"),
            ),
            (
                "tim B913A602C7EDA7A495B4E6E7334D3890",
                Err("Malformed client response in authentication"),
            ),
            ("tim", Err("Malformed client response in authentication")),
            ("", Err("Malformed client response in authentication")),
        ] {
            assert_eq!(
                challenge.verify(answer.as_bytes(), know),
                result,
                "{answer}"
            );
        }
        assert_eq!(Challenge::new(1, 2, "h").text(), "<1.2@h>");
        let plain = read_plain(b"AGpvAHNlc2Ft").unwrap();
        assert_eq!(plain, (String::new(), "jo".to_owned(), "sesam".to_owned()));
        for token in [&b"A"[..], b"AAAA=A", b"\xff", b"AGpv"] {
            assert_eq!(read_plain(token), None);
        }
    }

    #[test]
    fn base64_is_padded() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded);
            assert_eq!(unbase64(encoded.as_bytes()).unwrap(), plain.as_bytes());
        }
    }
}
