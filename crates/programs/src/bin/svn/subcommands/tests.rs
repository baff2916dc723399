use std::collections::BTreeSet;

use sylvan_cmdline::help::{Detail, of_subcommand, overview};
use sylvan_cmdline::table::{OptionSpec, Program};

use super::WITH_EXPERIMENTAL;
use crate::PROGRAM;

/// What Subversion accepts.
const SURFACE: &str = include_str!("../../../../tests/fixtures/svn-surface.tsv");

const ALL: Program = Program {
    subcommands: WITH_EXPERIMENTAL,
    ..PROGRAM
};

/// Spells the options of some keys, each spelling a row of the surface.
fn rows(command: &str, keys: &[&str]) -> Vec<String> {
    let takes_arg = |option: &OptionSpec| if option.takes_arg { "yes" } else { "no" };
    keys.iter()
        .flat_map(|key| ALL.options.iter().filter(move |option| option.key == *key))
        .flat_map(|option| {
            let long = option.long.map(|long| format!("--{long}"));
            let short = option.short.map(|short| format!("-{short}"));
            [long, short]
                .into_iter()
                .flatten()
                .map(move |name| format!("{command}\t{name}\t{}", takes_arg(option)))
        })
        .collect()
}

#[test]
fn tables_have_the_surface_of_subversion() {
    let expected: BTreeSet<String> = SURFACE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let mut have: BTreeSet<String> = rows("*", ALL.globals).into_iter().collect();
    for command in ALL.all_subcommands() {
        have.insert(format!(
            "{}\taliases:{}\t",
            command.name,
            command.aliases.join(",")
        ));
        have.extend(rows(command.name, command.options));
    }
    let missing: Vec<_> = expected.difference(&have).collect();
    let extra: Vec<_> = have.difference(&expected).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "missing {missing:#?}\nextra {extra:#?}"
    );
}

#[test]
fn every_key_has_an_option_with_help() {
    for command in ALL.all_subcommands() {
        for key in command.options.iter().chain(ALL.globals) {
            let option = ALL.option(key).unwrap_or_else(|| panic!("{key}"));
            assert!(!option.help.is_empty(), "{key}");
        }
        for (key, help) in command.special {
            assert!(command.options.contains(key), "{} {key}", command.name);
            assert!(!help.is_empty());
        }
    }
}

#[test]
fn help_fits_a_terminal() {
    let mut texts = vec![overview(&ALL, "", "", Detail::All)];
    for command in ALL.all_subcommands() {
        texts.push(of_subcommand(&ALL, command, "", Detail::All));
    }
    for line in texts.iter().flat_map(|text| text.lines()) {
        assert!(
            line.len() <= 80 || line.starts_with("  --trust-server-cert-failures ARG"),
            "{line}"
        );
    }
}
