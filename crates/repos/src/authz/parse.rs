//! The file: sections, groups, aliases, entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use sylvan_core::{Error, Result};
use sylvan_io::config::{ConfigItem, parse_items};

use super::rule::{Acl, Entry, Header, Who, invalid, parse_header};
use super::{AuthzWarnings, Rights, Rules};

const ALIASES: &str = "aliases";
const GROUPS: &str = "groups";
const ANONYMOUS: &str = "$anonymous";
const AUTHENTICATED: &str = "$authenticated";

/// Parses rules, and groups if they are in a file of their own.
pub(super) fn parse(
    rules: &[u8],
    groups: Option<&[u8]>,
    warn: &mut AuthzWarnings<'_>,
) -> Result<Rules> {
    let mut file = File::default();
    parse_items(rules, &mut |item| match item {
        ConfigItem::Section(section) => file.open_section(section),
        ConfigItem::Option {
            section,
            name,
            value,
        } => match file.inside {
            Inside::Groups => file.add_group(name, value, ""),
            Inside::Aliases => file.add_alias(name, value),
            Inside::Rule => file.add_entry(section, name, value),
        },
    })?;
    if let Some(groups) = groups {
        if !file.groups.is_empty() {
            return Err(invalid(
                "Authz file cannot contain any groups when global groups are being used.",
            ));
        }
        let mut seen = false;
        parse_items(groups, &mut |item| match item {
            ConfigItem::Section(GROUPS) if !std::mem::replace(&mut seen, true) => Ok(()),
            ConfigItem::Section(GROUPS) => Err(invalid(format!(
                "Section appears more than once in the global groups file: [{GROUPS}]"
            ))),
            ConfigItem::Section(section) => Err(invalid(format!(
                "Section is not valid in the global group file: [{section}]"
            ))),
            ConfigItem::Option { name, value, .. } => file.add_group(name, value, "global "),
        })?;
    }
    file.finish(warn)
}

/// What a section is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Rule,
    Groups,
    Aliases,
}

/// What was read so far.
#[derive(Default)]
struct File {
    sections: BTreeSet<String>,
    inside: Inside,
    rules: Vec<ParsedRule>,
    /// The sections of the rules.
    headers: BTreeMap<Header, String>,
    /// The members of groups, by name with `@`, in the order of the file.
    groups: Vec<(String, Vec<String>)>,
    group_places: HashMap<String, usize>,
    /// The users of aliases, by name with `&`.
    aliases: HashMap<String, String>,
    users: BTreeSet<String>,
}

/// A rule before groups and aliases are known.
struct ParsedRule {
    header: Header,
    anonymous: Option<Rights>,
    authenticated: Option<Rights>,
    inverted: Option<Rights>,
    /// By name, with the sign of inversion.
    entries: Vec<(String, Rights)>,
    places: HashMap<String, usize>,
}

impl ParsedRule {
    fn new(header: Header) -> Self {
        Self {
            header,
            anonymous: None,
            authenticated: None,
            inverted: None,
            entries: Vec::new(),
            places: HashMap::new(),
        }
    }
}

fn add(rights: &mut Option<Rights>, more: Rights) {
    *rights = Some(rights.unwrap_or_default().union(more));
}

/// Returns the first character if a name may not begin with it.
fn bad_begin(name: &str) -> Option<char> {
    match name.chars().next() {
        None => Some('\0'),
        Some(first) => Some(first).filter(|first| "@$&*~".contains(*first)),
    }
}

impl File {
    fn open_section(&mut self, section: &str) -> Result<()> {
        if !self.sections.insert(section.to_owned()) {
            return Err(invalid(format!(
                "Section appears more than once in the authz file: [{section}]"
            )));
        }
        let Some(header) = parse_header(section)? else {
            self.inside = match section {
                ALIASES => Inside::Aliases,
                GROUPS => Inside::Groups,
                _ => {
                    return Err(invalid(format!(
                        "Section is not valid in the authz file: [{section}]"
                    )));
                }
            };
            return Ok(());
        };
        if let Some(other) = self.headers.get(&header) {
            return Err(invalid(format!(
                "Section [{section}] describes the same rule as section [{other}]"
            )));
        }
        self.headers.insert(header.clone(), section.to_owned());
        self.inside = Inside::Rule;
        self.rules.push(ParsedRule::new(header));
        Ok(())
    }

    fn add_group(&mut self, name: &str, value: &str, which: &str) -> Result<()> {
        if let Some(first) = bad_begin(name) {
            let what = if which.is_empty() {
                "Group"
            } else {
                "Global group"
            };
            return Err(invalid(format!(
                "{what} name '{name}' may not begin with '{first}'"
            )));
        }
        let name = format!("@{name}");
        if self.group_places.contains_key(&name) {
            return Err(invalid(format!(
                "Can't override definition of {which}group '{name}'"
            )));
        }
        let members = value.split(',').map(trim).filter(|name| !name.is_empty());
        let members = members.map(str::to_owned).collect();
        self.group_places.insert(name.clone(), self.groups.len());
        self.groups.push((name, members));
        Ok(())
    }

    fn add_alias(&mut self, name: &str, value: &str) -> Result<()> {
        if let Some(first) = bad_begin(name) {
            return Err(invalid(format!(
                "Alias name '{name}' may not begin with '{first}'"
            )));
        }
        let name = format!("&{name}");
        if self.aliases.contains_key(&name) {
            return Err(invalid(format!(
                "Can't override definition of alias '{name}'"
            )));
        }
        self.users.insert(value.to_owned());
        self.aliases.insert(name, value.to_owned());
        Ok(())
    }

    fn add_entry(&mut self, section: &str, option: &str, value: &str) -> Result<()> {
        let Some(rule) = self.rules.last_mut() else {
            return Ok(());
        };
        let name = option.strip_prefix('~');
        let (name, inverted) = (name.unwrap_or(option), name.is_some());
        let (anonymous, authenticated) = scope(name, inverted, option)?;
        let rights = parse_rights(value, option, section)?;
        if anonymous {
            add(&mut rule.anonymous, rights);
        }
        if authenticated {
            add(&mut rule.authenticated, rights);
        }
        if anonymous || authenticated {
            return Ok(());
        }
        match rule.places.get(option) {
            Some(&at) => rule.entries[at].1 = rule.entries[at].1.union(rights),
            None => {
                rule.places.insert(option.to_owned(), rule.entries.len());
                rule.entries.push((option.to_owned(), rights));
            }
        }
        if !name.starts_with(['&', '@']) {
            self.users.insert(name.to_owned());
        }
        if inverted {
            add(&mut rule.inverted, rights);
        }
        Ok(())
    }

    /// Replaces groups and aliases by users.
    fn finish(mut self, warn: &mut AuthzWarnings<'_>) -> Result<Rules> {
        let mut groups = HashMap::new();
        for at in 0..self.groups.len() {
            let members = self.expand_group(at)?;
            groups.insert(self.groups[at].0.clone(), Arc::new(members));
        }
        let mut acls = vec![Acl {
            path: Vec::new(),
            repository: String::new(),
            sequence: 0,
            anonymous: Some(Rights::NONE),
            authenticated: Some(Rights::NONE),
            inverted: Some(Rights::NONE),
            entries: Vec::new(),
        }];
        let mut rules: Vec<_> = (1..).zip(std::mem::take(&mut self.rules)).collect();
        rules.sort_by(|(_, a), (_, b)| a.header.cmp(&b.header));
        for (sequence, rule) in rules {
            let mut acl = self.expand_rule(rule, sequence, &groups, warn)?;
            if acl.path.is_empty() && acl.repository.is_empty() {
                // It stands for the default rule.
                acls.clear();
                acl.anonymous.get_or_insert_default();
                acl.authenticated.get_or_insert_default();
            }
            acls.push(acl);
        }
        Ok(Rules {
            acls,
            users: self.users,
        })
    }

    /// Finds all users in a group and the groups in it.
    fn expand_group(&mut self, at: usize) -> Result<BTreeSet<String>> {
        let (group, members) = &self.groups[at];
        let mut users = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut left: Vec<&String> = members.iter().rev().collect();
        while let Some(member) = left.pop() {
            if member == group {
                return Err(invalid(format!("Recursive definition of group '{group}'")));
            }
            if member.starts_with('&') {
                users.insert(self.alias(member)?.to_owned());
            } else if member.starts_with('@') {
                let Some(&at) = self.group_places.get(member) else {
                    return Err(invalid(format!("Undefined group '{member}'")));
                };
                if seen.insert(at) {
                    left.extend(self.groups[at].1.iter().rev());
                }
            } else {
                users.insert(member.clone());
            }
        }
        self.users.extend(users.iter().cloned());
        Ok(users)
    }

    fn alias(&self, name: &str) -> Result<&str> {
        let user = self.aliases.get(name).map(String::as_str);
        user.ok_or_else(|| invalid(format!("Alias '{name}' was never defined")))
    }

    fn expand_rule(
        &self,
        rule: ParsedRule,
        sequence: i64,
        groups: &HashMap<String, Arc<BTreeSet<String>>>,
        warn: &mut AuthzWarnings<'_>,
    ) -> Result<Acl> {
        let is_alias = |name: &str| name.trim_start_matches('~').starts_with('&');
        let (aliases, others): (Vec<_>, Vec<_>) = rule
            .entries
            .into_iter()
            .partition(|(name, _)| is_alias(name));
        let mut entries = Vec::new();
        for (name, rights) in aliases.into_iter().chain(others) {
            let inverted = name.starts_with('~');
            let name = name.strip_prefix('~').unwrap_or(&name);
            let who = if name.starts_with('&') {
                Who::User(self.alias(name)?.to_owned())
            } else if name.starts_with('@') {
                let members = groups.get(name).ok_or_else(|| {
                    invalid(format!("Access entry refers to undefined group '{name}'"))
                })?;
                if members.is_empty() {
                    let text = format!("Ignoring access entry for empty group '{name}'");
                    warn(&invalid(text));
                    continue;
                }
                Who::Group(Arc::clone(members))
            } else {
                Who::User(name.to_owned())
            };
            entries.push(Entry {
                who,
                inverted,
                rights,
            });
        }
        Ok(Acl {
            path: rule.header.path,
            repository: rule.header.repository,
            sequence,
            anonymous: rule.anonymous,
            authenticated: rule.authenticated,
            inverted: rule.inverted,
            entries,
        })
    }
}

/// Tells whether an entry is for all that are not authenticated, and for all that are.
fn scope(name: &str, inverted: bool, option: &str) -> Result<(bool, bool)> {
    match name {
        name if name.starts_with('~') => Err(invalid(format!(
            "Access entry '{option}' has more than one inversion; double negatives are not \
             permitted"
        ))),
        "*" if inverted => Err(invalid("Access entry '~*' will never match")),
        "*" => Ok((true, true)),
        name if name.starts_with('*') => Err(invalid(format!(
            "Access entry '{option}' is not valid; it must be a single '*'"
        ))),
        ANONYMOUS => Ok((!inverted, inverted)),
        AUTHENTICATED => Ok((inverted, !inverted)),
        name if name.starts_with('$') => Err(invalid(format!(
            "Access entry token '{option}' is not valid; should be '{ANONYMOUS}' or \
             '{AUTHENTICATED}'"
        ))),
        _ => Ok((false, false)),
    }
}

fn parse_rights(value: &str, option: &str, section: &str) -> Result<Rights> {
    let mut rights = Rights::NONE;
    for mode in value.chars() {
        rights = rights.union(match mode {
            'r' => Rights::READ,
            'w' => Rights::WRITE,
            ' ' | '\t'..='\r' => Rights::NONE,
            _ => return Err(bad_mode(mode, option, section)),
        });
    }
    if rights == Rights::WRITE {
        return Err(invalid(format!(
            "Write-only access entry '{option}' of rule [{section}] is not valid"
        )));
    }
    Ok(rights)
}

fn bad_mode(mode: char, option: &str, section: &str) -> Error {
    invalid(format!(
        "The access mode '{mode}' in access entry '{option}' of rule [{section}] is not valid"
    ))
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r'])
}
