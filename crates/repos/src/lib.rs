//! Repositories of Subversion.
//!
//! [`Repos`] is an open one: its folder, and the file system in it. Each module adds what one
//! subject does with it, from the name of a hook to the report that drives an editor.

mod repos;

pub use repos::Repos;
