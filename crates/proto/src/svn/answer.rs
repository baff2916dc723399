//! What servers write: the greeting, requests for authentication, and what successful responses
//! hold.

use sylvan_core::repository::{CommitInfo, DirEntry, DirEntryFields, InheritedProps, LogEntry};
use sylvan_core::{Error, Lock, NodeKind, RelPath, Revnum, Timestamp};

use super::ProtocolError;
use super::item::{Fields, Item, List, Writer};
use super::message::{read_words, shown, write_props, write_success};

/// What servers announce if they compress.
const COMPRESSED: [&str; 2] = ["svndiff1", "accepts-svndiff2"];
/// What they announce besides.
const CAPABILITIES: [&str; 10] = [
    "absent-entries",
    "commit-revprops",
    "depth",
    "log-revprops",
    "atomic-revprops",
    "partial-replay",
    "inherited-props",
    "ephemeral-txnprops",
    "file-revs-reverse",
    "list",
];

/// Writes the greeting; `compress` says whether contents may be compressed.
pub fn write_greeting(out: &mut Writer, compress: bool) {
    write_success(out, |out| {
        out.number(2).number(2).open().close().open();
        out.word("edit-pipeline");
        let compressed = COMPRESSED.iter().filter(|_| compress);
        for capability in compressed.chain(&CAPABILITIES) {
            out.word(capability);
        }
        out.close();
    });
}

/// What a client says to the greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// What it can do.
    pub capabilities: Vec<String>,
    /// The URL of its session, as sent.
    pub url: String,
    /// The library that it uses, `SVN/1.14.0 (…)`.
    pub agent: Option<String>,
    /// The program.
    pub program: Option<String>,
}

impl Hello {
    /// Reads it.
    ///
    /// # Errors
    /// `BadVersion` for another version of the protocol, and clients that await answers to editor
    /// commands; `Malformed`.
    pub fn read(item: Item<'_>) -> Result<Self, ProtocolError> {
        let mut fields = item.list()?.fields();
        let version = fields.number()?;
        if version != 2 {
            return Err(ProtocolError::BadVersion(format!(
                "Unsupported ra_svn protocol version {version} (supported versions: [2])"
            )));
        }
        let capabilities = read_words(&mut fields)?;
        if !capabilities.iter().any(|word| word == "edit-pipeline") {
            return Err(ProtocolError::BadVersion(
                "Missing edit-pipeline capability".to_owned(),
            ));
        }
        Ok(Self {
            capabilities,
            url: fields.text()?.to_owned(),
            agent: fields.if_more(Fields::bytes)?.map(shown),
            program: fields
                .if_more(|fields| fields.optional(Fields::bytes))?
                .flatten()
                .map(shown),
        })
    }

    /// Tells whether the client can do something.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|word| word == capability)
    }
}

/// Writes a request for authentication by one of some mechanisms; none says that all is well.
pub fn write_auth_request(out: &mut Writer, mechanisms: &[&str], realm: &str) {
    write_success(out, |out| {
        out.open();
        for mechanism in mechanisms {
            out.word(mechanism);
        }
        out.close().string(realm);
    });
}

/// Writes what a client is told of its repository.
pub fn write_repository(out: &mut Writer, uuid: &str, root: &str, capabilities: &[&str]) {
    write_success(out, |out| {
        out.string(uuid).string(root).open();
        for capability in capabilities {
            out.word(capability);
        }
        out.close();
    });
}

/// Writes `( failure ( errors ) )`; links without a message have the text of their number.
pub fn write_failure(out: &mut Writer, error: &Error) {
    out.open().word("failure").open();
    for link in error.chain() {
        out.open()
            .number(u64::from(link.code().number().unsigned_abs()))
            .string(link.message())
            .string("")
            .number(0)
            .close();
    }
    out.close().close();
}

/// The size of a folder, as servers say it.
const NO_SIZE: u64 = u64::MAX;

/// Writes what is known of a node, as in `stat`.
pub fn write_stat(out: &mut Writer, entry: &DirEntry) {
    let entry = DirEntry {
        size: entry.size.or(Some(NO_SIZE)),
        ..entry.clone()
    };
    write_dirent(out, &entry);
}

/// Writes an entry of `get-dir`. A date that is not known is the first there is: clients take no
/// other answer.
pub fn write_dir_entry(out: &mut Writer, name: &str, entry: &DirEntry) {
    let entry = DirEntry {
        kind: match entry.kind {
            NodeKind::Unknown => NodeKind::None,
            kind => kind,
        },
        time: entry.time.or(Some(Timestamp::from_micros(0))),
        ..entry.clone()
    };
    out.open().string(name);
    write_dirent(out, &entry);
    out.close();
}

fn write_dirent(out: &mut Writer, entry: &DirEntry) {
    out.word(entry.kind.as_str())
        .number(entry.size.unwrap_or(0))
        .bool(entry.has_props)
        .rev(entry.created_rev.unwrap_or_default());
    out.optional_string(entry.time.map(Timestamp::to_iso));
    out.optional_string(entry.last_author.as_ref());
}

/// Writes an entry of `list`; its path is that below the repository's root.
pub fn write_list_entry(
    out: &mut Writer,
    path: &RelPath,
    entry: &DirEntry,
    fields: DirEntryFields,
) {
    let kind = if fields.kind {
        entry.kind
    } else {
        NodeKind::Unknown
    };
    out.open().string(path.to_fspath()).word(kind.as_str());
    let kind_only = DirEntryFields {
        kind: fields.kind,
        ..DirEntryFields::KIND
    };
    if fields != kind_only {
        let size = entry.size.unwrap_or(NO_SIZE);
        out.optional(fields.size.then_some(size), Writer::number);
        out.optional(fields.has_props.then_some(entry.has_props), Writer::bool);
        let rev = fields.created_rev.then_some(entry.created_rev);
        out.optional_rev(rev.flatten());
        let time = fields.time.then_some(entry.time);
        out.optional_string(time.flatten().map(Timestamp::to_iso));
        let author = fields.last_author.then_some(entry.last_author.as_ref());
        out.optional_string(author.flatten());
    }
    out.close();
}

/// Writes an entry of `log`.
pub fn write_log_entry(out: &mut Writer, entry: &LogEntry) {
    out.open().open();
    for (path, change) in entry.changed_paths.iter().flatten() {
        out.open().string(path);
        out.word(change.action.encode_utf8(&mut [0; 4]));
        out.optional(change.copy_from.as_ref(), |out, (path, rev)| {
            out.string(path).rev(*rev)
        });
        if matches!(change.kind, NodeKind::File | NodeKind::Dir) {
            out.open().string(change.kind.as_str());
            out.bool(change.text_modified.unwrap_or(false));
            out.bool(change.props_modified.unwrap_or(false)).close();
        }
        out.close();
    }
    out.close().rev(entry.rev.unwrap_or_default());
    const APART: [&str; 3] = ["svn:author", "svn:date", "svn:log"];
    for name in APART {
        out.optional_string(entry.revprops.get(name));
    }
    out.bool(entry.has_children).bool(entry.rev.is_none());
    let others = || {
        let others = entry.revprops.iter();
        others.filter(|(name, _)| !APART.contains(&name.as_str()))
    };
    out.number(others().count() as u64).open();
    for (name, value) in others() {
        out.open().string(name).string(value).close();
    }
    out.close().bool(entry.subtractive_merge).close();
}

/// Writes a lock.
pub fn write_lock(out: &mut Writer, lock: &Lock) {
    out.open()
        .string(lock.path.to_fspath())
        .string(&lock.token)
        .string(&lock.owner)
        .optional_string(lock.comment.as_ref())
        .string(lock.created.to_iso())
        .optional_string(lock.expires.map(Timestamp::to_iso))
        .close();
}

/// Writes the list of what is inherited.
pub fn write_inherited(out: &mut Writer, inherited: &[InheritedProps]) {
    out.open();
    for from in inherited {
        out.open().string(from.path.as_str());
        write_props(out, &from.props);
        out.close();
    }
    out.close();
}

/// Writes what is told of a commit.
pub fn write_commit_info(out: &mut Writer, info: &CommitInfo) {
    out.open().rev(info.rev);
    out.optional_string(info.date.as_ref());
    out.optional_string(info.author.as_ref());
    out.optional_string(info.post_commit_error.as_ref()).close();
}

/// Writes a part of a node's history.
pub fn write_segment(out: &mut Writer, start: Revnum, end: Revnum, path: Option<&RelPath>) {
    out.open().rev(start).rev(end);
    out.optional_string(path.map(RelPath::as_str)).close();
}

/// Writes the names and new values of changed properties.
pub fn write_prop_changes(out: &mut Writer, changes: &[(String, Option<Vec<u8>>)]) {
    out.open();
    for (name, value) in changes {
        out.open()
            .string(name)
            .optional_string(value.as_ref())
            .close();
    }
    out.close();
}

/// Reads the word and token by which a client chooses a mechanism.
///
/// # Errors
/// `Malformed`.
pub fn read_choice<'a>(item: Item<'a>) -> Result<(&'a str, Option<&'a [u8]>), ProtocolError> {
    let list: List<'a> = item.list()?;
    let mut fields = list.fields();
    let word = match fields.item()? {
        Item::Word(word) => word,
        // An empty mechanism declines; as a word it could not be written.
        Item::String(b"") => "",
        _ => return Err(ProtocolError::Malformed),
    };
    let token = fields
        .if_more(|fields| fields.optional(Fields::bytes))?
        .flatten();
    Ok((word, token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svn::handshake::{Handshake, Next};
    use crate::svn::item::Parser;
    use crate::svn::reply;
    use sylvan_core::Url;

    fn with_item<T>(bytes: &[u8], read: impl FnOnce(Item<'_>) -> T) -> T {
        let mut parser = Parser::new();
        let len = parser.advance(bytes).unwrap();
        assert_eq!(len, Some(bytes.len()), "{}", String::from_utf8_lossy(bytes));
        read(parser.item(bytes))
    }

    #[test]
    fn greeting_and_hello_fit() {
        let mut out = Writer::new();
        write_greeting(&mut out, true);
        assert_eq!(
            String::from_utf8(out.take()).unwrap(),
            "( success ( 2 2 ( ) ( edit-pipeline svndiff1 accepts-svndiff2 absent-entries \
             commit-revprops depth log-revprops atomic-revprops partial-replay inherited-props \
             ephemeral-txnprops file-revs-reverse list ) ) ) "
        );
        write_greeting(&mut out, false);
        let url = Url::parse("svn://h/r/trunk").unwrap();
        let client = Handshake::new(url, "SVN/1.14.2", false);
        let next = with_item(out.as_bytes(), |item| client.handle(item)).unwrap();
        let Next::Send(client, hello) = next else {
            panic!("no hello");
        };
        let hello = with_item(&hello, Hello::read).unwrap();
        assert_eq!(hello.url, "svn://h/r/trunk");
        assert_eq!(hello.agent.as_deref(), Some("SVN/1.14.2"));
        assert!(hello.can("depth") && !hello.can("svndiff1"));
        let mut out = Writer::new();
        write_auth_request(&mut out, &[], "");
        let next = with_item(out.as_bytes(), |item| client.handle(item)).unwrap();
        let Next::Wait(client) = next else {
            panic!("no wait");
        };
        out.clear();
        write_repository(&mut out, "uuid", "svn://h/r", &["mergeinfo"]);
        let next = with_item(out.as_bytes(), |item| client.handle(item)).unwrap();
        assert!(matches!(next, Next::Ready(server) if server.uuid == "uuid"));
    }

    #[test]
    fn hellos_of_no_client_are_refused() {
        for bytes in [
            &b"( 1 ( edit-pipeline ) 0: ) "[..],
            b"( 2 ( ) 9:svn://h/r ) ",
            b"( 2 ( edit-pipeline ) ) ",
            b"( ) ",
            b"word ",
        ] {
            assert!(with_item(bytes, Hello::read).is_err());
        }
    }

    #[test]
    fn choices_may_be_declined() {
        for (bytes, choice) in [
            (&b"( ANONYMOUS ( 0: ) ) "[..], ("ANONYMOUS", Some(&b""[..]))),
            (b"( CRAM-MD5 ( ) ) ", ("CRAM-MD5", None)),
            (b"( CRAM-MD5 ) ", ("CRAM-MD5", None)),
            (b"( 0: ( ) ) ", ("", None)),
        ] {
            with_item(bytes, |item| assert_eq!(read_choice(item).unwrap(), choice));
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let entry = DirEntry {
            kind: NodeKind::File,
            size: Some(12),
            has_props: true,
            created_rev: Revnum::new(3),
            time: Some(Timestamp::from_micros(1_000_000)),
            last_author: Some("jo".to_owned()),
        };
        let mut out = Writer::new();
        write_dir_entry(&mut out, "a", &entry);
        let (name, read) = with_item(out.as_bytes(), |item| {
            reply::read_named_dirent(item.list()?)
        })
        .unwrap();
        assert_eq!(name, "a");
        assert_eq!((read.size, read.created_rev), (Some(12), Revnum::new(3)));
        out.clear();
        let path = RelPath::new("a/b").unwrap();
        write_list_entry(&mut out, path, &entry, DirEntryFields::ALL);
        let (_, read) =
            with_item(out.as_bytes(), |item| reply::read_list_entry(item.list()?)).unwrap();
        assert_eq!(read.last_author.as_deref(), Some("jo"));
        out.clear();
        write_list_entry(&mut out, path, &entry, DirEntryFields::KIND);
        assert_eq!(out.as_bytes(), b"( 4:/a/b file ) ");
        out.clear();
        let props = [("svn:log", "text"), ("x", "y")];
        let log = LogEntry {
            rev: Revnum::new(5),
            revprops: props
                .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()))
                .into_iter()
                .collect(),
            ..LogEntry::default()
        };
        write_log_entry(&mut out, &log);
        let read = with_item(out.as_bytes(), |item| reply::read_log_entry(item.list()?)).unwrap();
        assert_eq!(read.message.as_deref(), Some(&b"text"[..]));
        assert_eq!(read.revprops.unwrap().len(), 1);
    }
}
