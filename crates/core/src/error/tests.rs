use super::*;

#[test]
fn codes_have_their_numbers_names_and_texts() {
    assert_eq!(ErrorCode::WC_NOT_WORKING_COPY.number(), 155_007);
    assert_eq!(ErrorCode(155_007).name(), Some("WC_NOT_WORKING_COPY"));
    assert_eq!(
        ErrorCode(160_013).default_text(),
        ErrorCode::FS_NOT_FOUND.default_text()
    );
    assert_eq!(ErrorCode(2).default_text(), "No such file or directory");
    assert_eq!(ErrorCode(299_999).name(), None);
}

#[test]
fn table_is_sorted() {
    assert!(
        ErrorCode::TABLE
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0)
    );
}

#[test]
fn chain_prints_outermost_first_and_default_texts_once() {
    let inner = Error::from_code(ErrorCode::FS_NOT_FOUND);
    let error = inner
        .wrap_code(ErrorCode::FS_NOT_FOUND)
        .wrap(ErrorCode::RA_SVN_IO_ERROR, "While reading");
    let text = ErrorCode::FS_NOT_FOUND.default_text();
    assert_eq!(
        error.to_lines("svn: "),
        format!("svn: E210003: While reading\nsvn: E160013: {text}\n")
    );
}

#[test]
fn system_errors_carry_errno_and_plain_text() {
    let error = Error::io(
        &std::io::Error::from_raw_os_error(2),
        "Can't open file '/x'",
    );
    assert_eq!(
        error.to_lines("svn: "),
        "svn: E000002: Can't open file '/x': No such file or directory\n"
    );
}

#[test]
fn warning_is_one_line() {
    let error = Error::new(
        ErrorCode::WC_NOT_WORKING_COPY,
        "'/home/jo/x' is not a working copy",
    );
    assert_eq!(
        error.to_warning("svn: "),
        "svn: warning: W155007: '/home/jo/x' is not a working copy\n"
    );
}

#[test]
fn attached_error_stands_last() {
    let error = Error::new(ErrorCode::BASE, "first").attach(Error::new(ErrorCode::BASE, "later"));
    assert_eq!(error.root().message(), "later");
}
