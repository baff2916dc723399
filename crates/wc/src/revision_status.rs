//! What `svnversion` says of a working copy.

use sylvan_core::{Error, ErrorCode, RelPath, Result, Revnum};

use crate::WorkingCopy;
use crate::db::{Db, Statement, read, sqlite_error};

/// Which revisions `svnversion` looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Revisions {
    /// Those that the nodes are at.
    #[default]
    Current,
    /// Those in which they were last changed.
    Committed,
}

/// The mixture of a subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RevisionStatus {
    /// The lowest revision; `None` if there is none (an added tree).
    pub min: Option<Revnum>,
    /// The highest revision.
    pub max: Option<Revnum>,
    /// Some node is switched, or the whole does not end in the URL asked for.
    pub switched: bool,
    /// There are local changes.
    pub modified: bool,
    /// Something is left out by depth or the server.
    pub sparse: bool,
}

/// Reads the mixture of `path` and all below it. `trail` is how the URL should end, if that is asked.
///
/// Local changes that only the disk shows are not looked for here, see
/// [`local_changes`](crate::status::local_changes).
///
/// # Errors
/// `E155010` if the path is not under version control; `E200030` and its kin.
pub fn read_recorded(
    wc: &WorkingCopy,
    path: &RelPath,
    revisions: Revisions,
    trail: Option<&str>,
) -> Result<RevisionStatus> {
    let db = wc.db();
    db.read(|| {
        if db.layers(path)?.is_empty() {
            return Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("The node '{}' was not found.", wc.local_path(path)),
            ));
        }
        let range = Range::of(path);
        let (min, max) = revision_range(db, &range, revisions)?;
        Ok(RevisionStatus {
            min,
            max,
            switched: is_switched(db, path, &range, trail)?,
            modified: exists(db, read::SELECT_TREE_CHANGE, &range)?
                || exists(db, read::SELECT_PROP_CHANGE, &range)?,
            sparse: exists(db, read::SELECT_SPARSE, &range)?,
        })
    })
}

/// Returns the oldest and the youngest revision of BASE at and below a node.
pub(crate) fn base_range(wc: &WorkingCopy, path: &RelPath) -> Result<Option<(Revnum, Revnum)>> {
    let (oldest, youngest) = revision_range(wc.db(), &Range::of(path), Revisions::Current)?;
    Ok(oldest.zip(youngest))
}

fn revision_range(
    db: &Db,
    range: &Range,
    revisions: Revisions,
) -> Result<(Option<Revnum>, Option<Revnum>)> {
    let first = match revisions {
        Revisions::Current => 0,
        Revisions::Committed => 2,
    };
    let params = (db.wc_id(), &range.from, &range.to, &range.above);
    let found = db.row(read::SELECT_REVISION_RANGE, params, |row| {
        let revision = |column| -> Result<_> {
            let number: Option<i64> = row.get(column).map_err(sqlite_error)?;
            Ok(number.and_then(Revnum::new))
        };
        Ok((revision(first)?, revision(first + 1)?))
    })?;
    Ok(found.unwrap_or_default())
}

fn exists(db: &Db, statement: Statement, range: &Range) -> Result<bool> {
    let params = (db.wc_id(), &range.from, &range.to, &range.above);
    Ok(db.row(statement, params, |_| Ok(()))?.is_some())
}

fn is_switched(db: &Db, path: &RelPath, range: &Range, trail: Option<&str>) -> Result<bool> {
    let node = db.node(path)?;
    let base = node.as_ref().and_then(|node| node.base());
    let Some((repos_id, repos_path)) =
        base.and_then(|base| Some((base.repos_id?, base.repos_path.as_ref()?)))
    else {
        return Ok(false);
    };
    if let Some(trail) = trail {
        let url = db.repository(repos_id)?.root.join(repos_path);
        if !url.as_str().ends_with(trail) {
            return Ok(true);
        }
    }
    let below = if repos_path.is_root() {
        String::new()
    } else {
        format!("{repos_path}/")
    };
    let length = i64::try_from(range.above.chars().count()).unwrap_or(i64::MAX);
    let params = (
        db.wc_id(),
        &range.from,
        &range.to,
        &range.above,
        length,
        below,
    );
    let found = db.row(read::SELECT_SWITCHED_BELOW, params, |_| Ok(()))?;
    Ok(found.is_some())
}

/// The bounds between which the paths at and below a path lie: `from`, below `to`, and beyond
/// `above` if not the path itself.
pub(crate) struct Range {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) above: String,
}

impl Range {
    pub(crate) fn of(path: &RelPath) -> Self {
        if path.is_root() {
            return Self {
                from: String::new(),
                to: char::MAX.to_string(),
                above: String::new(),
            };
        }
        // '0' follows '/'.
        Self {
            from: path.as_str().to_owned(),
            to: format!("{path}0"),
            above: format!("{path}/"),
        }
    }
}
