//! Differences of properties.

use std::collections::BTreeMap;

use sylvan_core::{Props, Result};

use crate::unified::{self, PROPERTY};
use crate::{Options, Poll, Sink, Source};

/// Changes of properties by name; `None` for one that is gone.
pub type PropChanges = BTreeMap<String, Option<Vec<u8>>>;

/// Writes how properties changed: for each one its name, and its value as hunks. What did not
/// change after all is left out.
///
/// # Errors
/// What `sink` and `poll` returned.
pub fn write(
    changes: &PropChanges,
    before: &Props,
    context: u32,
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
        write_value([&old, &new], &options, sink, poll)?;
    }
    Ok(())
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
        write(&changes, &before, 3, &mut sink, &mut || Ok(())).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "Added: empty\n\
             Deleted: gone\n## -1 +0,0 ##\n-x\n\
             Added: new\n## -0,0 +1 ##\n+*\n\\ No newline at end of property\n\
             Modified: text\n## -1,2 +1,2 ##\n a\n-b\n\\ No newline at end of property\n+c\n"
        );
    }
}
