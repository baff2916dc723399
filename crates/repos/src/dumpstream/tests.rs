use sylvan_core::{Error, Result};
use sylvan_io::Cancel;

use super::*;

/// Writes down all it is told.
#[derive(Default)]
struct Log(Vec<String>);

impl Sink for Log {
    fn magic(&mut self, version: i32) -> Result<()> {
        self.0.push(format!("version {version}"));
        Ok(())
    }

    fn uuid(&mut self, uuid: &[u8]) -> Result<()> {
        self.0
            .push(format!("uuid {}", String::from_utf8_lossy(uuid)));
        Ok(())
    }

    fn revision(&mut self, headers: &Headers) -> Result<()> {
        let number = headers.revision(header::REVISION_NUMBER);
        self.0.push(format!("revision {number:?}"));
        Ok(())
    }

    fn revision_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let value = String::from_utf8_lossy(&value);
        self.0.push(format!("revprop {name}={value}"));
        Ok(())
    }

    fn node(&mut self, headers: &Headers) -> Result<()> {
        let path = headers.path(header::NODE_PATH)?.unwrap_or_default();
        self.0.push(format!("node {}", path.as_str()));
        Ok(())
    }

    fn remove_node_props(&mut self) -> Result<()> {
        self.0.push("all props".to_owned());
        Ok(())
    }

    fn node_prop(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        let value = String::from_utf8_lossy(&value);
        self.0.push(format!("prop {name}={value}"));
        Ok(())
    }

    fn delete_node_prop(&mut self, name: &str) -> Result<()> {
        self.0.push(format!("no prop {name}"));
        Ok(())
    }

    fn text(&mut self, is_delta: bool, body: &mut Body<'_>) -> Result<()> {
        let mut text = Vec::new();
        while let Some(piece) = body.next_piece()? {
            text.extend_from_slice(piece);
        }
        let text = String::from_utf8_lossy(&text);
        self.0.push(format!("text {is_delta} {text}"));
        Ok(())
    }

    fn end_node(&mut self) -> Result<()> {
        self.0.push("end node".to_owned());
        Ok(())
    }

    fn end_revision(&mut self) -> Result<()> {
        self.0.push("end revision".to_owned());
        Ok(())
    }
}

/// Gives its bytes one at a time.
struct Slow<'s>(&'s [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(1);
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

fn told(stream: &str) -> (Vec<String>, Option<Error>) {
    let mut log = Log::default();
    let cancel = Cancel::new();
    let done = parse(
        &mut Slow(stream.as_bytes()),
        &mut log,
        Deltas::Deltas,
        &cancel,
    );
    (log.0, done.err())
}

const START: &str = "SVN-fs-dump-format-version: 3\n\nRevision-number: 1\n\n";

#[test]
fn records_are_told_in_order() {
    let stream = format!(
        "SVN-fs-dump-format-version: 3\n\nUUID: abc\n\n\nRevision-number: 1\n\
         Prop-content-length: 22\nContent-length: 22\n\nK 1\na\nV 1\nb\nPROPS-END\n\n\
         Node-path: /x//y/\nNode-action: change\nProp-delta: true\nProp-content-length: 16\n\
         Text-delta: true\nText-content-length: 3\nContent-length: 21\n\n{}SVN--\n\n",
        "D 1\nq\nPROPS-END\n"
    );
    let (log, error) = told(&stream);
    assert!(error.is_none(), "{error:?}");
    let expected = [
        "version 3",
        "uuid abc",
        "revision Some(Revnum(1))",
        "revprop a=b",
        "node x/y",
        "no prop q",
        "text true SVN",
        "end node",
        "end revision",
    ];
    assert_eq!(log, expected);
}

#[test]
fn version_1_has_texts_without_their_length() {
    let stream = "SVN-fs-dump-format-version: 1\n\nRevision-number: 1\nContent-length: 10\n\n\
                  PROPS-END\n\nNode-path: f\nNode-kind: file\nContent-length: 13\n\n\
                  PROPS-END\nabc\n\nNode-path: e\nNode-kind: file\nContent-length: 10\n\n\
                  PROPS-END\n\n";
    let (log, error) = told(stream);
    assert!(error.is_none(), "{error:?}");
    assert!(log.contains(&"text false abc".to_owned()));
    assert!(log.contains(&"text false ".to_owned()));
}

#[test]
fn what_is_no_stream_is_refused() {
    let node = |rest: &str| format!("{START}Node-path: f\n{rest}");
    for (stream, expected) in [
        (
            String::new(),
            "E200003: Premature end of content data in dumpstream",
        ),
        (
            "hello\n".to_owned(),
            "E140001: Malformed dumpfile header 'hello'",
        ),
        (
            "x".repeat(200),
            &*format!("E140001: Malformed dumpfile header '{}'", "x".repeat(80)),
        ),
        (
            "SVN-fs-dump-format-version: 4\n".to_owned(),
            "E140001: Unsupported dumpfile version: 4",
        ),
        (
            format!("{START}Odd: x\n\n"),
            "E140001: Unrecognized record type in stream",
        ),
        (
            format!("{START}no colon\n\n"),
            "E140001: Dump stream contains a malformed header (with no ':') at 'no colon'",
        ),
        (
            format!("{START}Name:\n\n"),
            "E140001: Dump stream contains a malformed header (with no value) at 'Name'",
        ),
        (
            node("Prop-content-length: 9\n\nK 1\nab\n"),
            "E140001: Dumpstream data appears to be malformed",
        ),
        (
            node("Prop-content-length: 9\n\nK x\n"),
            "E200004: Could not convert 'x' into a number",
        ),
        (
            node("Prop-content-length: 99\n\nK 1\na\nV 1\nb\n"),
            "E140001: Incomplete or unterminated property block",
        ),
        (
            node("Text-content-length: 9\n\nabc"),
            "E200003: Premature end of content data in dumpstream",
        ),
        (
            node("Text-content-length: 3\nContent-length: 2\n\nabc"),
            "E140001: Sum of subblock sizes larger than total block content length",
        ),
        (
            "SVN-fs-dump-format-version: 2\n\nNode-path: f\n\n".to_owned(),
            "E140001: Dumpstream data appears to be malformed",
        ),
    ] {
        let error = told(&stream).1.map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{stream}"));
        assert_eq!(error, expected, "{stream}");
    }
}

/// A stream with a record of each kind.
const RECORDS: &str = "SVN-fs-dump-format-version: 3\n\nUUID: abc\n\n\
     Revision-number: 0\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n\
     Revision-number: 1\nProp-content-length: 22\nContent-length: 22\n\n\
     K 1\na\nV 1\nb\nPROPS-END\n\n\
     Node-path: trunk/A\nNode-action: change\nNode-kind: file\nProp-delta: true\n\
     Prop-content-length: 16\nText-delta: true\nText-content-length: 3\nContent-length: 19\n\n\
     D 1\nq\nPROPS-END\nSVN\n\n\
     Node-path: bc\nNode-kind: dir\nNode-action: add\nNode-copyfrom-rev: 0\n\
     Node-copyfrom-path: trunk\n\n\n\
     Revision-number: 2\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n\
     Node-path: trunk\nNode-action: change\nProp-content-length: 52\nContent-length: 52\n\n\
     K 13\nsvn:mergeinfo\nV 11\n/bc:1\n/b:1*\nPROPS-END\n\n\
     Node-path: x\nNode-kind: file\nNode-action: replace\nText-content-length: 4\n\
     Content-length: 4\n\nabc\n\n\n";

const BYTES: &[u8] = b"0129-: \nKVDP\0\xff/.*x";

#[test]
fn streams_of_any_bytes_do_no_harm() {
    let (log, error) = told(RECORDS);
    assert!(error.is_none(), "{error:?} after {log:#?}");
    let mut seed = 1_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for _ in 0..8000 {
        let mut stream = RECORDS.as_bytes().to_vec();
        for _ in 0..=next(3) {
            let at = next(stream.len());
            match next(4) {
                0 => stream.truncate(at.max(1)),
                1 => drop(stream.remove(at)),
                2 => stream.insert(at, BYTES[next(BYTES.len())]),
                _ => stream[at] = BYTES[next(BYTES.len())],
            }
            if stream.is_empty() {
                stream.push(0);
            }
        }
        stream.push(u8::try_from(next(128)).unwrap());
        crate::fuzz::dump_stream(&stream);
    }
}
