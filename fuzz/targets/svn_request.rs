#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sylvan_proto::fuzz::svn_request(data));
