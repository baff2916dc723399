//! What the subcommands about properties share.

use std::fmt::Write as _;

use sylvan_client::Context;
use sylvan_client::proplist;
use sylvan_client::target::{Argument, PathOrUrl};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::utf8;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Error, ErrorCode, Props, Result, Url, props};

use crate::env::Env;
use crate::invocation::Invocation;
use crate::similar::most_similar;

/// What a property's name is given for, in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Set,
    Edit,
}

/// Reads the operand that is the property's name.
///
/// # Errors
/// `CL_INSUFFICIENT_ARGS` without one.
pub(crate) fn name(inv: &Invocation) -> Result<&str> {
    match inv.operands.first() {
        Some(name) => utf8::os_text(name),
        None => Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS)),
    }
}

/// Requires a name to be one that a property can have.
///
/// # Errors
/// `CLIENT_PROPERTY_NAME`.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if props::is_valid_name(name) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::CLIENT_PROPERTY_NAME,
        format!("'{name}' is not a valid Subversion property name"),
    ))
}

const NODE_PROPS: &[&str] = &[
    props::SVN_MIME_TYPE,
    props::SVN_IGNORE,
    props::SVN_EOL_STYLE,
    props::SVN_KEYWORDS,
    props::SVN_EXECUTABLE,
    props::SVN_NEEDS_LOCK,
    props::SVN_SPECIAL,
    props::SVN_EXTERNALS,
    props::SVN_MERGEINFO,
    props::SVN_AUTO_PROPS,
    props::SVN_GLOBAL_IGNORES,
    props::SVN_TEXT_TIME,
    props::SVN_OWNER,
    props::SVN_GROUP,
    props::SVN_UNIX_MODE,
];

const REVISION_PROPS: &[&str] = &[
    props::REVISION_AUTHOR,
    props::REVISION_LOG,
    props::REVISION_DATE,
    props::REVISION_AUTOVERSIONED,
    props::REVISION_ORIG_DATE,
    "svn:sync-lock",
    "svn:sync-from-url",
    "svn:sync-from-uuid",
    "svn:sync-last-merged-rev",
    "svn:sync-currently-copying",
];

/// Refuses a name in Subversion's own space, or close to it, that is none of its names.
///
/// # Errors
/// `CLIENT_PROPERTY_NAME`, with the names that may have been meant.
pub(crate) fn check_reserved(name: &str, revprop: bool, how: Use) -> Result<()> {
    let known = if revprop { REVISION_PROPS } else { NODE_PROPS };
    let Some((prefix, rest)) = split(name) else {
        return Ok(());
    };
    let word = match how {
        Use::Set => "set",
        Use::Edit => "edit",
    };
    let suggest = |names: &[&str]| {
        let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
        let choice = match quoted.as_slice() {
            [one] => one.clone(),
            [one, two] => format!("{one} or {two}"),
            [one, two, three, ..] => format!("{one}, {two} or {three}"),
            [] => String::new(),
        };
        Err(Error::new(
            ErrorCode::CLIENT_PROPERTY_NAME,
            format!("'{name}' is not a valid svn: property name; did you mean {choice}?"),
        )
        .context(format!("Use '--force' to {word} the '{name}' property.")))
    };
    if prefix != "svn:" {
        // With another beginning the rest must be right.
        return match known.iter().find(|known| &known[4..] == rest) {
            Some(meant) => suggest(&[meant]),
            None => Ok(()),
        };
    }
    if known.contains(&name) {
        return Ok(());
    }
    let names: Vec<_> = known.iter().map(|known| &known[4..]).collect();
    let alike: Vec<_> = most_similar(rest, &names)
        .into_iter()
        .filter_map(|found| known.iter().find(|known| &known[4..] == found).copied())
        .collect();
    if alike.is_empty() {
        return Err(Error::new(
            ErrorCode::CLIENT_PROPERTY_NAME,
            format!("'{name}' is not a valid svn: property name; use '--force' to {word} it"),
        ));
    }
    suggest(&alike)
}

/// Splits a name whose beginning is `svn:` or nearly so.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.as_bytes().get(3) != Some(&b':') {
        return None;
    }
    let (prefix, rest) = name.split_at_checked(4)?;
    let common = common_length(prefix.as_bytes(), b"svn:");
    (common >= 3).then_some((prefix, rest))
}

fn common_length(a: &[u8], b: &[u8]) -> usize {
    let mut table = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            table[i + 1][j + 1] = if x == y {
                table[i][j] + 1
            } else {
                table[i][j + 1].max(table[i + 1][j])
            };
        }
    }
    table[a.len()][b.len()]
}

/// Warns about a value that looks as if it turned a property off.
pub(crate) fn warn_about_boolean(env: &mut Env, name: &str, value: &[u8]) {
    if !props::is_boolean(name) {
        return;
    }
    let trimmed = value.trim_ascii().to_ascii_lowercase();
    if [&b""[..], b"0", b"no", b"off", b"false"].contains(&&trimmed[..]) {
        env.warn(&Error::new(
            ErrorCode::BAD_PROPERTY_VALUE,
            format!(
                "To turn off the {name} property, use 'svn propdel';\nsetting the property to \
                 '{}' will not turn it off.",
                String::from_utf8_lossy(value)
            ),
        ));
    }
}

/// Checks that a revision is given in which a revision property is, and exactly one target;
/// returns the repository's URL.
///
/// # Errors
/// `CL_ARG_PARSING_ERROR`, and `UNVERSIONED_RESOURCE` if the target has no URL.
pub(crate) fn revprop_url(
    context: &Context,
    inv: &Invocation,
    targets: &[Argument],
) -> Result<Url> {
    let bad = |text: &str| Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, text));
    if !matches!(
        inv.start(),
        RevisionSpec::Number(_) | RevisionSpec::Date(_) | RevisionSpec::Head
    ) {
        return bad(
            "Must specify the revision as a number, a date or 'HEAD' when operating on a revision \
             property",
        );
    }
    let [target] = targets else {
        return bad("Wrong number of targets specified");
    };
    proplist::revprop_url(context, &target.target(&context.clock)?.at)
}

/// Prints names, and if wanted values, as lists of properties have them.
///
/// # Errors
/// Those of [`Output::print`].
pub(crate) fn print(out: &mut Output, props: &Props, values: bool) -> Result<()> {
    for (name, value) in props {
        out.line(format_args!("  {name}"))?;
        if values {
            out.bytes(&indented(value))?;
        }
    }
    Ok(())
}

/// Returns the lines of a value, indented, up to its first NUL.
fn indented(value: &[u8]) -> Vec<u8> {
    let end = value.iter().position(|byte| *byte == 0);
    let mut text = value[..end.unwrap_or(value.len())].to_vec();
    text.push(b'\n');
    let mut lines = Vec::with_capacity(text.len() + 8);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        lines.extend_from_slice(b"    ");
        lines.extend_from_slice(line);
    }
    lines
}

/// Writes properties as XML.
pub(crate) fn write_xml(writer: &mut Writer, props: &Props, values: bool, tag: &str) {
    for (name, value) in props {
        if values {
            writer.property(tag, name, value);
        } else {
            writer.open(Style::SelfClosing, tag, &[("name", name)]);
        }
    }
}

/// Shows a place: a URL, or a path in local style.
pub(crate) fn shown(at: &PathOrUrl) -> String {
    let mut shown = String::new();
    let _ = match at {
        PathOrUrl::Url(url) => write!(shown, "{url}"),
        PathOrUrl::Path(path) => write!(shown, "{}", path.local_style()),
    };
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_close_to_reserved_ones_are_refused() {
        for (name, revprop, message) in [
            ("svn:eol-style", false, None),
            ("svn:log", true, None),
            ("own:x", false, None),
            ("svnx", false, None),
            (
                "svn:eol-stile",
                false,
                Some(
                    "'svn:eol-stile' is not a valid svn: property name; did you mean 'svn:eol-style'?",
                ),
            ),
            (
                "snv:ignore",
                false,
                Some("'snv:ignore' is not a valid svn: property name; did you mean 'svn:ignore'?"),
            ),
            ("snv:other", false, None),
            (
                "svn:zzzzzz",
                false,
                Some("'svn:zzzzzz' is not a valid svn: property name; use '--force' to set it"),
            ),
        ] {
            let error = check_reserved(name, revprop, Use::Set).err();
            assert_eq!(
                error.map(|error| error.root().message()).as_deref(),
                message,
                "{name}"
            );
        }
    }

    #[test]
    fn values_are_indented() {
        for (value, lines) in [
            (&b"a"[..], &b"    a\n"[..]),
            (b"a\nb\n", b"    a\n    b\n    \n"),
            (b"", b"    \n"),
            (b"a\0b", b"    a\n"),
        ] {
            assert_eq!(indented(value), lines);
        }
    }
}
