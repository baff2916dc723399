//! `svn proplist`.

use sylvan_client::Context;
use sylvan_client::proplist::{self, Item, Options};
use sylvan_client::target::Argument;
use sylvan_cmdline::print::Output;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::{Depth, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::targets::{self, Attempts};
use crate::{props, xml_parts};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read_or_current(env, inv, &context)?;
    if inv.revprop {
        return revprops(env, inv, &context, &arguments);
    }
    if inv.xml {
        xml_parts::begin(&mut env.out, "properties")?;
    }
    let options = Options {
        revision: inv.start(),
        depth: inv.depth.unwrap_or(Depth::Empty),
        changelists: &inv.changelists,
        inherited: inv.show_inherited_props,
    };
    let mut attempts =
        Attempts::new(&[ErrorCode::UNVERSIONED_RESOURCE, ErrorCode::ENTRY_NOT_FOUND]);
    for argument in &arguments {
        context.cancel.check()?;
        let target = argument.target(&context.clock)?;
        let out = &mut env.out;
        let done = targets::follow(out, inv, &context, target).and_then(|target| {
            proplist::list(&context, &target, &options, &mut |item| {
                if inv.xml {
                    print_xml(out, inv, &item)
                } else {
                    print(out, inv, &item)
                }
            })
        });
        attempts.take(env, inv.quiet, done)?;
    }
    if inv.xml {
        xml_parts::end(&mut env.out, "properties")?;
    }
    attempts
        .result(|code| match code {
            ErrorCode::ENTRY_NOT_FOUND => {
                "Could not display properties of all targets because some targets don't exist"
            }
            _ => {
                "Could not display properties of all targets because some targets are not versioned"
            }
        })
        .map(|()| Exit::Success)
}

fn print(out: &mut Output, inv: &Invocation, item: &Item) -> Result<()> {
    let shown = props::shown(&item.at);
    for (from, above) in &item.inherited {
        if !inv.quiet {
            let from = props::shown(from);
            out.line(format_args!(
                "Inherited properties on '{shown}',\nfrom '{from}':"
            ))?;
        }
        props::print(out, above, inv.verbose)?;
    }
    match &item.props {
        Some(own) if !own.is_empty() => {
            if !inv.quiet {
                out.line(format_args!("Properties on '{shown}':"))?;
            }
            props::print(out, own, inv.verbose)
        }
        _ => Ok(()),
    }
}

fn print_xml(out: &mut Output, inv: &Invocation, item: &Item) -> Result<()> {
    let mut writer = Writer::new();
    for (from, above) in &item.inherited {
        writer.open(Style::Normal, "target", &[("path", &props::shown(from))]);
        props::write_xml(&mut writer, above, inv.verbose, "inherited_property");
        writer.close("target");
    }
    if let Some(own) = &item.props {
        writer.open(
            Style::Normal,
            "target",
            &[("path", &props::shown(&item.at))],
        );
        props::write_xml(&mut writer, own, inv.verbose, "property");
        writer.close("target");
    }
    out.print(writer.take())
}

fn revprops(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    arguments: &[Argument],
) -> Result<Exit> {
    if inv.show_inherited_props {
        return Err(Error::new(
            ErrorCode::CL_ARG_PARSING_ERROR,
            "--show-inherited-props can't be used with --revprop",
        ));
    }
    let url = props::revprop_url(context, inv, arguments)?;
    let (rev, all) = proplist::revprops(context, &url, inv.start())?;
    if inv.xml {
        xml_parts::begin(&mut env.out, "properties")?;
        let mut writer = Writer::new();
        writer.open(Style::Normal, "revprops", &[("rev", &rev.to_string())]);
        props::write_xml(&mut writer, &all, inv.verbose, "property");
        writer.close("revprops");
        env.out.print(writer.take())?;
        xml_parts::end(&mut env.out, "properties")?;
    } else {
        env.out
            .line(format_args!("Unversioned properties on revision {rev}:"))?;
        props::print(&mut env.out, &all, inv.verbose)?;
    }
    Ok(Exit::Success)
}
