//! `svn propget`.

use std::cmp::Ordering;

use sylvan_client::Context;
use sylvan_client::proplist::{self, Options};
use sylvan_client::target::{Argument, PathOrUrl, Target};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::{Depth, Error, ErrorCode, Props, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::{props, targets, xml_parts};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    if inv.verbose && (inv.revprop || inv.no_newline || inv.xml) {
        return Err(Error::new(
            ErrorCode::CL_MUTUALLY_EXCLUSIVE_ARGS,
            "--verbose cannot be used with --revprop or --no-newline or --xml",
        ));
    }
    let name = props::name(inv)?;
    props::check_name(name)?;
    let mut arguments = targets::read_after(env, inv, &context, 1)?;
    if arguments.is_empty() {
        arguments.push(Argument::current_dir());
    }
    if inv.revprop {
        return revprop(env, inv, &context, name, &arguments);
    }
    if inv.xml {
        xml_parts::begin(&mut env.out, "properties")?;
    }
    let depth = inv.depth.unwrap_or(Depth::Empty);
    if inv.no_newline && (arguments.len() > 1 || depth != Depth::Empty || inv.show_inherited_props)
    {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "--no-newline is only available for single-target, non-recursive propget operations",
        ));
    }
    let mut missing = false;
    for argument in &arguments {
        context.cancel.check()?;
        let found = Found::read(env, inv, &context, name, argument, depth)?;
        if depth == Depth::Empty && !inv.show_inherited_props && found.own.is_empty() {
            env.warn(&Error::new(
                ErrorCode::PROPERTY_NOT_FOUND,
                format!("Property '{name}' not found on '{argument}'"),
            ));
            missing = true;
        }
        if inv.xml {
            found.print_xml(&mut env.out, name)?;
            continue;
        }
        let names_shown = (depth > Depth::Empty
            || arguments.len() > 1
            || found.own.len() > 1
            || inv.verbose
            || inv.show_inherited_props)
            && !inv.no_newline;
        found.print(&mut env.out, inv, &context, name, names_shown)?;
    }
    if inv.xml {
        xml_parts::end(&mut env.out, "properties")?;
    }
    if missing {
        return Err(Error::from_code(ErrorCode::BASE));
    }
    Ok(Exit::Success)
}

/// Where a property was found, and with what value.
struct Found {
    target: PathOrUrl,
    inherited: Vec<(PathOrUrl, Vec<u8>)>,
    own: Vec<(PathOrUrl, Vec<u8>)>,
}

impl Found {
    fn read(
        env: &mut Env,
        inv: &Invocation,
        context: &Context,
        name: &str,
        argument: &Argument,
        depth: Depth,
    ) -> Result<Self> {
        let target = argument.target(&context.clock)?;
        let at = match target.at {
            PathOrUrl::Path(path) => PathOrUrl::Path(context.absolute(&path)),
            url => url,
        };
        let target = targets::follow(&mut env.out, inv, context, Target { at, ..target })?;
        let mut found = Self {
            target: target.at.clone(),
            inherited: Vec::new(),
            own: Vec::new(),
        };
        let options = Options {
            revision: inv.start(),
            depth,
            changelists: &inv.changelists,
            inherited: inv.show_inherited_props,
        };
        proplist::list(context, &target, &options, &mut |mut item| {
            for (from, mut above) in item.inherited {
                found
                    .inherited
                    .extend(above.remove(name).map(|value| (from, value)));
            }
            let value = item.props.as_mut().and_then(|props| props.remove(name));
            found.own.extend(value.map(|value| (item.at, value)));
            Ok(())
        })?;
        found.own.sort_by(|a, b| compare_paths(&a.0, &b.0));
        Ok(found)
    }

    fn print(
        &self,
        out: &mut Output,
        inv: &Invocation,
        context: &Context,
        name: &str,
        names_shown: bool,
    ) -> Result<()> {
        let inherited = self.inherited.iter().map(|found| (found, true));
        let own = self.own.iter().map(|found| (found, false));
        for ((from, value), is_inherited) in inherited.chain(own) {
            let from = short(context, from);
            match (names_shown, inv.verbose, is_inherited) {
                (false, ..) => {}
                (true, false, _) => out.print(format_args!("{from} - "))?,
                (true, true, false) => out.line(format_args!("Properties on '{from}':"))?,
                (true, true, true) => {
                    let target = short(context, &self.target);
                    out.line(format_args!(
                        "Inherited properties on '{target}',\nfrom '{from}':"
                    ))?;
                }
            }
            if inv.verbose && !inv.no_newline {
                let one = Props::from([(name.to_owned(), value.clone())]);
                props::print(out, &one, true)?;
            } else {
                out.bytes(value)?;
                if !inv.no_newline {
                    out.bytes(b"\n")?;
                }
            }
        }
        Ok(())
    }

    fn print_xml(&self, out: &mut Output, name: &str) -> Result<()> {
        let inherited = self
            .inherited
            .iter()
            .map(|found| (found, "inherited_property"));
        let own = self.own.iter().map(|found| (found, "property"));
        for ((from, value), tag) in inherited.chain(own) {
            let mut writer = Writer::new();
            writer.open(Style::Normal, "target", &[("path", &props::shown(from))]);
            writer.property(tag, name, value);
            writer.close("target");
            out.print(writer.take())?;
        }
        Ok(())
    }
}

/// Shows a place as seen from the current folder.
fn short(context: &Context, at: &PathOrUrl) -> String {
    match at {
        PathOrUrl::Url(url) => url.to_string(),
        PathOrUrl::Path(path) => match path.strip_prefix(&context.current_dir) {
            Some("") => ".".to_owned(),
            Some(below) => below.to_owned(),
            None => path.local_style().to_owned(),
        },
    }
}

/// A folder comes before what is in it, and all in it before its next sibling.
fn compare_paths(a: &PathOrUrl, b: &PathOrUrl) -> Ordering {
    let (a, b) = (props::shown(a), props::shown(b));
    a.split('/').cmp(b.split('/'))
}

fn revprop(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    name: &str,
    arguments: &[Argument],
) -> Result<Exit> {
    if inv.show_inherited_props {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "--show-inherited-props can't be used with --revprop",
        ));
    }
    let url = props::revprop_url(context, inv, arguments)?;
    let (rev, mut all) = proplist::revprops(context, &url, inv.start())?;
    let Some(value) = all.remove(name) else {
        return Err(Error::new(
            ErrorCode::PROPERTY_NOT_FOUND,
            format!("Property '{name}' not found on revision {}", spec_text(inv)),
        ));
    };
    if inv.xml {
        xml_parts::begin(&mut env.out, "properties")?;
        let mut writer = Writer::new();
        writer.open(Style::Normal, "revprops", &[("rev", &rev.to_string())]);
        writer.property("property", name, &value);
        writer.close("revprops");
        env.out.print(writer.take())?;
        xml_parts::end(&mut env.out, "properties")?;
    } else {
        env.out.bytes(&value)?;
        if !inv.no_newline {
            env.out.bytes(b"\n")?;
        }
    }
    Ok(Exit::Success)
}

fn spec_text(inv: &Invocation) -> String {
    use sylvan_core::opt::RevisionSpec;
    match inv.start() {
        RevisionSpec::Number(rev) => rev.to_string(),
        RevisionSpec::Date(time) => time.to_iso(),
        _ => "HEAD".to_owned(),
    }
}
