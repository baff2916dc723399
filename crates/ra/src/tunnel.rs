//! Tunnels: programs that carry the svn protocol to a server, `svn+ssh://` and whatever the
//! section `tunnels` of the configuration defines.
//!
//! A definition is a command line, or `$VARIABLE` and a default for it:
//!
//! ```text
//! [tunnels]
//! ssh = $SVN_SSH ssh -q --
//! local = /usr/local/bin/in-container 'my image'
//! ```
//!
//! The program gets the URL's host (with user and port as they are there) and `svnserve -t` as
//! further arguments.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sylvan_core::{Error, ErrorCode, Result, Url};
use sylvan_io::{Category, Config};

/// The definition of `svn+ssh` unless the user has another. `-q` keeps ssh quiet when it is ended.
const SSH: &str = "$SVN_SSH ssh -q --";

/// Returns the program and its arguments for a URL such as `svn+ssh://host/…`.
///
/// # Errors
/// `BAD_URL` for a scheme that is not defined, a variable that is not set, or a host that could be
/// taken for an option.
pub fn command_line(url: &Url, config: &Config) -> Result<Vec<String>> {
    let name = url.scheme().strip_prefix("svn+").unwrap_or_default();
    let decoded = sylvan_core::path::uri_decode(url.authority());
    let host = String::from_utf8(decoded)
        .ok()
        .filter(|host| is_valid_host(host))
        .ok_or_else(|| bad_url(format!("Invalid host '{}'", url.authority())))?;
    // The variable's name stands in the configuration, so no caller can pass its value.
    let variable = |name: &str| std::env::var(name).ok();
    let definition = config
        .get(Category::Config, "tunnels", name)
        .or((name == "ssh").then_some(SSH));
    let command = command_of(name, definition, variable)?;
    let mut arguments = split(&command);
    arguments.extend([host, "svnserve".to_owned(), "-t".to_owned()]);
    Ok(arguments)
}

fn bad_url(text: String) -> Error {
    Error::new(ErrorCode::BAD_URL, text)
}

/// A host must not look like an option, nor have characters that a shell heeds.
fn is_valid_host(host: &str) -> bool {
    !host.starts_with('-')
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b":.-_[]@".contains(&byte))
}

fn command_of(
    name: &str,
    definition: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String> {
    let definition = definition
        .filter(|definition| !definition.is_empty())
        .ok_or_else(|| bad_url(format!("Undefined tunnel scheme '{name}'")))?;
    let Some(rest) = definition.strip_prefix('$') else {
        return Ok(definition.to_owned());
    };
    let (var, default) = rest.split_once(' ').unwrap_or((rest, ""));
    let default = default.trim_start_matches(' ');
    match variable(var) {
        Some(value) => Ok(value),
        None if default.is_empty() => Err(bad_url(format!(
            "Tunnel scheme {name} requires environment variable {var} to be defined"
        ))),
        None => Ok(default.to_owned()),
    }
}

/// Splits a command line as the Apache runtime does: at blanks, where a word may be quoted as a
/// whole with `'` or `"`; a backslash keeps a blank, a quote or a backslash.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = command.trim_start_matches([' ', '\t']);
    while let Some(first) = rest.chars().next() {
        let quote = Some(first).filter(|first| matches!(first, '"' | '\''));
        let word = if quote.is_some() { &rest[1..] } else { rest };
        let len = word_len(word, quote);
        words.push(unescape(&word[..len]));
        let after = &word[len..];
        let after = quote
            .and_then(|quote| after.strip_prefix(quote))
            .unwrap_or(after);
        rest = after.trim_start_matches([' ', '\t']);
    }
    words
}

fn word_len(word: &str, quote: Option<char>) -> usize {
    let mut kept = false;
    for (at, letter) in word.char_indices() {
        if kept {
            kept = false;
            continue;
        }
        let next = word[at + letter.len_utf8()..].chars().next();
        if letter == '\\' && matches!(next, Some(' ' | '\t' | '"' | '\'')) {
            kept = true;
            continue;
        }
        let ends = match quote {
            Some(quote) => letter == quote,
            None => matches!(letter, ' ' | '\t'),
        };
        if ends {
            return at;
        }
    }
    word.len()
}

fn unescape(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut kept = false;
    for letter in word.chars() {
        if letter == '\\' && !kept {
            kept = true;
        } else {
            kept = false;
            plain.push(letter);
        }
    }
    plain
}

/// A running tunnel program, ended when dropped.
#[derive(Debug)]
pub struct Tunnel(Child);

impl Tunnel {
    /// Starts a program with pipes for its input and output; what it says on stderr goes to ours.
    ///
    /// # Errors
    /// `RA_CANNOT_CREATE_TUNNEL`, or the system's error if there is no such program.
    pub fn start(arguments: &[String]) -> Result<Self> {
        let Some((program, rest)) = arguments.split_first() else {
            return Err(Error::from_code(ErrorCode::RA_CANNOT_CREATE_TUNNEL));
        };
        Command::new(program)
            .args(rest)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map(Self)
            .map_err(|error| {
                Error::io(
                    &error,
                    format!("Error in child process: exec of '{program}' failed"),
                )
            })
    }

    /// Returns the running program.
    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Tunnel {
    /// Asks the program to end, and makes it if it does not within a moment.
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.stdout.take());
        let signal = |signal| {
            let pid = i32::try_from(self.0.id()).ok()?;
            rustix::process::kill_process(rustix::process::Pid::from_raw(pid)?, signal).ok()
        };
        signal(rustix::process::Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            match self.0.try_wait() {
                Ok(Some(_)) | Err(_) => return,
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_like_svn_does() {
        for (command, words) in [
            ("ssh -q --", &["ssh", "-q", "--"][..]),
            ("  a\t b ", &["a", "b"]),
            ("'a b' \"c 'd'\" e", &["a b", "c 'd'", "e"]),
            (r#"a\ b c\"d e\\f"#, &["a b", "c\"d", r"e\f"]),
            (r#""a\"b" c"#, &["a\"b", "c"]),
            ("-o\"x y\"", &["-o\"x", "y\""]),
            ("''", &[""]),
            ("", &[]),
        ] {
            assert_eq!(split(command), words, "{command}");
        }
    }

    #[test]
    fn variables_have_defaults() {
        let set = |name: &str| (name == "SET").then(|| "value x".to_owned());
        for (definition, command) in [
            (Some("plain -x"), Ok("plain -x")),
            (Some("$SET other"), Ok("value x")),
            (Some("$UNSET  other -x"), Ok("other -x")),
            (
                Some("$UNSET"),
                Err("Tunnel scheme t requires environment variable UNSET to be defined"),
            ),
            (Some(""), Err("Undefined tunnel scheme 't'")),
            (None, Err("Undefined tunnel scheme 't'")),
        ] {
            let result = command_of("t", definition, set);
            let shown = result.as_deref().map_err(|error| error.message());
            assert_eq!(shown, command.map_err(str::to_owned));
        }
    }

    #[test]
    fn hosts_cannot_be_options_or_commands() {
        for host in ["h", "jo@h:22", "[::1]:22", "a_b.c-d"] {
            assert!(is_valid_host(host), "{host}");
        }
        for host in ["-oProxyCommand=x", "a b", "a;b", "a'b", "$h", "ä"] {
            assert!(!is_valid_host(host), "{host}");
        }
    }
}
