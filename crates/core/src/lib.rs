//! The vocabulary that all of Sylvan speaks.
//!
//! Types without I/O: [`Error`] with Subversion's numbers, path types ([`RelPath`], [`Dirent`],
//! [`Url`]), [`Revnum`], [`Depth`], [`NodeKind`], [`Checksum`], [`Props`], [`Timestamp`].
//!
//! ```
//! use sylvan_core::{RelPath, Url};
//!
//! let url = Url::parse("HTTP://Example.ORG:80/repos/trunk/").unwrap();
//! assert_eq!(url.as_str(), "http://example.org/repos/trunk");
//! assert_eq!(url.join(RelPath::new("a b").unwrap()).as_str(), "http://example.org/repos/trunk/a%20b");
//! ```

mod checksum;
mod depth;
pub mod error;
pub mod externals;
pub mod fold;
#[doc(hidden)]
pub mod fuzz;
pub mod glob;
pub mod hash_dump;
mod kind;
mod lock;
pub mod mergeinfo;
pub mod opt;
pub mod path;
pub mod props;
pub mod repository;
mod revnum;
pub mod skel;
pub mod text;
pub mod time;
pub mod translate;

pub use checksum::{Checksum, ChecksumKind, Md5, Sha1};
pub use depth::Depth;
pub use error::{Error, ErrorCode, Result};
pub use kind::NodeKind;
pub use lock::Lock;
pub use path::{Dirent, RelPath, RelPathBuf, Url};
pub use props::Props;
pub use revnum::Revnum;
pub use time::{TimeZone, Timestamp};
