//! A client of the svn protocol, as plain as can be: what Debian's svnserve answers.

use std::fmt::Write as _;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An item of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Number(i64),
    Word(String),
    Text(Vec<u8>),
    List(Vec<Self>),
}

impl Item {
    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            other => panic!("no list: {other:?}"),
        }
    }

    pub(crate) fn number(&self) -> i64 {
        match self {
            Self::Number(number) => *number,
            other => panic!("no number: {other:?}"),
        }
    }

    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Word(word) => word,
            other => panic!("no word: {other:?}"),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    pub(crate) fn is_true(&self) -> bool {
        self.word() == "true"
    }
}

/// A server in a process of its own, and the repository it has open.
pub(crate) struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

pub(crate) fn text(value: &str) -> String {
    format!("{}:{value}", value.len())
}

impl Server {
    /// Opens the root of a repository.
    pub(crate) fn open(repository: &Path) -> Self {
        let mut process = Command::new("svnserve")
            .args(["--tunnel", "--tunnel-user", "tester", "--root"])
            .arg(repository)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("svnserve is installed");
        let mut server = Self {
            input: process.stdin.take(),
            output: BufReader::new(process.stdout.take().unwrap()),
            process,
        };
        server.item();
        let words = "edit-pipeline svndiff1 depth mergeinfo log-revprops file-revs-reverse list";
        server.send(&format!("( 2 ( {words} ) {} ) ", text("svn://localhost/")));
        server.item();
        server.send("( EXTERNAL ( 0: ) ) ");
        server.item();
        server.item();
        server
    }

    fn send(&mut self, command: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(command.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Sends a command; returns what comes before the answer of success, or the errors.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Vec<Item>, String> {
        self.send(command);
        let no_authentication = self.item();
        assert_eq!(no_authentication.list()[0].word(), "success");
        let mut found = Vec::new();
        loop {
            let item = self.item();
            if let Item::List(items) = &item
                && let [Item::Word(word), Item::List(rest)] = &items[..]
            {
                match word.as_str() {
                    "success" => {
                        found.extend(rest.iter().cloned());
                        return Ok(found);
                    }
                    "failure" => return Err(failure(rest)),
                    _ => {}
                }
            }
            found.push(item);
        }
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.output.read_exact(&mut byte).expect("svnserve answers");
        byte[0]
    }

    fn item(&mut self) -> Item {
        let first = loop {
            match self.byte() {
                b' ' | b'\n' => {}
                byte => break byte,
            }
        };
        let first = char::from(first);
        if first == '(' {
            let mut items = Vec::new();
            loop {
                match self.item() {
                    Item::Word(word) if word == ")" => return Item::List(items),
                    item => items.push(item),
                }
            }
        }
        let mut word = String::from(first);
        loop {
            match char::from(self.byte()) {
                ' ' | '\n' => break,
                ':' => {
                    let mut bytes = vec![0; word.parse().unwrap()];
                    self.output.read_exact(&mut bytes).unwrap();
                    return Item::Text(bytes);
                }
                other => word.push(other),
            }
        }
        match word.parse() {
            Ok(number) => Item::Number(number),
            Err(_) => Item::Word(word),
        }
    }
}

/// Shows a failure as our errors are shown.
fn failure(errors: &[Item]) -> String {
    let mut shown = String::new();
    for error in errors {
        let [number, message, ..] = error.list() else {
            panic!("{error:?}");
        };
        let _ = writeln!(shown, "E{:06}: {}", number.number(), message.text());
    }
    shown
}
