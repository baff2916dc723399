//! Rows that the writer of a working copy reads and changes: the BASE tree, pristines, work items.

use rusqlite::params;
use rusqlite::types::Value;
use sylvan_core::{
    Checksum, Depth, Md5, NodeKind, Props, RelPath, Result, Revnum, Sha1, Timestamp, props,
};

use super::node::{integer, text};
use super::{Db, Layer, Presence, corrupt, statements};

statements!("write.sql":
    INSERT_BASE,
    REPLACE_BASE,
    FINISH_BASE_DIRECTORY,
    START_DIRECTORY_UPDATE,
    END_DIRECTORY_UPDATE,
    INSERT_PRISTINE,
    SELECT_PRISTINE,
    ANY_PRISTINE,
    LAST_PRISTINE,
    SELECT_PRISTINES,
    SELECT_UNREFERENCED_PRISTINES,
    DELETE_PRISTINE_IF_UNREFERENCED,
    INSERT_WORK_ITEM,
    DELETE_WORK_ITEMS,
    RECORD_BASE_FILE_INFO,
    RECORD_FILE_INFO,
    HAS_WORKING_BELOW,
    SELECT_PRESENT_BELOW,
    DELETE_BASE,
    DELETE_BASE_BELOW,
    DELETE_ACTUAL,
    DELETE_ACTUAL_BELOW,
    HAS_ACTUAL_BELOW,
    BUMP_REVISION,
    BUMP_PATH,
    BUMP_INHERITED_PROPS,
    BUMP_REVISION_BELOW,
    DELETE_LOCK,
    CLEAR_DAV_CACHE,
    CLEAR_DAV_CACHE_BELOW,
    VACUUM,
    INSERT_WC_LOCK,
    DELETE_WC_LOCK,
    DELETE_WC_LOCK_BY_PATH,
    NEXT_WORK_ITEM,
    WC_LOCK_ROWS,
    DELETE_GONE_BELOW,
    SELECT_RECORDED_BELOW,
    SET_BASE_DEPTH,
    DELETE_WORKING,
    SELECT_FILES_WITH_PROPS,
    USE_LARGE_CACHE,
    RECORD_ROW_FILE_INFO,
);

/// When and by whom a node was changed last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub rev: Option<Revnum>,
    /// Microseconds, 0 if not known.
    pub date: i64,
    pub author: Option<String>,
}

/// A row of the BASE tree to be written.
#[derive(Debug)]
pub(crate) struct BaseRow<'a> {
    pub path: &'a RelPath,
    pub repos_id: i64,
    pub repos_path: &'a str,
    pub revision: Revnum,
    pub presence: Presence,
    pub kind: NodeKind,
    pub depth: Option<Depth>,
    pub changed: Option<&'a Changed>,
    pub checksum: Option<&'a Sha1>,
    /// A skel.
    pub props: Option<&'a [u8]>,
    /// Size and modification time of the working file.
    pub recorded: Option<(i64, i64)>,
    /// A skel.
    pub dav_cache: Option<&'a [u8]>,
    pub file_external: bool,
    /// A skel.
    pub inherited_props: Option<&'a [u8]>,
}

impl<'a> BaseRow<'a> {
    /// Makes a row without anything that only present nodes have.
    pub(crate) const fn new(
        path: &'a RelPath,
        repos_id: i64,
        repos_path: &'a str,
        revision: Revnum,
        presence: Presence,
        kind: NodeKind,
    ) -> Self {
        Self {
            path,
            repos_id,
            repos_path,
            revision,
            presence,
            kind,
            depth: None,
            changed: None,
            checksum: None,
            props: None,
            recorded: None,
            dav_cache: None,
            file_external: false,
            inherited_props: None,
        }
    }
}

/// The bounds between which the paths of all nodes below `path` lie.
pub(crate) fn below(path: &RelPath) -> (String, Value) {
    if path.is_root() {
        // A blob sorts after all text.
        (String::new(), Value::Blob(vec![0xff, 0xff]))
    } else {
        (format!("{path}/"), Value::Text(format!("{path}0")))
    }
}

/// Parses a checksum that must be SHA-1.
pub(crate) fn as_sha1(checksum: Checksum) -> Result<Sha1> {
    match checksum {
        Checksum::Sha1(sha1) => Ok(sha1),
        Checksum::Md5(md5) => Err(corrupt(format_args!(
            "'{md5}' is not the checksum of a pristine text"
        ))),
    }
}

impl Layer {
    /// Returns when and by whom the node was changed last.
    pub(crate) fn changed(&self) -> Changed {
        Changed {
            rev: self.changed_rev,
            date: self.changed_date.map_or(0, Timestamp::micros),
            author: self.changed_author.clone(),
        }
    }

    /// Returns the checksum of the pristine text.
    pub(crate) fn sha1(&self) -> Result<Option<Sha1>> {
        self.checksum.map(as_sha1).transpose()
    }

    /// Returns size and time of the working file when it was last seen unmodified.
    pub(crate) fn recorded(&self) -> Option<(i64, i64)> {
        let size = i64::try_from(self.recorded_size?).ok()?;
        Some((size, self.recorded_time.map_or(0, Timestamp::micros)))
    }

    /// Returns the pristine properties.
    pub(crate) fn props(&self) -> Result<Props> {
        self.properties
            .as_deref()
            .map_or_else(|| Ok(Props::new()), props::from_skel)
    }
}

impl Db {
    /// Writes a row of the BASE tree. With `replace` it may stand where another one stood.
    pub(crate) fn put_base(&self, row: &BaseRow<'_>, replace: bool) -> Result<()> {
        let statement = if replace { REPLACE_BASE } else { INSERT_BASE };
        let checksum = row.checksum.map(|sha1| format!("$sha1${sha1}"));
        let default = Changed::default();
        let changed = row.changed.unwrap_or(&default);
        let there = row.presence.is_present();
        self.execute(
            statement,
            params![
                self.wc_id(),
                row.path.as_str(),
                row.path.parent().map(RelPath::as_str),
                row.repos_id,
                row.repos_path,
                row.revision.number(),
                row.presence.as_str(),
                row.depth.filter(|_| there).map(Depth::as_str),
                row.kind.as_str(),
                changed.rev.map(Revnum::number),
                changed.date,
                changed.author,
                checksum,
                row.props,
                row.recorded.map(|recorded| recorded.0),
                row.recorded.map(|recorded| recorded.1),
                row.dav_cache,
                row.file_external.then_some(1),
                row.inherited_props,
            ],
        )?;
        Ok(())
    }

    /// Records a pristine text that `references` rows of nodes have already; one that is there
    /// stays.
    pub(crate) fn put_pristine(
        &self,
        sha1: &Sha1,
        md5: &Md5,
        size: u64,
        references: usize,
    ) -> Result<()> {
        self.execute(
            INSERT_PRISTINE,
            params![
                format!("$sha1${sha1}"),
                format!("$md5 ${md5}"),
                i64::try_from(size).unwrap_or(i64::MAX),
                i64::try_from(references).unwrap_or(i64::MAX)
            ],
        )?;
        Ok(())
    }

    /// Reads the MD5 of a pristine text that is in the store.
    pub(crate) fn pristine_md5(&self, sha1: &Sha1) -> Result<Option<Md5>> {
        Ok(self.pristine(sha1)?.map(|(md5, _)| md5))
    }

    /// Lists the texts in the store, unless there are more than about `most`.
    pub(crate) fn pristine_texts(&self, most: i64) -> Result<Option<Vec<Sha1>>> {
        self.read(|| {
            let last = self.row(LAST_PRISTINE, [], |row| integer(row, 0))?;
            if last.flatten().is_some_and(|last| last > most) {
                return Ok(None);
            }
            self.rows(SELECT_PRISTINES, [], |row| {
                as_sha1(Checksum::parse_db(text(row, 0)?.unwrap_or_default())?)
            })
            .map(Some)
        })
    }

    /// Reads the MD5 and the size of a pristine text that is in the store.
    pub(crate) fn pristine(&self, sha1: &Sha1) -> Result<Option<(Md5, u64)>> {
        self.row(SELECT_PRISTINE, [format!("$sha1${sha1}")], |row| {
            let size = integer(row, 1)?.and_then(|size| u64::try_from(size).ok());
            let size = size.ok_or_else(|| corrupt("A pristine text has no size"))?;
            match Checksum::parse_db(text(row, 0)?.unwrap_or_default())? {
                Checksum::Md5(md5) => Ok((md5, size)),
                Checksum::Sha1(_) => Err(corrupt("A pristine text has no MD5")),
            }
        })
    }

    /// Adds an item to the work queue and returns its id.
    pub(crate) fn put_work_item(&self, item: &[u8]) -> Result<i64> {
        self.insert(INSERT_WORK_ITEM, [item])
    }

    /// Deletes items from the work queue by id, in runs of consecutive ids.
    pub(crate) fn delete_work_items(&self, mut ids: Vec<i64>) -> Result<()> {
        ids.sort_unstable();
        let mut rest = ids.as_slice();
        while let [first, ..] = rest {
            let run = rest
                .iter()
                .zip(*first..)
                .take_while(|(id, expected)| *id == expected)
                .count();
            self.execute(DELETE_WORK_ITEMS, [rest[0], rest[run - 1]])?;
            rest = &rest[run..];
        }
        Ok(())
    }

    /// Tells whether a query gives a row.
    pub(crate) fn exists(
        &self,
        statement: super::Statement,
        params: impl rusqlite::Params,
    ) -> Result<bool> {
        Ok(self.row(statement, params, |_| Ok(()))?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_use_indexes() {
        let whole = [
            "ANY_PRISTINE",
            "SELECT_PRISTINES",
            "SELECT_UNREFERENCED_PRISTINES",
            "WC_LOCK_ROWS",
        ];
        super::super::tests::check_statements(ALL, &whole);
    }
}
