//! Tests of working copies, most beside those that Debian's svn made.

mod database;
mod flat_xml;
mod info;
mod oracle;
mod scenes;
mod status;
mod symlinks;
mod update;
