//! Responses, errors and properties, which many commands share.

use sylvan_core::{Error, ErrorCode, Props};

use super::ProtocolError;
use super::item::{Fields, Item, List, Writer};

type Result<T, E = ProtocolError> = std::result::Result<T, E>;

/// The answer to a command.
#[derive(Clone, Debug)]
pub enum Response<'a> {
    /// It was done; what it gives.
    Success(List<'a>),
    /// It was not.
    Failure(Error),
}

impl<'a> Response<'a> {
    /// Reads `( success params )` or `( failure errors )`.
    ///
    /// # Errors
    /// `Malformed` and `Unexpected`.
    pub fn read(item: Item<'a>) -> Result<Self> {
        let mut fields = item.list()?.fields();
        let status = fields.word()?;
        let params = fields.list()?;
        match status {
            "success" => Ok(Self::Success(params)),
            "failure" => Ok(Self::Failure(read_errors(params)?)),
            _ => Err(ProtocolError::unexpected(format!(
                "Unknown status '{status}' in command response"
            ))),
        }
    }
}

/// Reads the errors of a failure, outermost first.
///
/// # Errors
/// `Unexpected` if there are none or they are malformed.
pub fn read_errors(list: List<'_>) -> Result<Error> {
    if list.is_empty() {
        return Err(ProtocolError::unexpected("Empty error list"));
    }
    let malformed = || ProtocolError::unexpected("Malformed error list");
    let mut links = Vec::new();
    for item in list.items() {
        let mut fields = item.list().map_err(|_| malformed())?.fields();
        let code = fields.number()?;
        let message = String::from_utf8_lossy(fields.bytes()?).into_owned();
        // What follows are file and line in the server's source.
        fields.bytes()?;
        fields.number()?;
        let code = ErrorCode(i32::try_from(code).map_err(|_| malformed())?);
        // A link that servers put around others for themselves.
        if code != ErrorCode::RA_SVN_CMD_ERR {
            links.push((code, message));
        }
    }
    links
        .into_iter()
        .rev()
        .fold(None, |inner: Option<Error>, (code, message)| {
            // An empty message stands for none.
            Some(match (inner, message.is_empty()) {
                (None, true) => Error::from_code(code),
                (None, false) => Error::new(code, message),
                (Some(inner), true) => inner.wrap_code(code),
                (Some(inner), false) => inner.wrap(code, message),
            })
        })
        .ok_or_else(malformed)
}

/// Writes `( success ( … ) )`.
pub fn write_success(out: &mut Writer, params: impl FnOnce(&mut Writer)) {
    out.open().word("success").open();
    params(out);
    out.close().close();
}

/// Writes `( failure ( errors ) )`.
pub fn write_failure(out: &mut Writer, error: &Error) {
    out.open().word("failure").open();
    for link in error.chain() {
        out.open()
            .number(u64::from(link.code().number().unsigned_abs()))
            .string(link.own_message().unwrap_or_default())
            .string("")
            .number(0)
            .close();
    }
    out.close().close();
}

/// Reads `( ( name value ) … )`.
///
/// # Errors
/// `Malformed`.
pub fn read_props(list: List<'_>) -> Result<Props> {
    list.items()
        .map(|item| {
            let mut fields = item.list()?.fields();
            Ok((fields.text()?.to_owned(), fields.bytes()?.to_vec()))
        })
        .collect()
}

/// Writes `( ( name value ) … )`.
pub fn write_props(out: &mut Writer, props: &Props) {
    out.open();
    for (name, value) in props {
        out.open().string(name).string(value).close();
    }
    out.close();
}

/// Reads text that may not be UTF-8 and is only shown.
pub(super) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads the capabilities of a list of words; others than words are left out.
pub(super) fn read_words(fields: &mut Fields<'_>) -> Result<Vec<String>> {
    Ok(fields
        .list()?
        .items()
        .filter_map(|item| match item {
            Item::Word(word) => Some(word.to_owned()),
            _ => None,
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svn::item::Parser;

    fn read(bytes: &[u8]) -> Result<Option<Error>> {
        let mut parser = Parser::new();
        parser.advance(bytes)?.expect("a whole item");
        Ok(match Response::read(parser.item(bytes))? {
            Response::Success(_) => None,
            Response::Failure(error) => Some(error),
        })
    }

    #[test]
    fn failures_keep_numbers_and_order() {
        let error = Error::from_code(ErrorCode::FS_NOT_FOUND)
            .wrap(ErrorCode(987_654), "outer")
            .wrap_code(ErrorCode::RA_SVN_CMD_ERR);
        let mut out = Writer::new();
        write_failure(&mut out, &error);
        let received = read(out.as_bytes()).unwrap().unwrap();
        assert_eq!(
            received.to_lines(""),
            "E987654: outer\nE160013: Filesystem has no item\n"
        );
    }

    #[test]
    fn odd_responses_are_refused() {
        assert!(read(b"( success ( 1 ) more ) ").unwrap().is_none());
        for bytes in [
            &b"( failure ( ) ) "[..],
            b"( failure ( ( 210000 0: 0: 0 ) ) ) ",
            b"( failure ( ( 99999999999 0: 0: 0 ) ) ) ",
            b"( failure ( 1 ) ) ",
            b"( maybe ( ) ) ",
            b"( success ) ",
            b"word ",
        ] {
            let error = Error::from(read(bytes).unwrap_err());
            assert_eq!(error.code(), ErrorCode::RA_SVN_MALFORMED_DATA);
        }
    }
}
