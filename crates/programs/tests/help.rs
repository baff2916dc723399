//! Help and version: our words in Subversion's layout.

use sylvan_testutil::{Pair, Run};

use crate::SVN;

fn svn(args: &[&str]) -> Run {
    Pair::new(SVN).run_ours(args)
}

/// Keeps what programs read of help: usage lines, sections, and how options are spelled.
fn outline(help: &str) -> Vec<String> {
    let mut in_usage = false;
    help.lines()
        .filter_map(|line| {
            in_usage = line.starts_with("usage: ") || (in_usage && line.starts_with("   "));
            let option = line
                .strip_prefix("  -")
                .and_then(|rest| Some(format!("-{}", rest.split_once(" : ")?.0.trim_end())));
            match line {
                _ if line.ends_with(" options:") => Some(line.to_owned()),
                _ if line.starts_with("(Use '-v'") => Some(line.to_owned()),
                _ => option,
            }
        })
        .collect()
}

#[test]
fn each_subcommand_has_subversions_options() {
    let pair = Pair::new(SVN);
    let overview = pair.run_theirs(&["help"]).success().stdout;
    let names: Vec<_> = overview
        .lines()
        .filter_map(|line| line.strip_prefix("   ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(names.len(), 37);
    for name in names {
        for args in [
            &["help", name][..],
            &["help", "-v", name],
            &[name, "--help"],
        ] {
            let theirs = pair.run_theirs(args).success().stdout;
            let ours = pair.run_ours(args).success().stdout;
            assert_eq!(outline(&ours), outline(&theirs), "{args:?}");
            let names = |help: &str| help.split(':').next().map(str::to_owned);
            assert_eq!(names(&ours), names(&theirs));
            let usage = |help: &str| {
                help.lines()
                    .find(|line| line.starts_with("usage: "))
                    .map(str::to_owned)
            };
            assert_eq!(usage(&ours), usage(&theirs));
        }
    }
}

#[test]
fn overview_names_all_subcommands() {
    let pair = Pair::new(SVN);
    let list = |help: &str| -> Vec<String> {
        help.lines()
            .skip_while(|line| *line != "Available subcommands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    for args in [&["help"][..], &["--help"], &["-?"], &["h"], &["help", "-v"]] {
        let theirs = pair.run_theirs(args).success().stdout;
        let ours = pair.run_ours(args).success().stdout;
        assert_eq!(list(&ours), list(&theirs));
        assert!(ours.starts_with("usage: svn <subcommand> [options] [args]\n"));
    }
}

#[test]
fn unknown_subcommands_have_no_help() {
    let pair = Pair::new(SVN);
    for args in [&["help", "nosuch"][..], &["nosuch", "--help"]] {
        let run = pair.both(args);
        assert_eq!(run.stderr, "\"nosuch\": unknown command.\n\n");
        assert_eq!(run.code, 0);
    }
}

#[test]
fn subcommands_to_come_are_named() {
    let help = svn(&["help", "merge"]).success().stdout;
    assert!(help.contains("  Not implemented yet.\n"), "{help}");
    let help = svn(&["help", "checkout"]).success().stdout;
    assert!(!help.contains("Not implemented"), "{help}");
}

#[test]
fn version_is_read_by_programs() {
    let pair = Pair::new(SVN);
    pair.both(&["--version", "-q"]);
    pair.both(&["--quiet", "--version", "--verbose"]);
    let text = svn(&["--version"]).success().stdout;
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        format!("svn, version 1.14.2 (Sylvan {})", env!("CARGO_PKG_VERSION"))
    );
    for line in [
        "The following repository access (RA) modules are available:",
        "* ra_svn : Access by Subversion's own protocol.",
        "  - handles 'svn' scheme",
        "  - handles 'https' scheme",
        "The following authentication credential caches are available:",
    ] {
        assert!(text.lines().any(|have| have == line), "{line}\n{text}");
    }
    assert!(text.contains("/home/.subversion\n"));
    assert!(!text.contains("System information:"));
    let verbose = svn(&["--version", "-v"]).success().stdout;
    assert!(verbose.contains("\nSystem information:\n\n* running on "));
    let elsewhere = svn(&["--version", "--config-dir", "/x"]).success().stdout;
    assert!(elsewhere.contains("* Plaintext cache in /x\n"));
}
