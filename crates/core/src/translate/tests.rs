use proptest::prelude::*;

use super::*;
use crate::{TimeZone, Timestamp, Url};

fn keywords(value: &str) -> Keywords {
    let url = Url::parse("http://host/re%20pos/trunk/dir/a%20b.c").unwrap();
    let root = Url::parse("http://host/re%20pos").unwrap();
    let info = KeywordInfo {
        rev: "1234",
        url: Some(&url),
        repos_root: Some(&root),
        author: "jo",
        date: Timestamp::parse_iso("2026-01-02T03:04:05.678901Z").ok(),
        zone: &TimeZone::from_posix("CET-1").unwrap(),
    };
    Keywords::from_prop(value.as_bytes(), &info)
}

fn run(mut translator: Translator, chunks: &[&[u8]]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for chunk in chunks {
        translator.push(chunk, &mut out)?;
    }
    translator.finish(&mut out)?;
    Ok(out)
}

fn translation(prop: &str) -> Translation {
    Translation {
        keywords: keywords(prop).into(),
        ..Translation::default()
    }
}

fn expand(prop: &str, text: &str) -> String {
    String::from_utf8(run(translation(prop).to_working(), &[text.as_bytes()]).unwrap()).unwrap()
}

fn contract(prop: &str, text: &str) -> String {
    let translator = translation(prop).to_normal(true).unwrap();
    String::from_utf8(run(translator, &[text.as_bytes()]).unwrap()).unwrap()
}

#[test]
fn keyword_values() {
    let id = "a b.c 1234 2026-01-02 03:04:05Z jo";
    let url = "http://host/re%20pos/trunk/dir/a%20b.c";
    let date = "2026-01-02 04:04:05 +0100 (Fri, 02 Jan 2026)";
    for (prop, name, value) in [
        ("Rev", "LastChangedRevision", "1234"),
        ("Revision", "Rev", "1234"),
        ("REV", "Revision", "1234"),
        ("date", "LastChangedDate", date),
        ("LastChangedDate", "Date", date),
        ("author", "LastChangedBy", "jo"),
        ("url", "HeadURL", url),
        ("iD", "Id", id),
        (
            "HEADER",
            "Header",
            &format!("{url} 1234 2026-01-02 03:04:05Z jo"),
        ),
        ("X=%r%_%%%a%", "X", "1234 %jo%"),
        ("X=%P|%R", "X", "trunk/dir/a b.c|http://host/re%20pos"),
        ("X=%H", "X", "trunk/dir/a b.c 1234 2026-01-02 03:04:05Z jo"),
        ("X=%I", "X", id),
        ("X=%b%q", "X", "a b.c%q"),
        ("Rev=mine", "Rev", "mine"),
        (" Author\t\nRev\x08", "Rev", "1234"),
    ] {
        let keywords = keywords(prop);
        let found = keywords.get(name.as_bytes()).map(String::from_utf8_lossy);
        assert_eq!(found.as_deref(), Some(value), "{prop}");
    }
    assert!(keywords("revision lastchangedby Foo").is_empty());
    assert_eq!(keywords("REV").get(b"REV"), None);
}

#[test]
fn keyword_forms() {
    for (contracted, expanded) in [
        ("$Rev$", "$Rev: 1234 $"),
        ("a $Rev$ b $Author$\n", "a $Rev: 1234 $ b $Author: jo $\n"),
        ("$Rev::       $", "$Rev:: 1234  $"),
        ("$Rev::     $", "$Rev:: 123#$"),
        ("$Rev::   $", "$Rev:: 1#$"),
        ("$Rev:: $", "$Rev:: $"),
        ("$Rev $", "$Rev $"),
        ("$rev$", "$rev$"),
        ("$$Rev$", "$$Rev: 1234 $"),
        ("$Foo$Rev$", "$Foo$Rev: 1234 $"),
        ("$Rev\n$", "$Rev\n$"),
        ("$Rev$$Rev$", "$Rev: 1234 $$Rev: 1234 $"),
        ("$Rev", "$Rev"),
        ("$Rev:x$ $Author$\n", "$Rev:x$ $Author: jo $\n"),
        ("$Rev:x$ $Author$", "$Rev:x$ $Author$"),
        ("$", "$"),
        ("", ""),
    ] {
        assert_eq!(expand("Rev Author", contracted), expanded, "{contracted}");
        assert_eq!(contract("Rev Author", expanded), contracted, "{expanded}");
    }
    for (old, expanded, contracted) in [
        ("$Rev: 5 $", "$Rev: 1234 $", "$Rev$"),
        ("$Rev:$", "$Rev: 1234 $", "$Rev$"),
        ("$Rev: $", "$Rev: 1234 $", "$Rev$"),
        ("$Rev: a$b $", "$Rev: 1234 $", "$Rev$"),
        (
            "$Rev:: a$bcdefg $",
            "$Rev:: 1234     $",
            "$Rev::  $bcdefg $",
        ),
        ("$Rev:: 12#$", "$Rev:: 12#$", "$Rev::    $"),
    ] {
        assert_eq!(expand("Rev", old), expanded, "{old}");
        assert_eq!(contract("Rev", old), contracted, "{old}");
    }
    assert_eq!(expand("X=", "$X$"), "$X: $");
}

#[test]
fn long_keywords() {
    let long = "v".repeat(300);
    let expanded = expand(&format!("X={long}"), "$X$");
    assert_eq!(expanded, format!("$X: {} $", "v".repeat(249)));
    assert_eq!(expanded.len(), 255);
    assert_eq!(contract("X=1", &expanded), "$X$");
    let too_long = format!("$X: {} $$X$", "v".repeat(250));
    assert_eq!(contract("X=1", &too_long), too_long);
    assert_eq!(expand("X=1", &too_long), too_long.replace("$X$", "$X: 1 $"));
    let name = "n".repeat(251);
    assert_eq!(
        expand(&format!("{name}=1"), &format!("${name}$")),
        format!("${name}$")
    );
}

#[test]
fn line_ends() {
    let to = |style: &str, repair: bool, text: &str| {
        let translation = Translation {
            eol: EolStyle::from_prop(Some(style.as_bytes())),
            ..Translation::default()
        };
        let translator = if repair {
            translation.to_working()
        } else {
            translation.to_normal(false)?
        };
        run(translator, &[text.as_bytes()]).map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let mixed = "a\nb\r\nc\rd\n\r\n\r";
    for (style, expected) in [
        ("native", "a\nb\nc\nd\n\n\n"),
        ("LF", "a\nb\nc\nd\n\n\n"),
        ("CR", "a\rb\rc\rd\r\r\r"),
        ("CRLF", "a\r\nb\r\nc\r\nd\r\n\r\n\r\n"),
    ] {
        assert_eq!(to(style, true, mixed).unwrap(), expected);
        let normal = to(style, false, mixed);
        if style == "native" {
            assert_eq!(normal.unwrap_err().code(), ErrorCode::IO_INCONSISTENT_EOL);
        } else {
            assert_eq!(normal.unwrap(), expected);
        }
    }
    assert_eq!(to("native", false, "a\r\nb\r\n").unwrap(), "a\nb\n");
    assert_eq!(to("native", false, "a\rb\r").unwrap(), "a\nb\n");
    assert_eq!(to("odd", true, mixed).unwrap(), mixed);
    assert_eq!(
        to("odd", false, mixed).unwrap_err().code(),
        ErrorCode::IO_UNKNOWN_EOL
    );
}

#[test]
fn symlinks() {
    assert_eq!(special::link_target(b"link ../a"), Some(&b"../a"[..]));
    assert_eq!(special::link_target(b"no link"), None);
    assert_eq!(special::link_content(b"x"), b"link x");
}

#[test]
fn translation_of_properties() {
    let props = |pairs: &[(&str, &str)]| -> Props {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
            .collect()
    };
    for (pairs, identity) in [
        (&[][..], true),
        (&[("svn:executable", "*")], true),
        (&[("svn:keywords", "nothing known")], true),
        (&[("svn:keywords", "Id")], false),
        (&[("svn:eol-style", "LF")], false),
        (&[("svn:eol-style", "bogus")], true),
        (&[("svn:special", "*")], false),
    ] {
        let translation = Translation::for_normalization(&props(pairs));
        assert_eq!(translation.is_identity(), identity, "{pairs:?}");
    }
}

/// Text with much of what matters.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("$Rev$"),
        Just("$Rev: 17 $"),
        Just("$Rev::     $"),
        Just("$Rev:x$"),
        Just("$"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("$X"),
        Just(":"),
        Just(" "),
        Just("a word"),
        Just("a long text without any meaning that is still longer than most others are"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn chunks_do_not_matter(text in text(), cuts in prop::collection::vec(0..200_usize, 0..8)) {
        for eol in [EolStyle::None, EolStyle::Is(Eol::Lf), EolStyle::Is(Eol::Crlf)] {
            let translation = Translation { eol, ..translation("Rev X=%a") };
            let whole = run(translation.to_working(), &[&text]).unwrap();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&text[from..cut]);
                from = cut;
            }
            chunks.push(&text[from..]);
            prop_assert_eq!(run(translation.to_working(), &chunks).unwrap(), whole);
        }
    }

    #[test]
    fn normal_form_survives_the_working_copy(text in text()) {
        let translation = Translation { eol: EolStyle::Is(Eol::Native), ..translation("Rev X=%a") };
        let normal = run(translation.to_normal(true).unwrap(), &[&text]).unwrap();
        let working = run(translation.to_working(), &[&normal]).unwrap();
        let again = run(translation.to_normal(false).unwrap(), &[&working]).unwrap();
        // A form that is no keyword may swallow one after it; such text has no normal form.
        let has = |what: &[u8]| normal.windows(what.len()).any(|part| part == what);
        if !has(b"$Rev:x") && !has(b"$X:") && !has(b":: $") {
            prop_assert_eq!(again, normal);
        }
    }
}
