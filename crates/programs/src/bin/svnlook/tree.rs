//! `svnlook tree`.

use std::rc::Rc;

use sylvan_core::{Error, ErrorCode, NodeKind, Result};
use sylvan_fs::TreeNode;
use sylvan_fs::id::NodeRevId;

use crate::invocation::Invocation;
use crate::look::{Env, Look, Name, path_in_repository};

/// A node that is still to be printed.
struct Next<'t> {
    /// The node, or the folder that has it: files need not be opened.
    node: Rc<TreeNode<'t>>,
    /// Its name in that folder.
    name: Option<String>,
    kind: NodeKind,
    id: NodeRevId,
    /// Its path, as the path at the top was typed.
    path: String,
    depth: usize,
}

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    let path = inv.arg_or("")?;
    let look = Look::open(inv)?;
    let node = top(&look, path)?;
    let recurse = !inv.options.has("non-recursive");
    let mut stack = vec![Next {
        kind: node.kind(),
        id: *node.id(),
        node: Rc::new(node),
        name: None,
        path: path.to_owned(),
        depth: 0,
    }];
    while let Some(next) = stack.pop() {
        env.cancel.check()?;
        env.out.line(line(&next, inv))?;
        if next.kind == NodeKind::Dir && (recurse || next.depth == 0) {
            push_entries(&mut stack, next)?;
        }
    }
    Ok(())
}

/// Opens a folder and pushes what is in it, the first last.
fn push_entries<'t>(stack: &mut Vec<Next<'t>>, next: Next<'t>) -> Result<()> {
    let folder = match &next.name {
        None => next.node,
        Some(name) => match next.node.child(name)? {
            Some(node) => Rc::new(node),
            // It was there when its folder was read.
            None => return Ok(()),
        },
    };
    let slash = match next.path.as_str() {
        "" | "/" => "",
        _ => "/",
    };
    for entry in folder.entries()?.entries().iter().rev() {
        stack.push(Next {
            node: Rc::clone(&folder),
            name: Some(entry.name.clone()),
            kind: entry.kind,
            id: entry.id,
            path: format!("{}{slash}{}", next.path, entry.name),
            depth: next.depth + 1,
        });
    }
    Ok(())
}

fn top<'l>(look: &'l Look, path: &str) -> Result<TreeNode<'l>> {
    let tree = look.tree()?;
    if let Some(path) = path_in_repository(path) {
        return tree.node(&path);
    }
    // No such path can be.
    let place = match look.name() {
        Name::Revision(revision) => format!("revision {revision}"),
        Name::Txn(txn) => format!("transaction '{txn}'"),
    };
    let text = format!("File not found: {place}, path '/{path}'");
    Err(Error::new(ErrorCode::FS_NOT_FOUND, text))
}

fn line(next: &Next<'_>, inv: &Invocation) -> String {
    let full = inv.options.has("full-paths");
    let mut line = if full {
        String::new()
    } else {
        " ".repeat(next.depth)
    };
    let name = if full {
        next.path.as_str()
    } else {
        next.path.rsplit('/').next().unwrap_or_default()
    };
    match name {
        "" | "/" => line.push('/'),
        name => {
            line.push_str(name);
            if next.kind == NodeKind::Dir {
                line.push('/');
            }
        }
    }
    if inv.options.has("show-ids") {
        line.push_str(&format!(" <{}>", next.id));
    }
    line
}
