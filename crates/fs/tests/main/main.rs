//! File systems made by Debian's Subversion, read; and ours, read by it.

mod damage;
mod history;
mod hotcopy;
mod load;
mod maintain;
mod model;
mod pack;
mod read;
mod write;
