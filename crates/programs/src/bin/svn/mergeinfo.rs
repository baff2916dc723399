//! `svn mergeinfo`.

use sylvan_client::mergeinfo::{Options, revisions};
use sylvan_client::merging_summary::{Summary, summary};
use sylvan_client::target::Target;
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Depth, Error, ErrorCode, Result};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::log;
use crate::targets;

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    let context = env.client(inv)?;
    let arguments = targets::read(env, inv, &context)?;
    let wrong = |message| Err(Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message));
    let (source, target) = match &arguments[..] {
        [] => return wrong("Not enough arguments given"),
        [source] => (source.target(&context.clock)?, None),
        [source, target] => (
            source.target(&context.clock)?,
            Some(target.target(&context.clock)?),
        ),
        _ => return wrong("Too many arguments given"),
    };
    let source = with_peg(source, RevisionSpec::Head, RevisionSpec::Head);
    let target = target.unwrap_or_else(|| Target::from(context.current_dir.clone()));
    let target = with_peg(target, RevisionSpec::Head, RevisionSpec::Base);
    if !inv.mergeinfo_log {
        if inv.quiet {
            return wrong("--quiet (-q) option valid only with --log option");
        }
        if inv.verbose {
            return wrong("--verbose (-v) option valid only with --log option");
        }
        if inv.incremental {
            return wrong("--incremental option valid only with --log option");
        }
    }
    let asked = inv.ranges.first().copied();
    let Some(which) = inv.show_revs.as_deref() else {
        if asked.is_some() {
            return wrong("--revision (-r) option valid only with --show-revs option");
        }
        if inv.depth.is_some() {
            return wrong("Depth specification options valid only with --show-revs option");
        }
        if inv.mergeinfo_log {
            return wrong("--log option valid only with --show-revs option");
        }
        let is_wc =
            !target.at.is_url() && matches!(target.peg, RevisionSpec::Base | RevisionSpec::Working);
        let source = targets::follow(&mut env.out, inv, &context, source)?;
        let mut target = target;
        if is_wc {
            // A copy counts as what it was copied from.
            target.peg = RevisionSpec::Working;
        }
        let found = summary(&context, &source, &target)?;
        env.out.print(graph(&found, is_wc))?;
        return Ok(Exit::Success);
    };
    let depth = inv.depth.unwrap_or(Depth::Empty);
    if !matches!(depth, Depth::Empty | Depth::Infinity) {
        return Err(Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            "Only depths 'infinity' and 'empty' are currently supported",
        ));
    }
    let mut revprops = Vec::new();
    if inv.mergeinfo_log {
        revprops.extend(["svn:author", "svn:date"].map(str::to_owned));
        if !inv.quiet {
            revprops.push("svn:log".to_owned());
        }
    }
    let options = Options {
        merged: which == "merged",
        below: depth == Depth::Infinity,
        range: asked.map(|range| match range.end {
            RevisionSpec::Unspecified => (range.start, range.start),
            end => (range.start, end),
        }),
        revprops,
    };
    let out = &mut env.out;
    let source = targets::follow(out, inv, &context, source)?;
    let mut printer = log::Printer::plain(&context.clock.zone, inv.quiet);
    revisions(
        &context,
        &target,
        &source,
        &options,
        &mut |mut entry, in_part| {
            if inv.mergeinfo_log {
                if !inv.verbose {
                    entry.changed_paths = None;
                }
                return printer.text(out, &entry);
            }
            match entry.rev {
                Some(rev) => out.line(format_args!("r{rev}{}", if in_part { "*" } else { "" })),
                None => Ok(()),
            }
        },
    )?;
    if inv.mergeinfo_log && !inv.incremental {
        out.print(log::RULE)?;
    }
    Ok(Exit::Success)
}

fn with_peg(target: Target, of_url: RevisionSpec, of_path: RevisionSpec) -> Target {
    let default = if target.at.is_url() { of_url } else { of_path };
    Target {
        peg: match target.peg {
            RevisionSpec::Unspecified => default,
            peg => peg,
        },
        ..target
    }
}

const HEADINGS: &str = "    youngest common ancestor\n    |         last full merge\n    |         \
                        |        tip of branch\n    |         |        |         repository \
                        path\n\n";

/// Draws how two branches are related: the source above, the target below.
fn graph(found: &Summary, is_wc: bool) -> String {
    let ancestor = &found.ancestor;
    let stem = if ancestor.0 == found.source.0 {
        [
            "-------| |--",
            "   \\        ",
            "    \\       ",
            "     --| |--",
        ]
    } else if ancestor.0 == found.target.0 {
        [
            "     --| |--",
            "    /       ",
            "   /        ",
            "-------| |--",
        ]
    } else {
        [
            "     --| |--",
            "... /       ",
            "    \\       ",
            "     --| |--",
        ]
    };
    let base = format!("{:<8} ", found.base.number());
    let (blank, bar, line) = ("         ", "|        ", "---------");
    let merge = if found.base <= ancestor.1 {
        [blank, blank, line, blank, blank, line, blank, blank]
    } else if found.is_reintegration {
        [
            blank,
            blank,
            line,
            "  /      ",
            " /       ",
            line,
            bar,
            &base,
        ]
    } else {
        [
            &base,
            bar,
            line,
            " \\       ",
            "  \\      ",
            line,
            blank,
            blank,
        ]
    };
    let target = if is_wc {
        "WC".to_owned()
    } else {
        found.target.1.to_string()
    };
    let tips = [
        &found.source.1.to_string(),
        "|",
        "-",
        "",
        "",
        "-",
        "|",
        &target,
    ];
    let left = [
        &format!("  {:<8}  ", ancestor.1.number()),
        "  |         ",
        stem[0],
        stem[1],
        stem[2],
        stem[3],
        "            ",
        "            ",
    ];
    let mut text = HEADINGS.to_owned();
    for row in 0..8 {
        text.push_str(&format!("  {}{}{:<8}", left[row], merge[row], tips[row]));
        let tip = match row {
            2 => Some(&found.source.0),
            5 => Some(&found.target.0),
            _ => None,
        };
        if let Some(url) = tip {
            let path = url.strip_prefix(&found.repos_root).unwrap_or_default();
            text.push_str(&format!("  {path}"));
        }
        text.push('\n');
    }
    text
}
