use super::*;

/// Writes down the calls.
#[derive(Default)]
struct Recorder(Vec<String>);

impl Recorder {
    fn note(&mut self, call: String) -> Result<()> {
        self.0.push(call);
        Ok(())
    }
}

fn number(rev: Option<Revnum>) -> i64 {
    rev.map_or(-1, Revnum::number)
}

fn source(from: Option<CopyFrom>) -> String {
    from.map_or(String::new(), |from| {
        format!(" from {}@{}", from.path.as_str(), from.rev)
    })
}

fn value(value: Option<&[u8]>) -> String {
    value.map_or("-".to_owned(), |value| {
        String::from_utf8_lossy(value).into_owned()
    })
}

impl Editor for Recorder {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.note(format!("target {rev}"))
    }
    fn open_root(&mut self, base: Option<Revnum>, root: Token) -> Result<()> {
        self.note(format!("root {} {}", number(base), root.0))
    }
    fn delete_entry(&mut self, path: &RelPath, rev: Option<Revnum>, parent: Token) -> Result<()> {
        self.note(format!(
            "del {} {} in {}",
            path.as_str(),
            number(rev),
            parent.0
        ))
    }
    fn add_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        from: Option<CopyFrom>,
        dir: Token,
    ) -> Result<()> {
        let from = source(from);
        self.note(format!(
            "+dir {} {} in {}{from}",
            path.as_str(),
            dir.0,
            parent.0
        ))
    }
    fn open_directory(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        dir: Token,
    ) -> Result<()> {
        let base = number(base);
        self.note(format!(
            "dir {} {} in {} {base}",
            path.as_str(),
            dir.0,
            parent.0
        ))
    }
    fn change_dir_prop(&mut self, dir: Token, name: &str, new: Option<&[u8]>) -> Result<()> {
        self.note(format!("prop {} {name}={}", dir.0, value(new)))
    }
    fn close_directory(&mut self, dir: Token) -> Result<()> {
        self.note(format!("close {}", dir.0))
    }
    fn absent_directory(&mut self, path: &RelPath, _parent: Token) -> Result<()> {
        self.note(format!("absent dir {}", path.as_str()))
    }
    fn add_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        from: Option<CopyFrom>,
        file: Token,
    ) -> Result<()> {
        let from = source(from);
        self.note(format!(
            "+file {} {} in {}{from}",
            path.as_str(),
            file.0,
            parent.0
        ))
    }
    fn open_file(
        &mut self,
        path: &RelPath,
        parent: Token,
        base: Option<Revnum>,
        file: Token,
    ) -> Result<()> {
        let base = number(base);
        self.note(format!(
            "file {} {} in {} {base}",
            path.as_str(),
            file.0,
            parent.0
        ))
    }
    fn apply_text(&mut self, file: Token, base: Option<Md5>, format: TextFormat) -> Result<()> {
        self.note(format!("text {} {} {format:?}", file.0, base.is_some()))
    }
    fn text_chunk(&mut self, _file: Token, chunk: Bytes) -> Result<()> {
        let chunk = String::from_utf8_lossy(&chunk).into_owned();
        match self.0.last_mut() {
            Some(last) if last.starts_with("..") => {
                last.push_str(&chunk);
                Ok(())
            }
            _ => self.note(format!("..{chunk}")),
        }
    }
    fn text_end(&mut self, file: Token) -> Result<()> {
        self.note(format!("end {}", file.0))
    }
    fn change_file_prop(&mut self, file: Token, name: &str, new: Option<&[u8]>) -> Result<()> {
        self.note(format!("prop {} {name}={}", file.0, value(new)))
    }
    fn close_file(&mut self, file: Token, text: Option<Md5>) -> Result<()> {
        self.note(format!("close file {} {}", file.0, text.is_some()))
    }
    fn absent_file(&mut self, path: &RelPath, _parent: Token) -> Result<()> {
        self.note(format!("absent file {}", path.as_str()))
    }
    fn close_edit(&mut self) -> Result<()> {
        self.note("done".to_owned())
    }
    fn abort_edit(&mut self) -> Result<()> {
        self.note("abort".to_owned())
    }
}

#[derive(Default)]
struct Queue(Vec<Fetch>);

impl Requests for Queue {
    fn fetch(&mut self, fetch: Fetch) -> Result<()> {
        self.0.push(fetch);
        Ok(())
    }

    fn dir_props(&mut self, url: &str) -> Result<Vec<(String, Vec<u8>)>> {
        Ok(vec![("fetched".to_owned(), url.as_bytes().to_vec())])
    }
}

fn drive(body: &str, params: &UpdateParams, piece: usize) -> Result<(Vec<String>, Vec<Fetch>)> {
    let mut report = UpdateReport::new(params.clone());
    let mut editor = Recorder::default();
    let mut queue = Queue::default();
    for bytes in body.as_bytes().chunks(piece) {
        report.push(bytes, &mut editor, &mut queue)?;
    }
    report.finish()?;
    Ok((editor.0, queue.0))
}

fn with_text() -> UpdateParams {
    UpdateParams {
        text_deltas: true,
        ..UpdateParams::default()
    }
}

fn report(attrs: &str, inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<S:update-report xmlns:S=\"svn:\" \
         xmlns:V=\"http://subversion.tigris.org/xmlns/dav/\" xmlns:D=\"DAV:\" {attrs}>\n\
         <S:target-revision rev=\"2\"/>\n<S:open-directory rev=\"1\">\n{inside}</S:open-directory>\n\
         </S:update-report>\n"
    )
}

const MD5: &str = "738bb2e514e4c8141281efa630650db0";
const SHA1: &str = "47895ab1dee6df43d5a3e5ca93e463496f1956cf";

#[test]
fn send_all_drives_in_order() {
    let body = report(
        "send-all=\"true\" inline-props=\"true\"",
        &format!(
            "<D:checked-in><D:href>/r/!svn/rvr/2/</D:href></D:checked-in>\n\
             <S:set-prop name=\"svn:entry:committed-rev\">2</S:set-prop>\n\
             <S:remove-prop name=\"gone\"/>\n\
             <S:delete-entry name=\"x\" rev=\"1\"/>\n<S:absent-file name=\"secret\"/>\n\
             <S:add-directory name=\"\u{fc} b\" copyfrom-path=\"/A\" copyfrom-rev=\"1\" bc-url=\"/b\">\n\
             <D:checked-in><D:href>/r/!svn/rvr/2/%C3%BC%20b</D:href></D:checked-in>\n\
             <S:add-file name=\"a&lt;&amp;\" sha1-checksum=\"{SHA1}\">\n\
             <D:checked-in><D:href>/r/f&amp;g</D:href></D:checked-in>\n\
             <S:set-prop name=\"p\" encoding=\"base64\">AWI=\n</S:set-prop>\n\
             <S:txdelta>U1ZO\nAQAA\n</S:txdelta><S:prop><V:md5-checksum>{MD5}</V:md5-checksum></S:prop>\
             </S:add-file>\n</S:add-directory>\n\
             <S:open-file name=\"f\" rev=\"1\"><S:txdelta base-checksum=\"{MD5}\">U1ZO</S:txdelta>\
             <S:prop/></S:open-file>\n"
        ),
    );
    let expected = [
        "target 2",
        "root 1 0",
        "prop 0 svn:entry:committed-rev=2",
        "prop 0 gone=-",
        "del x 1 in 0",
        "absent file secret",
        "+dir ü b 1 in 0 from A@1",
        "+file ü b/a<& 2 in 1",
        "prop 2 p=\u{1}b",
        "text 2 false Svndiff",
        "..SVN\u{1}\0\0",
        "end 2",
        "prop 2 svn:wc:ra_dav:version-url=/r/f&g",
        "close file 2 true",
        "close 1",
        "file f 3 in 0 1",
        "text 3 true Svndiff",
        "..SVN",
        "end 3",
        "close file 3 false",
        "close 0",
    ];
    for piece in [1, 2, 3, 17, 4096] {
        let (calls, fetches) = drive(&body, &with_text(), piece).unwrap();
        assert_eq!(calls, expected, "pieces of {piece}");
        assert!(fetches.is_empty());
    }
}

#[test]
fn skelta_leaves_files_to_be_fetched() {
    let checked_in = "<D:checked-in><D:href>/r/v</D:href></D:checked-in>";
    let body = report(
        "inline-props=\"true\"",
        &format!(
            "<S:open-file name=\"f\" rev=\"1\">{checked_in}\
             <S:fetch-file base-checksum=\"{MD5}\" sha1-checksum=\"{SHA1}\"/>\
             <S:prop><V:md5-checksum>{MD5}</V:md5-checksum></S:prop></S:open-file>\
             <S:open-file name=\"props-only\" rev=\"1\"><S:set-prop name=\"p\">v</S:set-prop></S:open-file>\
             <S:open-directory name=\"sw\" rev=\"1\"><S:open-file name=\"g\" rev=\"1\">{checked_in}\
             <S:fetch-file/></S:open-file></S:open-directory>\
             <S:add-file name=\"c\" copyfrom-path=\"/old\" copyfrom-rev=\"1\" sha1-checksum=\"{SHA1}\">{checked_in}</S:add-file>"
        ),
    );
    let mut params = with_text();
    params.root = RelPathBuf::canonicalize("trunk").unwrap();
    params.switched.insert(
        RelPathBuf::canonicalize("sw").unwrap(),
        RelPathBuf::canonicalize("branches/b").unwrap(),
    );
    let (calls, fetches) = drive(&body, &params, 10).unwrap();
    assert_eq!(
        calls,
        [
            "target 2",
            "root 1 0",
            "file f 1 in 0 1",
            "file props-only 2 in 0 1",
            "prop 2 p=v",
            "close file 2 false",
            "dir sw 3 in 0 1",
            "file sw/g 4 in 3 1",
            "close 3",
            "+file c 5 in 0 from old@1",
            "close 0",
        ]
    );
    let bases: Vec<_> = fetches
        .iter()
        .map(|fetch| {
            let base = fetch.delta_base.as_ref().unwrap();
            (
                fetch.file.0,
                base.path.as_str(),
                fetch.text,
                fetch.props,
                fetch.md5.is_some(),
            )
        })
        .collect();
    assert_eq!(
        bases,
        [
            (1, "trunk/f", true, false, true),
            (4, "branches/b/g", true, false, false),
            (5, "old", true, false, false),
        ]
    );
    let mut editor = Recorder::default();
    fetches[0].close(&mut editor).unwrap();
    assert_eq!(
        editor.0,
        ["prop 1 svn:wc:ra_dav:version-url=/r/v", "close file 1 true"]
    );

    // A status wants no contents.
    let (calls, fetches) = drive(&body, &UpdateParams::default(), 10).unwrap();
    assert!(fetches.is_empty());
    assert_eq!(
        calls[2..7],
        [
            "file f 1 in 0 1",
            "text 1 true Svndiff",
            "end 1",
            "prop 1 svn:wc:ra_dav:version-url=/r/v",
            "close file 1 false"
        ]
    );
    assert!(!calls.contains(&"text 2 false Svndiff".to_owned()));
}

#[test]
fn old_servers_have_properties_fetched() {
    let checked_in = "<D:checked-in><D:href>/r/v</D:href></D:checked-in>";
    let body = report(
        "",
        &format!(
            "<S:add-directory name=\"d\">{checked_in}<S:add-file name=\"f\">{checked_in}</S:add-file></S:add-directory>\
             <S:open-file name=\"o\" rev=\"1\">{checked_in}<S:fetch-props/>\
             <S:prop><D:version-name>2</D:version-name><D:creationdate>t</D:creationdate>\
             <D:creator-displayname>jo</D:creator-displayname></S:prop></S:open-file>"
        ),
    );
    let (calls, fetches) = drive(&body, &with_text(), 1).unwrap();
    assert!(
        calls.contains(&"prop 1 fetched=/r/v".to_owned()),
        "{calls:?}"
    );
    assert!(calls.contains(&"prop 3 svn:entry:last-author=jo".to_owned()));
    assert_eq!(fetches.len(), 2);
    assert!(fetches.iter().all(|fetch| fetch.props));
    assert!(fetches[0].text && !fetches[1].text);
}

#[test]
fn hostile_reports_are_refused() {
    let file = |inside: &str| format!("<S:add-file name=\"f\">{inside}</S:add-file>");
    for inside in [
        "<S:add-directory name=\"..\"/>".to_owned(),
        "<S:add-directory name=\"\"/>".to_owned(),
        "<S:add-directory/>".to_owned(),
        "<S:add-file name=\"a/../../b\"/>".to_owned(),
        "<S:add-file name=\"/etc/passwd\"/>".to_owned(),
        "<S:delete-entry name=\".\"/>".to_owned(),
        "<S:open-directory name=\"a\"/>".to_owned(),
        "<S:open-directory name=\"a\" rev=\"x\"/>".to_owned(),
        "<S:add-file name=\"f\" copyfrom-path=\"/x\"/>".to_owned(),
        "<S:add-file name=\"f\" copyfrom-path=\"/../x\" copyfrom-rev=\"1\"/>".to_owned(),
        "<S:add-file name=\"f\" sha1-checksum=\"12\"/>".to_owned(),
        file("<S:txdelta>###</S:txdelta>"),
        file("<S:txdelta>U1Z</S:txdelta>"),
        file("<S:set-prop name=\"p\" encoding=\"rot13\">x</S:set-prop>"),
        file("<S:set-prop>x</S:set-prop>"),
        file("<S:prop><V:md5-checksum>zz</V:md5-checksum></S:prop>"),
        "<S:add-directory name=\"a\">".repeat(3_000),
    ] {
        let body = report("send-all=\"true\"", &inside);
        assert!(drive(&body, &with_text(), 64).is_err(), "{inside:.100}");
    }
    for body in [
        "<S:update-report xmlns:S=\"svn:\"></S:update-report>",
        "<S:update-report xmlns:S=\"svn:\"><S:open-directory rev=\"1\">",
        "<S:update-report xmlns:S=\"svn:\"><S:open-directory rev=\"1\"/><S:open-directory rev=\"1\"/></S:update-report>",
        "<update-report><open-directory rev=\"1\"/></update-report>",
    ] {
        assert!(drive(body, &with_text(), 64).is_err(), "{body}");
    }
    let no_url = report("", "<S:add-file name=\"f\"></S:add-file>");
    let error = drive(&no_url, &with_text(), 64).unwrap_err();
    assert_eq!(error.code(), ErrorCode::RA_DAV_MALFORMED_DATA);
}

#[test]
fn the_target_revision_comes_once_and_first() {
    let once = report("", "");
    let target = "<S:target-revision rev=\"2\"/>";
    assert!(drive(&once, &with_text(), 64).is_ok());
    let twice = once.replace(target, &target.repeat(2));
    let late = once.replace("</S:update-report>", &format!("{target}</S:update-report>"));
    let late = late.replacen(target, "", 1);
    for body in [twice, late] {
        let error = drive(&body, &with_text(), 64).unwrap_err();
        assert_eq!(error.code(), ErrorCode::RA_DAV_MALFORMED_DATA, "{body}");
    }
}
