//! `svnlook changed` and `svnlook dirs-changed`.

use sylvan_core::{NodeKind, Result};
use sylvan_repos::{ChangedNode, NodeAction, change_tree};

use crate::invocation::Invocation;
use crate::look::{Env, Look};

pub(crate) fn changed(env: &mut Env, inv: &Invocation) -> Result<()> {
    for node in nodes(env, inv)? {
        if let Some(line) = line(&node, inv.options.has("copy-info")) {
            env.out.print(line)?;
        }
    }
    Ok(())
}

pub(crate) fn dirs_changed(env: &mut Env, inv: &Invocation) -> Result<()> {
    let nodes = nodes(env, inv)?;
    let mut changed: Vec<bool> = nodes.iter().map(|node| node.prop_mod).collect();
    for node in &nodes {
        if let Some(parent) = node.parent
            && (node.kind == NodeKind::File || node.action != NodeAction::Open)
        {
            changed[parent] = true;
        }
    }
    for (node, changed) in nodes.iter().zip(changed) {
        if changed && node.kind == NodeKind::Dir {
            env.out.line(format_args!("{}/", node.path))?;
        }
    }
    Ok(())
}

fn nodes(env: &Env, inv: &Invocation) -> Result<Vec<ChangedNode>> {
    inv.no_arg()?;
    let look = Look::open(inv)?;
    let tree = look.tree()?;
    match look.base() {
        Some(base) => change_tree(tree, base, &env.cancel),
        None => Ok(Vec::new()),
    }
}

/// Returns the lines about a node, if there is anything to say.
fn line(node: &ChangedNode, copy_info: bool) -> Option<String> {
    let copyfrom = node.copyfrom.as_ref().filter(|_| copy_info);
    let letters = match node.action {
        NodeAction::Add if copyfrom.is_some() => "A +",
        NodeAction::Add => "A  ",
        NodeAction::Delete => "D  ",
        NodeAction::Open => match (node.text_mod, node.prop_mod) {
            (true, true) => "UU ",
            (true, false) => "U  ",
            (false, true) => "_U ",
            (false, false) => return None,
        },
    };
    let slash = if node.kind == NodeKind::Dir { "/" } else { "" };
    let mut line = format!("{letters} {}{slash}\n", node.path);
    if let Some(source) = copyfrom {
        let (path, revision) = (&source.path, source.revision);
        line.push_str(&format!("    (from {path}{slash}:r{revision})\n"));
    }
    Some(line)
}
