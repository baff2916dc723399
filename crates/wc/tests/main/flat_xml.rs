//! XML of svn as flat text, to be compared with values.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// One `<entry>`: the path, and attributes and texts below it by name.
pub(crate) type Entry = (String, BTreeMap<String, String>);

/// Reads all entries; those of a changelist have it as `changelist`.
pub(crate) fn entries(xml: &str) -> Vec<Entry> {
    let mut reader = Reader::from_str(xml);
    let mut entries: Vec<Entry> = Vec::new();
    let mut stack: Vec<String> = Vec::new();
    let mut changelist = None;
    let mut text = String::new();
    loop {
        match reader.read_event().expect("svn writes good XML") {
            Event::Eof => return entries,
            Event::Start(start) => {
                open(&start, &mut entries, &mut stack, &mut changelist);
                text.clear();
            }
            Event::Empty(start) => {
                open(&start, &mut entries, &mut stack, &mut changelist);
                stack.pop();
            }
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(part) => text.push_str(match &*part {
                "amp" => "&",
                "lt" => "<",
                "gt" => ">",
                "quot" => "\"",
                "apos" => "'",
                other => panic!("entity {other}"),
            }),
            Event::End(_) => {
                let name = stack.join("/");
                let inside = name.split_once("entry/").map(|(_, name)| name.to_owned());
                if let (Some(name), Some((_, fields))) = (inside, entries.last_mut())
                    && !text.trim().is_empty()
                {
                    let before = fields.entry(name).or_default();
                    before.push_str(&text);
                }
                text.clear();
                stack.pop();
            }
            _ => {}
        }
    }
}

fn open(
    start: &BytesStart<'_>,
    entries: &mut Vec<Entry>,
    stack: &mut Vec<String>,
    changelist: &mut Option<String>,
) {
    let name = start.name().as_ref().to_owned();
    let mut attributes = BTreeMap::new();
    for attribute in start.attributes() {
        let attribute = attribute.expect("good attributes");
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .expect("known entities")
            .into_owned();
        let key = attribute.key.as_ref().to_owned();
        attributes.insert(key, value);
    }
    stack.push(name.clone());
    match name.as_str() {
        "target" => *changelist = None,
        "changelist" if !stack.iter().any(|name| name == "entry") => {
            *changelist = attributes.remove("name");
        }
        "entry" => {
            let path = attributes.remove("path").unwrap_or_default();
            let mut fields = BTreeMap::new();
            for (key, value) in attributes
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
            {
                fields.insert(format!("@{key}"), value);
            }
            if let Some(changelist) = changelist {
                fields.insert("changelist".into(), changelist.clone());
            }
            entries.push((path, fields));
        }
        _ => {
            let place = stack.join("/");
            if let (Some((_, place)), Some((_, fields))) =
                (place.split_once("entry/"), entries.last_mut())
            {
                // The two versions of a conflict differ by their side.
                let side = attributes.remove("side").map(|side| format!("{side}-"));
                let side = side.unwrap_or_default();
                for (key, value) in attributes {
                    fields.insert(format!("{place}@{side}{key}"), value);
                }
            }
        }
    }
}
