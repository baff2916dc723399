//! `svn log`: the history of nodes.

use sylvan_core::opt::{RevisionRange, RevisionSpec};
use sylvan_core::{Dirent, Error, ErrorCode, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_ra::{Capability, LocationSegment, LogEntry, LogOptions, LogReceiver, Session};

use crate::resolve::{self, PathRev};
use crate::target::{PathOrUrl, Target};
use crate::wc_node::WcNode;
use crate::{Context, PooledSession};

const AUTHOR: &str = "svn:author";
const DATE: &str = "svn:date";
const LOG: &str = "svn:log";

/// What a log shows.
#[derive(Clone, Debug)]
pub struct Options {
    /// The ranges shown, one after the other. Without a start a range is from the peg revision
    /// down to 0, without an end it is one revision.
    pub ranges: Vec<RevisionRange>,
    /// Most revisions shown over all ranges; 0 is no limit.
    pub limit: u32,
    /// Whether changed paths are wanted.
    pub changed_paths: bool,
    /// Whether history stops at copies.
    pub stop_on_copy: bool,
    /// Whether merged revisions are shown too.
    pub merged: bool,
    /// The revision properties wanted; `None` means all.
    pub revprops: Option<Vec<String>>,
}

/// Sends the log of a target: of a working copy's node, of a URL, or of several `paths` below a
/// URL.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` for several working copy paths, `CLIENT_BAD_REVISION` for a revision that
/// the target has not, and what the session and `receive` give.
pub fn log(
    context: &Context,
    target: &Target,
    paths: &[Dirent],
    options: &Options,
    receive: &mut LogReceiver<'_>,
) -> Result<()> {
    if options.ranges.is_empty() {
        return Err(missing_revision());
    }
    let subject = Subject::find(context, target, paths)?;
    let (mut session, first) = subject.open(context)?;
    let ranges = Ranges::resolve(&subject, &mut *session, &options.ranges)?;
    let youngest = subject.at_youngest(context, &mut session, &first, ranges.youngest)?;
    if session.url() != &youngest.url {
        session.reparent(&youngest.url)?;
    }
    let segments = if youngest.url == youngest.repos_root || options.ranges.len() == 1 {
        vec![LocationSegment {
            start: ranges.oldest,
            end: youngest.rev,
            path: Some(youngest.repos_path()),
        }]
    } else {
        let (rev, oldest) = (Some(youngest.rev), Some(ranges.oldest));
        session.location_segments(RelPath::ROOT, rev, rev, oldest)?
    };
    let mut run = Run {
        context,
        options,
        paths: subject.paths,
        segments,
        at: youngest,
        limit: options.limit,
    };
    run.ranges(&mut *session, &ranges.numbers, receive)?;
    session.give_back();
    Ok(())
}

fn missing_revision() -> Error {
    Error::new(
        ErrorCode::CLIENT_BAD_REVISION,
        "Missing required revision specification",
    )
}

/// Of what the log is.
struct Subject {
    target: Target,
    /// The working copy's node, if the peg revision is one that only it knows.
    node: Option<WcNode>,
    paths: Vec<RelPathBuf>,
}

impl Subject {
    fn find(context: &Context, target: &Target, paths: &[Dirent]) -> Result<Self> {
        match &target.at {
            PathOrUrl::Url(url) => Self::of_url(url, target.peg, paths),
            PathOrUrl::Path(path) => Self::of_path(context, path, target.peg, paths),
        }
    }

    fn of_url(url: &Url, peg: RevisionSpec, paths: &[Dirent]) -> Result<Self> {
        let mut below = Vec::new();
        for path in paths {
            if path.is_absolute() {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TARGET,
                    format!("'{}' is not a relative path", path.as_str()),
                ));
            }
            below.push(RelPathBuf::canonicalize(path.as_str())?);
        }
        if below.is_empty() {
            below.push(RelPathBuf::root());
        }
        if needs_wc(peg) {
            return Err(Error::new(
                ErrorCode::CLIENT_BAD_REVISION,
                "PREV, BASE, or COMMITTED revision keywords are invalid for URL",
            ));
        }
        let mut target = Target::from(url.clone());
        target.peg = crate::location::default_to(peg, RevisionSpec::Head);
        Ok(Self {
            target,
            node: None,
            paths: below,
        })
    }

    fn of_path(
        context: &Context,
        path: &Dirent,
        peg: RevisionSpec,
        paths: &[Dirent],
    ) -> Result<Self> {
        if !paths.is_empty() {
            return Err(Error::new(
                ErrorCode::UNSUPPORTED_FEATURE,
                "When specifying working copy paths, only one target may be given",
            ));
        }
        let node = WcNode::open(context, path)?;
        let url = node.url()?;
        let peg = crate::location::default_to(peg, RevisionSpec::Working);
        let paths = vec![RelPathBuf::root()];
        if needs_wc(peg) {
            let target = Target {
                at: PathOrUrl::Path(node.abspath().clone()),
                peg,
            };
            return Ok(Self {
                target,
                node: Some(node),
                paths,
            });
        }
        let url = url.ok_or_else(|| resolve::missing_url(path))?;
        let mut target = Target::from(url);
        target.peg = peg;
        Ok(Self {
            target,
            node: None,
            paths,
        })
    }

    fn open<'a>(&self, context: &'a Context) -> Result<(PooledSession<'a>, PathRev)> {
        resolve::open_node(
            context,
            &self.target,
            self.node.as_ref(),
            RevisionSpec::Unspecified,
        )
    }

    /// Finds where the subject is in the youngest revision that is shown.
    fn at_youngest<'a>(
        &self,
        context: &'a Context,
        session: &mut PooledSession<'a>,
        first: &PathRev,
        youngest: Revnum,
    ) -> Result<PathRev> {
        let at = if needs_wc(self.target.peg) {
            self.target.at.clone()
        } else {
            PathOrUrl::Url(first.url.clone())
        };
        resolve::locate(
            context,
            session,
            &at,
            self.node.as_ref(),
            self.target.peg,
            RevisionSpec::Number(youngest),
        )
    }
}

const fn needs_wc(spec: RevisionSpec) -> bool {
    matches!(
        spec,
        RevisionSpec::Base
            | RevisionSpec::Previous
            | RevisionSpec::Working
            | RevisionSpec::Committed
    )
}

/// The ranges in numbers.
struct Ranges {
    numbers: Vec<(Revnum, Revnum)>,
    youngest: Revnum,
    oldest: Revnum,
}

impl Ranges {
    fn resolve(
        subject: &Subject,
        session: &mut dyn Session,
        ranges: &[RevisionRange],
    ) -> Result<Self> {
        let mut head = None;
        let mut numbers = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (start, end) = whole_range(range, subject.target.peg);
            if start == RevisionSpec::Unspecified || end == RevisionSpec::Unspecified {
                return Err(missing_revision());
            }
            let node = subject.node.as_ref();
            let first = resolve::revision(session, node, start, &mut head)?;
            let last = if start == end {
                first
            } else {
                resolve::revision(session, node, end, &mut head)?
            };
            numbers.push((first, last));
        }
        let all = || numbers.iter().flat_map(|(first, last)| [*first, *last]);
        let youngest = all().max().ok_or_else(missing_revision)?;
        let oldest = all().min().ok_or_else(missing_revision)?;
        Ok(Self {
            numbers,
            youngest,
            oldest,
        })
    }
}

fn whole_range(range: &RevisionRange, peg: RevisionSpec) -> (RevisionSpec, RevisionSpec) {
    match (range.start, range.end) {
        (RevisionSpec::Unspecified, RevisionSpec::Unspecified) => {
            (peg, RevisionSpec::Number(Revnum::ZERO))
        }
        (RevisionSpec::Unspecified, end) => (peg, end),
        (start, RevisionSpec::Unspecified) => (start, start),
        both => both,
    }
}

struct Run<'a> {
    context: &'a Context,
    options: &'a Options,
    paths: Vec<RelPathBuf>,
    segments: Vec<LocationSegment>,
    at: PathRev,
    limit: u32,
}

impl Run<'_> {
    fn ranges(
        &mut self,
        session: &mut dyn Session,
        ranges: &[(Revnum, Revnum)],
        receive: &mut LogReceiver<'_>,
    ) -> Result<()> {
        let has_revprops = session.has_capability(Capability::LogRevprops)?;
        let mut old_server = OldServer {
            context: self.context,
            url: self.at.url.clone(),
            wanted: self.options.revprops.as_deref(),
            session: None,
        };
        for (start, end) in ranges {
            if !self.move_to(session, *start.max(end))? {
                continue;
            }
            let mut left = self.limit;
            let mut counted = |entry: LogEntry| {
                left = left.saturating_sub(1);
                receive(entry)
            };
            let mut passed = |entry: LogEntry| {
                if has_revprops {
                    counted(entry)
                } else {
                    counted(old_server.complete(entry)?)
                }
            };
            session.log(&self.log_options(*start, *end, has_revprops), &mut passed)?;
            if self.limit > 0 && ranges.len() > 1 {
                self.limit = left;
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Moves the session to where the node was in `rev`; a revision outside of its history is
    /// skipped. (In a gap of its history the server says what is wrong.)
    fn move_to(&self, session: &mut dyn Session, rev: Revnum) -> Result<bool> {
        let segment = self
            .segments
            .iter()
            .find(|segment| segment.start <= rev && rev <= segment.end);
        let Some(segment) = segment else {
            return Ok(false);
        };
        if let Some(path) = &segment.path {
            let url = self.at.repos_root.join(path);
            if session.url() != &url {
                session.reparent(&url)?;
            }
        }
        Ok(true)
    }

    fn log_options(&self, start: Revnum, end: Revnum, has_revprops: bool) -> LogOptions {
        LogOptions {
            paths: self.paths.clone(),
            start: Some(start),
            end: Some(end),
            limit: self.limit,
            discover_changed_paths: self.options.changed_paths,
            strict_node_history: self.options.stop_on_copy,
            include_merged_revisions: self.options.merged,
            revprops: if has_revprops {
                self.options.revprops.clone()
            } else {
                Some([AUTHOR, DATE, LOG].map(str::to_owned).to_vec())
            },
        }
    }
}

/// Servers before 1.5 send author, date and message only, and always; the rest is asked for one by
/// one over a session of its own.
struct OldServer<'a> {
    context: &'a Context,
    url: Url,
    wanted: Option<&'a [String]>,
    session: Option<PooledSession<'a>>,
}

impl OldServer<'_> {
    fn complete(&mut self, mut entry: LogEntry) -> Result<LogEntry> {
        let Some(rev) = entry.rev else {
            return Ok(entry);
        };
        let Some(wanted) = self.wanted else {
            entry.revprops = self.session()?.rev_proplist(rev)?;
            return Ok(entry);
        };
        for name in wanted {
            if ![AUTHOR, DATE, LOG].contains(&name.as_str())
                && let Some(value) = self.session()?.rev_prop(rev, name)?
            {
                entry.revprops.insert(name.clone(), value);
            }
        }
        entry.revprops.retain(|name, _| wanted.contains(name));
        Ok(entry)
    }

    fn session(&mut self) -> Result<&mut (dyn Session + 'static)> {
        if self.session.is_none() {
            self.session = Some(self.context.sessions.open(&self.url)?);
        }
        match &mut self.session {
            Some(session) => Ok(&mut **session),
            None => unreachable!("was opened above"),
        }
    }
}
