#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sylvan_ra::fuzz::svn_session(data));
