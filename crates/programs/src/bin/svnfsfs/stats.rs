//! `svnfsfs stats`.

use std::fmt::Write;

use sylvan_core::Result;
use sylvan_fs::stats::{ExtensionStats, Histogram, Line, RepStats, Stats};

use crate::{Env, Invocation, open};

pub(crate) fn run(env: &mut Env, inv: &Invocation) -> Result<()> {
    env.out.line("Reading revisions")?;
    let fs = open(inv)?;
    let out = &mut env.out;
    let stats = fs.stats(&env.cancel, &mut |revision| {
        out.print(format_args!("{:8}", revision.number()))?;
        out.flush()
    })?;
    env.out.print(report(&stats))
}

/// How many names are listed by their endings.
const LISTED: usize = 16;

/// Writes text; writing to a string does not fail.
macro_rules! put {
    ($text:expr, $($args:tt)*) => {{
        let _ = writeln!($text, $($args)*);
    }};
}

fn report(stats: &Stats) -> String {
    let mut text = String::new();
    global(&mut text, stats);
    nodes(&mut text, stats);
    representations(&mut text, stats);
    for (what, reps) in [
        ("Directory", &stats.dir_reps),
        ("File", &stats.file_reps),
        ("Directory property", &stats.dir_prop_reps),
        ("File property", &stats.file_prop_reps),
    ] {
        put!(text, "\n{what} representation statistics:");
        rep_stats(&mut text, reps);
    }
    put!(text, "\nLargest representations:");
    for change in stats
        .largest_changes
        .iter()
        .filter(|change| change.size > 0)
    {
        let (size, revision) = (separated(change.size), change.revision.number());
        put!(
            text,
            "{size:>12} r{revision:<8} {}",
            change.path.to_fspath()
        );
    }
    by_extension(&mut text, stats);
    histograms(&mut text, stats);
    text
}

/// Lines of bytes and how many things they are.
fn amounts(text: &mut String, lines: &[(u64, u64, &str)]) {
    for (bytes, count, what) in lines {
        let (bytes, count) = (separated(*bytes), separated(*count));
        put!(text, "{bytes:>20} bytes in {count:>12} {what}");
    }
}

fn global(text: &mut String, stats: &Stats) {
    let (nodes, reps) = (&stats.total_nodes, &stats.total_reps);
    put!(text, "\n\nGlobal statistics:");
    amounts(
        text,
        &[
            (stats.total_size, stats.revision_count, "revisions"),
            (stats.change_len, stats.change_count, "changes"),
            (nodes.size, nodes.count, "node revision records"),
            (reps.total.packed_size, reps.total.count, "representations"),
        ],
    );
    let expanded = separated(reps.total.expanded_size);
    put!(text, "{expanded:>20} bytes expanded representation size");
    let unshared = separated(reps.expanded_size);
    put!(text, "{unshared:>20} bytes with rep-sharing off");
}

fn nodes(text: &mut String, stats: &Stats) {
    put!(text, "\nNoderev statistics:");
    let lines = [
        (&stats.total_nodes, "nodes total"),
        (&stats.dir_nodes, "directory noderevs"),
        (&stats.file_nodes, "file noderevs"),
    ];
    amounts(
        text,
        &lines.map(|(nodes, what)| (nodes.size, nodes.count, what)),
    );
}

fn representations(text: &mut String, stats: &Stats) {
    put!(text, "\nRepresentation statistics:");
    let of = |reps: &RepStats, what| (reps.total.packed_size, reps.total.count, what);
    let added = stats.added_rep_size.total;
    amounts(
        text,
        &[
            of(&stats.total_reps, "representations total"),
            of(&stats.dir_reps, "directory representations"),
            of(&stats.file_reps, "file representations"),
            (
                added.sum,
                added.count,
                "representations of added file nodes",
            ),
            of(&stats.dir_prop_reps, "directory property representations"),
            of(&stats.file_prop_reps, "file property representations"),
        ],
    );
    let total = &stats.total_reps;
    let average = average(total.chain_len, total.total.count);
    put!(
        text,
        "{:25}with {average:>12} average delta chain length",
        ""
    );
    let overhead = separated(total.total.overhead_size);
    put!(text, "{overhead:>20} bytes in header & footer overhead");
}

fn rep_stats(text: &mut String, reps: &RepStats) {
    amounts(
        text,
        &[
            (reps.total.packed_size, reps.total.count, "reps"),
            (reps.shared.packed_size, reps.shared.count, "shared reps"),
        ],
    );
    for (number, what) in [
        (reps.total.expanded_size, "bytes expanded size"),
        (reps.shared.expanded_size, "bytes expanded shared size"),
        (reps.expanded_size, "bytes with rep-sharing off"),
        (
            reps.references.saturating_sub(reps.total.count),
            "shared references",
        ),
    ] {
        put!(text, "{:>20} {what}", separated(number));
    }
    let average = average(reps.chain_len, reps.total.count);
    put!(text, "{average:>20} average delta chain length");
}

/// Divides, to three places.
fn average(sum: u64, count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three places are shown")]
    let average = sum as f64 / count.max(1) as f64;
    format!("{average:.3}")
}

/// Writes a number with a comma for each thousand.
fn separated(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The hundredth part that is meant, without what is behind the point.
fn percentage(part: u64, total: u64) -> u64 {
    if part >= total {
        return 100;
    }
    u64::try_from(u128::from(part) * 100 / u128::from(total)).unwrap_or(100)
}

type Extension<'s> = (&'s str, &'s ExtensionStats);

/// Returns the names' endings that have the most of something.
fn most<'s>(stats: &'s Stats, of: impl Fn(&ExtensionStats) -> u64) -> Vec<Extension<'s>> {
    let all = stats.by_extension.iter();
    let mut most: Vec<Extension<'_>> = all.map(|(name, of)| (name.as_str(), of)).collect();
    most.sort_by_key(|(_, extension)| std::cmp::Reverse(of(extension)));
    most.truncate(LISTED);
    most
}

fn node_count(extension: &ExtensionStats) -> u64 {
    extension.node_histogram.total.count
}

fn node_sum(extension: &ExtensionStats) -> u64 {
    extension.node_histogram.total.sum
}

fn rep_sum(extension: &ExtensionStats) -> u64 {
    extension.rep_histogram.total.sum
}

fn by_extension(text: &mut String, stats: &Stats) {
    let file = stats.file.total;
    put!(text, "\nExtensions by number of representations:");
    extensions(text, stats, &node_count, file.count, "representations");
    put!(text, "\nExtensions by size of changed files:");
    extensions(text, stats, &node_sum, file.sum, "bytes");
    put!(text, "\nExtensions by size of representations:");
    let total = stats.rep_size.total.sum;
    extensions(text, stats, &rep_sum, total, "bytes");
}

fn extensions(
    text: &mut String,
    stats: &Stats,
    of: &dyn Fn(&ExtensionStats) -> u64,
    total: u64,
    what: &str,
) {
    let mut line = |name: &str, number: u64| {
        let percent = percentage(number, total);
        let number = separated(number);
        put!(text, "{name:>11} {number:>20} ({percent:2}%) {what}");
    };
    let mut sum = 0;
    for (name, extension) in most(stats, of) {
        line(name, of(extension));
        sum += of(extension);
    }
    let others = total.saturating_sub(sum);
    // Numbers of representations are completed in any case, if there are any.
    let counts = what == "representations" && total > 0;
    if others > 0 || counts {
        line("(others)", others);
    }
}

fn histograms(text: &mut String, stats: &Stats) {
    for (what, histogram) in [
        ("expanded node sizes", &stats.node_size),
        ("representation sizes", &stats.rep_size),
        ("file sizes", &stats.file),
        ("file representation sizes", &stats.file_rep),
        ("file property sizes", &stats.file_prop),
        ("file property representation sizes", &stats.file_prop_rep),
        ("directory sizes", &stats.dir),
        ("directory representation sizes", &stats.dir_rep),
        ("directory property sizes", &stats.dir_prop),
        (
            "directory property representation sizes",
            &stats.dir_prop_rep,
        ),
    ] {
        put!(text, "\nHistogram of {what}:");
        histogram_lines(text, histogram);
    }
    let mut shown: Vec<Extension<'_>> = Vec::new();
    for more in [
        most(stats, node_count),
        most(stats, node_sum),
        most(stats, rep_sum),
    ] {
        for extension in more {
            if !shown.iter().any(|(name, _)| *name == extension.0) {
                shown.push(extension);
            }
        }
    }
    for (name, extension) in shown {
        put!(text, "\nHistogram of '{name}' file sizes:");
        histogram_lines(text, &extension.node_histogram);
        put!(text, "\nHistogram of '{name}' file representation sizes:");
        histogram_lines(text, &extension.rep_histogram);
    }
}

fn histogram_lines(text: &mut String, histogram: &Histogram) {
    let used = |line: &Line| line.count > 0;
    let Some(first) = histogram.lines.iter().position(used) else {
        return;
    };
    let last = histogram.lines.iter().rposition(used).unwrap_or(first);
    let total = histogram.total;
    for at in (first..=last).rev() {
        let line = histogram.lines[at];
        let low = at.checked_sub(1).map_or("0".to_owned(), power);
        put!(
            text,
            "  {low:>4} .. < {:<4} {:>19} ({:2}%) bytes in {:>12} ({:2}%) items",
            power(at),
            separated(line.sum),
            share(line.sum, total.sum),
            separated(line.count),
            share(line.count, total.count),
        );
    }
}

/// As [`percentage`], but nothing of nothing is nothing.
fn share(part: u64, total: u64) -> u64 {
    if total == 0 {
        0
    } else {
        percentage(part, total)
    }
}

/// Names a power of two: `512`, `1k`.
fn power(exponent: usize) -> String {
    const PREFIXES: &[u8] = b" kMGTPEZY";
    let number = 1_u32 << (exponent % 10);
    match PREFIXES.get(exponent / 10) {
        Some(b' ') => number.to_string(),
        Some(prefix) => format!("{number}{}", char::from(*prefix)),
        None => format!("{number}?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_like_subversions() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(separated(number), text);
        }
        for (exponent, text) in [(0, "1"), (9, "512"), (10, "1k"), (29, "512M"), (63, "8E")] {
            assert_eq!(power(exponent), text);
        }
        assert_eq!(average(10, 4), "2.500");
        assert_eq!(
            (percentage(0, 0), percentage(1, 3), share(0, 0)),
            (100, 33, 0)
        );
    }

    #[test]
    fn histograms_show_what_is_used() {
        let mut histogram = Histogram::default();
        for value in [0, 5, 6, 1024] {
            histogram.add(value);
        }
        let mut text = String::new();
        histogram_lines(&mut text, &histogram);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 12);
        assert_eq!(
            lines[0],
            "    1k .. < 2k                 1,024 (98%) bytes in            1 (25%) items"
        );
        assert_eq!(
            lines[11],
            "     0 .. < 1                      0 ( 0%) bytes in            1 (25%) items"
        );
    }
}
