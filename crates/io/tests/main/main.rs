//! Tests that need a process for themselves, and side-by-side runs with Debian's svn (ignored by
//! default, as it need not be installed).

mod config;
mod fault;
