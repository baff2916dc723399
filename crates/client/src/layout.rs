//! `svn info --x-viewspec`: the layout of a working copy, what differs from a plain checkout.

use sylvan_core::{Depth, Dirent, Error, ErrorCode, RelPathBuf, Result, Revnum, Url};
use sylvan_delta::ReportEntry;
use sylvan_wc::WorkingCopy;
use sylvan_wc::notify::Notification;
use sylvan_wc::report::{self, ReportOptions};

use crate::Context;

/// A node that is laid out in its own way; the first one is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The path below the root.
    pub path: RelPathBuf,
    /// What it is; `None` for a node that is not there.
    pub node: Option<Node>,
}

/// What is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its URL.
    pub url: Url,
    /// Whether that is another one than its folder implies.
    pub switched: bool,
    /// Its revision.
    pub rev: Revnum,
    /// Whether that is another one than its folder has.
    pub rev_changed: bool,
    /// How deep it is.
    pub depth: Depth,
    /// Whether that is another depth than its folder implies.
    pub depth_changed: bool,
}

/// The layout of a working copy below a node.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The root of the repository.
    pub repos_root: Url,
    /// The nodes, each after its folder.
    pub items: Vec<Item>,
}

/// Reads the layout.
///
/// # Errors
/// `WC_NOT_WORKING_COPY` and `WC_PATH_NOT_FOUND` if there is none.
pub fn layout(context: &Context, path: &Dirent) -> Result<Layout> {
    let abspath = context.absolute(path);
    let (mut wc, relpath) = WorkingCopy::open(&abspath, &context.wc)?;
    let options = ReportOptions {
        depth: Some(Depth::Infinity),
        honor_depth_exclude: true,
        ..ReportOptions::default()
    };
    let mut quiet = |_: &Notification| {};
    let entries = report::entries(&mut wc, &relpath, &options, &context.cancel, &mut quiet)?;
    let missing = || {
        Error::new(
            ErrorCode::WC_PATH_NOT_FOUND,
            format!("The node '{abspath}' was not found."),
        )
    };
    let layers = wc.db().layers(&relpath)?;
    let base = layers.last().filter(|layer| layer.op_depth == 0);
    let (repos_id, repos_path) = base
        .and_then(|base| Some((base.repos_id?, base.repos_path.as_ref()?)))
        .ok_or_else(missing)?;
    let repos_root = wc.db().repository(repos_id)?.root.clone();
    let root = repos_root.join(repos_path);
    Ok(Layout {
        repos_root,
        items: items(&root, entries),
    })
}

/// Compares what is reported of each node with its folder.
fn items(root: &Url, entries: Vec<ReportEntry>) -> Vec<Item> {
    // Where in the list the nodes are that the last one is in.
    let mut above: Vec<(RelPathBuf, Node)> = Vec::new();
    let mut items = Vec::with_capacity(entries.len());
    for entry in entries {
        let (path, told) = match entry {
            ReportEntry::SetPath {
                path, rev, depth, ..
            } => (path, Some((None, rev, depth))),
            ReportEntry::LinkPath {
                path,
                url,
                rev,
                depth,
                ..
            } => (path, Some((Some(url), rev, depth))),
            ReportEntry::DeletePath { path } => (path, None),
        };
        while above.last().is_some_and(|(dir, _)| !path.starts_with(dir)) {
            above.pop();
        }
        let Some((link, rev, depth)) = told else {
            items.push(Item { path, node: None });
            continue;
        };
        let parent = above.last();
        let implied = match parent {
            None => depth,
            Some((_, dir)) if dir.depth == Depth::Infinity => Depth::Infinity,
            Some(_) => Depth::Empty,
        };
        let switched = link.is_some();
        let url = link.unwrap_or_else(|| match parent {
            None => root.clone(),
            Some((dir, node)) => {
                let below = path.strip_prefix(dir).unwrap_or(&path);
                node.url.join(below)
            }
        });
        let node = Node {
            url,
            switched,
            rev,
            rev_changed: parent.is_some_and(|(_, dir)| dir.rev != rev),
            depth,
            depth_changed: depth != implied,
        };
        above.push((path.clone(), node.clone()));
        items.push(Item {
            path,
            node: Some(node),
        });
    }
    items
}
