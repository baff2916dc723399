//! What changes of properties mean.

use sylvan_core::props::{self, PropKind};
use sylvan_core::{Error, ErrorCode, Props, Result, Revnum, Timestamp, skel};

use super::PropChanges;
use crate::db::write::Changed;

/// Returns properties after changes; `all` says that those not mentioned are gone.
pub(in crate::update) fn patched(base: &Props, changes: &PropChanges, all: bool) -> Props {
    let mut props = if all { Props::new() } else { base.clone() };
    for (name, value) in changes {
        if PropKind::of(name) != PropKind::Regular {
            continue;
        }
        match value {
            Some(value) => drop(props.insert(name.clone(), value.clone())),
            None => drop(props.remove(name)),
        }
    }
    props
}

pub(super) fn has_regular(changes: &PropChanges) -> bool {
    changes
        .iter()
        .any(|(name, _)| PropKind::of(name) == PropKind::Regular)
}

/// Tells whether a property is among the changes that decides what the working file looks like.
pub(super) fn has_magic(changes: &PropChanges) -> bool {
    changes.iter().any(|(name, _)| {
        [
            props::SVN_EXECUTABLE,
            props::SVN_KEYWORDS,
            props::SVN_EOL_STYLE,
            props::SVN_SPECIAL,
            props::SVN_NEEDS_LOCK,
        ]
        .contains(&name.as_str())
    })
}

/// Returns what an HTTP server wants to be kept, as a skel.
pub(in crate::update) fn dav_cache(changes: &PropChanges) -> Option<Vec<u8>> {
    let props: Props = changes
        .iter()
        .filter(|(name, _)| PropKind::of(name) == PropKind::Wc)
        .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
        .collect();
    (!props.is_empty()).then(|| skel::props_to_skel(&props))
}

pub(in crate::update) fn inherited_skel(inherited: &crate::update::InheritedProps) -> Vec<u8> {
    skel::inherited_props_to_skel(inherited.iter().map(|(path, props)| (path.as_str(), props)))
}

/// Takes revision, date and author of the last change from entry properties.
pub(in crate::update) fn accumulate_changed(
    changed: &mut Changed,
    changes: &PropChanges,
) -> Result<()> {
    for (name, value) in changes {
        let Some(value) = value else {
            continue;
        };
        let text = || String::from_utf8_lossy(value);
        match name.as_str() {
            props::ENTRY_COMMITTED_REV => {
                let text = text();
                changed.rev = Some(Revnum::parse(&text).ok_or_else(|| {
                    Error::new(
                        ErrorCode::BAD_PROPERTY_VALUE,
                        format!("'{}' is not a revision number", text.escape_debug()),
                    )
                })?);
            }
            props::ENTRY_COMMITTED_DATE => {
                changed.date = Timestamp::parse_iso(&text())?.micros();
            }
            props::ENTRY_LAST_AUTHOR => changed.author = Some(text().into_owned()),
            _ => {}
        }
    }
    Ok(())
}
