//! The server as its clients meet it, without sockets.

mod attacks;
mod commits;
mod random;
mod scene;
