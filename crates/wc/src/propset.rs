//! Setting and deleting properties of nodes in a working copy.

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::props::{self, PropKind};
use sylvan_core::time::Clock;
use sylvan_core::translate::{KeywordInfo, Keywords, Translator};
use sylvan_core::{Depth, Error, ErrorCode, NodeKind, Props, RelPath, Result};
use sylvan_io::Cancel;
use sylvan_io::file::Dir;

use rusqlite::params;

use crate::db::NodeState;
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn};
use crate::site::Site;
use crate::work_queue::item;
use crate::working::{self, Current};
use crate::{WorkingCopy, modified, not_found, work_queue};

/// A property to be set or deleted, and where.
#[derive(Clone, Debug)]
pub struct PropSet<'a> {
    /// The name.
    pub name: &'a str,
    /// The value; `None` deletes the property.
    pub value: Option<&'a [u8]>,
    /// How deep.
    pub depth: Depth,
    /// Take values that do not go with the file (`--force`).
    pub skip_checks: bool,
    /// Only members of these changelists, if there are any.
    pub changelists: &'a [String],
    /// For dates in definitions of externals.
    pub clock: &'a Clock,
}

/// Sets or deletes a property of a node and of what is below it, as deep as asked for, in one
/// transaction. Below the node, those that cannot have the property are passed over.
///
/// # Errors
/// `E155010` if there is no such node, `E155023` if it has no properties, `E200008` for names that
/// are not of this kind, and those of the property's value. After an error about a node the ones
/// before have the property.
pub fn set(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    path: &RelPath,
    set: &PropSet<'_>,
    cancel: &Cancel,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    let wc = &*wc;
    if PropKind::of(set.name) == PropKind::Entry {
        return Err(Error::new(
            ErrorCode::BAD_PROP_KIND,
            format!("Property '{}' is an entry property", set.name),
        ));
    }
    let node = wc.db().current(path)?.ok_or_else(|| not_found(wc, path))?;
    if !matches!(
        node.layer.state(),
        NodeState::Normal | NodeState::Added | NodeState::Incomplete
    ) {
        return Err(Error::new(
            ErrorCode::WC_INVALID_SCHEDULE,
            format!(
                "Can't set properties on '{}': invalid status for updating properties.",
                wc.local_path(path)
            ),
        ));
    }
    debug_assert!(
        path.starts_with(lock.root()) || path.parent() == Some(lock.root()),
        "the lock covers the node"
    );
    let is_walk = set.depth != Depth::Empty && node.layer.kind == NodeKind::Dir;
    let nodes = if is_walk {
        nodes_below(wc, path, node, set.depth)?
    } else {
        vec![node]
    };
    let setter = Setter {
        wc,
        site: Site::of(wc)?,
        set,
    };
    let mut told = Vec::new();
    let mut outcome = Ok(());
    wc.db().write(|| {
        for node in &nodes {
            cancel.check()?;
            let member = |name: &String| set.changelists.contains(name);
            if !set.changelists.is_empty() && !node.actual.changelist.as_ref().is_some_and(member) {
                continue;
            }
            match setter.node(node) {
                Ok(action) => told.push((node, action)),
                Err(error)
                    if is_walk
                        && [
                            ErrorCode::ILLEGAL_TARGET,
                            ErrorCode::WC_PATH_UNEXPECTED_STATUS,
                        ]
                        .contains(&error.code()) => {}
                Err(error) => {
                    // What was set before stays, as it does in Subversion.
                    outcome = Err(error);
                    return Ok(());
                }
            }
        }
        Ok(())
    })?;
    let run = work_queue::run(wc, cancel);
    for (node, action) in told {
        let mut what = Notification::new(wc.local_path(&node.path), action).kind(node.layer.kind);
        what.prop_name = Some(set.name.to_owned());
        notify(&what);
    }
    outcome.and(run)
}

fn nodes_below(
    wc: &WorkingCopy,
    path: &RelPath,
    node: Current,
    depth: Depth,
) -> Result<Vec<Current>> {
    let mut nodes = match depth {
        Depth::Infinity => wc.db().current_within(path)?,
        _ => {
            let mut nodes = vec![node];
            nodes.extend(wc.db().current_children(path)?);
            nodes
        }
    };
    nodes.retain(|node| {
        !node.layer.state().is_hidden()
            && (depth != Depth::Files || node.layer.kind != NodeKind::Dir || *node.path == *path)
    });
    // A folder comes before what is in it, and all in it before its next sibling.
    nodes.sort_by(|a, b| a.path.components().cmp(b.path.components()));
    Ok(nodes)
}

struct Setter<'a> {
    wc: &'a WorkingCopy,
    site: Site,
    set: &'a PropSet<'a>,
}

impl Setter<'_> {
    fn node(&self, node: &Current) -> Result<Action> {
        if !node.layer.presence.is_present() {
            return Err(Error::from_code(ErrorCode::WC_PATH_UNEXPECTED_STATUS));
        }
        let db = self.wc.db();
        let name = self.set.name;
        let pristine = node.pristine_props()?;
        let mut props = node.props()?;
        let value = match self.set.value {
            Some(value) if props::is_svn(name) => Some(canonical(
                &OfNode {
                    name,
                    kind: node.layer.kind,
                    local: self.wc.local_path(&node.path).local_style(),
                    file: Some((&self.site.root, &node.path)),
                    mime_type: props.get(props::SVN_MIME_TYPE),
                },
                value,
                self.set.skip_checks,
                self.set.clock,
            )?),
            value => value.map(<[u8]>::to_vec),
        };
        let is_file = node.layer.kind != NodeKind::Dir;
        let old = props.get(name);
        let action = match (&value, old) {
            (Some(_), _) => Action::PropertySet,
            (None, Some(_)) => Action::PropertyDeleted,
            (None, None) => Action::PropertyDeletedNonexistent,
        };
        let forget_file_info = is_file && changes_text(name, old, value.as_ref());
        match value {
            Some(value) => props.insert(name.to_owned(), value),
            None => props.remove(name),
        };
        db.put_actual_props(&node.path, (props != pristine).then_some(&props))?;
        if forget_file_info {
            db.execute(
                working::FORGET_FILE_INFO,
                params![db.wc_id(), node.path.as_str()],
            )?;
        }
        if is_file && [props::SVN_EXECUTABLE, props::SVN_NEEDS_LOCK].contains(&name) {
            db.put_work_item(&item::sync_file_flags(&node.path))?;
        }
        Ok(action)
    }
}

/// Tells whether a property's change changes how the working file is compared.
fn changes_text(name: &str, old: Option<&Vec<u8>>, new: Option<&Vec<u8>>) -> bool {
    let keywords = |value: Option<&Vec<u8>>| {
        value.map_or_else(Keywords::default, |value| {
            Keywords::from_prop(value, &KeywordInfo::empty())
        })
    };
    match name {
        props::SVN_KEYWORDS => !keywords(old).has_same_names(&keywords(new)),
        props::SVN_EOL_STYLE => old != new,
        _ => false,
    }
}

/// The node that one of Subversion's own properties is for.
pub(crate) struct OfNode<'a> {
    pub name: &'a str,
    pub kind: NodeKind,
    /// For errors.
    pub local: &'a str,
    /// The working file, if its content may be looked at.
    pub file: Option<(&'a Dir, &'a RelPath)>,
    pub mime_type: Option<&'a Vec<u8>>,
}

/// Checks the value of one of Subversion's own properties and makes it canonical.
///
/// # Errors
/// Those of [`props::canonical_value`], `E200009` for line ends of a file that has none or several
/// kinds, `E200020` for mergeinfo that cannot be read.
pub(crate) fn canonical(
    of: &OfNode<'_>,
    value: &[u8],
    skip_checks: bool,
    clock: &Clock,
) -> Result<Vec<u8>> {
    props::check_kind(of.name, of.kind, of.local)?;
    if of.name == props::SVN_MERGEINFO {
        return canonical_mergeinfo(of, value);
    }
    let canonical = props::canonical_value(of.name, value, of.local, skip_checks, clock)?;
    if of.name == props::SVN_EOL_STYLE && !skip_checks {
        check_line_ends(of)?;
    }
    Ok(canonical)
}

fn canonical_mergeinfo(of: &OfNode<'_>, value: &[u8]) -> Result<Vec<u8>> {
    let mergeinfo = Mergeinfo::parse(value)?;
    let not_inheritable = |ranges: &sylvan_core::mergeinfo::RangeList| {
        ranges.0.iter().any(|range| !range.inheritable)
    };
    if of.kind != NodeKind::Dir && mergeinfo.0.values().any(not_inheritable) {
        return Err(Error::new(
            ErrorCode::MERGEINFO_PARSE_ERROR,
            format!(
                "Cannot set non-inheritable mergeinfo on a non-directory ('{}')",
                of.local
            ),
        ));
    }
    Ok(mergeinfo.to_text()?.into_bytes())
}

/// Requires a file to be text whose line ends are all of one kind.
fn check_line_ends(of: &OfNode<'_>) -> Result<()> {
    let illegal = |text: String| Error::new(ErrorCode::ILLEGAL_TARGET, text);
    if let Some(mime) = of.mime_type
        && props::mime_type_is_binary(&String::from_utf8_lossy(mime))
    {
        return Err(illegal(format!(
            "Can't set '{}': file '{}' has binary mime type property",
            props::SVN_EOL_STYLE,
            of.local
        )));
    }
    let Some((tree, path)) = of.file else {
        return Ok(());
    };
    let mut translator = Translator::new(Some(b""), false, None, false);
    let mut out = Vec::new();
    let read = modified::read_through(tree, path, |bytes| {
        out.clear();
        translator.push(bytes, &mut out)
    })
    .and_then(|()| translator.finish(&mut out));
    match read {
        // Subversion tells it twice: when it reads the file and when it ends reading.
        Err(error) if error.code() == ErrorCode::IO_INCONSISTENT_EOL => {
            let once = Error::from_code(error.code());
            Err(once.attach(Error::from_code(error.code())).wrap(
                ErrorCode::ILLEGAL_TARGET,
                format!("File '{}' has inconsistent newlines", of.local),
            ))
        }
        read => read,
    }
}

/// Makes the properties that a new node gets canonical.
///
/// # Errors
/// As [`canonical`], and `E200008` for names that users cannot set.
pub(crate) fn canonical_all(
    kind: NodeKind,
    local: &str,
    file: (&Dir, &RelPath),
    given: &Props,
    clock: &Clock,
) -> Result<Props> {
    let mut all = Props::new();
    let of = |name, mime_type| OfNode {
        name,
        kind,
        local,
        file: Some(file),
        mime_type,
    };
    // Line ends are checked against the type.
    if let Some(value) = given.get(props::SVN_MIME_TYPE) {
        let value = canonical(&of(props::SVN_MIME_TYPE, None), value, false, clock)?;
        all.insert(props::SVN_MIME_TYPE.to_owned(), value);
    }
    let mime_type = all.get(props::SVN_MIME_TYPE).cloned();
    for (name, value) in given {
        if name == props::SVN_MIME_TYPE {
            continue;
        }
        let what = match PropKind::of(name) {
            PropKind::Entry => Some("is an entry property".to_owned()),
            PropKind::Wc => Some("is a WC property, not a regular property".to_owned()),
            PropKind::Regular => None,
        };
        if let Some(what) = what {
            return Err(Error::new(
                ErrorCode::BAD_PROP_KIND,
                format!("Property '{name}' {what}"),
            ));
        }
        let value = canonical(&of(name, mime_type.as_ref()), value, false, clock)?;
        all.insert(name.clone(), value);
    }
    Ok(all)
}
