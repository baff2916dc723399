//! File systems made by Debian's Subversion, read; and ours, read by it.

mod history;
mod model;
mod read;
