#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sylvan_proto::dav::fuzz::base64(data));
