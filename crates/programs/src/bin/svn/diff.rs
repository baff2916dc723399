//! `svn diff`.

use sylvan_client::diff::{self, Comparison, DiffOptions, Format, Item, Program, Summary};
use sylvan_client::target::{Argument, PathOrUrl, Target};
use sylvan_client::{Context, arguments};
use sylvan_cmdline::print;
use sylvan_cmdline::xml::{Style, Writer};
use sylvan_core::opt::RevisionSpec;
use sylvan_core::{Dirent, Error, ErrorCode, RelPathBuf, Result};
use sylvan_diff::props::MergeinfoStyle;
use sylvan_io::{Category, Config};

use crate::env::{Env, Exit};
use crate::invocation::Invocation;
use crate::{targets, xml_parts};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<Exit> {
    if inv.xml {
        if !inv.diff.summarize {
            return Err(bad("'--xml' option only valid with '--summarize' option"));
        }
        xml_parts::begin(&mut env.out, "diff")?;
        let paths = Writer::new().open(Style::Normal, "paths", &[]).take();
        env.out.print(paths)?;
    }
    if inv.diff.summarize {
        check_summarize(inv)?;
    }
    let context = env.client(inv)?;
    let mut list = targets::read(env, inv, &context)?;
    let wanted = Wanted::find(inv, &context, &mut list)?;
    if list.is_empty() {
        list.push(Argument::current_dir());
    }
    let options = DiffOptions {
        depth: inv.depth,
        ignore_ancestry: !inv.diff.notice_ancestry,
        changelists: inv.changelists.clone(),
    };
    let force = inv.force || ignores_content_type(&context.config)?;
    for argument in &list {
        let (comparison, anchor) = wanted.comparison(&context, argument)?;
        if inv.diff.summarize {
            summarize(env, inv, &context, &comparison, &options, &anchor)?;
        } else {
            let format = format(inv, &context.config, force)?;
            let mut out = Out(&mut env.out);
            diff::diff(&context, &comparison, &options, &format, &mut out)?;
        }
    }
    if inv.xml {
        env.out.print(Writer::new().close("paths").take())?;
        xml_parts::end(&mut env.out, "diff")?;
    }
    Ok(Exit::Success)
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::CL_ARG_PARSING_ERROR, message.into())
}

/// Refuses options that say how differences are shown.
fn check_summarize(inv: &Invocation) -> Result<()> {
    let given = [
        (inv.diff.git, "--git"),
        (inv.diff.patch_compatible, "--patch-compatible"),
        (inv.diff.copies_as_adds, "--show-copies-as-adds"),
        (inv.internal_diff, "--internal-diff"),
        (inv.diff_cmd.is_some(), "--diff-cmd"),
        (inv.diff.no_added, "--no-diff-added"),
        (inv.diff.no_deleted, "--no-diff-deleted"),
        (inv.force, "--force"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(bad(format!(
            "'{option}' not valid with '--summarize' option"
        ))),
        None => Ok(()),
    }
}

fn ignores_content_type(config: &Config) -> Result<bool> {
    config.get_bool(
        Category::Config,
        "miscellany",
        "diff-ignore-content-type",
        false,
    )
}

fn format(inv: &Invocation, config: &Config, force: bool) -> Result<Format> {
    let flags = &inv.diff;
    Ok(Format {
        program: Program::from_config(config, inv.extensions.as_deref())?,
        force,
        ignore_properties: flags.ignore_properties || flags.patch_compatible,
        properties_only: flags.properties_only,
        git: flags.git,
        no_added: flags.no_added,
        no_deleted: flags.no_deleted,
        copies_as_adds: flags.copies_as_adds || flags.patch_compatible,
        mergeinfo: MergeinfoStyle::Merges,
    })
}

/// Where differences are printed.
struct Out<'o>(&'o mut print::Output);

impl diff::Output for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.bytes(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}

/// What the command line asks for.
enum Wanted {
    /// What is below two places.
    Below {
        old: (PathOrUrl, RevisionSpec),
        new: (PathOrUrl, RevisionSpec),
    },
    /// Each target at two revisions.
    Nodes {
        start: RevisionSpec,
        end: RevisionSpec,
    },
}

impl Wanted {
    /// Finds it out; targets that are the two places are taken from `list`.
    fn find(inv: &Invocation, context: &Context, list: &mut Vec<Argument>) -> Result<Self> {
        let range = inv.range();
        let no_range =
            range.start == RevisionSpec::Unspecified && range.end == RevisionSpec::Unspecified;
        if let Some(old) = &inv.old_target {
            return Self::old_and_new(inv, context, old);
        }
        if inv.new_target.is_none()
            && list.len() == 2
            && list.iter().any(|target| target.at.is_url())
            && no_range
        {
            let default = |at: &PathOrUrl| match at.is_url() {
                true => RevisionSpec::Head,
                false => RevisionSpec::Working,
            };
            let place = |argument: &Argument| -> Result<(PathOrUrl, RevisionSpec)> {
                let target = argument.target(&context.clock)?;
                let rev = or(target.peg, default(&target.at));
                Ok((target.at, rev))
            };
            let (old, new) = (place(&list[0])?, place(&list[1])?);
            list.clear();
            return Ok(Self::Below { old, new });
        }
        if inv.new_target.is_some() {
            return Err(bad("'--new' option only valid with '--old' option"));
        }
        if list.is_empty() {
            list.push(Argument::current_dir());
        }
        let are_urls = targets::are_urls(list).map_err(|error| {
            error.context(
                "'svn diff [-r N[:M]] [TARGET[@REV]...]' does not support mixed target types. Try \
                 using the --old and --new options or one of the shorthand invocations listed in \
                 'svn help diff'.",
            )
        })?;
        let (start, end) = match are_urls {
            true => (range.start, or(range.end, RevisionSpec::Head)),
            false => (
                or(range.start, RevisionSpec::Base),
                or(range.end, RevisionSpec::Working),
            ),
        };
        let is_local = |rev| matches!(rev, RevisionSpec::Base | RevisionSpec::Working);
        if is_local(start) && is_local(end) {
            let here = || PathOrUrl::Path(Dirent::default());
            return Ok(Self::Below {
                old: (here(), start),
                new: (here(), end),
            });
        }
        Ok(Self::Nodes { start, end })
    }

    fn old_and_new(inv: &Invocation, context: &Context, old: &str) -> Result<Self> {
        let range = inv.range();
        let texts = [old, inv.new_target.as_deref().unwrap_or(old)].map(str::to_owned);
        let found = arguments::resolve(context, &texts)?.list;
        let [old, new] = found.as_slice() else {
            return Err(Error::from_code(ErrorCode::CL_INSUFFICIENT_ARGS));
        };
        let (old, new) = (old.target(&context.clock)?, new.target(&context.clock)?);
        let default = |at: &PathOrUrl, local| match at.is_url() {
            true => RevisionSpec::Head,
            false => local,
        };
        let base = match inv.new_target {
            Some(_) => RevisionSpec::Working,
            None => RevisionSpec::Base,
        };
        let start = or(or(old.peg, range.start), default(&old.at, base));
        let end = or(
            or(new.peg, range.end),
            default(&new.at, RevisionSpec::Working),
        );
        Ok(Self::Below {
            old: (old.at, start),
            new: (new.at, end),
        })
    }

    /// Returns what is compared for a target, and what names what is found.
    fn comparison(
        &self,
        context: &Context,
        argument: &Argument,
    ) -> Result<(Comparison, PathOrUrl)> {
        match self {
            Self::Nodes { start, end } => {
                let target = argument.target(&context.clock)?;
                let peg = or(
                    target.peg,
                    match target.at.is_url() {
                        true => RevisionSpec::Head,
                        false => RevisionSpec::Working,
                    },
                );
                let anchor = target.at.clone();
                let at = Target { at: target.at, peg };
                let (start, end) = (*start, *end);
                Ok((Comparison::Node { at, start, end }, anchor))
            }
            Self::Below { old, new } => {
                if argument.at.is_url() {
                    return Err(bad(format!("Path '{argument}' not relative to base URLs")));
                }
                let path = targets::verbatim_path(argument);
                let old = (below(&old.0, &path)?, old.1);
                let new = (below(&new.0, &path)?, new.1);
                let anchor = old.0.clone();
                Ok((Comparison::Places { old, new }, anchor))
            }
        }
    }
}

fn or(rev: RevisionSpec, default: RevisionSpec) -> RevisionSpec {
    match rev {
        RevisionSpec::Unspecified => default,
        rev => rev,
    }
}

fn below(at: &PathOrUrl, path: &Dirent) -> Result<PathOrUrl> {
    Ok(match at {
        PathOrUrl::Path(at) => PathOrUrl::Path(at.join(path.as_str())),
        PathOrUrl::Url(url) => PathOrUrl::Url(url.join(&RelPathBuf::canonicalize(path.as_str())?)),
    })
}

fn summarize(
    env: &mut Env,
    inv: &Invocation,
    context: &Context,
    comparison: &Comparison,
    options: &DiffOptions,
    anchor: &PathOrUrl,
) -> Result<()> {
    let ignores_props = inv.diff.ignore_properties || inv.diff.patch_compatible;
    let out = &mut env.out;
    let mut take = |summary: &Summary| {
        if ignores_props && summary.item == Item::Normal {
            return Ok(());
        }
        let path = match anchor {
            PathOrUrl::Url(url) => url.join(&summary.path).to_string(),
            PathOrUrl::Path(path) => path.join(summary.path.as_str()).to_string(),
        };
        let props = summary.props && !ignores_props;
        if inv.xml {
            out.print(xml_line(summary, props, &path))
        } else {
            let (item, props) = (letter(summary.item), if props { 'M' } else { ' ' });
            out.line(format_args!("{item}{props}      {path}"))?;
            out.flush_soon()
        }
    };
    diff::summarize(context, comparison, options, &mut take)
}

const fn letter(item: Item) -> char {
    match item {
        Item::Modified => 'M',
        Item::Added => 'A',
        Item::Deleted => 'D',
        Item::Normal => ' ',
    }
}

fn xml_line(summary: &Summary, props: bool, path: &str) -> String {
    let item = match summary.item {
        Item::Modified => "modified",
        Item::Added => "added",
        Item::Deleted => "deleted",
        Item::Normal => "none",
    };
    let attributes = [
        ("kind", xml_parts::kind(summary.kind)),
        ("item", item),
        ("props", if props { "modified" } else { "none" }),
    ];
    Writer::new()
        .open(Style::Protect, "path", &attributes)
        .text(path)
        .close("path")
        .take()
}
