//! `svn info --x-viewspec`: the layout of a working copy as text or commands.

use sylvan_client::Context;
use sylvan_client::layout::{self, Layout, Node};
use sylvan_client::target::Argument;
use sylvan_cmdline::print::Output;
use sylvan_core::{Depth, Dirent, Error, ErrorCode, Result};

use crate::targets;

/// Prints the layout of the only target.
///
/// # Errors
/// `CL_ARG_PARSING_ERROR` for several targets or a URL.
pub(super) fn print(
    out: &mut Output,
    context: &Context,
    format: &str,
    arguments: &[Argument],
) -> Result<()> {
    let [argument] = arguments else {
        return Err(Error::from_code(ErrorCode::CL_ARG_PARSING_ERROR));
    };
    targets::check_local(arguments)?;
    let path = Dirent::new(&argument.to_string());
    let layout = layout::layout(context, &path)?;
    if format == "classic" {
        classic(out, &layout)
    } else {
        commands(out, &layout, &path)
    }
}

/// The format of the script `svn-viewspec.py`, version 2.
fn classic(out: &mut Output, layout: &Layout) -> Result<()> {
    let mut is_root = true;
    for item in &layout.items {
        let path = item.path.as_str();
        let Some(node) = &item.node else {
            out.line(format_args!("{path} @0"))?;
            continue;
        };
        let mut depth = match node.depth {
            Depth::Infinity => "/**",
            Depth::Immediates => "/*",
            Depth::Files => "/~",
            Depth::Empty => "",
            Depth::Exclude => "!",
        };
        if std::mem::take(&mut is_root) {
            out.print(format_args!(
                "Format: 2\nUrl: {}\nRevision: {}\n\n",
                node.url, node.rev
            ))?;
            if node.depth == Depth::Empty {
                continue;
            }
            depth = depth.trim_start_matches('/');
        } else if !node.switched && !node.rev_changed && !node.depth_changed {
            continue;
        } else if !node.depth_changed {
            depth = "";
        }
        let url = if node.switched {
            relative_url(layout, node)
        } else {
            String::new()
        };
        let rev = if node.rev_changed {
            format!("@{}", node.rev)
        } else {
            String::new()
        };
        out.line(format_args!("{path}{depth} {url}{rev}"))?;
    }
    Ok(())
}

/// Commands of `svn` that make the same layout.
fn commands(out: &mut Output, layout: &Layout, root: &Dirent) -> Result<()> {
    let mut is_root = true;
    for item in &layout.items {
        let is_first = std::mem::take(&mut is_root);
        let (command, depth, what) = match &item.node {
            None => ("svn update", String::new(), " -r0".to_owned()),
            Some(node) => {
                let set_depth = if node.depth_changed {
                    format!(" --set-depth={}", node.depth)
                } else {
                    String::new()
                };
                if is_first {
                    let depth = match node.depth {
                        Depth::Infinity => String::new(),
                        depth => format!(" --depth={depth}"),
                    };
                    let what = format!(" {}@{}", node.url, node.rev);
                    ("svn checkout", depth, what)
                } else if node.switched {
                    let what = format!(" {}@{}", relative_url(layout, node), node.rev);
                    ("svn switch", set_depth, what)
                } else if node.rev_changed {
                    ("svn update", set_depth, format!(" -r{}", node.rev))
                } else if node.depth_changed {
                    ("svn update", set_depth, String::new())
                } else {
                    continue;
                }
            }
        };
        let path = root.join(item.path.as_str());
        out.line(format_args!("{command}{depth:<23}{what:<10} {path}"))?;
    }
    Ok(())
}

fn relative_url(layout: &Layout, node: &Node) -> String {
    let below = node.url.strip_prefix(&layout.repos_root);
    format!("^/{}", below.unwrap_or_default())
}
