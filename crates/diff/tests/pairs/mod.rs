//! Pairs of texts.

/// Numbers that look random, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as usize
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.below(from.len())]
    }
}

type Lines = Vec<Vec<u8>>;

const WORDS: [&str; 12] = [
    "",
    "{",
    "}",
    "int f(x)",
    "public: y",
    "a",
    "b",
    "c  d",
    "\tc d",
    "ü",
    "_g",
    "return;",
];

fn line(random: &mut Random, variety: usize, eol: &str) -> Vec<u8> {
    let mut line = random.pick(&WORDS).as_bytes().to_vec();
    match random.below(20) {
        0 => line.push(0),
        1 => line.push(0xff),
        2 | 3 => line.splice(0..0, *b" \t").for_each(drop),
        4 => line.push(b' '),
        _ => {}
    }
    if variety > 0 {
        line.extend(random.below(variety).to_string().bytes());
    }
    line.extend_from_slice(eol.as_bytes());
    line
}

fn lines(random: &mut Random, count: usize, variety: usize, mixed: bool) -> Lines {
    let usual = random.pick(&["\n", "\n", "\r\n", "\r"]);
    let mut one = || {
        let eol = if mixed {
            random.pick(&["\n", "\r\n", "\r"])
        } else {
            usual
        };
        line(random, variety, eol)
    };
    (0..count).map(|_| one()).collect()
}

/// Changes some lines: removes, adds, replaces, moves and repeats.
fn edit(random: &mut Random, text: &mut Lines, variety: usize, edits: usize) {
    for _ in 0..edits {
        let at = random.below(text.len() + 1);
        let len = random.below(8).min(text.len() - at);
        match random.below(7) {
            0 => text.drain(at..at + len).for_each(drop),
            1 => {
                let new = lines(random, len, variety, false);
                text.splice(at..at, new).for_each(drop);
            }
            2 => {
                let new = lines(random, len, variety, false);
                text.splice(at..at + len, new).for_each(drop);
            }
            3 => {
                let moved: Lines = text.drain(at..at + len).collect();
                let to = random.below(text.len() + 1);
                text.splice(to..to, moved).for_each(drop);
            }
            4 => {
                let copied: Lines = text[at..at + len].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copied).for_each(drop);
            }
            5 if len > 0 => restyle(random, &mut text[at]),
            _ if len > 0 => text[at].splice(0..0, *b"  ").for_each(drop),
            _ => {}
        }
    }
}

/// Gives a line another end.
fn restyle(random: &mut Random, line: &mut Vec<u8>) {
    while matches!(line.last(), Some(b'\r' | b'\n')) {
        line.pop();
    }
    line.extend_from_slice(random.pick(&["\n", "\r\n", "\r", " \n"]).as_bytes());
}

fn joined(random: &mut Random, text: &Lines) -> Vec<u8> {
    let mut text = text.concat();
    if random.below(4) == 0 {
        text.pop();
    }
    text
}

/// A pair of up to some hundred lines.
pub(crate) fn small(random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let count = [3, 20, 20, 60, 200][random.below(5)];
    let count = random.below(count);
    let variety = [0, 0, 3, 1000][random.below(4)];
    let mixed = random.below(3) == 0;
    let mut text = lines(random, count, variety, mixed);
    let old = joined(random, &text);
    let edits = random.below(8);
    edit(random, &mut text, variety, edits);
    if random.below(15) == 0 {
        text = lines(random, count, variety, mixed);
    }
    (old, joined(random, &text))
}

/// A text and two that were made of it, of up to some hundred lines.
pub(crate) fn three(random: &mut Random) -> [Vec<u8>; 3] {
    let count = [3, 20, 20, 60, 200][random.below(5)];
    let count = random.below(count);
    let variety = [0, 3, 1000, 1000][random.below(4)];
    let mixed = random.below(5) == 0;
    let text = lines(random, count, variety, mixed);
    let original = joined(random, &text);
    let [mine, latest] = [0, 1].map(|_| {
        let mut changed = text.clone();
        let edits = 1 + random.below(4);
        edit(random, &mut changed, variety, edits);
        joined(random, &changed)
    });
    [original, mine, latest]
}

/// A pair of texts of some blocks of 128 KiB, partly with long lines.
pub(crate) fn large(random: &mut Random) -> (Vec<u8>, Vec<u8>) {
    let variety = [3, 100_000][random.below(2)];
    let count = 20_000 + random.below(20_000);
    let mut text = lines(random, count, variety, false);
    for _ in 0..random.below(3) {
        let at = random.below(text.len());
        let long = vec![b'l'; random.below(300_000)];
        text[at].splice(0..0, long).for_each(drop);
    }
    let old = joined(random, &text);
    let edits = 1 + random.below(30);
    edit(random, &mut text, variety, edits);
    (old, joined(random, &text))
}

/// A value of `svn:mergeinfo` in its canonical form, with one source.
pub(crate) fn mergeinfo(random: &mut Random) -> Vec<u8> {
    let mut ranges = Vec::new();
    let mut at = 1;
    while ranges.is_empty() || random.below(4) > 0 {
        let start = at + random.below(4);
        let end = start + random.below(4);
        let mark = random.pick(&["", "", "*"]);
        ranges.push(if start == end {
            format!("{start}{mark}")
        } else {
            format!("{start}-{end}{mark}")
        });
        // Ranges that touch would be joined.
        at = end + 2;
    }
    format!("/trunk:{}", ranges.join(",")).into_bytes()
}
