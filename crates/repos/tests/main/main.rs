//! Repositories made by Debian's Subversion, asked the same by ours and by its server; what hooks
//! see of them; laws of drives, and commits that Debian's Subversion reads.

mod commits;
mod create;
mod drives;
mod history;
mod hooks;
mod listings;
mod model;
mod scene;
mod wire;
