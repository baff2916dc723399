//! What the log says of operations, as Subversion's servers say it: programs read these lines.

use std::fmt::Write as _;

use sylvan_core::path::uri_encode;
use sylvan_core::{Depth, RelPath, Revnum};

/// Shows a path of the repository, escaped.
pub(crate) fn path(path: &RelPath) -> String {
    uri_encode(&path.to_fspath())
}

/// Shows a revision; none is -1.
pub(crate) fn rev(rev: Option<Revnum>) -> String {
    rev.map_or_else(|| "-1".to_owned(), |rev| rev.to_string())
}

/// Shows a depth, if there is one.
pub(crate) fn depth(depth: Option<Depth>) -> String {
    depth.map_or_else(String::new, |depth| format!(" depth={depth}"))
}

/// Shows words if they apply.
pub(crate) fn when(applies: bool, words: &str) -> String {
    let shown = if applies { words } else { "" };
    if shown.is_empty() {
        String::new()
    } else {
        format!(" {shown}")
    }
}

/// Shows paths in parentheses.
pub(crate) fn paths<'a>(all: impl IntoIterator<Item = &'a RelPath>) -> String {
    let mut text = String::from("(");
    for (at, one) in all.into_iter().enumerate() {
        let space = if at == 0 { "" } else { " " };
        let _ = write!(text, "{space}{}", path(one));
    }
    text.push(')');
    text
}

/// Shows names of properties in parentheses.
pub(crate) fn revprops(names: Option<&[String]>) -> String {
    match names {
        None => " revprops=all".to_owned(),
        Some([]) => String::new(),
        Some(names) => {
            let names: Vec<String> = names.iter().map(|name| uri_encode(name)).collect();
            format!(" revprops=({})", names.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_lines() {
        let (a, b) = (RelPath::new("a b").unwrap(), RelPath::ROOT);
        assert_eq!(paths([a, b]), "(/a%20b /)");
        assert_eq!(paths([]), "()");
        assert_eq!(rev(None), "-1");
        assert_eq!(depth(Some(Depth::Files)), " depth=files");
        assert_eq!(when(true, "text") + &when(false, "props"), " text");
        assert_eq!(
            revprops(Some(&["svn:log".to_owned(), "x y".to_owned()])),
            " revprops=(svn:log x%20y)"
        );
    }
}
