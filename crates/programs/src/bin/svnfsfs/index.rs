//! `svnfsfs dump-index` and `svnfsfs load-index`.

use std::io::BufRead;

use sylvan_core::{Error, ErrorCode, Result, Revnum};
use sylvan_fs::index::{Item, ItemKind};

use crate::{Env, Invocation, open};

/// The words for what an item is, as wide as the column.
const KINDS: [(ItemKind, &str); 7] = [
    (ItemKind::Unused, "none "),
    (ItemKind::FileRep, "frep "),
    (ItemKind::DirRep, "drep "),
    (ItemKind::FileProps, "fprop"),
    (ItemKind::DirProps, "dprop"),
    (ItemKind::NodeRev, "node "),
    (ItemKind::Changes, "chgs "),
];

/// The longest line that is read.
const LONGEST: u64 = 64 << 10;

pub(crate) fn dump(env: &mut Env, inv: &Invocation) -> Result<()> {
    let fs = open(inv)?;
    env.out
        .line("       Start       Length Type   Revision     Item Checksum")?;
    let out = &mut env.out;
    fs.dump_index(inv.options.revision(), &env.cancel, &mut |item| {
        out.line(line(item))
    })
}

fn line(item: &Item) -> String {
    let kind = KINDS.iter().find(|(kind, _)| *kind == item.kind);
    format!(
        "{:12x} {:12x} {} {:9} {:8} {:08x}",
        item.offset,
        item.size,
        kind.map_or("???", |(_, word)| word),
        item.revision.number(),
        item.number,
        item.checksum,
    )
}

pub(crate) fn load(env: &mut Env, inv: &Invocation) -> Result<()> {
    let fs = open(inv)?;
    let mut items: Vec<Item> = Vec::new();
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        env.cancel.check()?;
        line.clear();
        let read = std::io::Read::take(&mut input, LONGEST)
            .read_until(b'\n', &mut line)
            .map_err(|error| Error::io(&error, "Can't read stdin"))?;
        // A line without its end is no line.
        let Some(line) = line.strip_suffix(b"\n").filter(|_| read > 0) else {
            break;
        };
        let line = String::from_utf8_lossy(line);
        // Titles have the word "Start".
        if !line.contains("tart") && !line.trim().is_empty() {
            items.push(parse(&line)?);
        }
    }
    let known = items.iter().find(|item| item.kind != ItemKind::Unused);
    match known.map(|item| item.revision) {
        Some(revision) => fs.load_index(revision, items),
        None => Ok(()),
    }
}

/// Reads a line of the table.
fn parse(line: &str) -> Result<Item> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize, radix: u32| -> Result<u64> {
        let Some(word) = columns.get(at) else {
            let (needed, provided) = (at + 1, columns.len());
            return Err(invalid(format!(
                "{needed} columns needed, {provided} provided"
            )));
        };
        let digits = if radix == 16 {
            word.strip_prefix("0x").unwrap_or(word)
        } else {
            word
        };
        let value = i64::from_str_radix(digits, radix).ok();
        value
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| invalid(format!("{word} is not a value HEX string")))
    };
    let (offset, size) = (number(0, 16)?, number(1, 16)?);
    let item_number = number(4, 10)?;
    let word = columns[2];
    let kind = KINDS.iter().find(|(_, known)| known.trim_end() == word);
    let Some((kind, _)) = kind else {
        let text = format!("Unknown item type '{word}'");
        return Err(Error::new(ErrorCode::BAD_TOKEN, text));
    };
    Ok(Item {
        offset,
        size,
        kind: *kind,
        revision: revision(columns[3])?,
        number: item_number,
        checksum: 0,
    })
}

fn revision(word: &str) -> Result<Revnum> {
    Revnum::parse(word).ok_or_else(|| {
        let is_negative = word
            .strip_prefix('-')
            .is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
        let what = if is_negative { "Negative" } else { "Invalid" };
        Error::new(
            ErrorCode::REVNUM_PARSE_FAILURE,
            format!("{what} revision number found parsing '{word}'"),
        )
    })
}

fn invalid(text: String) -> Error {
    Error::new(ErrorCode::INVALID_INPUT, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_printed() {
        for text in [
            "           0           1b frep          9        3 0e7282a0",
            "         397           84 drep          2       12 952954e0",
            "         510           af chgs          9        1 404060b8",
        ] {
            let item = parse(text).unwrap();
            let checksum = u32::from_str_radix(&text[text.len() - 8..], 16).unwrap();
            assert_eq!(line(&Item { checksum, ..item }), text);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("0 11", "5 columns needed, 2 provided"),
            ("0", "2 columns needed, 1 provided"),
            ("0 zz none 1 1", "zz is not a value HEX string"),
            ("-1 1 none 1 1", "-1 is not a value HEX string"),
            ("0 1 foo 1 1", "Unknown item type 'foo'"),
            (
                "0 1 none -1 1",
                "Negative revision number found parsing '-1'",
            ),
            ("0 1 none x 1", "Invalid revision number found parsing 'x'"),
        ] {
            assert_eq!(parse(text).unwrap_err().message(), message, "{text}");
        }
    }
}
