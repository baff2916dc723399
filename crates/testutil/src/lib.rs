//! For tests only: sandboxes, servers, and runs of Debian's svn beside the program under test.

mod apache;
mod history;
mod pair;
mod sandbox;
mod svnserve;

pub use apache::{Apache, ApacheTls};
pub use history::{Chance, all_paths, random_history};
pub use pair::{Pair, Run, tree, wc_rows};
pub use sandbox::Sandbox;
pub use svnserve::{FILE_URLS, Svnserve, free_port};
