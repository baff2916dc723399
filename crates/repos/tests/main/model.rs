//! A tree in memory that a drive changes.

use std::collections::BTreeMap;

use bytes::Bytes;
use sylvan_core::{Md5, NodeKind, Props, RelPath, RelPathBuf, Result, Revnum, props};
use sylvan_delta::{Applier, CopyFrom, Editor, SeekBase, TextFormat, Token};
use sylvan_fs::{FileSystem, Tree};
use sylvan_testutil::all_paths;

/// A node of a [`Model`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) props: Props,
    pub(crate) text: Vec<u8>,
}

impl Node {
    pub(crate) fn empty(kind: NodeKind) -> Self {
        Self {
            kind,
            props: Props::new(),
            text: Vec::new(),
        }
    }
}

pub(crate) type Nodes = BTreeMap<RelPathBuf, Node>;

type Text = (Applier<SeekBase<std::io::Cursor<Vec<u8>>>>, Vec<u8>);

/// See the module.
pub(crate) struct Model<'f> {
    fs: &'f FileSystem,
    pub(crate) nodes: Nodes,
    pub(crate) absent: Vec<RelPathBuf>,
    open: BTreeMap<Token, RelPathBuf>,
    texts: BTreeMap<Token, Text>,
}

/// Reads what is at and below a path of a revision; paths are below that one.
pub(crate) fn tree(fs: &FileSystem, rev: Revnum, top: &RelPath) -> Nodes {
    let root = fs.revision_root(rev).unwrap();
    let mut paths = vec![(RelPathBuf::root(), NodeKind::Dir)];
    paths.extend(all_paths(Tree::from(&root)));
    let mut found = Nodes::new();
    for (path, kind) in paths {
        let Some(below) = path.strip_prefix(top) else {
            continue;
        };
        let node = root.node(&path).unwrap();
        let text = match kind {
            NodeKind::File => node.contents().unwrap().read_to_end().unwrap().to_vec(),
            _ => Vec::new(),
        };
        let props = (*node.props().unwrap()).clone();
        found.insert(below.to_owned(), Node { kind, props, text });
    }
    found
}

/// Names the nodes that two trees do not both have alike.
pub(crate) fn differences(a: &Nodes, b: &Nodes) -> Vec<String> {
    let only = |a: &Nodes, b: &Nodes, mark: &str| -> Vec<String> {
        let other = a.iter().filter(|(path, node)| b.get(*path) != Some(*node));
        other
            .map(|(path, node)| format!("{mark} {path} {:?}", node.kind))
            .collect()
    };
    [only(a, b, "-"), only(b, a, "+")].concat()
}

impl<'f> Model<'f> {
    pub(crate) fn new(fs: &'f FileSystem, nodes: Nodes) -> Self {
        Self {
            fs,
            nodes,
            absent: Vec::new(),
            open: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    fn add(
        &mut self,
        path: &RelPath,
        kind: NodeKind,
        copy: Option<CopyFrom>,
        token: Token,
    ) -> Result<()> {
        assert!(!self.nodes.contains_key(path), "'{path}' is there");
        match copy {
            Some(copy) => {
                let nodes = tree(self.fs, copy.rev, &copy.path);
                assert_eq!(nodes[RelPath::ROOT].kind, kind);
                for (below, node) in nodes {
                    self.nodes.insert(path.join(&below), node);
                }
            }
            None => drop(self.nodes.insert(path.to_owned(), Node::empty(kind))),
        }
        self.open.insert(token, path.to_owned());
        Ok(())
    }

    fn opened(&mut self, path: &RelPath, kind: NodeKind, token: Token) -> Result<()> {
        assert_eq!(self.nodes[path].kind, kind, "{path}");
        self.open.insert(token, path.to_owned());
        Ok(())
    }

    fn prop(&mut self, token: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        if name.starts_with(props::ENTRY_PREFIX) {
            return Ok(());
        }
        let node = self.nodes.get_mut(&self.open[&token]).unwrap();
        match value {
            Some(value) => drop(node.props.insert(name.to_owned(), value.to_vec())),
            None => assert!(node.props.remove(name).is_some(), "no property {name}"),
        }
        Ok(())
    }
}

impl Editor for Model<'_> {
    fn set_target_revision(&mut self, _: Revnum) -> Result<()> {
        Ok(())
    }
    fn open_root(&mut self, _: Option<Revnum>, root: Token) -> Result<()> {
        self.opened(RelPath::ROOT, NodeKind::Dir, root)
    }
    fn delete_entry(&mut self, path: &RelPath, _: Option<Revnum>, _: Token) -> Result<()> {
        let before = self.nodes.len();
        self.nodes.retain(|other, _| !other.starts_with(path));
        assert!(self.nodes.len() < before, "'{path}' is not there");
        Ok(())
    }
    fn add_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        copy: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        self.add(path, NodeKind::Dir, copy, dir)
    }
    fn open_directory(
        &mut self,
        path: &RelPath,
        _: Token,
        _: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        self.opened(path, NodeKind::Dir, dir)
    }
    fn change_dir_prop(&mut self, dir: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop(dir, name, value)
    }
    fn close_directory(&mut self, _: Token) -> Result<()> {
        Ok(())
    }
    fn absent_directory(&mut self, path: &RelPath, _: Token) -> Result<()> {
        self.absent.push(path.to_owned());
        Ok(())
    }
    fn add_file(
        &mut self,
        path: &RelPath,
        _: Token,
        copy: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        self.add(path, NodeKind::File, copy, file)
    }
    fn open_file(
        &mut self,
        path: &RelPath,
        _: Token,
        _: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        self.opened(path, NodeKind::File, file)
    }
    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        let old = self.nodes[&self.open[&file]].text.clone();
        if let Some(base) = base {
            assert_eq!(base, Md5::of(&old), "{}", self.open[&file]);
        }
        let base = SeekBase::new(std::io::Cursor::new(old));
        let text = (Applier::new(format, base), Vec::new());
        self.texts.insert(file, text);
        Ok(())
    }
    fn text_chunk(&mut self, file: Token, chunk: Bytes) -> Result<()> {
        let (applier, text) = self.texts.get_mut(&file).unwrap();
        applier.push(&chunk, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        })
    }
    fn text_end(&mut self, file: Token) -> Result<()> {
        let (applier, text) = self.texts.remove(&file).unwrap();
        applier.finish()?;
        self.nodes.get_mut(&self.open[&file]).unwrap().text = text;
        Ok(())
    }
    fn change_file_prop(&mut self, file: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.prop(file, name, value)
    }
    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        let node = &self.nodes[&self.open[&file]];
        assert_eq!(text, Some(Md5::of(&node.text)), "{}", self.open[&file]);
        Ok(())
    }
    fn absent_file(&mut self, path: &RelPath, _: Token) -> Result<()> {
        self.absent.push(path.to_owned());
        Ok(())
    }
    fn close_edit(&mut self) -> Result<()> {
        Ok(())
    }
    fn abort_edit(&mut self) -> Result<()> {
        Ok(())
    }
}
