//! HTTP/1.1 on the wire: requests to bytes, bytes to responses. No sockets.

use sylvan_core::{Error, Result};

use super::upload::Upload;

use super::failure::{BAD_RESPONSE, TRUNCATED, of_connection};

/// A request, complete but for credentials.
#[derive(Clone, Debug)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// The path, escaped.
    pub(super) path: &'a str,
    pub(super) headers: Vec<(&'a str, &'a str)>,
    /// An XML body.
    pub(super) body: Option<&'a str>,
    /// Another body, with its media type.
    pub(super) upload: Option<(&'a str, &'a Upload)>,
    /// Whether it may be sent once only.
    pub(super) once: bool,
}

impl<'a> Request<'a> {
    pub(super) const fn new(method: &'a str, path: &'a str) -> Self {
        Self {
            method,
            path,
            headers: Vec::new(),
            body: None,
            upload: None,
            once: false,
        }
    }

    pub(super) const fn upload(mut self, media_type: &'a str, upload: &'a Upload) -> Self {
        self.upload = Some((media_type, upload));
        self
    }

    pub(super) const fn once(mut self) -> Self {
        self.once = true;
        self
    }

    pub(super) fn header(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(super) const fn body(mut self, body: &'a str) -> Self {
        self.body = Some(body);
        self
    }

    /// Appends the request's bytes. `target` is the path, or with a proxy the whole URL; `extra`
    /// has the headers that all requests have.
    pub(super) fn write(
        &self,
        target: &str,
        extra: &[(&str, &str)],
        chunked: bool,
        out: &mut Vec<u8>,
    ) {
        let mut line = |parts: &[&str]| {
            parts
                .iter()
                .for_each(|part| out.extend_from_slice(part.as_bytes()));
            out.extend_from_slice(b"\r\n");
        };
        line(&[self.method, " ", target, " HTTP/1.1"]);
        for (name, value) in extra.iter().chain(&self.headers) {
            line(&[name, ": ", &clean(value)]);
        }
        if let Some((media_type, upload)) = self.upload {
            line(&["Content-Type: ", media_type]);
            line(&["Content-Length: ", &upload.len().to_string(), "\r\n"]);
            out.extend_from_slice(upload.in_memory());
            return;
        }
        match self.body {
            Some(body) if chunked && !body.is_empty() => {
                line(&["Content-Type: text/xml\r\nTransfer-Encoding: chunked\r\n"]);
                line(&[&format!("{:x}", body.len())]);
                line(&[body]);
                line(&["0\r\n"]);
            }
            Some(body) => {
                line(&["Content-Type: text/xml"]);
                line(&["Content-Length: ", &body.len().to_string(), "\r\n"]);
                out.extend_from_slice(body.as_bytes());
            }
            None => line(&[]),
        }
    }
}

/// Takes line ends out of a header's value, so that none can add another header.
fn clean(value: &str) -> std::borrow::Cow<'_, str> {
    if value.bytes().any(|byte| byte.is_ascii_control()) {
        value
            .chars()
            .filter(|c| !c.is_ascii_control())
            .collect::<String>()
            .into()
    } else {
        value.into()
    }
}

/// The start line and headers of a response.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) headers: Vec<(String, String)>,
    /// Where a redirect goes, made absolute.
    pub(super) location: Option<String>,
    pub(super) keep_alive: bool,
}

/// More headers than this are an attack.
const MOST_HEADERS: usize = 200;

impl Head {
    /// Parses a head from the start of `data`; gives it with its length, or `None` if it is not
    /// whole.
    pub(super) fn parse(data: &[u8]) -> Result<Option<(Self, usize)>> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(data) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(of_connection(BAD_RESPONSE)),
        };
        let headers: Vec<_> = response
            .headers
            .iter()
            .map(|header| {
                let value = String::from_utf8_lossy(header.value).trim().to_owned();
                (header.name.to_owned(), value)
            })
            .collect();
        let mut head = Self {
            status: response.code.unwrap_or_default(),
            reason: response.reason.unwrap_or_default().to_owned(),
            headers,
            location: None,
            keep_alive: response.version == Some(1),
        };
        for connection in head.all("connection").collect::<Vec<_>>().iter() {
            for word in connection.split(',') {
                match word.trim().to_ascii_lowercase().as_str() {
                    "close" => head.keep_alive = false,
                    "keep-alive" => head.keep_alive = true,
                    _ => {}
                }
            }
        }
        Ok(Some((head, length)))
    }

    /// Returns the first header of this name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Goes through all headers of this name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = String> {
        self.headers
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    }

    /// Returns how long the body is said to be.
    pub(super) fn length(&self) -> Option<usize> {
        self.get("content-length")?.parse().ok()
    }

    pub(super) fn is_xml(&self) -> bool {
        self.get("content-type")
            .and_then(|kind| kind.get(..8))
            .is_some_and(|kind| kind.eq_ignore_ascii_case("text/xml"))
    }

    pub(super) fn is_gzip(&self) -> bool {
        self.get("content-encoding").is_some_and(|coding| {
            coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip")
        })
    }
}

/// Where a response's body is.
///
/// ```text
///  Length(n) ----------------------------------> Done
///  ChunkHead --> ChunkData(n) --> ChunkHead …
///      +--(size 0)--> Trailers ----------------> Done
///  UntilClose --(end of stream)----------------> Done
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    ChunkHead,
    ChunkData(u64),
    Trailers,
    UntilClose,
    Done,
}

/// What a framing makes of the bytes at hand.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many bytes are content.
    Content(usize),
    /// So many bytes are none; look again.
    Skip(usize),
    /// More bytes are needed.
    More,
    /// The body has ended.
    End,
}

/// A line of a chunked body that is longer than this is an attack.
const LONGEST_LINE: usize = 8_192;

impl Framing {
    /// Says how the body of a response to `method` is framed.
    pub(super) fn of(head: &Head, method: &str) -> Result<Self> {
        let bodiless = method == "HEAD" || matches!(head.status, 100..=199 | 204 | 304);
        if bodiless || method == "CONNECT" && matches!(head.status, 200..=299) {
            return Ok(Self::Done);
        }
        if let Some(coding) = head.get("transfer-encoding") {
            return if coding.eq_ignore_ascii_case("chunked") {
                Ok(Self::ChunkHead)
            } else {
                Err(of_connection(BAD_RESPONSE))
            };
        }
        let mut lengths = head.all("content-length");
        let Some(length) = lengths.next() else {
            return Ok(Self::UntilClose);
        };
        if lengths.any(|other| other != length) || !length.bytes().all(|b| b.is_ascii_digit()) {
            return Err(of_connection(BAD_RESPONSE));
        }
        match length.parse() {
            Ok(0) => Ok(Self::Done),
            Ok(length) => Ok(Self::Length(length)),
            Err(_) => Err(of_connection(BAD_RESPONSE)),
        }
    }

    /// Says what the bytes at hand are; `consume` must follow for [`Step::Content`].
    pub(super) fn step(&mut self, data: &[u8]) -> Result<Step> {
        match *self {
            Self::Done => Ok(Step::End),
            _ if data.is_empty() => Ok(Step::More),
            Self::Length(left) | Self::ChunkData(left) if left > 0 => {
                let len = usize::try_from(left).unwrap_or(usize::MAX).min(data.len());
                Ok(Step::Content(len))
            }
            Self::UntilClose => Ok(Step::Content(data.len())),
            Self::Length(_) => {
                *self = Self::Done;
                Ok(Step::End)
            }
            // The line end after a chunk.
            Self::ChunkData(_) => match data {
                [b'\r', b'\n', ..] => {
                    *self = Self::ChunkHead;
                    Ok(Step::Skip(2))
                }
                [b'\r'] => Ok(Step::More),
                _ => Err(of_connection(BAD_RESPONSE)),
            },
            Self::ChunkHead => match line(data)? {
                None => Ok(Step::More),
                Some((text, len)) => {
                    *self = match chunk_size(text)? {
                        0 => Self::Trailers,
                        size => Self::ChunkData(size),
                    };
                    Ok(Step::Skip(len))
                }
            },
            Self::Trailers => match line(data)? {
                None => Ok(Step::More),
                Some((text, len)) => {
                    if text.is_empty() {
                        *self = Self::Done;
                    }
                    Ok(Step::Skip(len))
                }
            },
        }
    }

    /// Notes that content was taken.
    pub(super) fn consume(&mut self, count: usize) {
        match self {
            Self::Length(left) => {
                *left = left.saturating_sub(count as u64);
                if *left == 0 {
                    *self = Self::Done;
                }
            }
            Self::ChunkData(left) => *left = left.saturating_sub(count as u64),
            _ => {}
        }
    }

    /// Notes that the server has closed the connection.
    pub(super) fn end_of_stream(&mut self) -> Result<(), Error> {
        match self {
            Self::Done => Ok(()),
            Self::UntilClose => {
                *self = Self::Done;
                Ok(())
            }
            _ => Err(of_connection(TRUNCATED)),
        }
    }
}

/// Returns the first line and its length with its end; `None` if it is not whole.
fn line(data: &[u8]) -> Result<Option<(&[u8], usize)>> {
    let window = &data[..data.len().min(LONGEST_LINE)];
    match memchr::memchr(b'\n', window) {
        Some(at) => {
            let text = &data[..at];
            Ok(Some((text.strip_suffix(b"\r").unwrap_or(text), at + 1)))
        }
        None if window.len() == LONGEST_LINE => Err(of_connection(BAD_RESPONSE)),
        None => Ok(None),
    }
}

fn chunk_size(line: &[u8]) -> Result<u64> {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
    std::str::from_utf8(digits.trim_ascii())
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| of_connection(BAD_RESPONSE))
}

/// Fuzzing: takes a response apart.
pub(super) fn fuzz(data: &[u8]) {
    let Ok(Some((head, length))) = Head::parse(data) else {
        return;
    };
    let Ok(mut framing) = Framing::of(&head, "GET") else {
        return;
    };
    let mut rest = &data[length..];
    loop {
        match framing.step(rest) {
            Ok(Step::Content(len)) => {
                framing.consume(len);
                rest = &rest[len..];
            }
            Ok(Step::Skip(len)) => rest = &rest[len..],
            Ok(Step::More) => {
                let _ = framing.end_of_stream();
                return;
            }
            Ok(Step::End) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(response: &str, method: &str) -> Result<(String, bool)> {
        let (head, length) = Head::parse(response.as_bytes())?.expect("the head is whole");
        let mut framing = Framing::of(&head, method)?;
        let mut rest = &response.as_bytes()[length..];
        let mut content = Vec::new();
        loop {
            match framing.step(rest)? {
                Step::Content(len) => {
                    content.extend_from_slice(&rest[..len]);
                    framing.consume(len);
                    rest = &rest[len..];
                }
                Step::Skip(len) => rest = &rest[len..],
                Step::More => {
                    framing.end_of_stream()?;
                    break;
                }
                Step::End => break,
            }
        }
        Ok((String::from_utf8(content).unwrap(), rest.is_empty()))
    }

    #[test]
    fn bodies_end_where_they_say() {
        let start = "HTTP/1.1 200 OK\r\n";
        for (method, rest, expected, whole) in [
            ("GET", "Content-Length: 3\r\n\r\nabcHTTP/1.1", "abc", false),
            ("GET", "Content-Length: 0\r\n\r\n", "", true),
            ("HEAD", "Content-Length: 3\r\n\r\n", "", true),
            ("GET", "\r\nall there is", "all there is", true),
            (
                "GET",
                "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
                "abc0123456789",
                true,
            ),
        ] {
            let found = body(&format!("{start}{rest}"), method).unwrap();
            assert_eq!(found, (expected.to_owned(), whole), "{rest}");
        }
    }

    #[test]
    fn lies_about_lengths_are_found() {
        let start = "HTTP/1.1 200 OK\r\n";
        for (rest, code) in [
            ("Content-Length: 4\r\n\r\nabc", TRUNCATED),
            ("Content-Length: -1\r\n\r\nabc", BAD_RESPONSE),
            (
                "Content-Length: 99999999999999999999\r\n\r\nabc",
                BAD_RESPONSE,
            ),
            (
                "Content-Length: 1\r\nContent-Length: 2\r\n\r\nabc",
                BAD_RESPONSE,
            ),
            ("Transfer-Encoding: gzip\r\n\r\nabc", BAD_RESPONSE),
            ("Transfer-Encoding: chunked\r\n\r\n3\r\nab", TRUNCATED),
            (
                "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
                BAD_RESPONSE,
            ),
            ("Transfer-Encoding: chunked\r\n\r\nx\r\n", BAD_RESPONSE),
            ("Transfer-Encoding: chunked\r\n\r\n-3\r\n", BAD_RESPONSE),
            (
                "Transfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
                BAD_RESPONSE,
            ),
            (
                "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
                TRUNCATED,
            ),
        ] {
            let error = body(&format!("{start}{rest}"), "GET").unwrap_err();
            assert_eq!(error.code(), code, "{rest}");
        }
        let long = format!(
            "{start}Transfer-Encoding: chunked\r\n\r\n3;{}",
            "x".repeat(10_000)
        );
        assert!(body(&long, "GET").is_err());
        assert!(Head::parse(b"HELLO\r\n\r\n").is_err());
        let many = format!("{start}{}\r\n", "a: b\r\n".repeat(300));
        assert!(Head::parse(many.as_bytes()).is_err());
        assert!(Head::parse(start.as_bytes()).unwrap().is_none());
    }

    #[test]
    fn requests_have_a_length_or_chunks() {
        let request = Request::new("REPORT", "/r")
            .header("Depth", "0\r\nEvil: yes")
            .body("<a/>");
        let mut bytes = Vec::new();
        request.write("/r", &[("Host", "h")], false, &mut bytes);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "REPORT /r HTTP/1.1\r\nHost: h\r\nDepth: 0Evil: yes\r\nContent-Type: text/xml\r\n\
             Content-Length: 4\r\n\r\n<a/>"
        );
        let mut bytes = Vec::new();
        request.write("/r", &[], true, &mut bytes);
        assert!(bytes.ends_with(b"chunked\r\n\r\n4\r\n<a/>\r\n0\r\n\r\n"));
        let mut bytes = Vec::new();
        Request::new("GET", "/r").write("/r", &[], true, &mut bytes);
        assert_eq!(bytes, b"GET /r HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn connections_are_kept_by_version_and_header() {
        for (text, kept) in [
            ("HTTP/1.1 200 OK\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\n\r\n", false),
            ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", true),
        ] {
            let (head, _) = Head::parse(text.as_bytes()).unwrap().unwrap();
            assert_eq!(head.keep_alive, kept, "{text}");
        }
    }
}
