//! Option and subcommand tables: the data from which parsing, the check of what a subcommand
//! accepts, and help are made.

/// One option of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// What the option means; two spellings of one option share it.
    pub key: &'static str,
    /// The long spelling without its dashes.
    pub long: Option<&'static str>,
    /// The short spelling without its dash.
    pub short: Option<char>,
    /// Whether an argument follows.
    pub takes_arg: bool,
    /// What help says, in one or more lines; empty for a further spelling.
    pub help: &'static str,
}

/// Makes an option with a long spelling and no argument.
pub const fn flag(key: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec {
        key,
        long: Some(key),
        short: None,
        takes_arg: false,
        help,
    }
}

/// Makes an option with a long spelling and an argument.
pub const fn value(key: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec {
        takes_arg: true,
        ..flag(key, help)
    }
}

/// Adds a short spelling to an option.
pub const fn short(short: char, option: OptionSpec) -> OptionSpec {
    OptionSpec {
        short: Some(short),
        ..option
    }
}

/// The further spelling `-?` of the option `help`.
pub const QUESTION_MARK: OptionSpec = OptionSpec {
    long: None,
    ..short('?', flag("help", ""))
};

impl OptionSpec {
    /// Tells whether the option may still change, by its name.
    pub fn is_experimental(&self) -> bool {
        self.key.starts_with("x-")
    }

    /// Formats the option as error messages show it: `-r [--revision] ARG`.
    pub fn spelled(&self) -> String {
        let mut text = match (self.short, self.long) {
            (Some(short), Some(long)) => format!("-{short} [--{long}]"),
            (Some(short), None) => format!("-{short}"),
            (None, long) => format!("--{}", long.unwrap_or_default()),
        };
        if self.takes_arg {
            text.push_str(" ARG");
        }
        text
    }
}

/// One subcommand of a program.
#[derive(Clone, Copy, Debug)]
pub struct Subcommand {
    /// Its name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Forms of use, without the program's name.
    pub usage: &'static [&'static str],
    /// What else help says: an empty line and indented ones, or nothing.
    pub text: &'static str,
    /// Keys of the options it accepts, in the order of help; global ones are accepted too.
    pub options: &'static [&'static str],
    /// Help for options that mean something special here.
    pub special: &'static [(&'static str, &'static str)],
}

impl Subcommand {
    /// Tells whether the subcommand may still change, by its name.
    pub fn is_experimental(&self) -> bool {
        self.name.starts_with("x-")
    }
}

/// The tables of a program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name, for messages.
    pub name: &'static str,
    /// All options.
    pub options: &'static [OptionSpec],
    /// All subcommands, in groups.
    pub subcommands: &'static [&'static [Subcommand]],
    /// Keys of the options that every subcommand accepts.
    pub globals: &'static [&'static str],
}

impl Program {
    /// Goes through all subcommands in the order of help.
    pub fn all_subcommands(&self) -> impl Iterator<Item = &'static Subcommand> + use<> {
        self.subcommands.iter().copied().flatten()
    }

    /// Finds a subcommand by its name or an alias.
    pub fn subcommand(&self, name: &str) -> Option<&'static Subcommand> {
        self.all_subcommands()
            .find(|command| command.name == name || command.aliases.contains(&name))
    }

    /// Finds the option of a key, by its main spelling.
    pub fn option(&self, key: &str) -> Option<&'static OptionSpec> {
        self.options.iter().find(|option| option.key == key)
    }

    /// Tells whether `command` accepts the option of a key.
    pub fn accepts(&self, command: &Subcommand, key: &str) -> bool {
        command.options.contains(&key) || self.globals.contains(&key)
    }
}
