//! A change of a file's text that comes in, and a local one.

use std::io::Read as _;
use std::process::{Command, Stdio};

use sylvan_core::props::{self, SVN_EOL_STYLE, SVN_MIME_TYPE};
use sylvan_core::translate::{Eol, EolStyle, Translation, Translator, special};
use sylvan_core::{Error, ErrorCode, Props, RelPath, RelPathBuf, Result};
use sylvan_diff::{FileSource, Options, Source, merge};
use sylvan_io::Cancel;
use sylvan_io::file::{Creation, Dir, MODE_FILE};

use super::names;
use crate::ADM_DIR;
use crate::conflict::TextConflict;
use crate::notify::State;
use crate::site::{Site, tmp};
use crate::work_queue::item;

/// Changes of properties that come with the text.
pub(crate) type PropChanges = [(String, Option<Vec<u8>>)];

/// A file that a change is merged into.
pub(crate) struct Target<'t> {
    pub site: &'t Site,
    pub path: &'t RelPath,
    /// Its local properties before the change.
    pub props: &'t Props,
    pub changes: &'t PropChanges,
    pub labels: Labels,
    /// A program that merges instead.
    pub diff3: Option<&'t str>,
    pub options: &'t Options,
    pub cancel: &'t Cancel,
}

/// Names of the three texts: ends of files' names, and words in markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Labels {
    pub left: String,
    pub right: String,
    pub mine: String,
    /// The end of all files' names, if it is another.
    pub suffix: Option<&'static str>,
}

/// What became of the text.
#[derive(Debug)]
pub(crate) struct Merged {
    /// Unchanged, merged or in conflict.
    pub state: State,
    pub conflict: Option<TextConflict>,
    /// What is to be done on the disk.
    pub items: Vec<Vec<u8>>,
}

/// A file in the working copy or its administrative folder.
struct Place<'p> {
    dir: &'p Dir,
    path: RelPathBuf,
    /// Its path below the working copy's root, as work items tell it.
    named: RelPathBuf,
}

/// A temporary file in the administrative folder, removed when dropped.
struct Scratch<'s> {
    dir: &'s Dir,
    path: RelPathBuf,
    keep: bool,
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if !self.keep {
            // Cleanup finds what stays.
            let _ = self.dir.remove_if_exists(&self.path);
        }
    }
}

/// Merges the change from the text `left` (nothing is an empty text) to the text `right` into the
/// working file. Both are files below the administrative folder.
///
/// # Errors
/// Those of the file system and of the program that merges.
pub(crate) fn merge_file(
    target: &Target<'_>,
    left: Option<&RelPath>,
    right: &RelPath,
) -> Result<Merged> {
    let site = target.site;
    let is_binary = target.is_binary_after();
    let (mine, _mine) = target.detranslated(!is_binary && target.diff3.is_some())?;
    let right = in_adm(site, right)?;
    let (left, mut left_scratch) = target.left_side(left)?;
    let mut merged = match target.trivial(&left, &right, &mine)? {
        Some(merged) => merged,
        None if is_binary => target.binary(&left, &right, &mine)?,
        None => target.text(&left, &right, &mine)?,
    };
    if let Some(scratch) = &mut left_scratch {
        scratch.keep = true;
        merged.items.push(item::file_remove(&named(&scratch.path)?));
    }
    if is_binary && mine.dir.path() == site.adm.path() && merged.conflict.is_some() {
        // The file is moved to its place later.
        if let Some(mut scratch) = _mine {
            scratch.keep = true;
        }
    }
    merged.items.push(item::sync_file_flags(target.path));
    Ok(merged)
}

/// Returns a file below the administrative folder.
fn in_adm<'s>(site: &'s Site, path: &RelPath) -> Result<Place<'s>> {
    Ok(Place {
        dir: &site.adm,
        path: path.to_owned(),
        named: named(path)?,
    })
}

/// Returns the path below the working copy's root of a file in the administrative folder.
pub(crate) fn named(path: &RelPath) -> Result<RelPathBuf> {
    Ok(RelPathBuf::new(ADM_DIR)?.join(path))
}

impl Target<'_> {
    fn prop_after(&self, name: &str) -> Option<&[u8]> {
        let change = self.changes.iter().find(|(changed, _)| changed == name);
        match change {
            Some((_, value)) => value.as_deref(),
            None => self.props.get(name).map(Vec::as_slice),
        }
    }

    /// Tells whether the file counts as binary: by its new type if it gets one.
    fn is_binary_after(&self) -> bool {
        let changed = self
            .changes
            .iter()
            .find(|(name, value)| name == SVN_MIME_TYPE && value.is_some());
        match changed {
            Some((_, Some(value))) => is_binary(value),
            _ => props::is_binary(self.props),
        }
    }

    /// Returns how the working file is made into a text that the others can be compared with.
    fn normalization(&self) -> Translation {
        let old = Translation::for_normalization(self.props);
        let was_binary = props::is_binary(self.props);
        let becomes_binary = self.prop_after(SVN_MIME_TYPE).is_some_and(is_binary);
        if was_binary && becomes_binary {
            return Translation {
                eol: EolStyle::None,
                special: false,
                ..old
            };
        }
        if becomes_binary {
            return old;
        }
        if old.special {
            return Translation {
                eol: EolStyle::None,
                keywords: None,
                special: true,
            };
        }
        let eol = match self.new_eol_style() {
            Some(value) => EolStyle::from_prop(Some(value)),
            None if was_binary => EolStyle::None,
            None => old.eol,
        };
        Translation { eol, ..old }
    }

    /// Returns the line ends that the change asks for.
    fn new_eol_style(&self) -> Option<&[u8]> {
        let change = self
            .changes
            .iter()
            .find(|(name, value)| name == SVN_EOL_STYLE && value.is_some());
        change.and_then(|(_, value)| value.as_deref())
    }

    /// Makes the working file as it would be in the repository; `copy` says that it must not be the
    /// file itself.
    fn detranslated(&self, copy: bool) -> Result<(Place<'_>, Option<Scratch<'_>>)> {
        let how = self.normalization();
        if how.eol == EolStyle::Unknown {
            return Err(Error::from_code(ErrorCode::IO_UNKNOWN_EOL));
        }
        let tree = &self.site.root;
        if !copy && how.is_identity() {
            let path = self.path.to_owned();
            return Ok((
                Place {
                    dir: tree,
                    named: path.clone(),
                    path,
                },
                None,
            ));
        }
        let is_link = how.special && tree.lstat(self.path)?.is_some_and(|meta| meta.is_symlink());
        let scratch = if is_link {
            let text = special::link_content(&tree.read_link(self.path)?);
            self.scratch(|write| write(&text))?
        } else {
            let mut translator = how.to_normal(true)?;
            self.translated(tree, self.path, &mut translator)?
        };
        Ok((in_adm(self.site, &scratch.path)?, Some(scratch)))
    }

    /// Returns the old text, with new line ends if the change brings some, or an empty one.
    fn left_side<'p>(&'p self, left: Option<&RelPath>) -> Result<(Place<'p>, Option<Scratch<'p>>)> {
        let Some(left) = left else {
            let scratch = self.scratch(|_| Ok(()))?;
            return Ok((in_adm(self.site, &scratch.path)?, Some(scratch)));
        };
        let Some(eol) = self.new_eol_style() else {
            return Ok((in_adm(self.site, left)?, None));
        };
        let eol = Eol::from_prop(eol).map(Eol::in_working_copy);
        let mut translator = Translator::new(eol, true, None, false);
        let scratch = self.translated(&self.site.adm, left, &mut translator)?;
        Ok((in_adm(self.site, &scratch.path)?, Some(scratch)))
    }

    fn translated(
        &self,
        dir: &Dir,
        path: &RelPath,
        translator: &mut Translator,
    ) -> Result<Scratch<'_>> {
        self.scratch(|write| {
            let mut out = Vec::new();
            read_through(dir, path, self.cancel, |bytes| {
                out.clear();
                translator.push(bytes, &mut out)?;
                write(&out)
            })?;
            out.clear();
            translator.finish(&mut out)?;
            write(&out)
        })
    }

    /// Writes a temporary file.
    fn scratch(
        &self,
        fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<Scratch<'_>> {
        let name = crate::install::temp_name();
        let (path, file) = names::create(&self.site.adm, tmp(), &name, ".tmp")?;
        let scratch = Scratch {
            dir: &self.site.adm,
            path,
            keep: false,
        };
        fill(&mut |bytes| match bytes {
            [] => Ok(()),
            bytes => file.write_all(bytes),
        })?;
        file.close()?;
        Ok(scratch)
    }

    /// Merges where only one side changed something, or both did the same; `None` if it is not so.
    fn trivial(
        &self,
        left: &Place<'_>,
        right: &Place<'_>,
        mine: &Place<'_>,
    ) -> Result<Option<Merged>> {
        let found = self.site.root.lstat(self.path)?;
        if !found.is_some_and(|meta| meta.is_file()) {
            return Ok(None);
        }
        let unchanged = Merged {
            state: State::Unchanged,
            conflict: None,
            items: Vec::new(),
        };
        if self.are_same(left, mine)? {
            if self.are_same(left, right)? {
                return Ok(Some(unchanged));
            }
            let install = item::file_install_from(self.path, &right.named);
            return Ok(Some(Merged {
                state: State::Merged,
                items: vec![install],
                ..unchanged
            }));
        }
        Ok(self.are_same(right, mine)?.then_some(unchanged))
    }

    fn are_same(&self, a: &Place<'_>, b: &Place<'_>) -> Result<bool> {
        let sizes = [a, b].map(|place| Ok(place.dir.lstat(&place.path)?.map(|meta| meta.size)));
        let [first, second]: [Result<Option<u64>>; 2] = sizes;
        if first? != second? {
            return Ok(false);
        }
        let (a, b) = (source(a)?, source(b)?);
        let mut buffers = [vec![0; 64 << 10], vec![0; 64 << 10]];
        let mut at = 0;
        while at < a.len() {
            self.cancel.check()?;
            let len = usize::try_from(a.len() - at).unwrap_or(usize::MAX);
            let len = len.min(buffers[0].len());
            let [first, second] = &mut buffers;
            a.read_at(at, &mut first[..len])?;
            b.read_at(at, &mut second[..len])?;
            if first[..len] != second[..len] {
                return Ok(false);
            }
            at += len as u64;
        }
        Ok(true)
    }

    fn text(&self, left: &Place<'_>, right: &Place<'_>, mine: &Place<'_>) -> Result<Merged> {
        let (result, is_conflicted) = match self.diff3 {
            Some(program) => self.run_diff3(program, left, right, mine)?,
            None => self.diff3(left, right, mine)?,
        };
        let result = in_adm(self.site, &result)?;
        let (mut items, mut conflict) = (Vec::new(), None);
        let state = if is_conflicted {
            conflict = Some(self.preserve(left, right, &mut items)?);
            State::Conflicted
        } else {
            let is_special = self.props.contains_key(props::SVN_SPECIAL);
            let working = Place {
                dir: &self.site.root,
                path: self.path.to_owned(),
                named: self.path.to_owned(),
            };
            let same = self.are_same(&result, if is_special { mine } else { &working })?;
            if same {
                State::Unchanged
            } else {
                State::Merged
            }
        };
        if state != State::Unchanged {
            items.push(item::file_install_from(self.path, &result.named));
        }
        items.push(item::file_remove(&result.named));
        Ok(Merged {
            state,
            conflict,
            items,
        })
    }

    /// Makes the file that the merged text goes to.
    fn result_file(&self) -> Result<(RelPathBuf, sylvan_io::file::NewFile)> {
        names::create(&self.site.adm, tmp(), self.path.basename(), ".tmp")
    }

    fn diff3(
        &self,
        left: &Place<'_>,
        right: &Place<'_>,
        mine: &Place<'_>,
    ) -> Result<(RelPathBuf, bool)> {
        let (left, right, mine) = (source(left)?, source(right)?, source(mine)?);
        let sources: [&dyn Source; 3] = [&left, &mine, &right];
        let diff = sylvan_diff::diff3(sources, self.options, &mut || self.cancel.check())?;
        let (path, file) = self.result_file()?;
        let labels = merge::Labels::new(&self.labels.left, &self.labels.mine, &self.labels.right);
        let mut out = Vec::new();
        let written = merge::write(&diff, sources, &labels, merge::Style::All, &mut |bytes| {
            out.extend_from_slice(bytes);
            if out.len() >= 64 << 10 {
                file.write_all(&out)?;
                out.clear();
            }
            Ok(())
        });
        let done = written.and_then(|()| {
            if !out.is_empty() {
                file.write_all(&out)?;
            }
            file.close()
        });
        if let Err(error) = done {
            return Err(self.without(&path, error));
        }
        Ok((path, diff.has_conflicts()))
    }

    fn without(&self, path: &RelPath, error: Error) -> Error {
        match self.site.adm.remove_if_exists(path) {
            Ok(()) => error,
            Err(other) => error.attach(other),
        }
    }

    /// Has a program merge.
    fn run_diff3(
        &self,
        program: &str,
        left: &Place<'_>,
        right: &Place<'_>,
        mine: &Place<'_>,
    ) -> Result<(RelPathBuf, bool)> {
        let (path, file) = self.result_file()?;
        let [mine, left, right] = [mine, left, right].map(|place| place.dir.full(&place.path));
        let labels = &self.labels;
        let status = Command::new(program)
            .args(["-E", "-m"])
            .args(["-L", &labels.mine, "-L", &labels.left, "-L", &labels.right])
            .args([&mine, &left, &right])
            .stdin(Stdio::null())
            .stdout(file.into_file())
            .status();
        // One that cannot be started counts as one that fails.
        let code = status.ok().and_then(|status| status.code()).unwrap_or(255);
        if code == 0 || code == 1 {
            return Ok((path, code == 1));
        }
        let failed = Error::new(
            ErrorCode::EXTERNAL_PROGRAM,
            format!(
                "Error running '{program}':  exitcode was {code}, args were:\nin directory '.', \
                 basenames:\n{}\n{}\n{}",
                mine.display(),
                left.display(),
                right.display()
            ),
        );
        Err(self.without(&path, failed))
    }

    /// Keeps the three texts beside the file, as they would be in the working copy.
    fn preserve(
        &self,
        left: &Place<'_>,
        right: &Place<'_>,
        items: &mut Vec<Vec<u8>>,
    ) -> Result<TextConflict> {
        let old = self.beside(&self.labels.left)?;
        let theirs = self.beside(&self.labels.right)?;
        let mine = self.beside(&self.labels.mine)?;
        items.push(item::file_translate(self.path, &left.named, &old));
        items.push(item::file_translate(self.path, &right.named, &theirs));
        let (copy, scratch) = self.detranslated(true)?;
        if let Some(mut scratch) = scratch {
            scratch.keep = true;
        }
        items.push(item::file_translate(self.path, &copy.named, &mine));
        items.push(item::file_remove(&copy.named));
        Ok(TextConflict {
            old: Some(old),
            mine: Some(mine),
            theirs: Some(theirs),
        })
    }

    /// Makes an empty file beside the target.
    fn beside(&self, suffix: &str) -> Result<RelPathBuf> {
        let folder = self.path.parent().unwrap_or(RelPath::ROOT);
        let suffix = self.labels.suffix.unwrap_or(suffix);
        names::reserve(&self.site.root, folder, self.path.basename(), suffix)
    }

    /// Keeps the two other texts beside the file, as they are in the repository.
    fn binary(&self, left: &Place<'_>, right: &Place<'_>, mine: &Place<'_>) -> Result<Merged> {
        let old = self.beside(&self.labels.left)?;
        let theirs = self.beside(&self.labels.right)?;
        self.copy(left, &old)?;
        self.copy(right, &theirs)?;
        let mut items = Vec::new();
        let kept = if *mine.named == *self.path {
            None
        } else {
            let kept = self.beside(&self.labels.mine)?;
            items.push(item::file_move(&mine.named, &kept));
            Some(kept)
        };
        Ok(Merged {
            state: State::Conflicted,
            conflict: Some(TextConflict {
                old: Some(old),
                mine: kept,
                theirs: Some(theirs),
            }),
            items,
        })
    }

    /// Copies a file with its permissions over one that was made for it.
    fn copy(&self, from: &Place<'_>, to: &RelPath) -> Result<()> {
        let tree = &self.site.root;
        tree.remove_if_exists(to)?;
        let file = tree.create(to, MODE_FILE, Creation::Exclusive)?;
        read_through(from.dir, &from.path, self.cancel, |bytes| {
            file.write_all(bytes)
        })?;
        file.close()?;
        if let Some(meta) = from.dir.lstat(&from.path)? {
            tree.set_mode(to, meta.mode)?;
        }
        Ok(())
    }
}

/// Writes a working file as it would be in the repository to a temporary file; returns its path below
/// the working copy's root.
pub(crate) fn normalized(
    site: &Site,
    path: &RelPath,
    how: &Translation,
    cancel: &Cancel,
) -> Result<RelPathBuf> {
    let (scratch, file) = names::create(&site.adm, tmp(), &crate::install::temp_name(), ".tmp")?;
    let done = write_normalized(site, path, how, cancel, &file).and_then(|()| file.close());
    if let Err(error) = done {
        return Err(match site.adm.remove_if_exists(&scratch) {
            Ok(()) => error,
            Err(other) => error.attach(other),
        });
    }
    named(&scratch)
}

fn write_normalized(
    site: &Site,
    path: &RelPath,
    how: &Translation,
    cancel: &Cancel,
    file: &sylvan_io::file::NewFile,
) -> Result<()> {
    let tree = &site.root;
    if how.special && tree.lstat(path)?.is_some_and(|meta| meta.is_symlink()) {
        return file.write_all(&special::link_content(&tree.read_link(path)?));
    }
    let mut translator = how.to_normal(true)?;
    let mut out = Vec::new();
    read_through(tree, path, cancel, |bytes| {
        out.clear();
        translator.push(bytes, &mut out)?;
        file.write_all(&out)
    })?;
    out.clear();
    translator.finish(&mut out)?;
    file.write_all(&out)
}

fn is_binary(mime_type: &[u8]) -> bool {
    std::str::from_utf8(mime_type).is_ok_and(props::mime_type_is_binary)
}

fn source(place: &Place<'_>) -> Result<FileSource> {
    FileSource::new(
        place.dir.open_file(&place.path)?,
        place.dir.full(&place.path),
    )
}

/// Reads a file in pieces.
pub(crate) fn read_through(
    dir: &Dir,
    path: &RelPath,
    cancel: &Cancel,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut file = dir.open_file(path)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        cancel.check()?;
        let count = file.read(&mut buffer).map_err(|error| {
            let path = dir.full(path);
            Error::io(&error, format!("Can't read file '{}'", path.display()))
        })?;
        if count == 0 {
            return Ok(());
        }
        take(&buffer[..count])?;
    }
}
