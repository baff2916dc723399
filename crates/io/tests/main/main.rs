//! Tests that need the process for themselves.

mod fault;
