//! `svnlook propget` and `svnlook proplist`.

use std::sync::Arc;

use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::repository::InheritedProps;
use sylvan_core::translate::Translator;
use sylvan_core::{Error, ErrorCode, Props, Result, props};
use sylvan_fs::TreeNode;

use crate::invocation::{Invocation, too_few, too_many};
use crate::look::{Env, Look, Name};
use crate::revision::until_nul;

pub(crate) fn get(env: &mut Env, inv: &Invocation) -> Result<()> {
    let (name, path) = get_args(inv)?;
    let look = Look::open(inv)?;
    let Some(path) = path else {
        // Also a revision whose properties are asked for must be there.
        look.tree()?;
        return match look.revprops()?.get(name) {
            Some(value) => print_value(env, inv, "", name, value),
            None => Err(not_found(&look, name, None)),
        };
    };
    let path = absolute(path);
    let node = look.node(&path, &path)?;
    let inherits = inv.options.has("show-inherited-props");
    let inherited = if inherits {
        inherited(&look, &node, Some(name))?
    } else {
        Vec::new()
    };
    let own = node.props()?.get(name).cloned();
    if own.is_none() && inherited.is_empty() {
        return Err(not_found(&look, name, Some((&path, inherits))));
    }
    for above in &inherited {
        print_inherited(env, inv, &path, above, inherited.len() > 1 || own.is_some())?;
    }
    match own {
        Some(value) => print_value(env, inv, &path, name, &value),
        None => Ok(()),
    }
}

fn get_args(inv: &Invocation) -> Result<(&str, Option<&str>)> {
    match (inv.args.as_slice(), inv.options.has("revprop")) {
        ([], true) => Err(too_few("Missing propname argument")),
        ([], false) => Err(too_few("Missing propname and repository path arguments")),
        ([name], true) => Ok((name, None)),
        ([_], false) => Err(too_few("Missing propname or repository path argument")),
        ([name, path], false) => Ok((name, Some(path))),
        _ => Err(too_many()),
    }
}

fn absolute(path: &str) -> String {
    match path.strip_prefix('/') {
        Some(_) => path.to_owned(),
        None => format!("/{path}"),
    }
}

/// The error for a property that is not there.
fn not_found(look: &Look, name: &str, path: Option<(&str, bool)>) -> Error {
    let place = match look.name() {
        Name::Revision(revision) => format!("revision {revision}"),
        Name::Txn(txn) => format!("transaction {txn}"),
    };
    let whose = match path {
        None => format!("on {place}"),
        Some((path, false)) => format!("on path '{path}' in {place}"),
        Some((path, true)) => {
            format!("on path '{path}' or inherited from a parent in {place}")
        }
    };
    Error::new(
        ErrorCode::PROPERTY_NOT_FOUND,
        format!("Property '{name}' not found {whose}"),
    )
}

fn print_value(
    env: &mut Env,
    inv: &Invocation,
    path: &str,
    name: &str,
    value: &[u8],
) -> Result<()> {
    if inv.options.has("verbose") {
        // A revision has no path.
        let path = if path.is_empty() { "(null)" } else { path };
        env.out.line(format_args!("Properties on '{path}':"))?;
        let props = Props::from([(name.to_owned(), value.to_vec())]);
        return print_props(&mut env.out, &props, true);
    }
    if inv.options.has("show-inherited-props") {
        env.out.print(format_args!("{path} - "))?;
    }
    env.out.bytes(value)
}

fn print_inherited(
    env: &mut Env,
    inv: &Invocation,
    path: &str,
    above: &InheritedProps,
    more: bool,
) -> Result<()> {
    if inv.options.has("verbose") {
        print_inherited_head(&mut env.out, path, above)?;
        return print_props(&mut env.out, &above.props, true);
    }
    for value in above.props.values() {
        env.out
            .print(format_args!("{} - ", above.path.to_fspath()))?;
        env.out.bytes(value)?;
        if more {
            env.out.print('\n')?;
        }
    }
    Ok(())
}

fn print_inherited_head(out: &mut Output, path: &str, above: &InheritedProps) -> Result<()> {
    let from = above.path.to_fspath();
    out.line(format_args!(
        "Inherited properties on '{path}',\nfrom '{from}':"
    ))
}

/// Returns the properties of the folders above a node, the root first; of one name only, if one is
/// given.
fn inherited(look: &Look, node: &TreeNode<'_>, name: Option<&str>) -> Result<Vec<InheritedProps>> {
    let tree = look.tree()?;
    let mut inherited = Vec::new();
    let mut above = node.path().parent();
    while let Some(path) = above {
        let mut props = Arc::unwrap_or_clone(tree.node(path)?.props()?);
        props.retain(|key, _| name.is_none_or(|name| key == name));
        if !props.is_empty() {
            inherited.push(InheritedProps {
                path: path.to_owned(),
                props,
            });
        }
        above = path.parent();
    }
    inherited.reverse();
    Ok(inherited)
}

pub(crate) fn list(env: &mut Env, inv: &Invocation) -> Result<()> {
    if inv.options.has("revprop") {
        inv.no_arg()?;
        let look = Look::open(inv)?;
        let props = look.revprops()?;
        return list_revprops(env, inv, &look, &props);
    }
    let path = absolute(inv.one_arg()?);
    let look = Look::open(inv)?;
    let node = look.node(&path, &path)?;
    let props = node.props()?;
    let inherited = if inv.options.has("show-inherited-props") {
        inherited(&look, &node, None)?
    } else {
        Vec::new()
    };
    let verbose = inv.options.has("verbose");
    if inv.options.has("xml") {
        let mut xml = begin_xml();
        for above in &inherited {
            let path = above.path.to_fspath();
            xml.open(Style::Normal, "target", &[("path", &path)]);
            write_xml(&mut xml, "inherited_property", &above.props, verbose)?;
            xml.close("target");
        }
        xml.open(Style::Normal, "target", &[("path", &path)]);
        write_xml(&mut xml, "property", &props, verbose)?;
        return env
            .out
            .print(xml.close("target").close("properties").take());
    }
    for above in &inherited {
        print_inherited_head(&mut env.out, &path, above)?;
        print_props(&mut env.out, &above.props, verbose)?;
    }
    env.out.line(format_args!("Properties on '{path}':"))?;
    print_props(&mut env.out, &props, verbose)
}

fn list_revprops(env: &mut Env, inv: &Invocation, look: &Look, props: &Props) -> Result<()> {
    let verbose = inv.options.has("verbose");
    if !inv.options.has("xml") {
        return print_props(&mut env.out, props, verbose);
    }
    let attribute = match look.name() {
        Name::Revision(revision) => ("rev", revision.to_string()),
        Name::Txn(txn) => ("txn", txn.to_string()),
    };
    let mut xml = begin_xml();
    xml.open(Style::Normal, "revprops", &[(attribute.0, &attribute.1)]);
    write_xml(&mut xml, "property", props, verbose)?;
    env.out
        .print(xml.close("revprops").close("properties").take())
}

fn begin_xml() -> Writer {
    let mut xml = Writer::new();
    xml.header().open(Style::Normal, "properties", &[]);
    xml
}

fn write_xml(xml: &mut Writer, tag: &str, props: &Props, values: bool) -> Result<()> {
    for (name, value) in props {
        if values {
            xml.property(tag, name, &for_output(name, value)?);
        } else {
            xml.open(Style::SelfClosing, tag, &[("name", name)]);
        }
    }
    Ok(())
}

/// Prints names, and values indented below them.
fn print_props(out: &mut Output, props: &Props, values: bool) -> Result<()> {
    for (name, value) in props {
        out.line(format_args!("  {name}"))?;
        if values {
            let value = for_output(name, value)?;
            out.bytes(&indented(until_nul(&value)))?;
        }
    }
    Ok(())
}

/// Indents each line, and ends the last one, whether it has an end or not.
fn indented(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let value = [value, b"\n"].concat();
    let mut rest = &value[..];
    while !rest.is_empty() {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        let len = match rest.get(end..) {
            Some([b'\r', b'\n', ..] | [b'\n', b'\r', ..]) => end + 2,
            Some([_, ..]) => end + 1,
            _ => end,
        };
        out.extend_from_slice(b"    ");
        out.extend_from_slice(&rest[..len]);
        rest = &rest[len..];
    }
    out
}

/// Gives the values of Subversion's own properties the system's line ends.
fn for_output(name: &str, value: &[u8]) -> Result<Vec<u8>> {
    if !props::is_svn(name) {
        return Ok(value.to_vec());
    }
    let mut out = Vec::with_capacity(value.len());
    let mut translator = Translator::new(Some(b"\n"), false, None, false);
    translator.push(until_nul(value), &mut out)?;
    translator.finish(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_indented() {
        for (value, expected) in [
            ("", "    \n"),
            ("a", "    a\n"),
            ("a\n", "    a\n    \n"),
            ("a\r\nb\rc", "    a\r\n    b\r    c\n"),
        ] {
            assert_eq!(indented(value.as_bytes()), expected.as_bytes(), "{value:?}");
        }
    }

    #[test]
    fn own_properties_have_lf() {
        assert_eq!(for_output("svn:x", b"a\r\nb\r\n").unwrap(), b"a\nb\n");
        assert_eq!(for_output("x", b"a\r\nb\0").unwrap(), b"a\r\nb\0");
        assert!(for_output("svn:x", b"a\r\nb\n").is_err());
    }
}
