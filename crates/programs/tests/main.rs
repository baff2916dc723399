//! Program tests: one module a subject.

mod arguments;
mod blame;
mod checkout;
mod cleanup;
mod commit;
mod config;
mod crash;
mod crash_local;
mod damage;
mod diff;
mod dump;
mod export;
mod externals;
mod far;
mod file_urls;
mod fixture;
mod formats;
mod help;
mod hostile;
mod http;
mod import;
mod interleave;
mod interrupt;
mod local;
mod mergeinfo;
mod merging;
mod mistakes;
mod output;
mod raw_paths;
mod svnadmin;
mod svnauthz;
mod svnfsfs;
mod svnlook;
mod svnserve;
mod svnversion;
mod terminal;
mod timestamps;
mod tls;
mod tour;
mod twin;
mod update;
mod update_targets;
mod upgrade;
mod writers;

/// The `svn` under test.
const SVN: &str = env!("CARGO_BIN_EXE_svn");
/// The `svnadmin` under test.
const SVNADMIN: &str = env!("CARGO_BIN_EXE_svnadmin");
/// The `svnauthz` under test.
const SVNAUTHZ: &str = env!("CARGO_BIN_EXE_svnauthz");
/// The `svndumpfilter` under test.
const SVNDUMPFILTER: &str = env!("CARGO_BIN_EXE_svndumpfilter");
/// The `svnfsfs` under test.
const SVNFSFS: &str = env!("CARGO_BIN_EXE_svnfsfs");
/// The `svnlook` under test.
const SVNLOOK: &str = env!("CARGO_BIN_EXE_svnlook");
/// The `svnserve` under test.
const SVNSERVE: &str = env!("CARGO_BIN_EXE_svnserve");
/// The `svnversion` under test.
const SVNVERSION: &str = env!("CARGO_BIN_EXE_svnversion");

/// A module that is not named above would never run.
#[test]
fn no_test_file_is_forgotten() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for entry in std::fs::read_dir(here).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|extension| extension == "rs") && name != "main" {
            let line = format!("mod {name};");
            assert!(include_str!("main.rs").contains(&line), "{line} is missing");
        }
    }
}
