//! Errors about names that are not UTF-8.

use std::fmt::Write as _;
use std::path::Path;

use sylvan_core::{Error, ErrorCode};

const EINVAL: i32 = 22;

/// Says which part of a name in `dir` is not UTF-8.
pub(crate) fn not_utf8(dir: &Path, name: &[u8]) -> Error {
    let valid = std::str::from_utf8(name)
        .err()
        .map_or(name.len(), |error| error.valid_up_to());
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, " {byte:02x}");
            hex
        })
    };
    // As many as fit on a line; four are enough to show the fault.
    let before = &name[valid.saturating_sub(24)..valid];
    let after = &name[valid..name.len().min(valid + 4)];
    let code = ErrorCode::from_errno(EINVAL);
    Error::new(
        code,
        format!(
            "Valid UTF-8 data\n(hex:{})\nfollowed by invalid UTF-8 sequence\n(hex:{})",
            hex(before),
            hex(after)
        ),
    )
    .wrap(
        code,
        format!(
            "Error converting entry in directory '{}' to UTF-8",
            dir.display()
        ),
    )
}
