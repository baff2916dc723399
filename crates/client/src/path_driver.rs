//! Driving an editor to a list of paths, opening the folders on the way.

use std::cmp::Ordering;

use sylvan_core::{RelPath, RelPathBuf, Result, Revnum};
use sylvan_delta::{Editor, Token};

/// Numbers the nodes of one drive.
#[derive(Debug, Default)]
pub(crate) struct Tokens(u32);

impl Tokens {
    pub(crate) const fn next(&mut self) -> Token {
        self.0 += 1;
        Token(self.0)
    }
}

/// Compares paths so that a folder is followed by all that is below it.
pub(crate) fn tree_order(left: &RelPath, right: &RelPath) -> Ordering {
    left.components().cmp(right.components())
}

/// Where a step of the drive stands.
pub(crate) struct Place<'a> {
    /// The position of the path in the list.
    pub(crate) index: usize,
    /// The path.
    pub(crate) path: &'a RelPath,
    /// Its folder; nothing for the root, which the step opens itself.
    pub(crate) parent: Option<Token>,
}

/// Handles one path: returns the folder that it opened there, if it did.
pub(crate) type Step<'a> =
    dyn FnMut(&mut dyn Editor, &mut Tokens, &Place<'_>) -> Result<Option<Token>> + 'a;

/// Opens the root of the drive and the folders of the paths, which are in tree order, calls `step`
/// at each path, and closes all folders.
///
/// # Errors
/// What the editor and `step` give.
pub(crate) fn drive(
    editor: &mut dyn Editor,
    base: Option<Revnum>,
    paths: &[&RelPath],
    tokens: &mut Tokens,
    step: &mut Step<'_>,
) -> Result<()> {
    let mut open: Vec<(RelPathBuf, Token)> = Vec::new();
    if paths.first().is_none_or(|first| !first.is_root()) {
        let root = tokens.next();
        editor.open_root(base, root)?;
        open.push((RelPathBuf::root(), root));
    }
    for (index, path) in paths.iter().enumerate() {
        while let Some((dir, token)) = open.last()
            && (!path.starts_with(dir) || **path == **dir)
        {
            editor.close_directory(*token)?;
            open.pop();
        }
        let mut missing: Vec<&RelPath> = path
            .ancestors()
            .filter(|ancestor| ancestor != path)
            .take_while(|ancestor| open.last().is_none_or(|(dir, _)| **dir != **ancestor))
            .collect();
        while let (Some(folder), Some((_, parent))) = (missing.pop(), open.last()) {
            let dir = tokens.next();
            editor.open_directory(folder, *parent, None, dir)?;
            open.push((folder.to_owned(), dir));
        }
        let place = Place {
            index,
            path,
            parent: open.last().map(|(_, token)| *token),
        };
        if let Some(dir) = step(editor, tokens, &place)? {
            open.push(((*path).to_owned(), dir));
        }
    }
    for (_, dir) in open.into_iter().rev() {
        editor.close_directory(dir)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_their_neighbours() {
        let mut paths = ["a-b", "a/c", "a", "", "a/b/c", "b"]
            .map(|path| RelPath::new(path).expect("a plain path"));
        paths.sort_by(|left, right| tree_order(left, right));
        assert_eq!(
            paths.map(RelPath::as_str),
            ["", "a", "a/b/c", "a/c", "a-b", "b"]
        );
    }
}
