//! Sessions against Subversion's own servers.

mod svn;
