#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sylvan_wc::fuzz::old_entries(data));
