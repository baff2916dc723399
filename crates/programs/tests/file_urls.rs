//! What other modules compare over `svn://` is compared again over `file://`.

use std::process::Command;

use sylvan_testutil::FILE_URLS;

/// Runs the tests of some modules again, in a process of their own.
fn again(modules: &[&str]) {
    if std::env::var_os(FILE_URLS).is_some() {
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(modules)
        .args(["--test-threads", "2"])
        .env(FILE_URLS, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("running 0 tests"), "{text}");
}

#[test]
fn trees_come_to_disk_as_with_subversion() {
    again(&["checkout::", "export::", "update::"]);
}

#[test]
fn externals_come_as_with_subversion() {
    again(&["externals::"]);
}

#[test]
fn the_tour_looks_the_same() {
    again(&["tour::"]);
}
