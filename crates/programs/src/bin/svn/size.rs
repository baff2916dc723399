//! File sizes as `list` and `info` print them.

/// How a unit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    /// `12.3 KiB`.
    Long,
    /// `12.3K`, at most four characters wide.
    Short,
}

const LONG: [&str; 7] = [" B", " KiB", " MiB", " GiB", " TiB", " EiB", " PiB"];
const SHORT: [&str; 7] = ["B", "K", "M", "G", "T", "E", "P"];

/// Formats a size for humans: powers of 1024, never more than three digits before the point.
pub(crate) fn human(size: u64, units: Units) -> String {
    // A unit is used from its own size on (but from 1000 of the smaller one).
    let mut power = (1..SHORT.len())
        .rev()
        .find(|power| size >= 1 << (10 * power))
        .unwrap_or(0);
    if size >> (10 * power) > 999 && power + 1 < SHORT.len() {
        power += 1;
    }
    let suffix = match units {
        Units::Long => LONG[power],
        Units::Short => SHORT[power],
    };
    if power == 0 {
        return format!("{size}{suffix}");
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = (size >> (10 * power - 10)) as f64 / 1024.0;
    let tenths = value < 10.0 && (value.trunc() < 9.0 || value.fract() <= 0.949_999_999);
    if tenths {
        format!("{value:.1}{suffix}")
    } else {
        format!("{value:.0}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits_at_most() {
        for (size, long, short) in [
            (0, "0 B", "0B"),
            (999, "999 B", "999B"),
            (1000, "1.0 KiB", "1.0K"),
            (1023, "1.0 KiB", "1.0K"),
            (1024, "1.0 KiB", "1.0K"),
            (1536, "1.5 KiB", "1.5K"),
            (10_188, "9.9 KiB", "9.9K"),
            (10_189, "10 KiB", "10K"),
            (1_022_976, "999 KiB", "999K"),
            (1_024_000, "1.0 MiB", "1.0M"),
            (u64::MAX >> 1, "8.0 PiB", "8.0P"),
        ] {
            assert_eq!(human(size, Units::Long), long, "{size}");
            assert_eq!(human(size, Units::Short), short, "{size}");
        }
    }
}
