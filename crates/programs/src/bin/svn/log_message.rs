//! Log messages: from options, or from the user's editor.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sylvan_client::Context;
use sylvan_client::log_message::{CommitItem, LogMessage};
use sylvan_cmdline::print::Output;
use sylvan_cmdline::prompt::{Asker, Echo};
use sylvan_cmdline::utf8;
use sylvan_core::{Dirent, Error, ErrorCode, NodeKind, Result};
use sylvan_io::{Category, Config, file};
use sylvan_ra::CommitInfo;
use sylvan_wc::{WorkingCopy, base};

use crate::env::Env;
use crate::invocation::Invocation;

/// What follows it in an editor's file is no part of the message. The words are an interface: users
/// keep them in their editors' settings.
const END: &str = "--This line, and those below, will be ignored--";

/// Requires the message to make sense, unless `--force-log` says that it does: it should not name a
/// file, nor come from a file that is under version control.
///
/// # Errors
/// `CL_LOG_MESSAGE_IS_VERSIONED_FILE`, `CL_LOG_MESSAGE_IS_PATHNAME`.
pub(crate) fn check(inv: &Invocation, context: &Context) -> Result<()> {
    if inv.force_log {
        return Ok(());
    }
    let what = match inv.command.name {
        "lock" => ["Lock comment file", "lock comment"],
        _ => ["Log message file", "log message"],
    };
    if let Some(file) = &inv.file
        && is_versioned(context, &Dirent::new(file))
    {
        return Err(Error::new(
            ErrorCode::CL_LOG_MESSAGE_IS_VERSIONED_FILE,
            format!(
                "{} is a versioned file; use '--force-log' to override",
                what[0]
            ),
        ));
    }
    if let Some(message) = &inv.message
        && std::fs::metadata(message).is_ok()
    {
        return Err(Error::new(
            ErrorCode::CL_LOG_MESSAGE_IS_PATHNAME,
            format!(
                "The {} is a pathname (was -F intended?); use '--force-log' to override",
                what[1]
            ),
        ));
    }
    Ok(())
}

fn is_versioned(context: &Context, file: &Dirent) -> bool {
    let found = WorkingCopy::open(&context.absolute(file), &context.wc);
    let kind = found.and_then(|(wc, at)| base::kind(&wc, &at));
    matches!(kind, Ok(NodeKind::File | NodeKind::Dir))
}

/// Returns the message that `-m` or `-F` gives, if one of them is there.
///
/// # Errors
/// `CL_BAD_LOG_MESSAGE` for a zero byte, and those of a text that is not in its encoding or has
/// several kinds of line ends.
pub(crate) fn given(inv: &Invocation, config: &Config) -> Result<Option<String>> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = match (&inv.file_data, &inv.message) {
        (Some(data), _) if data.contains(&0) => {
            return Err(Error::new(
                ErrorCode::CL_BAD_LOG_MESSAGE,
                "Log message contains a zero byte",
            ));
        }
        (Some(data), _) => data.as_slice(),
        (None, Some(message)) => message.as_bytes(),
        (None, None) => return Ok(None),
    };
    let text = normalize(bytes, encoding(inv, config).as_deref());
    let text =
        text.map_err(|error| error.context("Error normalizing log message to internal format"))?;
    Ok(Some(before_end(&text).to_owned()))
}

/// Returns the comment of a lock that `-m` or `-F` gives, if one of them is there.
///
/// # Errors
/// As [`given`].
pub(crate) fn comment(inv: &Invocation) -> Result<Option<String>> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = match (&inv.file_data, &inv.message) {
        (Some(data), _) if data.contains(&0) => {
            return Err(Error::new(
                ErrorCode::CL_BAD_LOG_MESSAGE,
                "Lock comment contains a zero byte",
            ));
        }
        (Some(data), _) => data.as_slice(),
        (None, Some(message)) => message.as_bytes(),
        (None, None) => return Ok(None),
    };
    normalize(bytes, inv.encoding.as_deref()).map(Some)
}

/// Returns the encoding of messages, where it is not the usual one.
pub(crate) fn encoding(inv: &Invocation, config: &Config) -> Option<String> {
    inv.encoding.clone().or_else(|| {
        config
            .get(Category::Config, "miscellany", "log-encoding")
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
    })
}

/// Cuts a text at the first line that begins with [`END`].
fn before_end(text: &str) -> &str {
    let found = text
        .match_indices(END)
        .find(|(at, _)| *at == 0 || text[..*at].ends_with(['\n', '\r']));
    found.map_or(text, |(at, _)| &text[..at])
}

/// Makes a text UTF-8 with LF at the ends of lines.
///
/// # Errors
/// `EINVAL` if it is not in its encoding or that is not known, `IO_INCONSISTENT_EOL` if it has
/// several kinds of line ends.
pub(crate) fn normalize(bytes: &[u8], encoding: Option<&str>) -> Result<String> {
    let text = decode(bytes, encoding)?;
    let mut style: Option<&str> = None;
    let mut normal = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['\r', '\n']) {
        let end = if rest[at..].starts_with("\r\n") {
            "\r\n"
        } else {
            &rest[at..=at]
        };
        if *style.get_or_insert(end) != end {
            return Err(Error::from_code(ErrorCode::IO_INCONSISTENT_EOL));
        }
        normal.push_str(&rest[..at]);
        normal.push('\n');
        rest = &rest[at + end.len()..];
    }
    normal.push_str(rest);
    Ok(normal)
}

const EINVAL: i32 = 22;

fn decode(bytes: &[u8], encoding: Option<&str>) -> Result<String> {
    let name = encoding.unwrap_or("UTF-8").to_ascii_uppercase();
    match name.as_str() {
        "UTF-8" | "UTF8" | "UTF_8" => return utf8::text(bytes).map(str::to_owned),
        "ISO-8859-1" | "ISO8859-1" | "LATIN1" | "LATIN-1" | "ISO_8859-1" | "L1" | "CP819"
        | "IBM819" => {
            return Ok(bytes.iter().copied().map(char::from).collect());
        }
        // On the web these names stand for windows-1252.
        "ASCII" | "US-ASCII" | "ANSI_X3.4-1968" if !bytes.is_ascii() => {
            return Err(cannot_convert(bytes, encoding.unwrap_or_default()));
        }
        _ => {}
    }
    if let Some(text) = decode_named(bytes, &name) {
        return text.ok_or_else(|| cannot_convert(bytes, encoding.unwrap_or_default()));
    }
    if bytes.is_ascii() {
        return utf8::text(bytes).map(str::to_owned);
    }
    let strange = bytes.iter().find(|byte| !byte.is_ascii()).unwrap_or(&0);
    Err(Error::new(
        ErrorCode::from_errno(EINVAL),
        format!(
            "Non-ASCII character (code {strange}) detected, and unable to convert to/from UTF-8"
        ),
    ))
}

/// Decodes text of an encoding, whose name is in capitals; `None` if that is not known, and within if
/// the text is not in it.
fn decode_named(bytes: &[u8], name: &str) -> Option<Option<String>> {
    let label = match name.strip_prefix("CP") {
        Some("932") => "shift_jis".to_owned(),
        Some("936") => "gbk".to_owned(),
        Some("949") => "euc-kr".to_owned(),
        Some("950") => "big5".to_owned(),
        Some("866") => "ibm866".to_owned(),
        Some(page) => format!("windows-{page}"),
        None => match name {
            "EUCJP" => "euc-jp".to_owned(),
            "EUCKR" => "euc-kr".to_owned(),
            "UTF16" => "utf-16".to_owned(),
            _ => name
                .replace("ISO8859-", "ISO-8859-")
                .replace("ISO_8859-", "ISO-8859-"),
        },
    };
    let mut encoding = encoding_rs::Encoding::for_label(label.as_bytes())?;
    let mut text = bytes;
    if label.eq_ignore_ascii_case("utf-16") {
        if let Some(rest) = text.strip_prefix(b"\xfe\xff") {
            (encoding, text) = (encoding_rs::UTF_16BE, rest);
        } else if let Some(rest) = text.strip_prefix(b"\xff\xfe") {
            text = rest;
        }
    }
    let decoded = encoding.decode_without_bom_handling_and_without_replacement(text);
    Some(decoded.map(std::borrow::Cow::into_owned))
}

fn cannot_convert(bytes: &[u8], encoding: &str) -> Error {
    let shown: String = bytes
        .iter()
        .map(|byte| match byte {
            b'\n' | b'\t' | b' '..=b'~' => char::from(*byte).to_string(),
            other => format!("?\\{other:02X}"),
        })
        .collect();
    Error::new(
        ErrorCode::from_errno(EINVAL),
        format!("Can't convert string from '{encoding}' to 'UTF-8':\n{shown}"),
    )
}

/// Where the messages of one call come from.
pub(crate) struct Messages {
    given: Option<String>,
    editor: Editor,
    /// Paths in the editor's file are relative to it.
    base_dir: Option<Dirent>,
    keeps_locks: bool,
    non_interactive: bool,
    asker: Asker,
    /// The file of the editor, as long as it is there.
    left: Option<PathBuf>,
}

impl Messages {
    /// Looks at what the call says.
    ///
    /// # Errors
    /// As [`given`].
    pub(crate) fn new(
        inv: &Invocation,
        context: &Context,
        env: &Env,
        base_dir: Option<Dirent>,
    ) -> Result<Self> {
        if inv.file_data.as_ref().is_some_and(|data| data.contains(&0)) {
            given(inv, &context.config)?;
        }
        Ok(Self {
            given: given(inv, &context.config)?,
            editor: Editor::new(inv, &context.config),
            base_dir,
            keeps_locks: inv.no_unlock,
            non_interactive: inv.non_interactive,
            asker: Asker::new(env.cancel.clone(), env.out.screen()),
            left: None,
        })
    }

    /// Finds the message for a commit of these nodes.
    ///
    /// # Errors
    /// `CL_INSUFFICIENT_ARGS` if nobody may be asked, those of the editor.
    pub(crate) fn ask(&mut self, items: &[CommitItem]) -> Result<Option<LogMessage>> {
        if let Some(text) = &self.given {
            let text = text.clone();
            return Ok(Some(LogMessage { text, file: None }));
        }
        if items.is_empty() {
            return Ok(Some(LogMessage::default()));
        }
        let template = self.template(items);
        loop {
            if self.non_interactive {
                return Err(Error::new(
                    ErrorCode::CL_INSUFFICIENT_ARGS,
                    "Cannot invoke editor to get log message when non-interactive",
                ));
            }
            let text = self.edit(&template)?;
            let text = text.as_deref().map(before_end);
            if let Some(text) = text.filter(|text| !text.trim_ascii().is_empty()) {
                return Ok(Some(LogMessage {
                    text: text.to_owned(),
                    file: self.left.as_deref().map(dirent),
                }));
            }
            let question = "\nLog message unchanged or not specified\n\
                            (a)bort, (c)ontinue, (e)dit:\n";
            let answer = self.asker.ask(question, Echo::Shown)?;
            match answer.chars().next().map(|c| c.to_ascii_lowercase()) {
                Some('a') => {
                    self.remove()?;
                    return Ok(None);
                }
                Some('c') => {
                    self.remove()?;
                    return Ok(Some(LogMessage::default()));
                }
                _ => {}
            }
        }
    }

    fn edit(&mut self, template: &str) -> Result<Option<String>> {
        let dir = self.base_dir.as_ref().map_or("", Dirent::as_str);
        let edited = self
            .editor
            .edit(dir, "svn-commit", template.as_bytes(), &mut self.left);
        match edited {
            Ok(edited) => edited.map(|bytes| self.editor.read(&bytes)).transpose(),
            Err(error) if error.code() == ErrorCode::CL_NO_EXTERNAL_EDITOR => Err(error.context(
                "Could not use external editor to fetch log message; consider setting the \
                     $SVN_EDITOR environment variable or using the --message (-m) or --file (-F) \
                     options",
            )),
            Err(error) => Err(error),
        }
    }

    fn template(&self, items: &[CommitItem]) -> String {
        let mut text = format!("\n{END}\n\n");
        for item in items {
            let change = &item.change;
            let kind = match (change.deleted, change.added, change.text) {
                (true, true, _) => 'R',
                (false, true, _) => 'A',
                (true, false, _) => 'D',
                (false, false, true) => 'M',
                (false, false, false) => '_',
            };
            let props = if change.props { 'M' } else { ' ' };
            let unlock = match change.locked && !self.keeps_locks {
                true => 'U',
                false => ' ',
            };
            let copied = if change.copied { '+' } else { ' ' };
            let path = self.shown(item);
            text.push_str(&format!("{kind}{props}{unlock}{copied} {path}\n"));
        }
        text
    }

    fn shown(&self, item: &CommitItem) -> String {
        let Some(path) = &item.path else {
            return item.url.to_string();
        };
        let shown = match &self.base_dir {
            Some(base) => path.strip_prefix(base).unwrap_or_default(),
            None => path.as_str(),
        };
        if shown.is_empty() {
            ".".to_owned()
        } else {
            shown.to_owned()
        }
    }

    fn remove(&mut self) -> Result<()> {
        match self.left.take() {
            Some(left) => file::remove(&left),
            None => Ok(()),
        }
    }

    /// Ends the operation that the message was for: the editor's file goes, unless it failed.
    ///
    /// # Errors
    /// That of the operation, with a word about where the message is.
    pub(crate) fn settle<T>(mut self, done: Result<T>) -> Result<T> {
        match done {
            Ok(done) => self.remove().map(|()| done),
            Err(error) => Err(match &self.left {
                None => error,
                Some(left) => {
                    let code = error.code();
                    let place = Error::new(code, format!("   '{}'", left.display()));
                    error.append(place.context("Your commit message was left in a temporary file:"))
                }
            }),
        }
    }
}

fn dirent(path: &Path) -> Dirent {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Dirent::new(&path.to_string_lossy())
}

/// The user's editor.
pub(crate) struct Editor {
    command: Option<String>,
    config: Arc<Config>,
    encoding: Option<String>,
}

impl Editor {
    /// Looks at what the call says.
    pub(crate) fn new(inv: &Invocation, config: &Arc<Config>) -> Self {
        Self {
            command: inv.editor_cmd.clone(),
            config: Arc::clone(config),
            encoding: encoding(inv, config),
        }
    }

    /// Makes what was edited into text.
    ///
    /// # Errors
    /// As [`normalize`].
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<String> {
        normalize(bytes, self.encoding.as_deref())
            .map_err(|error| error.context("Error normalizing edited contents to internal format"))
    }

    /// Finds the editor: the option, the environment, the configuration.
    fn find(&self) -> Result<String> {
        let environment = |name| {
            std::env::var(name)
                .ok()
                .filter(|value: &String| !value.is_empty())
        };
        let configured = || {
            let value = self.config.get(Category::Config, "helpers", "editor-cmd");
            value.map(str::to_owned)
        };
        let found = self
            .command
            .clone()
            .or_else(|| environment("SVN_EDITOR"))
            .or_else(configured)
            .or_else(|| environment("VISUAL"))
            .or_else(|| environment("EDITOR"));
        let no_editor = |message: &str| Error::new(ErrorCode::CL_NO_EXTERNAL_EDITOR, message);
        match found {
            None => Err(no_editor(
                "None of the environment variables SVN_EDITOR, VISUAL or EDITOR are set, and no \
                 'editor-cmd' run-time configuration option was found",
            )),
            Some(command) if command.trim_ascii().is_empty() => Err(no_editor(
                "The EDITOR, SVN_EDITOR or VISUAL environment variable or 'editor-cmd' run-time \
                 configuration option is empty or consists solely of whitespace. Expected a shell \
                 command.",
            )),
            Some(command) => Ok(command),
        }
    }

    /// Has the user edit a file.
    ///
    /// # Errors
    /// `CL_NO_EXTERNAL_EDITOR`, `EXTERNAL_PROGRAM` if the editor fails.
    pub(crate) fn edit_file(&self, path: &Path) -> Result<()> {
        let command = self.find()?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let command = format!("{command} {}", quoted(&file_name));
        let status = Command::new("/bin/sh")
            .args(["-c", &command])
            .current_dir(path.parent().unwrap_or(Path::new(".")))
            .status()
            .map_err(|error| Error::io(&error, "Can't run '/bin/sh'"))?;
        if status.success() {
            return Ok(());
        }
        // As the C library tells it: the exit code in the second byte.
        let code = status.code().map_or(-1, |code| code << 8);
        Err(Error::new(
            ErrorCode::EXTERNAL_PROGRAM,
            format!("system('{command}') returned {code}"),
        ))
    }

    /// Has the user edit `contents` in a file `name` in `dir`; returns what it became, nothing if it
    /// was not changed. The file stays, its path is put into `left`.
    ///
    /// # Errors
    /// `CL_NO_EXTERNAL_EDITOR`, `EXTERNAL_PROGRAM` if the editor fails, those of the file system.
    pub(crate) fn edit(
        &self,
        dir: &str,
        name: &str,
        contents: &[u8],
        left: &mut Option<PathBuf>,
    ) -> Result<Option<Vec<u8>>> {
        let command = self.find()?;
        let path = create(Path::new(dir), name, contents)?;
        // An editor may be done within a tick of the clock, without a change of size.
        let before = SystemTime::now().checked_sub(Duration::from_secs(2));
        if let Some(before) = before {
            let _ = file::set_mtime(&path, before.into());
        }
        let before = file::stat(&path)?;
        *left = Some(path.clone());
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let command = format!("{command} {}", quoted(&file_name));
        let status = Command::new("/bin/sh")
            .args(["-c", &command])
            .current_dir(folder.unwrap_or(Path::new(".")))
            .status()
            .map_err(|error| Error::io(&error, "Can't run '/bin/sh'"))?;
        if !status.success() {
            return Err(Error::new(
                ErrorCode::EXTERNAL_PROGRAM,
                format!("system('{command}') returned {}", status.into_raw()),
            ));
        }
        let after = file::stat(&path)?;
        if (before.mtime, before.size) == (after.mtime, after.size) {
            return Ok(None);
        }
        file::read(&path).map(Some)
    }
}

/// Quotes a name for the shell, as Subversion does: with backslashes if it must, else in quotes.
fn quoted(name: &str) -> String {
    const SPECIAL: &str = "'\"&;`|*?~<>^()[]{}$\\\n\r%";
    if !name.contains(|c| SPECIAL.contains(c)) {
        return format!("\"{name}\"");
    }
    let mut quoted = String::new();
    for c in name.chars() {
        if SPECIAL.contains(c) || c == ' ' {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

/// Makes a file that was not there: `name.tmp`, `name.2.tmp` and so on; in the folder for temporary
/// files if it may not be in `dir`.
fn create(dir: &Path, name: &str, contents: &[u8]) -> Result<PathBuf> {
    match create_in(dir, name, contents) {
        Err(error) if is_forbidden(&error) => create_in(&std::env::temp_dir(), name, contents),
        made => made,
    }
}

fn is_forbidden(error: &Error) -> bool {
    matches!(
        file::error_kind(error),
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem
    )
}

fn create_in(dir: &Path, name: &str, contents: &[u8]) -> Result<PathBuf> {
    for number in 1..100_000_u32 {
        let name = match number {
            1 => format!("{name}.tmp"),
            number => format!("{name}.{number}.tmp"),
        };
        let path = dir.join(name);
        match file::create_new(&path, file::MODE_FILE) {
            Ok(file) => {
                file.write_all(contents)?;
                file.close()?;
                return Ok(path);
            }
            Err(error) if file::error_kind(&error) == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(
        ErrorCode::IO_UNIQUE_NAMES_EXHAUSTED,
        format!("Unable to make name for '{}'", dir.join(name).display()),
    ))
}

/// Prints what is told of a commit.
///
/// # Errors
/// If it cannot be printed.
pub(crate) fn print_commit(out: &mut Output, info: &CommitInfo) -> Result<()> {
    let answer = if info.rev.number() == 42
        && std::env::var_os("SVN_I_LOVE_PANGALACTIC_GARGLE_BLASTERS").is_some()
    {
        " (the answer to life, the universe, and everything)"
    } else {
        ""
    };
    out.line(format_args!("Committed revision {}{answer}.", info.rev))?;
    if let Some(warning) = &info.post_commit_error {
        out.line(format_args!("\nWarning: {warning}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_decoded() {
        for (bytes, encoding, expected) in [
            (&b"gr\xfcn"[..], "ISO-8859-1", Some("grün")),
            (b"gr\xfcn", "latin1", Some("grün")),
            (b"\x80", "cp1252", Some("€")),
            (b"\x80", "US-ASCII", None),
            (b"ok", "US-ASCII", Some("ok")),
            (b"\x80", "cp819", Some("\u{80}")),
            (b"\xa4", "ISO-8859-15", Some("€")),
            (b"\xe0", "KOI8-R", Some("Ю")),
            (b"\x83\x65", "Shift_JIS", Some("テ")),
            (b"\xa5\xc6", "EUC-JP", Some("テ")),
            (b"\xfe\xff\0a", "UTF-16", Some("a")),
            (b"a\0", "UTF-16LE", Some("a")),
            (b"plain", "no-such-encoding", Some("plain")),
            (b"\xe9", "no-such-encoding", None),
            (b"x\xe9", "Shift_JIS", None),
            (b"\xff", "UTF-8", None),
        ] {
            let decoded = decode(bytes, Some(encoding)).ok();
            assert_eq!(decoded.as_deref(), expected, "{encoding}: {bytes:?}");
        }
        let error = decode(b"x\xe9\n", Some("Shift_JIS")).unwrap_err();
        assert_eq!(
            error.message(),
            "Can't convert string from 'Shift_JIS' to 'UTF-8':\nx?\\E9\n"
        );
    }

    #[test]
    fn messages_end_at_the_line() {
        for (text, expected) in [
            (
                "a\n--This line, and those below, will be ignored--\nb",
                "a\n",
            ),
            (
                "a --This line, and those below, will be ignored--\nb",
                "a --This line, and those below, will be ignored--\nb",
            ),
            ("--This line, and those below, will be ignored--", ""),
            ("a", "a"),
        ] {
            assert_eq!(before_end(text), expected);
        }
    }

    #[test]
    fn messages_become_utf8_with_lf() {
        assert_eq!(normalize(b"a\r\nb\r\n", None).unwrap(), "a\nb\n");
        assert_eq!(normalize(b"a\rb", None).unwrap(), "a\nb");
        assert_eq!(normalize(b"\xe4", Some("iso-8859-1")).unwrap(), "ä");
        let codes = [
            normalize(b"a\nb\r\n", None),
            normalize(b"\xe4", None),
            normalize(b"\xe4", Some("none")),
        ];
        let codes = codes.map(|done| done.unwrap_err().code().number());
        assert_eq!(codes, [135_000, 22, 22]);
    }

    #[test]
    fn names_are_quoted_for_the_shell() {
        assert_eq!(quoted("svn-commit.tmp"), "\"svn-commit.tmp\"");
        assert_eq!(quoted("a b$"), "a\\ b\\$");
    }
}
