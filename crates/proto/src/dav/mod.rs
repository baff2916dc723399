//! Subversion's WebDAV/DeltaV protocol without I/O: request bodies and parsers of responses.
//!
//! [`request`] writes the bodies. A response is parsed while it arrives: make a [`Document`] of the
//! parser for it, push the bytes, finish. [`UpdateReport`] drives an [`Editor`](sylvan_delta::Editor)
//! meanwhile. What answers to what:
//!
//! | request | parser |
//! |---|---|
//! | `OPTIONS` | [`Options`] from the headers, [`ActivityCollection`] from the body |
//! | `PROPFIND` | [`Multistatus`], [`LockDiscovery`] |
//! | `REPORT` update-report | [`UpdateReport`] |
//! | … log-report | [`LogReport`] |
//! | … list-report | [`ListReport`] |
//! | … get-locations, get-location-segments | [`Locations`], [`LocationSegments`] |
//! | … get-locks-report | [`LocksReport`] |
//! | … inherited-props-report | [`InheritedPropsReport`] |
//! | … dated-rev-report, get-deleted-rev-report | [`VersionName`] |
//! | anything that failed | [`ErrorBody`] |
//!
//! Everything here is written for hostile peers: see [`xml`] for the limits.

mod base64;
pub mod commit;
mod error;
mod file_revs;
mod list;
mod locks;
mod log;
mod multistatus;
mod options;
mod reports;
pub mod request;
mod update;
pub mod xml;

pub use base64::{decode as decode_base64, encode as encode_base64};
pub use error::ErrorBody;
pub use file_revs::{FileRevItem, FileRevsReport, MergeinfoReport};
pub use list::{ListItem, ListReport};
pub use locks::{LockDiscovery, LockItem, LocksReport};
pub use log::{LogItem, LogPath, LogReport};
pub use multistatus::{Multistatus, Prop, Response, svn_prop_name};
pub use options::{ActivityCollection, BulkUpdates, Options};
pub use reports::{
    InheritedItem, InheritedPropsReport, LocationSegments, Locations, Segment, VersionName,
};
pub use update::{DeltaBase, Fetch, Requests, UpdateParams, UpdateReport};
pub use xml::Document;

/// Namespace of the properties that begin with `svn:`.
pub const NS_SVN_PROP: &str = "http://subversion.tigris.org/xmlns/svn/";
/// Namespace of the properties that users made up.
pub const NS_CUSTOM: &str = "http://subversion.tigris.org/xmlns/custom/";
/// Namespace of the live properties of Subversion's server.
pub const NS_DAV_SVN: &str = "http://subversion.tigris.org/xmlns/dav/";

/// The property in which a working copy keeps a file's version resource.
pub const VERSION_URL_PROP: &str = "svn:wc:ra_dav:version-url";

/// The media type of svndiff.
pub const SVNDIFF_TYPE: &str = "application/vnd.svn-svndiff";
/// The header that names the base of a delta.
pub const DELTA_BASE_HEADER: &str = "X-SVN-VR-Base";

/// The `DAV` headers with which a client says what it knows.
pub const CLIENT_CAPABILITIES: [&str; 3] = [
    "http://subversion.tigris.org/xmlns/dav/svn/depth",
    "http://subversion.tigris.org/xmlns/dav/svn/mergeinfo",
    "http://subversion.tigris.org/xmlns/dav/svn/log-revprops",
];

/// Fuzz targets: each takes arbitrary bytes and must neither panic nor run away.
#[doc(hidden)]
pub mod fuzz;

use sylvan_core::{Error, ErrorCode, Result, Revnum};

fn malformed(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::RA_DAV_MALFORMED_DATA, message)
}

/// Parses a revision number that must be one.
fn parse_rev(text: &str) -> Result<Revnum> {
    Revnum::parse(xml::trimmed(text)).ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_VERSION_FILE_FORMAT,
            format!("Could not convert '{text}' into a number"),
        )
    })
}

/// Parses a number where -1 stands for "none".
fn parse_optional_rev(text: &str) -> Result<Option<Revnum>> {
    if text == "-1" {
        return Ok(None);
    }
    parse_rev(text).map(Some)
}

/// Decodes an element's text by its `encoding` attribute.
fn decode_value(text: &str, encoding: Option<&str>, code: ErrorCode) -> Result<Vec<u8>> {
    match encoding {
        None => Ok(text.as_bytes().to_vec()),
        Some("base64") => base64::decode(text),
        Some(other) => Err(Error::new(
            code,
            format!("Got unrecognized encoding '{other}'"),
        )),
    }
}

/// Takes a path below the repository root as servers write it, with a slash before it or not.
fn repos_path(path: &str) -> Result<sylvan_core::RelPathBuf> {
    let path = path.trim_start_matches('/').trim_end_matches('/');
    Ok(sylvan_core::RelPath::new(path)?.to_owned())
}
