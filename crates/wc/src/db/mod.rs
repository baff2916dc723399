//! `wc.db`, the database of a working copy.
//!
//! A [`Db`] is one connection. Its statements stand in `.sql` files beside this one and are found
//! by name while compiling ([`Statement`]).
//!
//! Connection rules, which are Subversion's: read-write, `synchronous` off, journals truncated, but
//! with exclusive locking deleted; a wait of `busy-timeout` for other processes.

mod ahead;
mod error;
mod layers;
pub(crate) mod moves;
mod node;
pub(crate) mod read;
mod schema;
mod statement;
pub(crate) mod write;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OpenFlags, Params, Row, functions::FunctionFlags};
use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::file::TempFile;

use crate::Options;
pub(crate) use error::{corrupt, sqlite_error};
pub(crate) use layers::BaseRemoval;
pub use node::{Actual, Layer, Node, NodeState, Presence};
pub(crate) use node::{integer, path as path_column};
pub use read::{ExternalRow, LockRow, Repository, WcLockRow};
pub use statement::Statement;
#[allow(
    unused_imports,
    reason = "the write side declares its statements with it"
)]
pub(crate) use statement::statements;

pub(crate) use schema::{FirstRows, INSTALL_STATISTICS};

/// The working copy format that this program reads and writes.
pub const FORMAT: i64 = 31;

/// The open database of a working copy.
#[derive(Debug)]
pub struct Db {
    connection: Connection,
    path: PathBuf,
    wc_id: i64,
    format: i64,
    repositories: RefCell<HashMap<i64, Arc<Repository>>>,
}

impl Db {
    /// Tells whether the file is a database without any table: its creation was interrupted.
    pub(crate) fn is_unborn(path: &Path, options: &Options) -> bool {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let tables = connect(path, flags, options).and_then(|connection| {
            connection
                .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
                .map_err(sqlite_error)
        });
        matches!(tables, Ok(0_i64))
    }

    /// Opens an existing database and reads its format. The caller judges the format.
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Self {
            connection: connect(path, flags, options).map_err(OpenError::of)?,
            path: path.to_owned(),
            wc_id: 0,
            format: 0,
            repositories: RefCell::default(),
        };
        let run = |sql| db.connection.execute_batch(sql).map_err(sqlite_error);
        run("BEGIN").map_err(OpenError::of)?;
        // This one needs no schema, so the lock that it takes serves all that follows.
        db.format = db
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|error| OpenError::of(sqlite_error(error)))?;
        set_journal_mode(&db.connection, options).map_err(OpenError::of)?;
        let wc_id = db
            .row(schema::SELECT_WCROOT, [], |row| {
                row.get(0).map_err(sqlite_error)
            })
            .map_err(OpenError::Failed)?;
        db.wc_id = wc_id.ok_or_else(|| OpenError::Failed(corrupt("Missing a row in WCROOT.")))?;
        let is_fit = db.format != FORMAT
            || db
                .exists(schema::SELECT_STATISTICS, [])
                .map_err(OpenError::Failed)?;
        let run = |sql| db.connection.execute_batch(sql).map_err(sqlite_error);
        run("END; PRAGMA synchronous = OFF").map_err(OpenError::Failed)?;
        if !is_fit {
            // Without them SQLite may take the wrong index. Whoever may not write does without.
            let _ = db.write(|| db.execute_batch(INSTALL_STATISTICS));
        }
        Ok(db)
    }

    /// Creates a database with its first rows.
    ///
    /// It is made in memory and gets its name when it is whole (through a file in `tmp`), so that
    /// no moment leaves a database without tables for the next program to stumble over.
    ///
    /// # Errors
    /// As [`Db::open`], and an operating system's error if the file cannot be made; `EEXIST` if
    /// there is a database with tables already.
    pub(crate) fn create(
        path: &Path,
        tmp: &Path,
        options: &Options,
        first: &FirstRows<'_>,
    ) -> Result<()> {
        let mut file = TempFile::with_mode(tmp, 0o666)?;
        file.write_all(&image(options, first)?)?;
        if path.exists() && Self::is_unborn(path, options) {
            file.persist(path)
        } else {
            file.persist_new(path)
        }
    }

    /// Returns the database's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the id that all rows of this working copy have.
    pub const fn wc_id(&self) -> i64 {
        self.wc_id
    }

    /// Returns the format number.
    pub const fn format(&self) -> i64 {
        self.format
    }

    /// Reads the format number, which another program may have raised.
    ///
    /// # Errors
    /// Those of SQLite.
    pub(crate) fn stored_format(&self) -> Result<i64> {
        self.connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(sqlite_error)
    }

    /// Returns the connection, for what the methods here do not cover.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Prepares a statement, or takes it from the cache.
    ///
    /// # Errors
    /// `E200030` if SQLite refuses it.
    pub fn prepare(&self, statement: Statement) -> Result<CachedStatement<'_>> {
        self.connection
            .prepare_cached(statement.sql)
            .map_err(sqlite_error)
    }

    /// Runs a statement that changes rows; returns how many.
    ///
    /// # Errors
    /// `E200030` and its kin.
    pub fn execute(&self, statement: Statement, params: impl Params) -> Result<usize> {
        self.prepare(statement)?
            .execute(params)
            .map_err(sqlite_error)
    }

    /// Runs several statements without parameters.
    ///
    /// # Errors
    /// `E200030` and its kin.
    pub fn execute_batch(&self, statement: Statement) -> Result<()> {
        self.connection
            .execute_batch(statement.sql)
            .map_err(sqlite_error)
    }

    /// Inserts a row and returns its id.
    ///
    /// # Errors
    /// `E200030` and its kin.
    pub fn insert(&self, statement: Statement, params: impl Params) -> Result<i64> {
        self.execute(statement, params)?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Reads the first row, if there is any.
    ///
    /// # Errors
    /// `E200030` and its kin, and what `read` returns.
    pub fn row<T>(
        &self,
        statement: Statement,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut prepared = self.prepare(statement)?;
        let mut rows = prepared.query(params).map_err(sqlite_error)?;
        rows.next().map_err(sqlite_error)?.map(read).transpose()
    }

    /// Reads all rows, one after the other.
    ///
    /// # Errors
    /// `E200030` and its kin, and what `read` returns, which ends the reading.
    pub fn each(
        &self,
        statement: Statement,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut prepared = self.prepare(statement)?;
        let mut rows = prepared.query(params).map_err(sqlite_error)?;
        while let Some(row) = rows.next().map_err(sqlite_error)? {
            read(row)?;
        }
        Ok(())
    }

    /// Collects all rows.
    ///
    /// # Errors
    /// As [`Db::each`].
    pub fn rows<T>(
        &self,
        statement: Statement,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(statement, params, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Runs `work` in a read transaction: it sees one state of the database, and the file is
    /// locked once. Inside another transaction it just runs.
    ///
    /// # Errors
    /// What `work` returns, or an error of SQLite.
    pub fn read<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.connection.is_autocommit() {
            return work();
        }
        self.transaction("BEGIN", "COMMIT", "ROLLBACK", work)
    }

    /// Has the system fetch the whole file, if it is not too large; within [`Db::read`], after the
    /// first query, by whoever is going to read all of it from a network file system.
    pub(crate) fn read_ahead(&self) {
        ahead::read_ahead(&self.path);
    }

    /// Runs `work` in a write transaction (`BEGIN IMMEDIATE`): all it wrote stays, or nothing if it
    /// fails. Inside another transaction it is a savepoint.
    ///
    /// # Errors
    /// What `work` returns, or an error of SQLite: `E200033` if another process does not finish
    /// within the busy timeout.
    pub fn write<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.connection.is_autocommit() {
            self.transaction("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", work)
        } else {
            self.transaction(
                "SAVEPOINT sylvan",
                "RELEASE sylvan",
                "ROLLBACK TO sylvan; RELEASE sylvan",
                work,
            )
        }
    }

    fn transaction<T>(
        &self,
        begin: &str,
        commit: &str,
        rollback: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let run = |sql| self.connection.execute_batch(sql).map_err(sqlite_error);
        run(begin)?;
        let failed = match work() {
            Ok(done) => match run(commit) {
                Ok(()) => return Ok(done),
                Err(error) => error,
            },
            Err(error) => error,
        };
        if self.connection.is_autocommit() {
            // SQLite has rolled back by itself.
            return Err(failed);
        }
        match run(rollback) {
            Ok(()) => Err(failed),
            Err(error) => Err(failed.attach(error.wrap_code(ErrorCode::SQLITE_ROLLBACK_FAILED))),
        }
    }
}

/// Why a database cannot be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// It is no database at all: what else is there decides what the folder is.
    NoDatabase,
    /// It is one, but something is wrong.
    Failed(Error),
}

impl OpenError {
    fn of(error: Error) -> Self {
        if error.code() == ErrorCode::SQLITE_ERROR {
            Self::NoDatabase
        } else {
            Self::Failed(error)
        }
    }

    /// What it means if the database was made a moment ago.
    pub(crate) fn of_new(self) -> Error {
        match self {
            Self::NoDatabase => corrupt("A new database is none."),
            Self::Failed(error) => error,
        }
    }
}

/// Opens a connection and sets what does not touch the file.
fn connect(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite_error)?;
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(sqlite_error)?;
    let locking = if options.exclusive_locking {
        "EXCLUSIVE"
    } else {
        "NORMAL"
    };
    connection
        .execute_batch(&format!(
            "PRAGMA case_sensitive_like = 1;
             PRAGMA recursive_triggers = ON;
             PRAGMA foreign_keys = OFF;
             PRAGMA temp_store = MEMORY;
             PRAGMA locking_mode = {locking};"
        ))
        .map_err(sqlite_error)?;
    connection.set_prepared_statement_cache_capacity(256);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("relpath_depth", 1, flags, |context| {
            let path = context.get_raw(0).as_str_or_null()?;
            Ok(path.map(|path| match path {
                "" => 0,
                path => 1 + path.bytes().filter(|byte| *byte == b'/').count() as i64,
            }))
        })
        .map_err(sqlite_error)?;
    Ok(connection)
}

/// Truncated journals by default; deleted ones with exclusive locking, where the file is not
/// created anew for each transaction and truncating costs a round trip on network file systems.
fn set_journal_mode(connection: &Connection, options: &Options) -> Result<()> {
    let mode = if options.exclusive_locking {
        "DELETE"
    } else {
        "TRUNCATE"
    };
    connection
        .query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))
        .map_err(sqlite_error)
}

/// Returns the bytes of a new database.
fn image(options: &Options, first: &FirstRows<'_>) -> Result<Vec<u8>> {
    let path = Path::new(":memory:");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Db {
        connection: connect(path, flags, options)?,
        path: path.to_owned(),
        wc_id: 0,
        format: FORMAT,
        repositories: RefCell::default(),
    };
    db.write(|| schema::install(&db, first))?;
    let bytes = db
        .connection
        .serialize(rusqlite::MAIN_DB)
        .map_err(sqlite_error)?;
    Ok(bytes.to_vec())
}

#[cfg(test)]
pub(crate) mod tests;
