//! Repositories of Subversion.
//!
//! [`Repos`] is an open one: its folder, and the file system in it. Each module adds what one
//! subject does with it, from the name of a hook to the report that drives an editor.

mod access;
mod admin;
mod change_tree;
mod commit;
mod commit_editor;
mod create;
mod dated;
mod deleted;
mod delta;
mod dirent;
mod file_revs;
mod history;
mod hooks;
mod hooks_env;
mod inherited;
mod list;
mod locations;
mod locks;
mod log;
mod mergeinfo;
mod replay;
pub mod report;
mod repos;
mod revision_access;
mod revprops;
mod send;
mod templates;

pub use access::{ReadAccess, ReadCheck};
pub use change_tree::{ChangedNode, NodeAction, change_tree};
pub use commit::post_commit_text;
pub use commit_editor::{CommitCheck, CommitEditor, CommitEditorOptions, CommitInfo, Needs};
pub use create::CreateOptions;
pub use delta::{DeltaOptions, dir_delta};
pub use dirent::{CommittedInfo, DirEntryReader};
pub use file_revs::{FileRev, FileRevReceiver, FileRevsOptions};
pub use history::HistoryReceiver;
pub use hooks::{HOOKS, Hooks};
pub use list::ListOptions;
pub use locations::PreviousLocation;
pub use locks::{Locked, Unlocked};
pub use replay::{ReplayOptions, replay};
pub use repos::Repos;
pub use revision_access::RevisionAccess;
pub use revprops::{RevpropHooks, check_node_prop, check_prop, normalized_prop};
pub use send::Texts;
