//! FSFS, the repository file system of Subversion, formats 1 to 8.
//!
//! [`FileSystem`] is an open one; what is read from it is kept in a [`Cache`], which any number of
//! them share. Readers take no lock: what is committed never changes, and a pack file has the same
//! items as the revisions that it replaces.
//!
//! Each format stands with the code that reads and writes it: [`format`](mod@format) and [`conf`]
//! for the file system, [`id`], [`node_rev`], [`dir`] and [`change`] for the records of a revision,
//! [`rep`] for contents, [`index`] for where things are.

pub mod cache;
pub mod change;
pub mod conf;
mod create;
pub mod dir;
mod error;
pub mod format;
mod fs;
#[doc(hidden)]
pub mod fuzz;
mod guard;
mod hotcopy;
pub mod id;
pub mod index;
mod info;
mod layout;
pub mod lock;
pub mod node_rev;
mod pack;
mod recover;
pub mod rep;
mod rep_cache;
mod rev_file;
mod rev_size;
pub mod revprops;
pub mod stats;
mod text;
pub mod tree;
pub mod txn;
mod upgrade;
pub mod uuid;
mod verify;

pub use cache::Cache;
pub use create::CreateOptions;
pub use fs::{FileSystem, Options};
pub use guard::{FileLock, WriteLock};
pub use hotcopy::{CopiedRevisions, HotcopyMode};
pub use info::Info;
pub use pack::{PackNotice, PackOptions};
pub use tree::{Node, Root, Tree, TreeNode};
pub use txn::{Txn, TxnView};
pub use upgrade::UpgradeNotice;
