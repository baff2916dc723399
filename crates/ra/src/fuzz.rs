//! Bodies of fuzz targets.

pub use crate::svn::fuzz_session as svn_session;
