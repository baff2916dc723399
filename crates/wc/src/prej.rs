//! Files that tell of conflicts between properties.

use sylvan_core::props::from_skel;
use sylvan_core::{Error, ErrorCode, RelPath, Result};
use sylvan_diff::{Options, Source, diff3_whole, merge};

use crate::conflict::{Conflict, Operation, PropConflict};
use crate::install::{self, Recipe};
use crate::work_queue::Runner;

/// Writes the file that tells which local property changes could not be merged.
pub(crate) fn install(runner: &Runner<'_>, path: &RelPath) -> Result<()> {
    let not_found = |text: &str| {
        Error::new(
            ErrorCode::WC_BAD_ADM_LOG,
            format!("{text} of '{}'", runner.local(path)),
        )
    };
    let node = runner.db.node(path)?;
    let node = node.ok_or_else(|| not_found("No conflict"))?;
    let Some(stored) = &node.actual.conflict else {
        return Err(not_found("No conflict"));
    };
    let conflict = Conflict::parse(stored)?;
    let Some(props) = conflict.props else {
        return Err(not_found("No property conflict"));
    };
    let Some(marker) = &props.marker else {
        return Err(not_found("No file for the property conflict"));
    };
    // Merges may be of properties that are not those of the base.
    let base = match conflict.operation {
        Operation::Merge => match node.top().and_then(|top| top.properties.as_ref()) {
            Some(stored) => from_skel(stored)?,
            None => sylvan_core::Props::new(),
        },
        _ => props.old.clone(),
    };
    let text = describe(&props, &base)?;
    let source = install::Source::Bytes(&text);
    let (root, tmp) = (&runner.site.root, runner.site.tmp());
    install::by_rename(root, marker, source, &Recipe::plain(), tmp).map(drop)
}

/// Returns the text of such a file; `base` has the properties of the node's base.
pub(crate) fn describe(conflict: &PropConflict, base: &sylvan_core::Props) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for name in &conflict.names {
        let values = Values {
            base: base.get(name),
            from: conflict.old.get(name),
            to: conflict.theirs.get(name),
            mine: conflict.mine.get(name),
        };
        out.extend_from_slice(values.describe(name).as_bytes());
        values.show(&mut out)?;
    }
    Ok(out)
}

struct Values<'v> {
    base: Option<&'v Vec<u8>>,
    from: Option<&'v Vec<u8>>,
    to: Option<&'v Vec<u8>>,
    mine: Option<&'v Vec<u8>>,
}

impl Values<'_> {
    fn describe(&self, name: &str) -> String {
        let (what, but) = match (self.from, self.to) {
            (None, _) if self.mine.is_some() => ("add new", "the property already exists"),
            (None, _) => ("add new", "the property has been locally deleted"),
            (Some(_), None) => ("delete", self.why_not_deleted()),
            (Some(_), Some(_)) => ("change", self.why_not_changed()),
        };
        format!("Trying to {what} property '{name}'\nbut {but}.\n")
    }

    fn why_not_deleted(&self) -> &'static str {
        match (self.base, self.mine) {
            (None, Some(_)) => "the property has been locally added",
            (base, Some(_)) if base == self.from => "the property has been locally modified",
            (base, None) if base != self.from => {
                "the property has been locally deleted and had a different value"
            }
            _ => "the local property value is different",
        }
    }

    fn why_not_changed(&self) -> &'static str {
        match (self.base, self.mine) {
            (Some(base), Some(mine)) if base == mine => {
                "the local property value conflicts with the incoming change"
            }
            (Some(_), Some(_)) => {
                "the property has already been locally changed to a different value"
            }
            (Some(_), None) => "the property has been locally deleted",
            (None, Some(_)) => "the property has been locally added with a different value",
            (None, None) => "the property does not exist locally",
        }
    }

    /// Shows the values side by side, or what can be shown of them.
    fn show(&self, out: &mut Vec<u8>) -> Result<()> {
        let empty = Vec::new();
        let [from, mine, to] = [self.from, self.mine, self.to].map(|value| value.unwrap_or(&empty));
        if ![from, mine, to].into_iter().any(|value| is_binary(value)) {
            let [from, mine, to] = [from, mine, to].map(|value| fuzzy(value));
            let [from, mine, to] = [&*from, &*mine, &*to];
            let sources: [&dyn Source; 3] = [&from, &mine, &to];
            let diff = diff3_whole(sources, &Options::default(), &mut || Ok(()))?;
            if diff.has_conflicts() {
                let labels = merge::Labels::new(
                    "(incoming 'changed from' value)",
                    "(local property value)",
                    "(incoming 'changed to' value)",
                );
                return merge::write(&diff, sources, &labels, merge::Style::All, &mut |bytes| {
                    out.extend_from_slice(bytes);
                    Ok(())
                });
            }
        }
        for (what, value) in [("Local", mine), ("Incoming", to)] {
            if value.is_empty() {
                continue;
            }
            out.extend_from_slice(format!("{what} property value:\n").as_bytes());
            if is_binary(value) {
                out.extend_from_slice(b"Cannot display: property value is binary data\n");
            } else {
                out.extend_from_slice(value);
            }
            out.push(b'\n');
        }
        Ok(())
    }
}

/// Tells whether bytes do not look like text: there is a zero, or more than 85% are no ASCII.
fn is_binary(value: &[u8]) -> bool {
    if value == b"\xef\xbb\xbf" {
        return false;
    }
    if value.contains(&0) {
        return true;
    }
    let odd = value
        .iter()
        .filter(|byte| **byte < 0x07 || **byte > 0x0d && **byte < 0x20 || **byte > 0x7f)
        .count();
    odd * 1000 / value.len().max(1) > 850
}

/// Escapes what is not ASCII, as for a terminal that knows no more.
fn fuzzy(value: &[u8]) -> Vec<u8> {
    let is_utf8 = std::str::from_utf8(value).is_ok();
    if is_utf8 {
        return value.to_vec();
    }
    let mut out = Vec::new();
    for byte in value {
        if byte.is_ascii() {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("?\\{byte:03}").as_bytes());
        }
    }
    out
}
