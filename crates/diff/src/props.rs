//! Differences of properties.

use std::collections::BTreeMap;

use sylvan_core::mergeinfo::Mergeinfo;
use sylvan_core::{ErrorCode, Props, Result, props::SVN_MERGEINFO};

use crate::unified::{self, PROPERTY};
use crate::{Options, Poll, Sink, Source};

/// Changes of properties by name; `None` for one that is gone.
pub type PropChanges = BTreeMap<String, Option<Vec<u8>>>;

/// How changes of `svn:mergeinfo` are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeinfoStyle {
    /// As those of any property.
    Hunks,
    /// As what was merged, and what no longer is.
    Merges,
}

/// Writes how properties changed: for each one its name, and its value as hunks. What did not
/// change after all is left out.
///
/// # Errors
/// What `sink` and `poll` returned.
pub fn write(
    changes: &PropChanges,
    before: &Props,
    context: u32,
    mergeinfo: MergeinfoStyle,
    sink: &mut Sink<'_>,
    poll: &mut Poll<'_>,
) -> Result<()> {
    let options = Options {
        context,
        ..Options::default()
    };
    for (name, after) in changes {
        let before = before.get(name);
        let action = match (before, after) {
            (None, None) => continue,
            (Some(before), Some(after)) if before == after => continue,
            (None, Some(_)) => "Added",
            (Some(_), None) => "Deleted",
            (Some(_), Some(_)) => "Modified",
        };
        sink(format!("{action}: {name}\n").as_bytes())?;
        let old = before.map_or(&[][..], Vec::as_slice);
        let new = after.as_deref().unwrap_or_default();
        if name == SVN_MERGEINFO
            && mergeinfo == MergeinfoStyle::Merges
            && let Some(text) = merges(old, new)?
        {
            sink(text.as_bytes())?;
            continue;
        }
        write_value([&old, &new], &options, sink, poll)?;
    }
    Ok(())
}

/// Tells what was merged and what no longer is; `None` if a value makes no sense.
fn merges(old: &[u8], new: &[u8]) -> Result<Option<String>> {
    let parsed = Mergeinfo::parse(old).and_then(|old| Ok((old, Mergeinfo::parse(new)?)));
    let (old, new) = match parsed {
        Ok(parsed) => parsed,
        Err(error) if error.code() == ErrorCode::MERGEINFO_PARSE_ERROR => return Ok(None),
        Err(error) => return Err(error),
    };
    let (deleted, added) = (old.without_alike(&new), new.without_alike(&old));
    let mut text = format!("## -0,{} +0,{} ##\n", deleted.0.len(), added.0.len());
    for (what, mergeinfo) in [("Reverse-merged", deleted), ("Merged", added)] {
        for (source, ranges) in mergeinfo.0 {
            text.push_str(&format!("   {what} {source}:r{}\n", ranges.to_text()?));
        }
    }
    Ok(Some(text))
}

fn write_value(
    values: [&dyn Source; 2],
    options: &Options,
    sink: &mut Sink<'_>,
    poll: &mut Poll<'_>,
) -> Result<()> {
    let diff = crate::diff_whole(values, options, poll)?;
    unified::write_hunks(&diff, values, options, PROPERTY, sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_hunks() {
        let before = Props::from([
            ("gone".to_owned(), b"x\n".to_vec()),
            ("same".to_owned(), b"x".to_vec()),
            ("text".to_owned(), b"a\nb".to_vec()),
        ]);
        let changes = PropChanges::from([
            ("gone".to_owned(), None),
            ("never".to_owned(), None),
            ("new".to_owned(), Some(b"*".to_vec())),
            ("empty".to_owned(), Some(Vec::new())),
            ("same".to_owned(), Some(b"x".to_vec())),
            ("text".to_owned(), Some(b"a\nc\n".to_vec())),
        ]);
        let mut out = Vec::new();
        let mut sink = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        let style = MergeinfoStyle::Hunks;
        write(&changes, &before, 3, style, &mut sink, &mut || Ok(())).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "Added: empty\n\
             Deleted: gone\n## -1 +0,0 ##\n-x\n\
             Added: new\n## -0,0 +1 ##\n+*\n\\ No newline at end of property\n\
             Modified: text\n## -1,2 +1,2 ##\n a\n-b\n\\ No newline at end of property\n+c\n"
        );
    }

    #[test]
    fn mergeinfo_is_shown_as_merges() {
        let shown = |old: &str, new: &str| {
            let before = Props::from([(SVN_MERGEINFO.to_owned(), old.into())]);
            let changes = PropChanges::from([(SVN_MERGEINFO.to_owned(), Some(new.into()))]);
            let mut out = Vec::new();
            let mut sink = |bytes: &[u8]| {
                out.extend_from_slice(bytes);
                Ok(())
            };
            let style = MergeinfoStyle::Merges;
            write(&changes, &before, 3, style, &mut sink, &mut || Ok(())).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            shown("/a:1-3\n/b:4", "/a:2-5\n/c:7*"),
            "Modified: svn:mergeinfo\n## -0,2 +0,2 ##\n   Reverse-merged /a:r1\n   \
             Reverse-merged /b:r4\n   Merged /a:r4-5\n   Merged /c:r7*\n"
        );
        // What makes no sense is text like any other.
        assert_eq!(
            shown("x", "y"),
            "Modified: svn:mergeinfo\n## -1 +1 ##\n-x\n\\ No newline at end of property\n+y\n\
             \\ No newline at end of property\n"
        );
    }
}
