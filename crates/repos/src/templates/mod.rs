//! What a new repository has in its folders `conf` and `hooks`. The words are ours; names and
//! defaults of settings are Subversion's.

pub(crate) const README: &str = include_str!("README.txt");
/// For the two files in `locks`.
pub(crate) const LOCK: &str = include_str!("lock.txt");

/// The files in `conf`: name and content.
pub(crate) const CONF: [(&str, &str); 4] = [
    ("svnserve.conf", include_str!("svnserve.conf")),
    ("passwd", include_str!("passwd")),
    ("authz", include_str!("authz")),
    ("hooks-env.tmpl", include_str!("hooks-env.tmpl")),
];

/// A template of a hook.
pub(crate) struct Hook {
    pub(crate) name: &'static str,
    /// When it runs, and what its end means.
    when: &'static str,
    /// Its arguments after the repository's path.
    args: &'static [(&'static str, &'static str)],
    /// What it reads; may be empty.
    stdin: &'static str,
    /// The example.
    body: &'static str,
}

const ANY_END: &str = "It is too late to stop anything: the hook's end decides nothing, but what it
prints to standard error is shown to the user if it fails.";

/// The hooks, in the order in which they are made.
pub(crate) const HOOKS: [Hook; 9] = [
    Hook {
        name: "start-commit",
        when: "Runs when a commit begins: the transaction is there, with the properties of the
revision to be and nothing else. If the hook fails, nothing is committed, and the
user sees what it printed to standard error.",
        args: &[
            ("USER", "who commits; may be empty"),
            (
                "CAPABILITIES",
                "what the client says it can do, joined by ':'; do not\ntrust it",
            ),
            ("TXN_NAME", "the transaction"),
        ],
        stdin: "",
        body: "# Only known users may commit.\n\
               # [ -n \"$USER\" ] || { echo \"Who are you?\" >&2; exit 1; }\n\
               exit 0\n",
    },
    Hook {
        name: "pre-commit",
        when: "Runs when all of a commit is there, before it becomes a revision. If the hook
fails, nothing is committed, and the user sees what it printed to standard error.

The hook may change properties of the revision to be ('svnadmin setrevprop -t'),
but never files or folders: the client would not learn of it.",
        args: &[("TXN_NAME", "the transaction; look at it with 'svnlook -t'")],
        stdin: "Lock tokens of the client, if it has any: a line 'LOCK-TOKENS:', a line
'PATH|TOKEN' for each, with PATH escaped as in URLs, and an empty line.",
        body: "# Refuse log messages that say nothing.\n\
               # /usr/bin/svnlook log -t \"$TXN_NAME\" \"$REPOS_PATH\" |\n\
               #     /bin/grep -q '[a-zA-Z0-9]' || { echo \"Say what you did\" >&2; exit 1; }\n\
               exit 0\n",
    },
    Hook {
        name: "pre-revprop-change",
        when: "Runs before a property of a revision is changed. If the hook fails, nothing is
changed, and the user sees what it printed to standard error.

Without this hook no such property can be changed at all, since these properties
have no history: the old value is lost.",
        args: REVPROP_ARGS,
        stdin: "The new value.",
        body: "# Log messages may be corrected, nothing else.\n\
               [ \"$ACTION\" = M ] && [ \"$PROPNAME\" = svn:log ] && exit 0\n\
               echo \"Only svn:log may be changed\" >&2\n\
               exit 1\n",
    },
    Hook {
        name: "pre-lock",
        when: "Runs before a path is locked. If the hook fails, the path is not locked, and the
user sees what it printed to standard error. What it prints to standard output
becomes the token of the lock, 'opaquelocktoken:' and something that no other
lock has.",
        args: &[
            ("PATH_IN_REPOS", "the path"),
            ("USER", "who locks it"),
            ("COMMENT", "why; may be empty"),
            (
                "STEAL",
                "1 if the lock of somebody else is to be taken over, or 0",
            ),
        ],
        stdin: "",
        body: "# Nobody may take the locks of others.\n\
               # [ \"$STEAL\" = 0 ] || { echo \"Ask the owner\" >&2; exit 1; }\n\
               exit 0\n",
    },
    Hook {
        name: "pre-unlock",
        when: "Runs before a lock is removed. If the hook fails, the lock stays, and the user
sees what it printed to standard error.",
        args: &[
            ("PATH_IN_REPOS", "the path"),
            ("USER", "who removes the lock"),
            ("TOKEN", "the token of the lock"),
            ("BREAK", "1 if it may be the lock of somebody else, or 0"),
        ],
        stdin: "",
        body: "# Nobody may break the locks of others.\n\
               # [ \"$BREAK\" = 0 ] || { echo \"Ask the owner\" >&2; exit 1; }\n\
               exit 0\n",
    },
    Hook {
        name: "post-commit",
        when: ANY_END,
        args: &[
            ("REV", "the new revision"),
            ("TXN_NAME", "the transaction that it was"),
        ],
        stdin: "",
        body: "# Tell others: /usr/local/bin/tell-others \"$REPOS_PATH\" \"$REV\"\nexit 0\n",
    },
    Hook {
        name: "post-lock",
        when: ANY_END,
        args: &[("USER", "who locked the paths")],
        stdin: "The paths that were locked, one a line.",
        body: "# Tell others: /usr/local/bin/tell-others \"$REPOS_PATH\" locked \"$USER\"\nexit 0\n",
    },
    Hook {
        name: "post-unlock",
        when: ANY_END,
        args: &[("USER", "who removed the locks; may be empty")],
        stdin: "The paths that were unlocked, one a line.",
        body: "# Tell others: /usr/local/bin/tell-others \"$REPOS_PATH\" unlocked \"$USER\"\nexit 0\n",
    },
    Hook {
        name: "post-revprop-change",
        when: ANY_END,
        args: REVPROP_ARGS,
        stdin: "The old value.",
        body: "# Keep it: /bin/cat > \"$REPOS_PATH/old-$REV-$PROPNAME\"\nexit 0\n",
    },
];

const REVPROP_ARGS: &[(&str, &str)] = &[
    ("REV", "the revision"),
    ("USER", "who changes the property; may be empty"),
    ("PROPNAME", "the property"),
    (
        "ACTION",
        "A if it was not there, M if it is changed, D if removed",
    ),
];

const ADVICE: &str =
    "The file must be executable for the user that the server runs as. It runs in an
empty environment, without PATH, unless 'conf/hooks-env' says otherwise, and in no
particular folder. Arguments come from users: quote them, and put '--' before them
where a program takes options.";

impl Hook {
    /// Returns the text of the template.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "#!/bin/sh\n\n# Template of the hook '{0}'. Without '.tmpl' in its name it is in use.\n#\n",
            self.name
        );
        comment(&mut text, self.when);
        text.push_str("#\n# Arguments:\n#   REPOS-PATH: the repository\n");
        for (name, words) in self.args {
            let words = words.replace('\n', "\n#     ");
            text.push_str(&format!("#   {name}: {words}\n"));
        }
        text.push_str("#\n");
        if !self.stdin.is_empty() {
            comment(&mut text, &format!("Standard input: {}", self.stdin));
            text.push_str("#\n");
        }
        comment(&mut text, ADVICE);
        text.push_str("\nREPOS_PATH=\"$1\"\n");
        for (at, (name, _)) in self.args.iter().enumerate() {
            let variable = name.replace('-', "_");
            text.push_str(&format!("{variable}=\"${}\"\n", at + 2));
        }
        text.push('\n');
        text.push_str(self.body);
        text
    }
}

fn comment(text: &mut String, words: &str) {
    for line in words.lines() {
        text.push_str(if line.is_empty() { "#" } else { "# " });
        text.push_str(line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use sylvan_io::config::ConfigFile;

    use super::*;

    #[test]
    fn templates_of_hooks_are_scripts_that_let_things_pass() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(HOOKS.len(), crate::HOOKS.len());
        for hook in HOOKS {
            assert!(crate::HOOKS.contains(&hook.name));
            let path = dir.path().join(hook.name);
            std::fs::write(&path, hook.text()).unwrap();
            let run = |args: &[&str]| {
                let mut shell = Command::new("/bin/sh");
                shell
                    .arg(&path)
                    .args(args)
                    .stderr(std::process::Stdio::null());
                shell.status().unwrap().success()
            };
            let args = ["/r", "1", "jo", "svn:log", "M"];
            assert!(run(&args), "{}", hook.name);
            let is_paranoid = hook.name == "pre-revprop-change";
            assert_eq!(run(&["/r", "1", "jo", "svn:log", "D"]), !is_paranoid);
        }
    }

    #[test]
    fn templates_of_settings_can_be_read_and_set_nothing() {
        for (name, text) in CONF {
            let mut file = ConfigFile::default();
            file.parse(text.as_bytes()).unwrap();
            if name != "hooks-env.tmpl" {
                let sections = file.sections().map(str::to_owned).collect::<Vec<_>>();
                assert!(
                    sections
                        .iter()
                        .all(|name| file.options(name).next().is_none())
                );
            }
        }
    }
}
