#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sylvan_repos::fuzz::dump_stream(data));
