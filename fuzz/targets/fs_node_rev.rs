#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sylvan_fs::fuzz::node_rev(data));
