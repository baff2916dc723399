//! What a difference in Git's format has above its hunks.

use sylvan_core::props::{SVN_EXECUTABLE, SVN_SPECIAL};
use sylvan_core::translate::special;
use sylvan_core::{Props, RelPath, Result, Revnum, Sha1};
use sylvan_diff::Source as _;

use super::text::Text;

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation<'o> {
    Modified,
    Added,
    Deleted,
    /// From a place below the repository's root, at a revision.
    Copied(&'o RelPath, Option<Revnum>),
    /// From a place below what is compared.
    Moved(&'o RelPath),
}

/// What a header tells.
pub(super) struct Header<'h> {
    pub(super) operation: Operation<'h>,
    /// Where the file is in the repository on both sides.
    pub(super) paths: [&'h str; 2],
    pub(super) props: [&'h Props; 2],
    /// The digests of a symlink's two targets.
    pub(super) index_shas: Option<&'h str>,
}

impl Header<'_> {
    /// Returns the header and the paths of the labels that follow it.
    pub(super) fn write(&self) -> (String, [String; 2]) {
        let modes = self.props.map(mode);
        let old_path = match self.operation {
            Operation::Copied(from, _) | Operation::Moved(from) => from.as_str(),
            _ => self.paths[0],
        };
        let new_path = self.paths[1];
        let mut text = format!("diff --git a/{old_path} b/{new_path}\n");
        match self.operation {
            Operation::Added => text.push_str(&format!("new file mode {:06o}\n", modes[1])),
            Operation::Deleted => text.push_str(&format!("deleted file mode {:06o}\n", modes[0])),
            Operation::Copied(_, Some(rev)) => {
                text.push_str(&format!("copy from {old_path}@{rev}\ncopy to {new_path}\n"));
            }
            Operation::Copied(_, None) => {
                text.push_str(&format!("copy from {old_path}\ncopy to {new_path}\n"));
            }
            Operation::Moved(_) => {
                text.push_str(&format!("rename from {old_path}\nrename to {new_path}\n"));
            }
            Operation::Modified => {}
        }
        if !matches!(self.operation, Operation::Added | Operation::Deleted) {
            match self.index_shas {
                _ if modes[0] != modes[1] => text.push_str(&format!(
                    "old mode {:06o}\nnew mode {:06o}\n",
                    modes[0], modes[1]
                )),
                Some(shas) => text.push_str(&format!("index {shas} {:06o}\n", modes[0])),
                None => {}
            }
        }
        (text, [format!("a/{old_path}"), format!("b/{new_path}")])
    }
}

/// Returns the mode that Git has for a file.
fn mode(props: &Props) -> u32 {
    let kind = match props.contains_key(SVN_SPECIAL) {
        true => 0o120_000,
        false => 0o100_000,
    };
    let rights = match props.contains_key(SVN_EXECUTABLE) {
        true => 0o755,
        false => 0o644,
    };
    kind | rights
}

/// A symlink as Git has it: its target is the content.
pub(super) struct Link {
    pub(super) text: Text,
    /// The first digits of Git's digest.
    pub(super) sha: String,
}

/// No target of a symlink is longer.
const LONGEST_LINK: usize = 64 << 10;

/// Returns a symlink in Git's form; `None` if it is none.
pub(super) fn link(props: &Props, text: &Text) -> Result<Option<Link>> {
    if !props.contains_key(SVN_SPECIAL) {
        return Ok(None);
    }
    let open = text.open()?;
    let len = usize::try_from(open.len()).ok();
    let Some(len) = len.filter(|len| *len <= LONGEST_LINK) else {
        return Ok(None);
    };
    let mut content = vec![0; len];
    open.read_at(0, &mut content)?;
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
    Ok(line
        .strip_prefix(special::LINK_PREFIX)
        .filter(|target| !target.is_empty())
        .map(|target| {
            let mut blob = format!("blob {}\0", target.len()).into_bytes();
            blob.extend_from_slice(target);
            let mut sha = Sha1::of(&blob).to_string();
            sha.truncate(8);
            Link {
                text: Text::Memory(target.to_vec()),
                sha,
            }
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_happened() {
        let none = Props::new();
        let exec = Props::from([(SVN_EXECUTABLE.to_owned(), b"*".to_vec())]);
        let link = Props::from([(SVN_SPECIAL.to_owned(), b"*".to_vec())]);
        let from = RelPath::new("f").unwrap();
        let rev = Revnum::new(3);
        for (operation, props, shas, expected) in [
            (Operation::Modified, [&none, &none], None, ""),
            (
                Operation::Modified,
                [&none, &exec],
                None,
                "old mode 100644\nnew mode 100755\n",
            ),
            (
                Operation::Modified,
                [&link, &link],
                Some("a..b"),
                "index a..b 120644\n",
            ),
            (
                Operation::Added,
                [&none, &exec],
                None,
                "new file mode 100755\n",
            ),
            (
                Operation::Deleted,
                [&exec, &none],
                None,
                "deleted file mode 100755\n",
            ),
            (
                Operation::Copied(from, rev),
                [&none, &none],
                None,
                "copy from f@3\ncopy to b\n",
            ),
            (
                Operation::Moved(from),
                [&none, &none],
                None,
                "rename from f\nrename to b\n",
            ),
        ] {
            let header = Header {
                operation,
                paths: ["a", "b"],
                props,
                index_shas: shas,
            };
            let (text, _) = header.write();
            let (first, rest) = text.split_once('\n').unwrap();
            assert!(first.starts_with("diff --git a/"), "{first}");
            assert_eq!(rest, expected, "{operation:?}");
        }
    }
}
