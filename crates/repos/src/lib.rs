//! Repositories of Subversion.
//!
//! [`Repos`] is an open one: its folder, and the file system in it. Each module adds what one
//! subject does with it, from the name of a hook to the report that drives an editor.

mod access;
mod admin;
mod apr_hash;
pub mod authz;
mod change_tree;
mod commit;
mod commit_editor;
mod create;
mod dated;
mod deleted;
mod delta;
mod dirent;
mod dump;
mod dumpfilter;
pub mod dumpstream;
mod file_revs;
mod filter;
#[doc(hidden)]
pub mod fuzz;
mod history;
mod hooks;
mod hooks_env;
mod inherited;
mod list;
mod load;
mod locations;
mod locks;
mod log;
mod mergeinfo;
mod notice;
mod ordered;
mod replay;
pub mod report;
mod repos;
mod revision_access;
mod revprops;
mod send;
mod templates;
mod verify;

pub use access::{ReadAccess, ReadCheck};
pub use change_tree::{ChangedNode, NodeAction, change_tree};
pub use commit::post_commit_text;
pub use commit_editor::{CommitCheck, CommitEditor, CommitEditorOptions, Needs};
pub use create::CreateOptions;
pub use delta::{DeltaOptions, dir_delta};
pub use dirent::{CommittedInfo, DirEntryReader};
pub use dump::{DumpOptions, DumpReceiver};
pub use dumpfilter::{DumpFilterOptions, DumpFilterReceiver, DumpFilterSummary, filter_dump};
pub use file_revs::{FileRev, FileRevReceiver, FileRevsOptions};
pub use filter::PathFilter;
pub use history::HistoryReceiver;
pub use hooks::{HOOKS, Hooks};
pub use list::ListOptions;
pub use load::{LoadOptions, LoadRevpropsOptions, UuidAction};
pub use locations::PreviousLocation;
pub use locks::{Locked, Unlocked};
pub use notice::{Notice, Notify, RecordAction, WarningKind};
pub use replay::{ReplayOptions, replay};
pub use repos::Repos;
pub use revision_access::RevisionAccess;
pub use revprops::{RevpropHooks, check_node_prop, check_prop, normalized_prop};
pub use send::{Texts, send_delta};
pub use verify::{VerifyOptions, VerifyReceiver};
