//! The commands of the main set and of reports, as servers read them.
//!
//! Clients of all ages end their parameters where those of their time ended; what is missing has
//! the meaning that it had then.

use sylvan_core::repository::DirEntryFields;
use sylvan_core::{Depth, Error, ErrorCode, Props, RelPathBuf, Revnum, Url};
use sylvan_delta::ReportEntry;

use super::item::{Fields, Item, List};
use super::message::read_props;
use super::{ProtocolError, check_path};

type Result<T, E = ProtocolError> = std::result::Result<T, E>;

/// A command of the main set. Paths are below the session's URL.
#[derive(Clone, Debug)]
pub enum Request<'a> {
    /// Moves the session.
    Reparent {
        /// The new URL.
        url: &'a str,
    },
    /// Asks for the youngest revision.
    GetLatestRev,
    /// Asks for the youngest revision at a moment.
    GetDatedRev {
        /// The moment in ISO 8601.
        date: &'a str,
    },
    /// Sets or removes a property of a revision.
    ChangeRevProp {
        /// The revision.
        rev: Revnum,
        /// The property.
        name: &'a str,
        /// Its new value.
        value: Option<&'a [u8]>,
        /// The value that it must have, if that matters.
        expected: Option<Option<&'a [u8]>>,
    },
    /// Asks for all properties of a revision.
    RevProplist {
        /// The revision.
        rev: Revnum,
    },
    /// Asks for one property of a revision.
    RevProp {
        /// The revision.
        rev: Revnum,
        /// The property.
        name: &'a str,
    },
    /// Begins a commit.
    Commit {
        /// The message; it counts if there are no properties.
        message: &'a [u8],
        /// Paths with the tokens of their locks.
        lock_tokens: Vec<(RelPathBuf, &'a str)>,
        /// Whether the locks stay.
        keep_locks: bool,
        /// Properties of the revision; clients before 1.5 send none.
        revprops: Option<Props>,
    },
    /// Asks for a file.
    GetFile {
        /// The file.
        path: RelPathBuf,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// Whether properties are wanted.
        props: bool,
        /// Whether the content is wanted.
        contents: bool,
        /// Whether inherited properties are wanted.
        inherited: bool,
    },
    /// Asks for a folder.
    GetDir {
        /// The folder.
        path: RelPathBuf,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// Whether properties are wanted.
        props: bool,
        /// Whether children are wanted.
        contents: bool,
        /// What of them.
        fields: DirEntryFields,
        /// Whether inherited properties are wanted.
        inherited: bool,
    },
    /// Begins the report for an update.
    Update(ReportRequest<'a>),
    /// Begins the report for a switch to a URL.
    Switch(ReportRequest<'a>, &'a str),
    /// Begins the report for a status.
    Status(ReportRequest<'a>),
    /// Begins the report for a comparison with a URL; whether contents are wanted.
    Diff(ReportRequest<'a>, &'a str, bool),
    /// Asks what was merged.
    GetMergeinfo {
        /// Into these.
        paths: Vec<RelPathBuf>,
        /// As of this revision, or the youngest.
        rev: Option<Revnum>,
        /// `explicit`, `inherited` or `nearest-ancestor`.
        inherit: &'a str,
        /// Whether what is below counts too.
        descendants: bool,
    },
    /// Asks for log entries.
    Log {
        /// The nodes.
        paths: Vec<RelPathBuf>,
        /// First revision.
        start: Option<Revnum>,
        /// Last revision.
        end: Option<Revnum>,
        /// Whether changed paths are wanted.
        changed_paths: bool,
        /// Whether copies end history.
        strict_node: bool,
        /// Most entries, 0 for all.
        limit: u32,
        /// Whether merged revisions are wanted.
        include_merged: bool,
        /// Properties wanted, `None` for all.
        revprops: Option<Vec<String>>,
    },
    /// Asks for the kind of a node.
    CheckPath {
        /// The node.
        path: RelPathBuf,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
    },
    /// Asks for what is known of a node.
    Stat {
        /// The node.
        path: RelPathBuf,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
    },
    /// Asks where a node was.
    GetLocations {
        /// The node.
        path: RelPathBuf,
        /// Known to be there at this revision.
        peg: Revnum,
        /// At these revisions.
        revs: Vec<Revnum>,
    },
    /// Asks for a node's history of places.
    GetLocationSegments {
        /// The node.
        path: RelPathBuf,
        /// Known to be there at this revision.
        peg: Option<Revnum>,
        /// Youngest revision.
        start: Option<Revnum>,
        /// Oldest revision.
        end: Option<Revnum>,
    },
    /// Asks for the revisions of a file.
    GetFileRevs {
        /// The file.
        path: RelPathBuf,
        /// First revision.
        start: Option<Revnum>,
        /// Last revision.
        end: Option<Revnum>,
        /// Whether merged revisions are wanted.
        include_merged: bool,
    },
    /// Locks a file.
    Lock {
        /// The file.
        path: RelPathBuf,
        /// Why.
        comment: Option<&'a str>,
        /// Whether another's lock is taken over.
        steal: bool,
        /// The revision that the client has.
        current: Option<Revnum>,
    },
    /// Locks files.
    LockMany {
        /// Why.
        comment: Option<&'a str>,
        /// Whether locks of others are taken over.
        steal: bool,
        /// The files, each with the revision that the client has.
        targets: Vec<(RelPathBuf, Option<Revnum>)>,
    },
    /// Unlocks a file.
    Unlock {
        /// The file.
        path: RelPathBuf,
        /// The lock's token.
        token: Option<&'a str>,
        /// Whether token and owner do not matter.
        break_lock: bool,
    },
    /// Unlocks files.
    UnlockMany {
        /// Whether tokens and owners do not matter.
        break_locks: bool,
        /// The files, each with its lock's token; as they were sent, too.
        targets: Vec<(RelPathBuf, Option<&'a str>)>,
    },
    /// Asks for the lock on a node.
    GetLock {
        /// The node.
        path: RelPathBuf,
    },
    /// Asks for the locks in a tree.
    GetLocks {
        /// The tree.
        path: RelPathBuf,
        /// How deep.
        depth: Depth,
    },
    /// Asks for what a revision did.
    Replay {
        /// The revision.
        rev: Revnum,
        /// Copies from before this one are additions.
        low_water_mark: Revnum,
        /// Whether contents and properties are wanted.
        deltas: bool,
    },
    /// Asks for what some revisions did.
    ReplayRange {
        /// The first.
        start: Revnum,
        /// The last.
        end: Revnum,
        /// Copies from before this one are additions.
        low_water_mark: Revnum,
        /// Whether contents and properties are wanted.
        deltas: bool,
    },
    /// Asks when a node was deleted.
    GetDeletedRev {
        /// The node.
        path: RelPathBuf,
        /// Where it is known to be there.
        peg: Revnum,
        /// The last revision looked at.
        end: Revnum,
    },
    /// Asks for the properties that a node inherits.
    GetIprops {
        /// The node.
        path: RelPathBuf,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
    },
    /// Asks for the nodes of a tree.
    List {
        /// The tree.
        path: RelPathBuf,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// How deep.
        depth: Depth,
        /// What of each.
        fields: DirEntryFields,
        /// Globs of which a name must match one.
        patterns: Option<Vec<String>>,
    },
}

/// What a client wants to get by a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportRequest<'a> {
    /// The revision wanted, or the youngest.
    pub rev: Option<Revnum>,
    /// The one child that it is about; empty for the session's own node.
    pub target: &'a str,
    /// How deep; `None` is as deep as reported.
    pub depth: Option<Depth>,
    /// Whether copies may be sent as such.
    pub send_copyfrom_args: bool,
    /// Whether unrelated nodes may replace each other.
    pub ignore_ancestry: bool,
}

/// A command of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportCommand {
    /// What the client has somewhere.
    Entry(ReportEntry),
    /// The end.
    Finish,
    /// It is given up.
    Abort,
}

impl<'a> Request<'a> {
    /// Reads `( name ( params ) )`.
    ///
    /// # Errors
    /// `Malformed`, `UnknownCommand`, and `Other` for paths that no repository can have.
    pub fn read(item: Item<'a>) -> Result<Self> {
        let mut command = item.list()?.fields();
        let name = command.word()?;
        let params = command.list()?;
        let fields = &mut params.fields();
        match name {
            "reparent" => Ok(Self::Reparent {
                url: fields.text()?,
            }),
            "get-latest-rev" => Ok(Self::GetLatestRev),
            "get-dated-rev" => Ok(Self::GetDatedRev {
                date: fields.text()?,
            }),
            "change-rev-prop" => Ok(Self::ChangeRevProp {
                rev: fields.rev()?,
                name: fields.text()?,
                value: fields.if_more(Fields::bytes)?,
                expected: None,
            }),
            "change-rev-prop2" => read_change_rev_prop2(fields),
            "rev-proplist" => Ok(Self::RevProplist { rev: fields.rev()? }),
            "rev-prop" => Ok(Self::RevProp {
                rev: fields.rev()?,
                name: fields.text()?,
            }),
            "commit" => read_commit(fields),
            "get-file" => Ok(Self::GetFile {
                path: read_path(fields)?,
                rev: fields.optional(Fields::rev)?,
                props: fields.bool()?,
                contents: fields.bool()?,
                inherited: fields.if_more(Fields::bool)?.unwrap_or(false),
            }),
            "get-dir" => Ok(Self::GetDir {
                path: read_path(fields)?,
                rev: fields.optional(Fields::rev)?,
                props: fields.bool()?,
                contents: fields.bool()?,
                fields: read_dirent_fields(fields)?,
                inherited: fields.if_more(Fields::bool)?.unwrap_or(false),
            }),
            "update" | "switch" | "status" | "diff" => read_report_request(name, fields),
            "get-mergeinfo" => Ok(Self::GetMergeinfo {
                paths: read_paths(fields.list()?)?,
                rev: fields.optional(Fields::rev)?,
                inherit: fields.word()?,
                descendants: fields.bool()?,
            }),
            "log" => read_log(fields),
            "get-locations" => Ok(Self::GetLocations {
                path: read_path(fields)?,
                peg: fields.rev()?,
                revs: read_revs(fields.list()?)?,
            }),
            "get-location-segments" => Ok(Self::GetLocationSegments {
                path: read_path(fields)?,
                peg: fields.optional(Fields::rev)?,
                start: fields.optional(Fields::rev)?,
                end: fields.optional(Fields::rev)?,
            }),
            "get-file-revs" => Ok(Self::GetFileRevs {
                path: read_path(fields)?,
                start: fields.optional(Fields::rev)?,
                end: fields.optional(Fields::rev)?,
                include_merged: fields.if_more(Fields::bool)?.unwrap_or(false),
            }),
            "lock" | "lock-many" | "unlock" | "unlock-many" | "get-lock" | "get-locks" => {
                read_about_locks(name, fields)
            }
            "replay" => Ok(Self::Replay {
                rev: fields.rev()?,
                low_water_mark: fields.rev()?,
                deltas: fields.bool()?,
            }),
            "replay-range" => Ok(Self::ReplayRange {
                start: fields.rev()?,
                end: fields.rev()?,
                low_water_mark: fields.rev()?,
                deltas: fields.bool()?,
            }),
            "check-path" => Ok(Self::CheckPath {
                path: read_path(fields)?,
                rev: fields.optional(Fields::rev)?,
            }),
            "stat" => Ok(Self::Stat {
                path: read_path(fields)?,
                rev: fields.optional(Fields::rev)?,
            }),
            "get-deleted-rev" => Ok(Self::GetDeletedRev {
                path: read_path(fields)?,
                peg: fields.rev()?,
                end: fields.rev()?,
            }),
            "get-iprops" => Ok(Self::GetIprops {
                path: read_path(fields)?,
                rev: fields.optional(Fields::rev)?,
            }),
            "list" => Ok(Self::List {
                path: read_path(fields)?,
                rev: fields.optional(Fields::rev)?,
                depth: read_depth(fields)?.ok_or(ProtocolError::Malformed)?,
                fields: read_dirent_fields(fields)?,
                patterns: fields
                    .if_more(Fields::list)?
                    .map(|patterns| read_strings(patterns, "Pattern field not a string"))
                    .transpose()?,
            }),
            _ => Err(unknown(name)),
        }
    }
}

impl ReportCommand {
    /// Reads `( name ( params ) )`.
    ///
    /// # Errors
    /// As [`Request::read`].
    pub fn read(item: Item<'_>) -> Result<Self> {
        let mut command = item.list()?.fields();
        let name = command.word()?;
        let params = command.list()?;
        let fields = &mut params.fields();
        match name {
            "set-path" => {
                let path = read_path(fields)?;
                let rev = fields.rev()?;
                let start_empty = fields.bool()?;
                let (lock_token, depth) = read_reported(fields)?;
                Ok(Self::Entry(ReportEntry::SetPath {
                    path,
                    rev,
                    depth,
                    start_empty,
                    lock_token,
                }))
            }
            "link-path" => {
                let path = read_path(fields)?;
                let url = Url::parse(fields.text()?)?;
                let rev = fields.rev()?;
                let start_empty = fields.bool()?;
                let (lock_token, depth) = read_reported(fields)?;
                Ok(Self::Entry(ReportEntry::LinkPath {
                    path,
                    url,
                    rev,
                    depth,
                    start_empty,
                    lock_token,
                }))
            }
            "delete-path" => Ok(Self::Entry(ReportEntry::DeletePath {
                path: read_path(fields)?,
            })),
            "finish-report" => Ok(Self::Finish),
            "abort-report" => Ok(Self::Abort),
            _ => Err(unknown(name)),
        }
    }
}

/// Reads lock token and depth at the end of a report's entry.
fn read_reported(fields: &mut Fields<'_>) -> Result<(Option<String>, Depth)> {
    let token = fields
        .if_more(|fields| fields.optional(Fields::text))?
        .flatten();
    let depth = match fields.if_more(Fields::word)? {
        None => Depth::Infinity,
        Some(word) => Depth::from_word(word).ok_or(ProtocolError::Malformed)?,
    };
    Ok((token.map(str::to_owned), depth))
}

fn read_report_request<'a>(name: &str, fields: &mut Fields<'a>) -> Result<Request<'a>> {
    let mut rev = None;
    if name != "status" {
        rev = fields.optional(Fields::rev)?;
    }
    let target = fields.text()?;
    check_path(target)?;
    let recurse = fields.bool()?;
    let mut url = "";
    let mut texts = true;
    let mut ignore_ancestry = name == "switch";
    match name {
        "switch" => url = fields.text()?,
        "diff" => {
            ignore_ancestry = fields.bool()?;
            url = fields.text()?;
            texts = fields.if_more(Fields::bool)?.unwrap_or(true);
        }
        "status" => {
            rev = fields
                .if_more(|fields| fields.optional(Fields::rev))?
                .flatten();
        }
        _ => {}
    }
    let depth = match fields.if_more(read_depth)? {
        Some(depth) => depth,
        None if recurse => Some(Depth::Infinity),
        None if name == "status" => Some(Depth::Empty),
        None => Some(Depth::Files),
    };
    let mut send_copyfrom_args = false;
    if matches!(name, "update" | "switch") {
        send_copyfrom_args = fields.if_more(Fields::bool)?.unwrap_or(false);
        if let Some(ignore) = fields.if_more(Fields::bool)? {
            ignore_ancestry = ignore;
        }
    }
    let request = ReportRequest {
        rev,
        target,
        depth,
        send_copyfrom_args,
        ignore_ancestry,
    };
    Ok(match name {
        "update" => Request::Update(request),
        "switch" => Request::Switch(request, url),
        "status" => Request::Status(request),
        _ => Request::Diff(request, url, texts),
    })
}

fn read_change_rev_prop2<'a>(fields: &mut Fields<'a>) -> Result<Request<'a>> {
    let rev = fields.rev()?;
    let name = fields.text()?;
    let value = fields.optional(Fields::bytes)?;
    let mut before = fields.list()?.fields();
    let dont_care = before.bool()?;
    let old = before.if_more(Fields::bytes)?;
    if dont_care && old.is_some() {
        return Err(ProtocolError::Other(Error::new(
            ErrorCode::INCORRECT_PARAMS,
            "'previous-value' and 'dont-care' cannot both be set in 'change-rev-prop2' request",
        )));
    }
    Ok(Request::ChangeRevProp {
        rev,
        name,
        value,
        expected: (!dont_care).then_some(old),
    })
}

fn read_commit<'a>(fields: &mut Fields<'a>) -> Result<Request<'a>> {
    let message = fields.bytes()?;
    let Some(tokens) = fields.if_more(Fields::list)? else {
        return Ok(Request::Commit {
            message,
            lock_tokens: Vec::new(),
            keep_locks: true,
            revprops: None,
        });
    };
    let keep_locks = fields.bool()?;
    let revprops = fields.if_more(Fields::list)?.map(read_props).transpose()?;
    let not_lists = "Lock tokens aren't a list of lists";
    let lock_tokens = pairs(tokens, not_lists, |fields| {
        Ok((read_path(fields)?, fields.text()?))
    })?;
    Ok(Request::Commit {
        message,
        lock_tokens,
        keep_locks,
        revprops,
    })
}

fn read_log<'a>(fields: &mut Fields<'a>) -> Result<Request<'a>> {
    let paths = read_paths(fields.list()?)?;
    let start = fields.optional(Fields::rev)?;
    let end = fields.optional(Fields::rev)?;
    let changed_paths = fields.bool()?;
    let strict_node = fields.bool()?;
    let limit = fields.if_more(Fields::number)?.unwrap_or(0);
    let include_merged = fields.if_more(Fields::bool)?.unwrap_or(false);
    let revprops = match fields.if_more(Fields::word)? {
        // Before 1.5 these were all there could be.
        None => Some(
            ["svn:author", "svn:date", "svn:log"]
                .map(str::to_owned)
                .to_vec(),
        ),
        Some("all-revprops") => None,
        Some("revprops") => Some(read_strings(
            fields.list()?,
            "Log revprop entry not a string",
        )?),
        Some(word) => {
            return Err(ProtocolError::unexpected(format!(
                "Unknown revprop word '{word}' in log command"
            )));
        }
    };
    Ok(Request::Log {
        paths,
        start,
        end,
        changed_paths,
        strict_node,
        // More than any client asks for is no limit.
        limit: u32::try_from(limit)
            .ok()
            .filter(|limit| i32::try_from(*limit).is_ok())
            .unwrap_or(0),
        include_merged,
        revprops,
    })
}

fn read_about_locks<'a>(name: &str, fields: &mut Fields<'a>) -> Result<Request<'a>> {
    Ok(match name {
        "lock" => Request::Lock {
            path: read_path(fields)?,
            comment: fields.optional(Fields::text)?,
            steal: fields.bool()?,
            current: fields.optional(Fields::rev)?,
        },
        "lock-many" => Request::LockMany {
            comment: fields.optional(Fields::text)?,
            steal: fields.bool()?,
            targets: pairs(
                fields.list()?,
                "Lock requests should be list of lists",
                |fields| Ok((read_path(fields)?, fields.optional(Fields::rev)?)),
            )?,
        },
        "unlock" => Request::Unlock {
            path: read_path(fields)?,
            token: fields.optional(Fields::text)?,
            break_lock: fields.bool()?,
        },
        "unlock-many" => Request::UnlockMany {
            break_locks: fields.bool()?,
            targets: pairs(
                fields.list()?,
                "Unlock request should be a list of lists",
                |fields| Ok((read_path(fields)?, fields.optional(Fields::text)?)),
            )?,
        },
        "get-lock" => Request::GetLock {
            path: read_path(fields)?,
        },
        _ => {
            let path = read_path(fields)?;
            let depth = fields
                .if_more(|fields| fields.optional(Fields::word))?
                .flatten();
            let depth = match depth.map(Depth::from_word) {
                None => Depth::Infinity,
                Some(None | Some(Depth::Exclude)) => {
                    return Err(ProtocolError::Other(Error::new(
                        ErrorCode::INCORRECT_PARAMS,
                        "Invalid 'depth' specified in get-locks request",
                    )));
                }
                Some(Some(depth)) => depth,
            };
            Request::GetLocks { path, depth }
        }
    })
}

fn unknown(name: &str) -> ProtocolError {
    ProtocolError::UnknownCommand(format!("Unknown editor command '{name}'"))
}

fn read_path(fields: &mut Fields<'_>) -> Result<RelPathBuf> {
    check_path(fields.text()?)
}

fn read_paths(list: List<'_>) -> Result<Vec<RelPathBuf>> {
    list.items()
        .map(|item| match item {
            Item::String(path) => {
                check_path(std::str::from_utf8(path).map_err(|_| ProtocolError::Malformed)?)
            }
            _ => Err(ProtocolError::unexpected("Path is not a string")),
        })
        .collect()
}

fn read_revs(list: List<'_>) -> Result<Vec<Revnum>> {
    let mut fields = list.fields();
    let mut revs = Vec::new();
    while !fields.is_end() {
        revs.push(fields.rev()?);
    }
    Ok(revs)
}

fn read_strings(list: List<'_>, otherwise: &'static str) -> Result<Vec<String>> {
    list.items()
        .map(|item| match item {
            Item::String(text) => std::str::from_utf8(text)
                .map(str::to_owned)
                .map_err(|_| ProtocolError::Malformed),
            _ => Err(ProtocolError::unexpected(otherwise)),
        })
        .collect()
}

fn pairs<'a, T>(
    list: List<'a>,
    otherwise: &'static str,
    read: impl Fn(&mut Fields<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    list.items()
        .map(|item| match item {
            Item::List(pair) => read(&mut pair.fields()),
            _ => Err(ProtocolError::unexpected(otherwise)),
        })
        .collect()
}

/// Reads a depth; `None` is `unknown`.
fn read_depth(fields: &mut Fields<'_>) -> Result<Option<Depth>> {
    Ok(Depth::from_word(fields.word()?))
}

/// Reads which fields of entries are wanted: all, if nothing is said.
fn read_dirent_fields(fields: &mut Fields<'_>) -> Result<DirEntryFields> {
    let Some(words) = fields.if_more(Fields::list)? else {
        return Ok(DirEntryFields::ALL);
    };
    let mut wanted = DirEntryFields {
        kind: false,
        ..DirEntryFields::KIND
    };
    for item in words.items() {
        let Item::Word(word) = item else {
            return Err(ProtocolError::unexpected("Dirent field not a word"));
        };
        match word {
            "kind" => wanted.kind = true,
            "size" => wanted.size = true,
            "has-props" => wanted.has_props = true,
            "created-rev" => wanted.created_rev = true,
            "time" => wanted.time = true,
            "last-author" => wanted.last_author = true,
            _ => {}
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::svn::item::Parser;

    /// The names of all commands, and others.
    const NAMES: &str = "reparent get-latest-rev get-dated-rev change-rev-prop change-rev-prop2 \
        rev-proplist rev-prop commit get-file get-dir update switch status diff get-mergeinfo log \
        get-locations get-location-segments get-file-revs lock lock-many unlock unlock-many \
        get-lock get-locks replay replay-range check-path stat get-deleted-rev get-iprops list \
        set-path link-path delete-path finish-report abort-report 2 CRAM-MD5 none";

    fn param() -> BoxedStrategy<String> {
        let leaf = prop_oneof![
            Just("0: ".to_owned()),
            "[a./ ]{0,4}".prop_map(|text| format!("{}:{text} ", text.len())),
            (0..1u64 << 63).prop_map(|number| format!("{number} ")),
            "(true|false|infinity|empty|unknown|explicit|revprops|all-revprops) ",
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("( {}) ", items.concat()))
        })
        .boxed()
    }

    proptest! {
        #[test]
        fn any_parameters_are_read_or_refused(
            name in prop::sample::select(NAMES.split_whitespace().collect::<Vec<_>>()),
            params in prop::collection::vec(param(), 0..9),
        ) {
            let command = format!("( {name} ( {}) ) ", params.concat());
            crate::fuzz::svn_request(command.as_bytes());
            let flat = format!("( {name} {}) ", params.concat());
            crate::fuzz::svn_request(flat.as_bytes());
        }
    }

    fn shown(bytes: &str) -> String {
        let mut parser = Parser::new();
        parser
            .advance(bytes.as_bytes())
            .unwrap()
            .expect("a whole item");
        let item = parser.item(bytes.as_bytes());
        match Request::read(item) {
            Ok(request) => format!("{request:?}").replace("RelPathBuf", ""),
            Err(error) => format!("{error}"),
        }
    }

    #[test]
    fn old_clients_end_early() {
        for (bytes, request) in [
            (
                "( commit ( 2:hi ) ) ",
                "Commit { message: [104, 105], lock_tokens: [], keep_locks: true, revprops: None }",
            ),
            (
                "( update ( ( 7 ) 1:x false ) ) ",
                "Update(ReportRequest { rev: Some(Revnum(7)), target: \"x\", depth: Some(Files), \
                 send_copyfrom_args: false, ignore_ancestry: false })",
            ),
            (
                "( status ( 0: false ) ) ",
                "Status(ReportRequest { rev: None, target: \"\", depth: Some(Empty), \
                 send_copyfrom_args: false, ignore_ancestry: false })",
            ),
            (
                "( switch ( ( ) 0: true 9:svn://h/b unknown ) ) ",
                "Switch(ReportRequest { rev: None, target: \"\", depth: None, \
                 send_copyfrom_args: false, ignore_ancestry: true }, \"svn://h/b\")",
            ),
            (
                "( diff ( ( 2 ) 0: true false 9:svn://h/b ) ) ",
                "Diff(ReportRequest { rev: Some(Revnum(2)), target: \"\", depth: Some(Infinity), \
                 send_copyfrom_args: false, ignore_ancestry: false }, \"svn://h/b\", true)",
            ),
            (
                "( log ( ( 1:a ) ( 3 ) ( ) true false ) ) ",
                "Log { paths: [\"a\"], start: Some(Revnum(3)), end: None, changed_paths: true, \
                 strict_node: false, limit: 0, include_merged: false, \
                 revprops: Some([\"svn:author\", \"svn:date\", \"svn:log\"]) }",
            ),
            (
                "( get-locks ( 0: ) ) ",
                "GetLocks { path: \"\", depth: Infinity }",
            ),
        ] {
            assert_eq!(shown(bytes), request, "{bytes}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (bytes, error) in [
            ("( log ) ", "Malformed network data"),
            ("( 1 ( ) ) ", "Malformed network data"),
            ("( nothing ( ) ) ", "Unknown editor command 'nothing'"),
            (
                "( log ( ( 1 ) ( ) ( ) true true ) ) ",
                "Path is not a string",
            ),
            (
                "( log ( ( ) ( ) ( ) true true 0 true some ( ) ) ) ",
                "Unknown revprop word 'some' in log command",
            ),
            (
                "( commit ( 0: ( 1 ) true ) ) ",
                "Lock tokens aren't a list of lists",
            ),
            (
                "( get-locks ( 0: ( exclude ) ) ) ",
                "E200004: Invalid 'depth' specified in get-locks request",
            ),
            (
                "( rev-prop ( 9223372036854775808 0: ) ) ",
                "Malformed network data",
            ),
        ] {
            assert_eq!(shown(bytes), error, "{bytes}");
        }
        for path in ["..", "a/../b", "/a/..", "a\nb", "a\u{1}"] {
            let bytes = format!("( get-lock ( {}:{path} ) ) ", path.len());
            assert!(!shown(&bytes).starts_with("GetLock"), "{bytes:?}");
        }
    }
}
