//! What a user does with repositories and working copies: one module an operation.
//!
//! Each operation takes a [`Context`], which carries what it may use: the sessions opened so far,
//! the configuration, the cancellation flag.

pub mod add;
pub mod arguments;
pub mod auto_props;
pub mod blame;
pub mod cat;
pub mod changelist;
pub mod checkout;
pub mod cleanup;
pub mod commit;
pub mod conflicts;
mod context;
pub mod copy;
mod copy_from_url;
pub mod delete;
pub mod diff;
mod disk;
pub mod export;
pub mod externals;
pub mod import;
pub mod info;
pub mod layout;
pub mod list;
pub mod location;
pub mod lock;
pub mod log;
pub mod log_message;
pub mod mergeinfo;
pub mod merging_summary;
mod order;
mod path_driver;
pub mod proplist;
pub mod propset;
pub mod relocate;
pub mod resolve;
pub mod revert;
pub mod status;
pub mod switch;
pub mod target;
mod timestamps;
pub mod update;
pub mod upgrade;
pub mod url_ops;
mod wc_node;

pub use context::{Context, Opener, PooledSession, Redirected, Sessions};
