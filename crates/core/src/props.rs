//! Versioned and revision properties.

use std::collections::BTreeMap;

/// Properties by name; values are any bytes. Text properties (`svn:*`) are UTF-8 with LF.
pub type Props = BTreeMap<String, Vec<u8>>;
