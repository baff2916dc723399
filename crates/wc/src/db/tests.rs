use rusqlite::Connection;
use sylvan_core::{Depth, RelPathBuf, Revnum, Url};

use super::*;
use crate::RootNode;

fn root_node() -> RootNode {
    RootNode {
        repos_root: Url::parse("svn://h/repos").unwrap(),
        repos_uuid: "09778013-15ef-4c40-975a-82fd5beb03f1".into(),
        repos_path: RelPathBuf::new("trunk").unwrap(),
        revision: Revnum::new(7).unwrap(),
        depth: Depth::Infinity,
    }
}

fn create(dir: &Path, options: &Options) -> Db {
    let path = dir.join("wc.db");
    let root = root_node();
    let first = FirstRows {
        repos_root: &root.repos_root,
        repos_uuid: &root.repos_uuid,
        root: Some(&root),
    };
    Db::create(&path, dir, options, &first).unwrap();
    Db::open(&path, options).unwrap()
}

fn pragma(db: &Db, name: &str) -> String {
    let read = |row: &Row<'_>| row.get::<_, rusqlite::types::Value>(0);
    match db
        .connection()
        .query_row(&format!("PRAGMA {name}"), [], read)
        .unwrap()
    {
        rusqlite::types::Value::Text(text) => text,
        rusqlite::types::Value::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn connections_follow_the_locking_rules() {
    let dir = tempfile::tempdir().unwrap();
    drop(create(dir.path(), &Options::default()));
    for (exclusive_locking, journal, locking) in
        [(false, "truncate", "normal"), (true, "delete", "exclusive")]
    {
        let options = Options {
            exclusive_locking,
            ..Options::default()
        };
        let db = Db::open(&dir.path().join("wc.db"), &options).unwrap();
        assert_eq!(pragma(&db, "journal_mode"), journal);
        assert_eq!(pragma(&db, "locking_mode"), locking);
        for (name, value) in [
            ("synchronous", "0"),
            ("temp_store", "2"),
            ("foreign_keys", "0"),
            ("recursive_triggers", "1"),
            ("busy_timeout", "10000"),
            ("user_version", "31"),
        ] {
            assert_eq!(pragma(&db, name), value, "{name}");
        }
        let like: bool = db
            .connection()
            .query_row("SELECT 'a' LIKE 'A'", [], |row| row.get(0))
            .unwrap();
        assert!(!like);
    }
}

#[test]
fn transactions_keep_all_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let db = create(dir.path(), &Options::default());
    let count = || {
        db.connection()
            .query_row("SELECT count(*) FROM wcroot", [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap()
    };
    let add = || db.insert(schema::INSERT_WCROOT, []);
    let fail = || Err(Error::from_code(ErrorCode::CANCELLED));
    db.write(|| add().and_then(|_| fail() as Result<()>))
        .unwrap_err();
    assert_eq!(count(), 1);
    db.write(|| {
        add()?;
        assert!(
            db.write(|| add().and_then(|_| fail() as Result<()>))
                .is_err()
        );
        add()
    })
    .unwrap();
    assert_eq!(count(), 3);
}

#[test]
fn locked_database_is_busy() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        busy_timeout: std::time::Duration::from_millis(20),
        ..Options::default()
    };
    let path = dir.path().join("wc.db");
    drop(create(dir.path(), &options));
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let OpenError::Failed(error) = Db::open(&path, &options).unwrap_err() else {
        panic!("it is a database");
    };
    assert_eq!(
        error.to_lines(""),
        "E200033: sqlite[S5]: database is locked\n"
    );
}

/// Checks the statements of a `.sql` file: each is declared, and none scans a table. Statements
/// that may scan (small tables read whole) are named in `whole`.
pub(crate) fn check_statements((file, all): (&str, &[Statement]), whole: &[&str]) {
    let names: Vec<_> = all.iter().map(|statement| statement.name).collect();
    let in_file: Vec<_> = file
        .lines()
        .filter_map(|line| line.strip_prefix("-- name: "))
        .collect();
    for name in &in_file {
        assert!(names.contains(name), "{name} is not declared");
    }
    assert_eq!(names.len(), in_file.len());

    let dir = tempfile::tempdir().unwrap();
    let db = create(dir.path(), &Options::default());
    for statement in all {
        let sql = without_comments(statement.sql);
        let sql = sql.trim();
        let plain = ["SELECT", "UPDATE", "DELETE", "WITH", "INSERT"]
            .iter()
            .any(|verb| sql.starts_with(verb));
        if !plain || whole.contains(&statement.name) {
            continue;
        }
        let mut plan = db
            .connection()
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap_or_else(|error| panic!("{}: {error}", statement.name));
        let mut rows = plan.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let step: String = row.get(3).unwrap();
            let scans = step.starts_with("SCAN") && !step.contains("CONSTANT ROW");
            assert!(!scans, "{}: {step}", statement.name);
        }
    }
}

fn without_comments(sql: &str) -> String {
    let lines = sql.lines().filter(|line| !line.starts_with("--"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn statements_use_indexes() {
    check_statements(schema::ALL, &["SELECT_STATISTICS"]);
    check_statements(
        read::ALL,
        &["SELECT_LOCKS", "SELECT_WC_LOCKS", "SELECT_WORK_ITEM"],
    );
}
