use super::{
    BOOLEAN_TRUE, SVN_AUTO_PROPS, SVN_EOL_STYLE, SVN_EXTERNALS, SVN_GLOBAL_IGNORES, SVN_IGNORE,
    SVN_KEYWORDS, SVN_MIME_TYPE, is_boolean, is_known_dir_prop, is_known_file_prop,
};
use crate::time::Clock;
use crate::translate::Eol;
use crate::{Error, ErrorCode, NodeKind, Result, externals};

/// Checks that a property may be set on a node of this kind. `path` is for the error.
///
/// # Errors
/// [`ErrorCode::ILLEGAL_TARGET`] for one of Subversion's own that belongs to the other kind,
/// [`ErrorCode::NODE_UNEXPECTED_KIND`] for what is neither file nor folder.
pub fn check_kind(name: &str, kind: NodeKind, path: &str) -> Result<()> {
    let wrong = |kind: &str| {
        Err(Error::new(
            ErrorCode::ILLEGAL_TARGET,
            format!("Cannot set '{name}' on a {kind} ('{path}')"),
        ))
    };
    match kind {
        NodeKind::Dir if !is_known_dir_prop(name) && is_known_file_prop(name) => wrong("directory"),
        NodeKind::File if !is_known_file_prop(name) && is_known_dir_prop(name) => wrong("file"),
        NodeKind::Dir | NodeKind::File => Ok(()),
        NodeKind::None | NodeKind::Unknown => Err(Error::new(
            ErrorCode::NODE_UNEXPECTED_KIND,
            format!("'{path}' is not a file or directory"),
        )),
    }
}

/// Returns the value of a property as it is stored: blanks trimmed, a newline at the end of lists,
/// `*` for what is on by being there. `path` is for errors.
///
/// Not looked at are the content of the file (for `svn:eol-style`) and mergeinfo.
///
/// # Errors
/// [`ErrorCode::IO_UNKNOWN_EOL`], [`ErrorCode::BAD_MIME_TYPE`] and those of [`externals::parse`],
/// [`ErrorCode::WC_DUPLICATE_EXTERNALS_TARGET`]. With `skip_checks`, the first two are not checked.
pub fn canonical_value(
    name: &str,
    value: &[u8],
    path: &str,
    skip_checks: bool,
    clock: &Clock,
) -> Result<Vec<u8>> {
    let trimmed = value.trim_ascii();
    Ok(match name {
        SVN_EOL_STYLE if !skip_checks => {
            if Eol::from_prop(trimmed).is_none() {
                let style = String::from_utf8_lossy(trimmed);
                return Err(Error::new(
                    ErrorCode::IO_UNKNOWN_EOL,
                    format!("Unrecognized line ending style '{style}' for '{path}'"),
                ));
            }
            trimmed.to_vec()
        }
        SVN_MIME_TYPE if !skip_checks => {
            check_mime_type(&String::from_utf8_lossy(trimmed))?;
            trimmed.to_vec()
        }
        SVN_IGNORE | SVN_GLOBAL_IGNORES | SVN_AUTO_PROPS | SVN_EXTERNALS => {
            if name == SVN_EXTERNALS {
                check_externals(&String::from_utf8_lossy(value), path, clock)?;
            }
            let mut list = value.to_vec();
            if !list.ends_with(b"\n") {
                list.push(b'\n');
            }
            list
        }
        SVN_KEYWORDS => trimmed.to_vec(),
        name if is_boolean(name) => BOOLEAN_TRUE.to_vec(),
        _ => value.to_vec(),
    })
}

/// Checks that a MIME type is `type/subtype`, perhaps with parameters after `;` or a blank.
///
/// # Errors
/// [`ErrorCode::BAD_MIME_TYPE`].
pub fn check_mime_type(mime_type: &str) -> Result<()> {
    const SPECIAL: &str = "()<>@,;:\\\"/[]?=";
    let bad = |what: String| {
        Err(Error::new(
            ErrorCode::BAD_MIME_TYPE,
            format!("MIME type '{mime_type}' {what}"),
        ))
    };
    let end = mime_type.find([';', ' ']).unwrap_or(mime_type.len());
    let essence = &mime_type[..end];
    if essence.is_empty() {
        return bad("has empty media type".to_owned());
    }
    let Some(slash) = essence.find('/') else {
        return bad("does not contain '/'".to_owned());
    };
    let is_wrong =
        |(at, c): &(usize, char)| *at != slash && (!c.is_ascii_graphic() || SPECIAL.contains(*c));
    if let Some((_, c)) = essence.char_indices().find(is_wrong) {
        return bad(format!("contains invalid character '{c}' in media type"));
    }
    match mime_type
        .bytes()
        .find(|byte| byte.is_ascii_control() && *byte != b'\t')
    {
        Some(byte) => bad(format!(
            "contains invalid character '0x{byte:02x}' in postfix"
        )),
        None => Ok(()),
    }
}

fn check_externals(value: &str, path: &str, clock: &Clock) -> Result<()> {
    let items = externals::parse(path, value, clock)?;
    let duplicates = externals::duplicate_targets(&items);
    let Some((first, more)) = duplicates.split_first() else {
        return Ok(());
    };
    let more = match more.len() {
        0 => String::new(),
        1 => " (1 more duplicate target found)".to_owned(),
        count => format!(" ({count} more duplicate targets found)"),
    };
    Err(Error::new(
        ErrorCode::WC_DUPLICATE_EXTERNALS_TARGET,
        format!(
            "Invalid svn:externals property on '{path}': target '{first}' appears more than \
             once{more}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TimeZone, Timestamp};

    fn canonical(name: &str, value: &str) -> Result<String> {
        let clock = Clock {
            now: Timestamp::from_micros(0),
            zone: TimeZone::utc(),
        };
        canonical_value(name, value.as_bytes(), "p", false, &clock)
            .map(|value| String::from_utf8(value).unwrap())
    }

    #[test]
    fn values_become_canonical() {
        for (name, value, stored) in [
            ("svn:eol-style", " native\n", "native"),
            ("svn:mime-type", "text/plain; x \n", "text/plain; x"),
            ("svn:ignore", "*.o", "*.o\n"),
            ("svn:ignore", "", "\n"),
            ("svn:externals", "^/a b\n", "^/a b\n"),
            ("svn:keywords", " Id Rev\n", "Id Rev"),
            ("svn:executable", "no", "*"),
            ("own", " x ", " x "),
        ] {
            assert_eq!(canonical(name, value).unwrap(), stored, "{name}");
        }
        for (name, value, message) in [
            (
                "svn:eol-style",
                "odd",
                "Unrecognized line ending style 'odd' for 'p'",
            ),
            ("svn:mime-type", "", "MIME type '' has empty media type"),
            (
                "svn:mime-type",
                "text plain/x",
                "MIME type 'text plain/x' does not contain '/'",
            ),
            (
                "svn:mime-type",
                "text/pl@in",
                "MIME type 'text/pl@in' contains invalid character '@' in media type",
            ),
            (
                "svn:mime-type",
                "text/a/b",
                "MIME type 'text/a/b' contains invalid character '/' in media type",
            ),
            (
                "svn:mime-type",
                "a/b;\u{1}",
                "MIME type 'a/b;\u{1}' contains invalid character '0x01' in postfix",
            ),
            (
                "svn:externals",
                "^/a b\n^/c b\n^/d e\n^/f e",
                "Invalid svn:externals property on 'p': target 'b' appears more than once (1 more \
                 duplicate target found)",
            ),
        ] {
            assert_eq!(canonical(name, value).unwrap_err().message(), message);
        }
    }

    #[test]
    fn kinds() {
        for (name, kind, message) in [
            (
                "svn:ignore",
                NodeKind::File,
                Some("Cannot set 'svn:ignore' on a file ('p')"),
            ),
            (
                "svn:special",
                NodeKind::Dir,
                Some("Cannot set 'svn:special' on a directory ('p')"),
            ),
            (
                "own",
                NodeKind::None,
                Some("'p' is not a file or directory"),
            ),
            ("own", NodeKind::Dir, None),
            ("svn:mergeinfo", NodeKind::File, None),
        ] {
            let error = check_kind(name, kind, "p").err();
            assert_eq!(error.map(|error| error.message()).as_deref(), message);
        }
    }
}
