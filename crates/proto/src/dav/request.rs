//! Request bodies.
//!
//! Each function returns the whole body. Reports name paths as Subversion does: relative to the
//! resource the request goes to, but where said otherwise.

use std::fmt::Write as _;

use sylvan_core::{Depth, RelPath, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::ReportEntry;

/// The body with which a session begins.
pub fn options() -> String {
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><D:options xmlns:D=\"DAV:\">\
     <D:activity-collection-set></D:activity-collection-set></D:options>"
        .to_owned()
}

/// Which properties a `PROPFIND` asks for.
#[derive(Clone, Copy, Debug)]
pub enum Find<'a> {
    /// All.
    All,
    /// These, by namespace and name.
    These(&'a [(&'a str, &'a str)]),
}

/// The body of a `PROPFIND`.
pub fn propfind(find: Find<'_>) -> String {
    let mut body =
        String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><propfind xmlns=\"DAV:\">");
    match find {
        Find::All => body.push_str("<allprop xmlns=\"DAV:\"/>"),
        Find::These(props) => {
            body.push_str("<prop>");
            for (ns, name) in props {
                body.push('<');
                body.push_str(name);
                body.push_str(" xmlns=\"");
                body.push_str(ns);
                body.push_str("\"/>");
            }
            body.push_str("</prop>");
        }
    }
    body.push_str("</propfind>");
    body
}

/// What a log is asked for.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    /// First revision shown.
    pub start: Option<Revnum>,
    /// Last revision shown.
    pub end: Option<Revnum>,
    /// Most revisions shown; 0 is no limit.
    pub limit: u32,
    /// Whether changed paths are wanted.
    pub discover_changed_paths: bool,
    /// Whether history stops at copies.
    pub strict_node_history: bool,
    /// Whether revisions merged are shown too.
    pub include_merged_revisions: bool,
    /// Revision properties wanted; `None` means all.
    pub revprops: Option<&'a [String]>,
}

/// The body of a `log-report`.
pub fn log(options: &Log<'_>, paths: &[RelPathBuf]) -> String {
    let mut body = Body::report("S:log-report");
    body.element("S:start-revision", &rev_text(options.start));
    body.element("S:end-revision", &rev_text(options.end));
    if options.limit > 0 {
        body.element("S:limit", &options.limit.to_string());
    }
    body.flag("S:discover-changed-paths", options.discover_changed_paths);
    body.flag("S:strict-node-history", options.strict_node_history);
    body.flag(
        "S:include-merged-revisions",
        options.include_merged_revisions,
    );
    match options.revprops {
        None => body.flag("S:all-revprops", true),
        Some([]) => body.flag("S:no-revprops", true),
        Some(names) => names
            .iter()
            .for_each(|name| body.element("S:revprop", name)),
    }
    for path in paths {
        body.element("S:path", path.as_str());
    }
    body.flag("S:encode-binary-props", true);
    body.end("S:log-report")
}

/// The body of a `file-revs-report`.
pub fn file_revs(
    path: &RelPath,
    start: Option<Revnum>,
    end: Option<Revnum>,
    include_merged: bool,
) -> String {
    let mut body = Body::report("S:file-revs-report");
    body.element("S:start-revision", &rev_text(start));
    body.element("S:end-revision", &rev_text(end));
    body.flag("S:include-merged-revisions", include_merged);
    body.element("S:path", path.as_str());
    body.end("S:file-revs-report")
}

/// The body of a `mergeinfo-report`.
pub fn mergeinfo(
    paths: &[RelPathBuf],
    rev: Option<Revnum>,
    inherit: &str,
    include_descendants: bool,
) -> String {
    let mut body = Body::report("S:mergeinfo-report");
    body.element("S:revision", &rev_text(rev));
    body.element("S:inherit", inherit);
    if include_descendants {
        body.element("S:include-descendants", "yes");
    }
    for path in paths {
        body.element("S:path", path.as_str());
    }
    body.end("S:mergeinfo-report")
}

/// The body of a `list-report`. `props` are namespace and name put together.
pub fn list(
    path: &RelPath,
    rev: Option<Revnum>,
    depth: Depth,
    patterns: Option<&[String]>,
    props: &[(&str, &str)],
) -> String {
    let mut body = Body::report("S:list-report");
    body.element("S:path", path.as_str());
    body.element("S:revision", &rev_text(rev));
    body.element("S:depth", depth.as_str());
    match patterns {
        None => {}
        Some([]) => body.flag("S:no-patterns", true),
        Some(patterns) => patterns
            .iter()
            .for_each(|pattern| body.element("S:pattern", pattern)),
    }
    for (ns, name) in props {
        body.element("S:prop", &format!("{ns}{name}"));
    }
    body.end("S:list-report")
}

/// The body of a `get-locations` report.
pub fn locations(path: &RelPath, peg: Revnum, revs: &[Revnum]) -> String {
    let mut body = Body::report("S:get-locations");
    body.element("S:path", path.as_str());
    body.element("S:peg-revision", &peg.to_string());
    for rev in revs {
        body.element("S:location-revision", &rev.to_string());
    }
    body.end("S:get-locations")
}

/// The body of a `get-location-segments` report.
pub fn location_segments(
    path: &RelPath,
    peg: Option<Revnum>,
    start: Option<Revnum>,
    end: Option<Revnum>,
) -> String {
    let mut body = Body::report("S:get-location-segments");
    body.element("S:path", path.as_str());
    body.element("S:peg-revision", &rev_text(peg));
    body.element("S:start-revision", &rev_text(start));
    body.element("S:end-revision", &rev_text(end));
    body.end("S:get-location-segments")
}

/// The body of a `get-locks-report`.
pub fn locks(depth: Depth) -> String {
    format!("<S:get-locks-report xmlns:S=\"svn:\" depth=\"{depth}\"></S:get-locks-report>")
}

/// The body of an `inherited-props-report`.
pub fn inherited_props(path: &RelPath, rev: Revnum) -> String {
    let mut body = Body::report("S:inherited-props-report");
    body.element("S:revision", &rev.to_string());
    body.element("S:path", path.as_str());
    body.end("S:inherited-props-report")
}

/// The body of a `dated-rev-report`; `date` is as in `2026-11-30T09:52:45.825184Z`.
pub fn dated_rev(date: &str) -> String {
    let mut body = Body::report("S:dated-rev-report");
    body.element("D:creationdate", date);
    body.end("S:dated-rev-report")
}

/// The body of a `get-deleted-rev-report`.
pub fn deleted_rev(path: &RelPath, peg: Revnum, end: Revnum) -> String {
    let mut body = Body::report("S:get-deleted-rev-report");
    body.element("S:path", path.as_str());
    body.element("S:peg-revision", &peg.to_string());
    body.element("S:end-revision", &end.to_string());
    body.end("S:get-deleted-rev-report")
}

/// What an `update-report` is asked for.
#[derive(Clone, Debug)]
pub struct Update<'a> {
    /// Whether contents come in the report (`send-all`), or are fetched one by one.
    pub send_all: bool,
    /// The path of the session's URL on the server, escaped.
    pub source: &'a str,
    /// The URL switched to.
    pub destination: Option<&'a Url>,
    /// The revision wanted; `None` is the youngest.
    pub rev: Option<Revnum>,
    /// One child of the anchor to be updated, or empty.
    pub target: &'a str,
    /// How deep; `None` is what the report says of each folder.
    pub depth: Option<Depth>,
    /// Whether added nodes are sent with where they were copied from.
    pub send_copyfrom_args: bool,
    /// Whether a node of other ancestry may be sent as a change.
    pub ignore_ancestry: bool,
    /// Whether contents are wanted.
    pub text_deltas: bool,
}

/// The body of an `update-report`; `link` gives the path below the repository root (with its
/// slash) of a URL that a part of the working copy comes from.
///
/// # Errors
/// What `link` returns.
pub fn update(
    options: &Update<'_>,
    report: &[ReportEntry],
    mut link: impl FnMut(&Url) -> Result<String>,
) -> Result<String> {
    let mut body = Body(String::with_capacity(512 + report.len() * 64));
    if options.send_all {
        body.0
            .push_str("<S:update-report xmlns:S=\"svn:\" send-all=\"true\">");
    } else {
        body.0.push_str("<S:update-report xmlns:S=\"svn:\">");
        body.element("S:include-props", "yes");
    }
    body.element("S:src-path", options.source);
    if let Some(rev) = options.rev {
        body.element("S:target-revision", &rev.to_string());
    }
    if let Some(url) = options.destination {
        body.element("S:dst-path", url.as_str());
    }
    if !options.target.is_empty() {
        body.element("S:update-target", options.target);
    }
    if options.ignore_ancestry {
        body.element("S:ignore-ancestry", "yes");
    }
    if options.send_copyfrom_args {
        body.element("S:send-copyfrom-args", "yes");
    }
    if matches!(options.depth, Some(Depth::Files | Depth::Empty)) {
        body.element("S:recursive", "no");
    }
    if !options.text_deltas {
        body.element("S:text-deltas", "no");
    }
    body.element("S:depth", options.depth.map_or("unknown", Depth::as_str));
    for entry in report {
        body.entry(entry, &mut link)?;
    }
    Ok(body.end("S:update-report"))
}

struct Body(String);

impl Body {
    fn report(name: &str) -> Self {
        Self(format!("<{name} xmlns:S=\"svn:\" xmlns:D=\"DAV:\">"))
    }

    fn element(&mut self, name: &str, text: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
        push_text(&mut self.0, text);
        self.close(name);
    }

    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.0.push('<');
            self.0.push_str(name);
            self.0.push_str("/>");
        }
    }

    fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    fn end(mut self, name: &str) -> String {
        self.close(name);
        self.0
    }

    fn entry(
        &mut self,
        entry: &ReportEntry,
        link: &mut impl FnMut(&Url) -> Result<String>,
    ) -> Result<()> {
        match entry {
            ReportEntry::SetPath {
                path,
                rev,
                depth,
                start_empty,
                lock_token,
            } => self.node(
                path,
                *rev,
                *depth,
                *start_empty,
                lock_token.as_deref(),
                None,
            ),
            ReportEntry::DeletePath { path } => self.element("S:missing", path.as_str()),
            ReportEntry::LinkPath {
                path,
                url,
                rev,
                depth,
                start_empty,
                lock_token,
            } => {
                let link = link(url)?;
                let token = lock_token.as_deref();
                self.node(path, *rev, *depth, *start_empty, token, Some(&link));
            }
        }
        Ok(())
    }

    fn node(
        &mut self,
        path: &RelPath,
        rev: Revnum,
        depth: Depth,
        start_empty: bool,
        lock_token: Option<&str>,
        link: Option<&str>,
    ) {
        // Writing into a String cannot fail.
        let _ = write!(self.0, "<S:entry rev=\"{rev}\" depth=\"{depth}\"");
        if let Some(token) = lock_token {
            self.attribute("lock-token", token);
        }
        if let Some(link) = link {
            self.attribute("linkpath", link);
        }
        if start_empty {
            self.0.push_str(" start-empty=\"true\"");
        }
        self.0.push('>');
        push_text(&mut self.0, path.as_str());
        self.close("S:entry");
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        for c in value.chars() {
            match c {
                '"' => self.0.push_str("&quot;"),
                '\n' => self.0.push_str("&#10;"),
                '\t' => self.0.push_str("&#9;"),
                c => push_escaped(&mut self.0, c),
            }
        }
        self.0.push('"');
    }
}

fn rev_text(rev: Option<Revnum>) -> String {
    rev.map_or("-1".to_owned(), |rev| rev.to_string())
}

/// Appends text with what XML cannot hold escaped.
pub(super) fn push_text(out: &mut String, text: &str) {
    text.chars().for_each(|c| push_escaped(out, c));
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '\r' => out.push_str("&#13;"),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn update_body_lists_what_is_there() {
        let rev = Revnum::new(3).unwrap();
        let path = |text: &str| RelPathBuf::canonicalize(text).unwrap();
        let report = [
            ReportEntry::SetPath {
                path: RelPathBuf::root(),
                rev,
                depth: Depth::Infinity,
                start_empty: true,
                lock_token: None,
            },
            ReportEntry::LinkPath {
                path: path("a<b"),
                url: Url::parse("http://h/r/x").unwrap(),
                rev,
                depth: Depth::Files,
                start_empty: false,
                lock_token: Some("t\"&".to_owned()),
            },
            ReportEntry::DeletePath { path: path("gone") },
        ];
        let options = Update {
            send_all: false,
            source: "/r/a%20b",
            destination: None,
            rev: Some(rev),
            target: "t&t",
            depth: None,
            send_copyfrom_args: false,
            ignore_ancestry: false,
            text_deltas: false,
        };
        let body = update(&options, &report, |_| Ok("/x".to_owned())).unwrap();
        assert_eq!(
            body,
            "<S:update-report xmlns:S=\"svn:\"><S:include-props>yes</S:include-props>\
             <S:src-path>/r/a%20b</S:src-path><S:target-revision>3</S:target-revision>\
             <S:update-target>t&amp;t</S:update-target><S:text-deltas>no</S:text-deltas>\
             <S:depth>unknown</S:depth>\
             <S:entry rev=\"3\" depth=\"infinity\" start-empty=\"true\"></S:entry>\
             <S:entry rev=\"3\" depth=\"files\" lock-token=\"t&quot;&amp;\" linkpath=\"/x\">a&lt;b</S:entry>\
             <S:missing>gone</S:missing></S:update-report>"
        );
    }

    #[test]
    fn log_body_names_revprops() {
        let mut options = Log {
            start: None,
            end: Revnum::new(1),
            limit: 5,
            discover_changed_paths: true,
            strict_node_history: false,
            include_merged_revisions: false,
            revprops: Some(&[]),
        };
        let body = log(&options, &[RelPathBuf::root()]);
        assert!(body.contains("<S:start-revision>-1</S:start-revision><S:end-revision>1<"));
        assert!(body.contains("<S:limit>5</S:limit><S:discover-changed-paths/><S:no-revprops/>"));
        options.revprops = None;
        assert!(
            log(&options, &[RelPathBuf::root()]).contains("<S:all-revprops/><S:path></S:path>")
        );
    }

    #[test]
    fn propfind_bodies() {
        assert!(propfind(Find::All).contains("<propfind xmlns=\"DAV:\"><allprop"));
        assert!(
            propfind(Find::These(&[("DAV:", "resourcetype")]))
                .contains("<prop><resourcetype xmlns=\"DAV:\"/></prop>")
        );
    }
}
