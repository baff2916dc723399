//! `svnlook diff`.

mod external;
mod text;

use std::collections::HashMap;

use sylvan_core::{NodeKind, Props, RelPath, Result, Revnum, props};
use sylvan_diff::{Options, props as prop_diff, unified};
use sylvan_fs::id::TxnId;
use sylvan_fs::{FileSystem, Root, Tree};
use sylvan_repos::{ChangedNode, NodeAction, change_tree};

use crate::invocation::Invocation;
use crate::look::{Env, Look, Name};
use text::Text;

const EQUALS: &str = "===================================================================";
const UNDERLINE: &str = "___________________________________________________________________";

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    inv.no_arg()?;
    let look = Look::open(inv)?;
    let tree = look.tree()?;
    let Some(base) = look.base() else {
        return Ok(());
    };
    let nodes = change_tree(tree, base, &env.cancel)?;
    let mut printer = Printer {
        env,
        inv,
        look: &look,
        tree,
        words: words(inv),
        roots: HashMap::new(),
    };
    for node in &nodes {
        printer.env.cancel.check()?;
        printer.node(node)?;
    }
    Ok(())
}

/// The words of `-x`.
fn words(inv: &Invocation) -> Vec<String> {
    let text = inv.options.extensions.as_deref().unwrap_or_default();
    let words = text.split([' ', '\t', '\n', '\r']);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

struct Printer<'p> {
    env: &'p mut Env,
    inv: &'p Invocation,
    look: &'p Look,
    tree: Tree<'p>,
    words: Vec<String>,
    roots: HashMap<Revnum, Root>,
}

/// What of a file is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    Both,
    /// There is nothing before.
    New,
    /// There is nothing now.
    Old,
}

impl Printer<'_> {
    fn has(&self, option: &str) -> bool {
        self.inv.options.has(option)
    }

    fn node(&mut self, node: &ChangedNode) -> Result<()> {
        let mut has_header = false;
        if let Some(sides) = self.sides(node).filter(|_| !self.has("properties-only")) {
            has_header = self.content(node, sides)?;
        }
        if node.prop_mod && !self.has("ignore-properties") {
            self.props(node, has_header)?;
        }
        Ok(())
    }

    /// Tells which contents are compared, if any.
    fn sides(&self, node: &ChangedNode) -> Option<Sides> {
        if node.kind != NodeKind::File {
            return None;
        }
        let from_copy = node.copyfrom.is_some() && self.has("diff-copy-from");
        match node.action {
            NodeAction::Open => node.text_mod.then_some(Sides::Both),
            NodeAction::Add if from_copy => node.text_mod.then_some(Sides::Both),
            NodeAction::Add => (!self.has("no-diff-added")).then_some(Sides::New),
            NodeAction::Delete => (!self.has("no-diff-deleted")).then_some(Sides::Old),
        }
    }

    /// Prints how the content changed; tells whether the lines that name the file were printed.
    fn content(&mut self, node: &ChangedNode, sides: Sides) -> Result<bool> {
        let header = header(node);
        if self.is_binary(node, sides)? {
            self.env.out.print(header)?;
            self.env.out.print("(Binary files differ)\n\n")?;
            return Ok(false);
        }
        let old = match sides {
            Sides::New => None,
            _ => Some(self.base(node)?.contents()?),
        };
        let new = match sides {
            Sides::Old => None,
            _ => Some(self.tree.node(&node.path)?.contents()?),
        };
        let (old, new) = (Text::read(old)?, Text::read(new)?);
        if let Some(program) = &self.inv.options.diff_cmd {
            let program = program.clone();
            self.env.out.print(header)?;
            let labels = self.labels(node, sides)?;
            let texts = [old.into_file()?, new.into_file()?];
            external::run(self.env, &program, &self.words, &labels, &texts)?;
            self.env.out.print('\n')?;
            return Ok(true);
        }
        self.compare(node, sides, &header, [&old, &new])
    }

    fn compare(
        &mut self,
        node: &ChangedNode,
        sides: Sides,
        header: &str,
        texts: [&Text; 2],
    ) -> Result<bool> {
        let options = Options::parse(&self.words)?;
        let sources = texts.map(Text::source);
        let cancel = self.env.cancel.clone();
        let diff = sylvan_diff::diff(sources, &options, &mut || cancel.check())?;
        if diff.is_empty() {
            // Of what is empty and came or went there is no more to say.
            if !node.prop_mod && node.action != NodeAction::Open {
                let wanted = match node.action {
                    NodeAction::Add => !self.has("no-diff-added"),
                    _ => !self.has("no-diff-deleted"),
                };
                if wanted {
                    self.env.out.print(header)?;
                }
            }
            return Ok(false);
        }
        let [old, new] = self.labels(node, sides)?;
        self.env.out.print(header)?;
        let out = &mut self.env.out;
        let mut sink = |bytes: &[u8]| {
            cancel.check()?;
            out.bytes(bytes)
        };
        unified::write(&diff, sources, [&old, &new], &options, &mut sink)?;
        self.env.out.print('\n')?;
        Ok(true)
    }

    fn props(&mut self, node: &ChangedNode, has_header: bool) -> Result<()> {
        let from_copy = node.copyfrom.is_some() && self.has("diff-copy-from");
        let after = self.tree.node(&node.path)?.props()?;
        let before = if node.action == NodeAction::Add && !from_copy {
            Props::new()
        } else {
            (*self.base(node)?.props()?).clone()
        };
        let mut changes = props::diff(&before, &after);
        changes.retain(|name, _| props::PropKind::of(name) == props::PropKind::Regular);
        if changes.is_empty() {
            return Ok(());
        }
        let path = &node.path;
        if !has_header {
            let [old, new] = self.labels(node, Sides::Both)?;
            self.env
                .out
                .print(format_args!("Index: {path}\n{EQUALS}\n"))?;
            self.write_header(&old, &new)?;
        }
        let out = &mut self.env.out;
        out.print(format_args!("\nProperty changes on: {path}\n{UNDERLINE}\n"))?;
        let cancel = self.env.cancel.clone();
        let mut poll = || cancel.check();
        let context = Options::default().context;
        let mut sink = |bytes: &[u8]| out.bytes(bytes);
        let style = prop_diff::MergeinfoStyle::Hunks;
        prop_diff::write(&changes, &before, context, style, &mut sink, &mut poll)
    }

    fn write_header(&mut self, old: &str, new: &str) -> Result<()> {
        let out = &mut self.env.out;
        unified::write_header([old, new], &mut |bytes: &[u8]| out.bytes(bytes))
    }

    /// Returns what the node was before.
    fn base(&mut self, node: &ChangedNode) -> Result<sylvan_fs::Node> {
        self.root(node.base.revision)?.node(&node.base.path)
    }

    fn root(&mut self, revision: Revnum) -> Result<&Root> {
        use std::collections::hash_map::Entry;
        match self.roots.entry(revision) {
            Entry::Occupied(found) => Ok(found.into_mut()),
            Entry::Vacant(empty) => Ok(empty.insert(self.look.fs().revision_root(revision)?)),
        }
    }

    fn is_binary(&mut self, node: &ChangedNode, sides: Sides) -> Result<bool> {
        if sides != Sides::New && props::is_binary(&*self.base(node)?.props()?) {
            return Ok(true);
        }
        if sides == Sides::Old {
            return Ok(false);
        }
        Ok(props::is_binary(&*self.tree.node(&node.path)?.props()?))
    }

    /// Returns what stands behind `---` and `+++`.
    fn labels(&self, node: &ChangedNode, sides: Sides) -> Result<[String; 2]> {
        let fs = self.look.fs();
        let old = if sides == Sides::New {
            label(&node.path, None, "rev 0")
        } else {
            of_revision(fs, &node.base.path, node.base.revision)?
        };
        let new = match self.look.name() {
            Name::Revision(revision) => of_revision(fs, &node.path, revision)?,
            Name::Txn(txn) => {
                let date = self.look.revprops()?.remove(DATE);
                label(&node.path, date.as_deref(), &of_txn(txn))
            }
        };
        Ok([old, new])
    }
}

const DATE: &str = "svn:date";

/// The lines above a difference: what happened to the file, and a line of `=`.
fn header(node: &ChangedNode) -> String {
    let path = &node.path;
    let what = match (&node.copyfrom, node.action) {
        (Some(source), _) => {
            let (revision, source) = (source.revision, &source.path);
            format!("Copied: {path} (from rev {revision}, {source})")
        }
        (None, NodeAction::Add) => format!("Added: {path}"),
        (None, NodeAction::Delete) => format!("Deleted: {path}"),
        (None, NodeAction::Open) => format!("Modified: {path}"),
    };
    format!("{what}\n{EQUALS}\n")
}

fn of_txn(txn: TxnId) -> String {
    format!("txn {txn}")
}

fn of_revision(fs: &FileSystem, path: &RelPath, revision: Revnum) -> Result<String> {
    let date = fs.revprops(revision)?.remove(DATE);
    Ok(label(path, date.as_deref(), &format!("rev {revision}")))
}

fn label(path: &RelPath, date: Option<&[u8]>, place: &str) -> String {
    let date = match date {
        None => " ".repeat(23),
        Some(date) => {
            let part = |from: usize, to: usize| {
                let end = to.min(date.len());
                String::from_utf8_lossy(date.get(from..end).unwrap_or_default()).into_owned()
            };
            format!("{} {} UTC", part(0, 10), part(11, 19))
        }
    };
    format!("{path}\t{date} ({place})")
}
