//! Tests of working copies that Debian's svn made.

mod database;
mod flat_xml;
mod info;
mod oracle;
mod scenes;
mod status;
