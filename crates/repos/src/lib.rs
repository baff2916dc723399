//! Repositories of Subversion.
//!
//! [`Repos`] is an open one: its folder, and the file system in it. Each module adds what one
//! subject does with it, from the name of a hook to the report that drives an editor.

mod commit;
mod hooks;
mod hooks_env;
mod locks;
mod repos;
mod revprops;

pub use commit::post_commit_text;
pub use hooks::{HOOKS, Hooks};
pub use locks::{Locked, Unlocked};
pub use repos::Repos;
pub use revprops::{RevpropHooks, check_node_prop, check_prop, normalized_prop};
