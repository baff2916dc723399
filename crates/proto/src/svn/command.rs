use std::collections::BTreeMap;

use sylvan_core::{Depth, Props, RelPath, RelPathBuf, Revnum};
use sylvan_delta::ReportEntry;

use super::item::Writer;
use super::message::write_props;

/// A command of the main set.
#[derive(Clone, Copy, Debug)]
pub enum Command<'a> {
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
    /// Asks for the kind of a node.
    CheckPath {
        /// The node.
        path: &'a RelPath,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
    },
    /// Asks for what is known of a node.
    Stat {
        /// The node.
        path: &'a RelPath,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
    },
    /// Asks for a file.
    GetFile {
        /// The file.
        path: &'a RelPath,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// Whether properties are wanted.
        props: bool,
        /// Whether the content is wanted.
        contents: bool,
    },
    /// Asks for a folder.
    GetDir {
        /// The folder.
        path: &'a RelPath,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// Whether properties are wanted.
        props: bool,
        /// Whether children are wanted.
        contents: bool,
        /// What of them.
        fields: &'a [&'a str],
    },
    /// Asks for the nodes of a tree.
    List {
        /// The tree.
        path: &'a RelPath,
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// How deep.
        depth: Depth,
        /// What of each.
        fields: &'a [&'a str],
        /// Globs of which a name must match one.
        patterns: Option<&'a [String]>,
    },
    /// Asks for log entries.
    Log {
        /// The nodes.
        paths: &'a [&'a RelPath],
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
        revprops: Option<&'a [String]>,
    },
    /// Asks where a node was.
    GetLocations {
        /// The node.
        path: &'a RelPath,
        /// Known to be there at this revision.
        peg: Revnum,
        /// At these revisions.
        revs: &'a [Revnum],
    },
    /// Asks for a node's history of places.
    GetLocationSegments {
        /// The node.
        path: &'a RelPath,
        /// Known to be there at this revision.
        peg: Option<Revnum>,
        /// Youngest revision.
        start: Option<Revnum>,
        /// Oldest revision.
        end: Option<Revnum>,
    },
    /// Asks for the revisions in which a file changed.
    GetFileRevs {
        /// The file.
        path: &'a RelPath,
        /// First revision.
        start: Option<Revnum>,
        /// Last revision.
        end: Option<Revnum>,
        /// Whether merged revisions are wanted.
        include_merged: bool,
    },
    /// Asks for what was merged into nodes.
    GetMergeinfo {
        /// The nodes.
        paths: &'a [&'a RelPath],
        /// At this revision, or the youngest.
        rev: Option<Revnum>,
        /// `explicit`, `inherited` or `nearest-ancestor`.
        inherit: &'a str,
        /// Whether nodes below are wanted too.
        include_descendants: bool,
    },
    /// Asks for the lock on a node.
    GetLock {
        /// The node.
        path: &'a RelPath,
    },
    /// Asks for the locks in a tree.
    GetLocks {
        /// The tree.
        path: &'a RelPath,
        /// How deep.
        depth: Depth,
    },
    /// Asks for the properties that a node inherits.
    GetIprops {
        /// The node.
        path: &'a RelPath,
        /// At this revision.
        rev: Revnum,
    },
    /// Asks when a node was deleted.
    GetDeletedRev {
        /// The node.
        path: &'a RelPath,
        /// Where it is known to be there.
        peg: Revnum,
        /// The last revision looked at.
        end: Revnum,
    },
    /// Begins a report for an update.
    Update(Drive<'a>),
    /// Begins a report for a switch.
    Switch(Drive<'a>, &'a str),
    /// Begins a report for a status.
    Status(Drive<'a>),
    /// Begins a report for a difference.
    Diff {
        /// What of.
        drive: Drive<'a>,
        /// Where it leads to.
        url: &'a str,
        /// Whether contents are wanted.
        text_deltas: bool,
    },
    /// Begins a commit; editor commands follow the response.
    Commit {
        /// The message, for servers before 1.5.
        message: &'a [u8],
        /// Paths with the tokens of their locks.
        lock_tokens: &'a BTreeMap<RelPathBuf, String>,
        /// Whether the locks stay.
        keep_locks: bool,
        /// Properties of the revision.
        revprops: &'a Props,
    },
    /// Locks files.
    LockMany {
        /// Why.
        comment: Option<&'a str>,
        /// Whether locks of others are taken over.
        steal: bool,
        /// The files, each with the revision that the client has.
        targets: &'a BTreeMap<RelPathBuf, Option<Revnum>>,
    },
    /// Unlocks files.
    UnlockMany {
        /// Whether locks of others are broken.
        break_locks: bool,
        /// The files, each with its token.
        targets: &'a BTreeMap<RelPathBuf, Option<String>>,
    },
    /// Sets or deletes a property of a revision.
    ChangeRevProp {
        /// The revision.
        rev: Revnum,
        /// The property.
        name: &'a str,
        /// The new value.
        value: Option<&'a [u8]>,
    },
    /// As [`Command::ChangeRevProp`], for servers with `atomic-revprops`.
    ChangeRevProp2 {
        /// The revision.
        rev: Revnum,
        /// The property.
        name: &'a str,
        /// The new value.
        value: Option<&'a [u8]>,
        /// The value that it must have before, if that matters.
        expected: Option<Option<&'a [u8]>>,
    },
}

/// What an editor drive brings.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// The revision wanted, or the youngest.
    pub rev: Option<Revnum>,
    /// The one child that it is about, or empty.
    pub target: &'a str,
    /// How deep; `None` as reported.
    pub depth: Option<Depth>,
    /// Whether copy sources are told.
    pub send_copyfrom_args: bool,
    /// Whether unrelated nodes may replace each other.
    pub ignore_ancestry: bool,
}

impl Drive<'_> {
    /// The flag that servers before 1.5 understand.
    fn recurse(&self) -> bool {
        !matches!(
            self.depth,
            Some(Depth::Exclude | Depth::Empty | Depth::Files)
        )
    }

    fn depth_word(&self) -> &'static str {
        self.depth.map_or("unknown", Depth::as_str)
    }
}

impl Command<'_> {
    /// Writes the command.
    pub fn write(&self, out: &mut Writer) {
        out.open().word(self.name()).open();
        self.write_params(out);
        out.close().close();
    }

    /// Returns the command's word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reparent { .. } => "reparent",
            Self::GetLatestRev => "get-latest-rev",
            Self::GetDatedRev { .. } => "get-dated-rev",
            Self::RevProplist { .. } => "rev-proplist",
            Self::RevProp { .. } => "rev-prop",
            Self::CheckPath { .. } => "check-path",
            Self::Stat { .. } => "stat",
            Self::GetFile { .. } => "get-file",
            Self::GetDir { .. } => "get-dir",
            Self::List { .. } => "list",
            Self::Log { .. } => "log",
            Self::GetLocations { .. } => "get-locations",
            Self::GetLocationSegments { .. } => "get-location-segments",
            Self::GetFileRevs { .. } => "get-file-revs",
            Self::GetMergeinfo { .. } => "get-mergeinfo",
            Self::GetLock { .. } => "get-lock",
            Self::GetLocks { .. } => "get-locks",
            Self::GetIprops { .. } => "get-iprops",
            Self::GetDeletedRev { .. } => "get-deleted-rev",
            Self::Update(_) => "update",
            Self::Switch(..) => "switch",
            Self::Status(_) => "status",
            Self::Diff { .. } => "diff",
            Self::Commit { .. } => "commit",
            Self::LockMany { .. } => "lock-many",
            Self::UnlockMany { .. } => "unlock-many",
            Self::ChangeRevProp { .. } => "change-rev-prop",
            Self::ChangeRevProp2 { .. } => "change-rev-prop2",
        }
    }

    fn write_params(&self, out: &mut Writer) {
        match *self {
            Self::Commit {
                message,
                lock_tokens,
                keep_locks,
                revprops,
            } => {
                out.string(message).open();
                for (path, token) in lock_tokens {
                    out.open().string(path.as_str()).string(token).close();
                }
                out.close().bool(keep_locks);
                write_props(out, revprops);
            }
            Self::LockMany {
                comment,
                steal,
                targets,
            } => {
                out.optional_string(comment).bool(steal).open();
                for (path, rev) in targets {
                    out.open().string(path.as_str()).optional_rev(*rev).close();
                }
                out.close();
            }
            Self::UnlockMany {
                break_locks,
                targets,
            } => {
                out.bool(break_locks).open();
                for (path, token) in targets {
                    out.open().string(path.as_str());
                    out.optional_string(token.as_ref()).close();
                }
                out.close();
            }
            Self::ChangeRevProp { rev, name, value } => {
                out.rev(rev).string(name);
                if let Some(value) = value {
                    out.string(value);
                }
            }
            Self::ChangeRevProp2 {
                rev,
                name,
                value,
                expected,
            } => {
                out.rev(rev).string(name).optional_string(value).open();
                out.bool(expected.is_none());
                if let Some(Some(expected)) = expected {
                    out.string(expected);
                }
                out.close();
            }
            Self::Reparent { url } => {
                out.string(url);
            }
            Self::GetLatestRev => {}
            Self::GetDatedRev { date } => {
                out.string(date);
            }
            Self::RevProplist { rev } => {
                out.rev(rev);
            }
            Self::RevProp { rev, name } => {
                out.rev(rev).string(name);
            }
            Self::CheckPath { path, rev } | Self::Stat { path, rev } => {
                out.string(path.as_str()).optional_rev(rev);
            }
            Self::GetFile {
                path,
                rev,
                props,
                contents,
            } => {
                out.string(path.as_str()).optional_rev(rev);
                // The last says that no inherited properties are wanted: some servers take
                // silence for yes.
                out.bool(props).bool(contents).bool(false);
            }
            Self::GetDir {
                path,
                rev,
                props,
                contents,
                fields,
            } => {
                out.string(path.as_str()).optional_rev(rev);
                out.bool(props).bool(contents);
                write_words(out, fields);
                out.bool(false);
            }
            Self::List {
                path,
                rev,
                depth,
                fields,
                patterns,
            } => {
                out.string(path.as_str()).optional_rev(rev);
                out.word(depth.as_str());
                write_words(out, fields);
                if let Some(patterns) = patterns {
                    write_strings(out, patterns);
                }
            }
            Self::Log { .. } => self.write_log(out),
            Self::GetLocations { path, peg, revs } => {
                out.string(path.as_str()).rev(peg).open();
                revs.iter().for_each(|rev| {
                    out.rev(*rev);
                });
                out.close();
            }
            Self::GetLocationSegments {
                path,
                peg,
                start,
                end,
            } => {
                out.string(path.as_str()).optional_rev(peg);
                out.optional_rev(start).optional_rev(end);
            }
            Self::GetFileRevs {
                path,
                start,
                end,
                include_merged,
            } => {
                out.string(path.as_str());
                out.optional_rev(start).optional_rev(end);
                out.bool(include_merged);
            }
            Self::GetMergeinfo {
                paths,
                rev,
                inherit,
                include_descendants,
            } => {
                out.open();
                paths.iter().for_each(|path| {
                    out.string(path.as_str());
                });
                out.close().optional_rev(rev).word(inherit);
                out.bool(include_descendants);
            }
            Self::GetLock { path } => {
                out.string(path.as_str());
            }
            Self::GetLocks { path, depth } => {
                out.string(path.as_str());
                out.open().word(depth.as_str()).close();
            }
            Self::GetIprops { path, rev } => {
                out.string(path.as_str()).optional_rev(Some(rev));
            }
            Self::GetDeletedRev { path, peg, end } => {
                out.string(path.as_str()).rev(peg).rev(end);
            }
            Self::Update(drive) => {
                out.optional_rev(drive.rev).string(drive.target);
                out.bool(drive.recurse()).word(drive.depth_word());
                out.bool(drive.send_copyfrom_args);
                out.bool(drive.ignore_ancestry);
            }
            Self::Switch(drive, url) => {
                out.optional_rev(drive.rev).string(drive.target);
                out.bool(drive.recurse()).string(url);
                out.word(drive.depth_word());
                out.bool(drive.send_copyfrom_args);
                out.bool(drive.ignore_ancestry);
            }
            Self::Status(drive) => {
                out.string(drive.target).bool(drive.recurse());
                out.optional_rev(drive.rev).word(drive.depth_word());
            }
            Self::Diff {
                drive,
                url,
                text_deltas,
            } => {
                out.optional_rev(drive.rev).string(drive.target);
                out.bool(drive.recurse()).bool(drive.ignore_ancestry);
                out.string(url).bool(text_deltas).word(drive.depth_word());
            }
        }
    }

    fn write_log(&self, out: &mut Writer) {
        let Self::Log {
            paths,
            start,
            end,
            changed_paths,
            strict_node,
            limit,
            include_merged,
            revprops,
        } = *self
        else {
            return;
        };
        out.open();
        paths.iter().for_each(|path| {
            out.string(path.as_str());
        });
        out.close().optional_rev(start).optional_rev(end);
        out.bool(changed_paths).bool(strict_node);
        out.number(u64::from(limit)).bool(include_merged);
        match revprops {
            Some(names) => {
                out.word("revprops");
                write_strings(out, names);
            }
            None => {
                out.word("all-revprops").open().close();
            }
        }
    }
}

fn write_words(out: &mut Writer, words: &[&str]) {
    out.open();
    words.iter().for_each(|word| {
        out.word(word);
    });
    out.close();
}

fn write_strings(out: &mut Writer, strings: &[String]) {
    out.open();
    strings.iter().for_each(|string| {
        out.string(string);
    });
    out.close();
}

/// Writes a statement of a report.
pub fn write_report_entry(out: &mut Writer, entry: &ReportEntry) {
    match entry {
        ReportEntry::SetPath {
            path,
            rev,
            depth,
            start_empty,
            lock_token,
        } => {
            out.open().word("set-path").open().string(path.as_str());
            out.rev(*rev).bool(*start_empty);
            out.optional_string(lock_token.as_ref());
            out.word(depth.as_str()).close().close();
        }
        ReportEntry::DeletePath { path } => {
            out.open().word("delete-path").open();
            out.string(path.as_str()).close().close();
        }
        ReportEntry::LinkPath {
            path,
            url,
            rev,
            depth,
            start_empty,
            lock_token,
        } => {
            out.open().word("link-path").open().string(path.as_str());
            out.string(url.as_str()).rev(*rev).bool(*start_empty);
            out.optional_string(lock_token.as_ref());
            out.word(depth.as_str()).close().close();
        }
    }
}

/// Writes the end of a report.
pub fn write_finish_report(out: &mut Writer) {
    out.open().word("finish-report").open().close().close();
}

/// Writes that a report is given up.
pub fn write_abort_report(out: &mut Writer) {
    out.open().word("abort-report").open().close().close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written_as_svn_writes_them() {
        let path = RelPath::new("trunk/ä").unwrap();
        let rev = Revnum::new(7);
        let drive = Drive {
            rev,
            target: "x",
            depth: None,
            send_copyfrom_args: false,
            ignore_ancestry: true,
        };
        let one = Revnum::new(1).unwrap();
        for (command, bytes) in [
            (Command::GetLatestRev, "( get-latest-rev ( ) ) "),
            (
                Command::CheckPath { path, rev: None },
                "( check-path ( 8:trunk/ä ( ) ) ) ",
            ),
            (
                Command::GetFile {
                    path,
                    rev,
                    props: true,
                    contents: false,
                },
                "( get-file ( 8:trunk/ä ( 7 ) true false false ) ) ",
            ),
            (
                Command::GetDir {
                    path,
                    rev,
                    props: false,
                    contents: true,
                    fields: &["kind", "size"],
                },
                "( get-dir ( 8:trunk/ä ( 7 ) false true ( kind size ) false ) ) ",
            ),
            (
                Command::List {
                    path,
                    rev,
                    depth: Depth::Immediates,
                    fields: &["kind"],
                    patterns: Some(&["*.c".to_owned()]),
                },
                "( list ( 8:trunk/ä ( 7 ) immediates ( kind ) ( 3:*.c ) ) ) ",
            ),
            (
                Command::Log {
                    paths: &[path],
                    start: rev,
                    end: None,
                    changed_paths: true,
                    strict_node: false,
                    limit: 3,
                    include_merged: false,
                    revprops: Some(&["svn:log".to_owned()]),
                },
                "( log ( ( 8:trunk/ä ) ( 7 ) ( ) true false 3 false revprops ( 7:svn:log ) ) ) ",
            ),
            (
                Command::Log {
                    paths: &[],
                    start: rev,
                    end: rev,
                    changed_paths: false,
                    strict_node: true,
                    limit: 0,
                    include_merged: true,
                    revprops: None,
                },
                "( log ( ( ) ( 7 ) ( 7 ) false true 0 true all-revprops ( ) ) ) ",
            ),
            (
                Command::GetLocations {
                    path,
                    peg: one,
                    revs: &[one, Revnum::ZERO],
                },
                "( get-locations ( 8:trunk/ä 1 ( 1 0 ) ) ) ",
            ),
            (
                Command::GetLocks {
                    path,
                    depth: Depth::Infinity,
                },
                "( get-locks ( 8:trunk/ä ( infinity ) ) ) ",
            ),
            (
                Command::Update(drive),
                "( update ( ( 7 ) 1:x true unknown false true ) ) ",
            ),
            (
                Command::Switch(drive, "svn://h/b"),
                "( switch ( ( 7 ) 1:x true 9:svn://h/b unknown false true ) ) ",
            ),
            (
                Command::Status(Drive {
                    depth: Some(Depth::Files),
                    ..drive
                }),
                "( status ( 1:x false ( 7 ) files ) ) ",
            ),
            (
                Command::Diff {
                    drive,
                    url: "svn://h/b",
                    text_deltas: true,
                },
                "( diff ( ( 7 ) 1:x true true 9:svn://h/b true unknown ) ) ",
            ),
        ] {
            let mut out = Writer::new();
            command.write(&mut out);
            assert_eq!(std::str::from_utf8(out.as_bytes()).unwrap(), bytes);
        }
    }

    #[test]
    fn reports_are_written_as_svn_writes_them() {
        let mut out = Writer::new();
        write_report_entry(
            &mut out,
            &ReportEntry::SetPath {
                path: RelPath::new("a").unwrap().to_owned(),
                rev: Revnum::ZERO,
                depth: Depth::Infinity,
                start_empty: true,
                lock_token: Some("t".to_owned()),
            },
        );
        write_finish_report(&mut out);
        assert_eq!(
            out.as_bytes(),
            b"( set-path ( 1:a 0 true ( 1:t ) infinity ) ) ( finish-report ( ) ) "
        );
    }
}
