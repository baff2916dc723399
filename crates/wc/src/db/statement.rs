//! SQL statements by name, found in `.sql` files while compiling.

/// One or more SQL statements of a `.sql` file.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// The name in the file.
    pub name: &'static str,
    /// The text.
    pub sql: &'static str,
}

impl Statement {
    /// Finds the statement after the line `-- name: NAME` of `file`; it ends before the next such
    /// line. A missing one fails the compilation.
    pub(crate) const fn find(file: &'static str, name: &'static str) -> Self {
        let mut rest = file;
        loop {
            let Some(at) = find(rest, MARK) else {
                panic!("no statement of this name in the file");
            };
            rest = rest.split_at(at + MARK.len()).1;
            let Some(line) = find(rest, "\n") else {
                panic!("a statement's name ends its line");
            };
            let (found, body) = rest.split_at(line);
            if equal(found, name) {
                let end = match find(body, MARK) {
                    Some(end) => end,
                    None => body.len(),
                };
                return Self {
                    name,
                    sql: body.split_at(end).0,
                };
            }
        }
    }
}

const MARK: &str = "-- name: ";

const fn find(text: &str, wanted: &str) -> Option<usize> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let mut at = 0;
    while at + wanted.len() <= text.len() {
        if text[at] == wanted[0] {
            let mut same = 1;
            while same < wanted.len() && text[at + same] == wanted[same] {
                same += 1;
            }
            if same == wanted.len() {
                return Some(at);
            }
        }
        at += 1;
    }
    None
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    a.len() == b.len() && at == a.len()
}

/// Declares the statements of a `.sql` file as constants, and all of them as `ALL` for the tests.
macro_rules! statements {
    ($file:literal: $($name:ident),* $(,)?) => {
        const FILE: &str = include_str!($file);
        $(pub(crate) const $name: $crate::db::Statement =
            $crate::db::Statement::find(FILE, stringify!($name));)*
        /// All statements of the file; tests look at how they run.
        #[cfg(test)]
        pub(crate) const ALL: (&str, &[$crate::db::Statement]) = (FILE, &[$($name),*]);
    };
}
pub(crate) use statements;
