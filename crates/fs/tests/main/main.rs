//! File systems made by Debian's Subversion, read; and ours, read by it.

mod history;
mod load;
mod model;
mod read;
mod write;
