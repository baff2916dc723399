#![no_main]

use std::sync::{Arc, OnceLock};

use sylvan_server::svn::Serving;
use sylvan_server::svn::fuzz::{serve, serving};

/// Serves an empty folder, or one with repositories if the environment names it.
static SERVING: OnceLock<Arc<Serving>> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let serving = SERVING.get_or_init(|| {
        let root = std::env::var_os("SVN_SERVER_ROOT");
        serving(&root.map_or_else(std::env::temp_dir, Into::into))
    });
    let Some((&cut, said)) = data.split_first() else {
        return;
    };
    serve(serving, said, usize::from(cut) * 4 + 1);
});
