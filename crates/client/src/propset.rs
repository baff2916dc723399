//! Setting and deleting properties of nodes in working copies.

use sylvan_core::props::{self, PropKind};
use sylvan_core::{Depth, Dirent, Error, ErrorCode, NodeKind, Result};
use sylvan_wc::WorkingCopy;
use sylvan_wc::lock::{Anchor, WcLock};
use sylvan_wc::notify::{Action, Notification, NotifyFn};
use sylvan_wc::propset::PropSet;

use crate::Context;
use crate::wc_node::WcNode;

/// Which property is set, and where.
#[derive(Clone, Copy, Debug)]
pub struct PropSetOptions<'a> {
    /// The name.
    pub name: &'a str,
    /// The value; `None` deletes the property.
    pub value: Option<&'a [u8]>,
    /// How deep.
    pub depth: Depth,
    /// Take values that do not go with the file.
    pub force: bool,
    /// Only members of these changelists, if there are any.
    pub changelists: &'a [String],
}

/// Sets or deletes a property of nodes in working copies.
///
/// # Errors
/// `E195011` for a name that cannot be, and those of [`sylvan_wc::propset::set`].
pub fn propset(
    context: &Context,
    paths: &[Dirent],
    options: &PropSetOptions<'_>,
    notify: &mut NotifyFn<'_>,
) -> Result<()> {
    check_name(options.name, options.value.is_some())?;
    for path in paths {
        context.cancel.check()?;
        let abspath = context.absolute(path);
        let (mut wc, target) = WorkingCopy::open(&abspath, &context.wc)?;
        let kind = WcNode::open(context, path)?.kind(false)?;
        if matches!(kind, NodeKind::Unknown | NodeKind::None) {
            notify(&Notification::new(abspath, Action::PathNonexistent));
        }
        let set = PropSet {
            name: options.name,
            value: options.value,
            depth: options.depth,
            skip_checks: options.force,
            changelists: options.changelists,
            clock: &context.clock,
        };
        let cancel = &context.cancel;
        WcLock::with(&mut wc, &target, Anchor::Node, |wc, lock| {
            sylvan_wc::propset::set(wc, lock, &target, &set, cancel, notify)
        })?;
    }
    Ok(())
}

/// Requires a name to be one of a versioned property. One that is only deleted may be ill-formed.
///
/// # Errors
/// `E195011`.
pub fn check_name(name: &str, is_set: bool) -> Result<()> {
    let bad = |text: String| Err(Error::new(ErrorCode::CLIENT_PROPERTY_NAME, text));
    if props::is_known_revision_prop(name) {
        return bad(format!(
            "Revision property '{name}' not allowed in this context"
        ));
    }
    if PropKind::of(name) == PropKind::Wc {
        return bad(format!(
            "'{name}' is a wcprop, thus not accessible to clients"
        ));
    }
    if is_set && !props::is_valid_name(name) {
        return bad(format!("Bad property name: '{name}'"));
    }
    Ok(())
}
