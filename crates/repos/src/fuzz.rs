//! Bodies of fuzz targets.

use crate::authz::{Authz, Reach, Rights};

/// Parses rules, and groups behind the first byte 0; asks what they allow, which must not
/// contradict itself.
pub fn authz(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == 0);
    let (rules, groups) = match at {
        Some(at) => (&data[..at], Some(&data[at + 1..])),
        None => (data, None),
    };
    let Ok(authz) = Authz::parse(rules, groups, &mut |_| {}) else {
        return;
    };
    for user in [None, Some("jo"), Some("kim"), Some("eve")] {
        let user = authz.for_user("calc", user);
        for path in ["/", "/trunk", "/trunk/x.key", "/branches/kim/a/b"] {
            let [reads, writes] = [Rights::READ, Rights::WRITE].map(|rights| {
                let allowed = user.allows(path, rights, Reach::Path);
                assert!(allowed || !user.allows(path, rights, Reach::Recursive));
                assert!(!allowed || user.allows_anywhere(rights));
                allowed
            });
            assert!(reads || !writes);
        }
    }
}
