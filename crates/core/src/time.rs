/// A moment, in microseconds since 1970-01-01T00:00:00Z, as Subversion counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Makes a moment from microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }
}
