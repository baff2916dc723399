use super::*;

/// Writes down what it is told.
#[derive(Default)]
struct Recorder {
    calls: Vec<String>,
}

impl Handler for Recorder {
    type State = char;

    fn open(&mut self, (parent, ns, local): At<'_, char>, attrs: &Attrs<'_>) -> Opened<char> {
        let list: Vec<_> = attrs
            .list
            .iter()
            .map(|(key, value)| format!(" {key}={value}"))
            .collect();
        self.calls.push(format!(
            "<{}{:?}:{}{}",
            parent.map(String::from).unwrap_or_default(),
            ns,
            local,
            list.concat()
        ));
        Ok(match local {
            "skip" => None,
            "text" => Some(('t', Gather::Text)),
            "stream" => Some(('s', Gather::Stream)),
            _ => Some(('x', Gather::Nothing)),
        })
    }

    fn text(&mut self, _state: char, piece: &[u8]) -> Result<()> {
        let piece = String::from_utf8_lossy(piece);
        match self.calls.last_mut() {
            Some(last) if last.starts_with("..") => last.push_str(&piece),
            _ => self.calls.push(format!("..{piece}")),
        }
        Ok(())
    }

    fn close(&mut self, state: char, text: &str) -> Result<()> {
        self.calls.push(format!("{state}>{text}"));
        Ok(())
    }
}

fn parse(text: &str, piece: usize, limits: Limits) -> Result<Vec<String>> {
    let mut parser = Parser::new(limits);
    let mut recorder = Recorder::default();
    for bytes in text.as_bytes().chunks(piece) {
        parser.push(bytes, &mut recorder)?;
    }
    parser.finish()?;
    Ok(recorder.calls)
}

#[test]
fn tells_the_same_wherever_the_bytes_are_cut() {
    let text = "\u{feff}<?xml version=\"1.0\" encoding='utf-8'?>\n<!-- <a> -->\
        <D:root xmlns:D='DAV:' xmlns=\"svn:\" a=\"&lt;1>2&#x41;\" b = 'x\"y'>\n\
        <text>a&amp;b<skip>no &bad<text>no</text></skip>\u{e9}&#233;<![CDATA[<&>]]></text>\
        <stream>one&quot;<D:x/>two</stream><q:z xmlns:q='urn:q'><q:a:b/></q:z><q:a/>\
        </D:root >\n<!--end-->";
    let expected = [
        "<Dav:root a=<1>2A b=x\"y",
        "<xSvn:text",
        "<tSvn:skip",
        "t>a&béé<&>",
        "<xSvn:stream",
        "..one\"",
        "<sDav:x",
        "x>",
        "..two",
        "s>",
        "<xOther(\"urn:q\"):z",
        "<xOther(\"urn:q\"):a:b",
        "x>",
        "x>",
        "<xNone:a",
        "x>",
        "x>",
    ];
    for piece in 1..text.len() {
        let calls = parse(text, piece, Limits::DEFAULT).unwrap();
        assert_eq!(calls, expected, "pieces of {piece}");
    }
}

#[test]
fn refuses_what_is_not_well_formed() {
    for text in [
        "",
        "<a>",
        "<a></b>",
        "</a>",
        "<a/><b/>",
        "text",
        "<a/>text",
        "<a",
        "<a x=1/>",
        "<a x='1' x='2'/>",
        "<a x='&undefined;'/>",
        "<text>&undefined;</text>",
        "<text>&#0;</text>",
        "<text>&amp</text>",
        "<text>a & b; more and more and more</text>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
        "<!doctype a><a/>",
        "<>",
        "< a/>",
        "<a><!-- </a>",
    ] {
        for piece in [1, 2, 1000] {
            let error = parse(text, piece, Limits::DEFAULT).unwrap_err();
            assert_eq!(error.code(), ErrorCode::RA_DAV_MALFORMED_DATA, "{text}");
        }
    }
    let error = parse("<skip/>", 3, Limits::DEFAULT).unwrap_err();
    assert_eq!(error.code(), ErrorCode::XML_UNEXPECTED_ELEMENT);
    let mut parser = Parser::default();
    let error = parser.push(b"<text>\xff</text>", &mut Recorder::default());
    assert!(error.is_err());
}

#[test]
fn limits_hold() {
    let limits = Limits {
        depth: 10,
        markup: 40,
        text: 20,
    };
    let deep = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
    assert!(parse(&deep(10), 3, limits).is_ok());
    assert!(parse(&deep(11), 3, limits).is_err());
    let skipped = format!("<a><skip>{}", "<b>".repeat(20));
    assert!(parse(&skipped, 3, limits).is_err());
    let long = format!("<a x='{}'/>", "y".repeat(50));
    assert!(parse(&long, 3, limits).is_err());
    assert!(parse(&long, 1000, limits).is_err());
    let text = format!("<text>{}</text>", "&lt;".repeat(21));
    assert!(parse(&text, 3, limits).is_err());
    let stream = format!("<stream>{}</stream>", "z".repeat(1000));
    assert!(parse(&stream, 3, limits).is_ok());
}

#[test]
fn truncation_names_the_open_element() {
    let error = parse("<a><b:c xmlns:b='x'>", 100, Limits::DEFAULT).unwrap_err();
    assert_eq!(
        error.to_lines(""),
        "E175009: The XML response contains invalid XML\n\
         E130003: XML stream truncated: closing 'b:c' missing\n"
    );
}
