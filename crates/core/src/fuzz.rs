//! Bodies of fuzz targets.

use crate::opt::{RevisionRange, split_peg};
use crate::skel::{self, Skel};
use crate::time::Clock;
use crate::translate::{Eol, EolStyle, KeywordInfo, Keywords, Translation, Translator};
use crate::{RelPath, TimeZone, Timestamp, Url, externals, glob, hash_dump, text};

fn clock() -> Clock {
    Clock {
        now: Timestamp::from_micros(1_767_355_200_000_000),
        zone: TimeZone::from_posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap_or_else(TimeZone::utc),
    }
}

/// A skel that is read is read again from what it writes.
pub fn skel(data: &[u8]) {
    if let Ok(skel) = Skel::parse(data) {
        let written = skel.to_bytes();
        assert_eq!(Skel::parse(&written).ok(), Some(skel));
    }
}

/// Properties and inherited properties that are read are read again from what they write.
pub fn props_skel(data: &[u8]) {
    if let Ok(props) = skel::props_from_skel(data) {
        let written = skel::props_to_skel(&props);
        assert_eq!(skel::props_from_skel(&written).ok(), Some(props));
    }
    if let Ok(inherited) = skel::inherited_props_from_skel(data) {
        let pairs = inherited
            .iter()
            .map(|(parent, props)| (parent.as_str(), props));
        let written = skel::inherited_props_to_skel(pairs);
        assert_eq!(
            skel::inherited_props_from_skel(&written).ok(),
            Some(inherited)
        );
    }
}

/// A hash dump that is read is read again from what it writes.
pub fn hash_dump(data: &[u8]) {
    if let Ok(props) = hash_dump::read(data) {
        assert_eq!(hash_dump::read(&hash_dump::write(&props)).ok(), Some(props));
    }
}

/// Any text is a date or not; a date that is printed is read again.
pub fn dates(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let clock = clock();
    if let Some(time) = Timestamp::parse_date(&text, &clock) {
        assert!(time.to_human(&clock.zone).len() >= 44);
        assert!(Timestamp::parse_iso(&time.to_iso()).is_ok() || time.micros() < 0);
    }
    let _ = Timestamp::parse_iso(&text);
    let _ = TimeZone::from_posix(&text);
    if let Some(zone) = TimeZone::from_tzif(data) {
        for seconds in [0, 1_000_000_000, i64::from(u32::MAX), -1] {
            let _ = zone.offset_at(seconds);
        }
    }
}

/// Revisions, changes and pegs.
pub fn revisions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = RevisionRange::read(&text, &clock());
    let _ = RevisionRange::parse_changes(&text);
    let _ = split_peg(&text, &clock());
}

/// A canonical URL stays as it is; its parts fit together.
pub fn urls(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(url) = Url::parse(&text) else {
        return;
    };
    assert_eq!(Url::parse(url.as_str()).ok().as_ref(), Some(&url));
    if let Some(parent) = url.parent() {
        assert_eq!(Url::parse(parent.as_str()).ok().as_ref(), Some(&parent));
        let _ = url.strip_prefix(&parent);
    }
    let _ = (url.basename(), url.path(), url.scheme(), url.authority());
    if let Ok(path) = RelPath::new(&text) {
        let _ = url.join(path);
    }
}

/// Externals that are read have targets below their folder, and URLs that resolve or not.
pub fn externals(data: &[u8]) {
    let value = String::from_utf8_lossy(data);
    let (Ok(items), Ok(root), Ok(parent)) = (
        externals::parse("dir", &value, &clock()),
        Url::parse("http://host/repos"),
        Url::parse("http://host/repos/trunk/dir"),
    ) else {
        return;
    };
    for item in &items {
        assert!(!item.target.starts_with('/') && !item.target.is_empty());
        assert!(
            item.target
                .split('/')
                .all(|name| !matches!(name, "" | "." | ".."))
        );
        let _ = item.resolve_url(&root, &parent);
    }
    let _ = externals::duplicate_targets(&items);
}

/// The first line defines keywords, the rest is content: chunks do not matter, and what was
/// contracted stays so.
pub fn keywords(data: &[u8]) {
    let end = data
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(data.len());
    let (prop, content) = data.split_at(end);
    let info = KeywordInfo {
        rev: "12",
        author: "jo",
        date: Some(Timestamp::from_micros(1)),
        ..KeywordInfo::empty()
    };
    for eol in [
        EolStyle::None,
        EolStyle::Is(Eol::Native),
        EolStyle::Is(Eol::Crlf),
    ] {
        let translation = Translation {
            eol,
            keywords: Keywords::from_prop(prop, &info).into(),
            special: false,
        };
        let whole = translate(translation.to_working(), content, content.len().max(1));
        let cut = translate(translation.to_working(), content, 3);
        assert_eq!(whole, cut, "chunks matter");
        if let Ok(normalizer) = translation.to_normal(true) {
            let _ = translate(normalizer, content, 5);
        }
    }
}

fn translate(mut translator: Translator, content: &[u8], cut: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for chunk in content.chunks(cut) {
        translator.push(chunk, &mut out).ok()?;
    }
    translator.finish(&mut out).ok()?;
    Some(out)
}

/// Any bytes match any pattern or not, and can be shown.
pub fn texts(data: &[u8]) {
    let (pattern, text) = data.split_at(data.len() / 2);
    let _ = glob::matches(pattern, text);
    let _ = glob::matches_ignore_case(pattern, text);
    assert!(text::to_ascii(data).is_ascii());
    let _ = text::check_utf8(data);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    type Body = fn(&[u8]);

    /// Every target with pieces of what it reads.
    const TARGETS: &[(Body, &[&str])] = &[
        (
            super::skel,
            &["(", ")", " ", "a", "3 a b", "0 ", "99999999999999999999 "],
        ),
        (
            super::props_skel,
            &["(", ")", " ", "name", "5 value", "0 ", "http://h"],
        ),
        (
            super::hash_dump,
            &["K 1\n", "V 1\n", "a\n", "END\n", "K 0\n", "V 99999999999\n"],
        ),
        (
            super::dates,
            &[
                "2013",
                "-05",
                "-1",
                "T",
                " ",
                "12",
                ":30",
                ".5",
                "Z",
                "+0130",
                "3 days ago",
                "00",
            ],
        ),
        (
            super::revisions,
            &[
                "r",
                "5",
                ":",
                "HEAD",
                "{2013-01-01}",
                "@",
                "-",
                ",",
                "%7B",
                "%7D",
                "é",
            ],
        ),
        (
            super::urls,
            &[
                "http://", "h", ":80", "/", "..", "%41", "%C3%A9", "%", "é", "@", "file://",
            ],
        ),
        (
            super::externals,
            &[
                "^/a",
                "http://h/",
                " ",
                "b",
                "-r",
                "5",
                "@3",
                "\"",
                "'",
                "\\",
                "\n",
                "..",
                "/",
                "#",
            ],
        ),
        (
            super::keywords,
            &[
                "Rev",
                "X=%H%",
                "$",
                "$Rev$",
                "$Rev:: ",
                ":",
                " ",
                "\n",
                "\r",
                "$Rev:x$",
                "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv",
            ],
        ),
        (
            super::texts,
            &["*", "?", "[a-", "]", "\\", "a", "ä", "½", "—"],
        ),
    ];

    proptest! {
        #[test]
        fn targets_hold(
            choices in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
            noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            for (body, pieces) in TARGETS {
                let mut data: Vec<u8> = choices
                    .iter()
                    .flat_map(|choice| choice.get(pieces).bytes())
                    .collect();
                body(&data);
                for (at, byte) in &noise {
                    if !data.is_empty() {
                        let at = at.index(data.len());
                        data[at] = *byte;
                    }
                }
                body(&data);
            }
        }
    }
}
