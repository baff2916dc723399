//! Repositories made by Debian's Subversion, asked the same by ours and by its server; and what
//! hooks see of them.

mod create;
mod hooks;
