//! Runs the fuzz bodies over mutations of good inputs, so that no nightly compiler is needed.

use super::*;

const INPUTS: [&str; 7] = [
    "\x40<S:update-report xmlns:S=\"svn:\" xmlns:V=\"http://subversion.tigris.org/xmlns/dav/\" \
     xmlns:D=\"DAV:\" send-all=\"true\"><S:target-revision rev=\"2\"/><S:open-directory rev=\"1\">\
     <D:checked-in><D:href>/r/2</D:href></D:checked-in><S:set-prop name=\"p\" encoding=\"base64\">AWI=\
     </S:set-prop><S:delete-entry name=\"x\" rev=\"1\"/><S:add-directory name=\"d\" copyfrom-path=\"/a\" \
     copyfrom-rev=\"1\"><S:add-file name=\"f\"><S:txdelta>U1ZOAQAA</S:txdelta><S:prop>\
     <V:md5-checksum>738bb2e514e4c8141281efa630650db0</V:md5-checksum></S:prop></S:add-file>\
     </S:add-directory><S:open-file name=\"g\" rev=\"1\"><S:fetch-file/></S:open-file></S:open-directory>\
     </S:update-report>",
    "\x09<D:multistatus xmlns:D=\"DAV:\" xmlns:V=\"v\"><D:response><D:href>/r</D:href><D:propstat>\
     <D:prop><V:a V:encoding=\"base64\">AQ==</V:a><D:resourcetype><D:collection/></D:resourcetype>\
     <D:lockdiscovery><D:activelock><D:timeout>Second-9</D:timeout><D:locktoken><D:href>t</D:href>\
     </D:locktoken></D:activelock></D:lockdiscovery></D:prop><D:status>HTTP/1.1 200 OK</D:status>\
     </D:propstat></D:response></D:multistatus>",
    "\x05<S:log-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\"><S:log-item><D:version-name>2</D:version-name>\
     <S:added-path copyfrom-path=\"/A\" copyfrom-rev=\"1\">/C &amp; D</S:added-path><S:date>t</S:date>\
     <D:comment encoding=\"base64\">YQFi</D:comment><S:has-children/></S:log-item></S:log-report>",
    "\x20<S:list-report xmlns:S=\"svn:\" xmlns:D=\"DAV:\"><S:item node-kind=\"file\" size=\"12\" \
     created-rev=\"1\"><D:creator-displayname>jo</D:creator-displayname>/a</S:item></S:list-report>",
    "\x03<S:get-locks-report xmlns:S=\"svn:\"><S:lock><S:path>/a</S:path><S:token>t</S:token>\
     <S:comment encoding=\"base64\">YQ==</S:comment></S:lock></S:get-locks-report>",
    "\x07<D:error xmlns:D=\"DAV:\" xmlns:m=\"http://apache.org/dav/xmlns\"><m:human-readable \
     errcode=\"160006\">No such revision 9</m:human-readable></D:error>",
    "DAV: 1,2\nSVN-Youngest-Rev: 4\nSVN-Repository-MergeInfo: yes\nQUJDRA==",
];

fn run_all(data: &[u8]) {
    for target in [
        update,
        multistatus,
        log,
        list,
        locks,
        reports,
        error,
        options,
        base64,
    ] {
        target(data);
    }
}

/// A small generator, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

#[test]
fn mutations_of_good_inputs_do_no_harm() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for input in INPUTS {
        run_all(input.as_bytes());
        for _ in 0..400 {
            let mut bytes = input.as_bytes().to_vec();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes.truncate(at),
                    1 => {
                        if let Some(byte) = bytes.get_mut(at) {
                            *byte = b"<>&;/\"'=\0\xff x"[random.below(12)];
                        }
                    }
                    2 => {
                        let end = (at + random.below(40)).min(bytes.len());
                        let piece = bytes[at..end].to_vec();
                        bytes.splice(at..at, piece);
                    }
                    _ => {
                        let end = (at + random.below(20)).min(bytes.len());
                        bytes.drain(at..end);
                    }
                }
            }
            run_all(&bytes);
        }
    }
}
