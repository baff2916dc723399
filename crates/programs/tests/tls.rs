//! Certificates: what is asked and stored, beside Debian's svn.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sylvan_testutil::{Apache, ApacheTls, Pair, Run};

/// Both programs with certificates and what a server needs.
struct Fixture {
    pair: Pair,
    certs: PathBuf,
}

fn openssl(folder: &Path, line: &str) {
    let output = Command::new("openssl")
        .args(line.split(' '))
        .current_dir(folder)
        .output()
        .expect("openssl is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {line}: {errors}");
}

/// Makes a certificate that is signed by itself, valid for a time.
fn self_signed(certs: &Path, name: &str, host: &str, from: &str, until: &str) {
    openssl(
        certs,
        &format!("req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={host}"),
    );
    let settings = format!(
        "[ca]\ndefault_ca=x\n[x]\ndatabase={name}.db\nserial={name}.serial\nnew_certs_dir=.\n\
         default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n"
    );
    fs::write(certs.join("ca.conf"), settings).expect("writable");
    fs::write(certs.join(format!("{name}.db")), "").expect("writable");
    fs::write(certs.join(format!("{name}.serial")), "01\n").expect("writable");
    openssl(
        certs,
        &format!(
            "ca -batch -selfsign -config ca.conf -keyfile {name}.key -in {name}.csr \
             -out {name}.pem -startdate {from} -enddate {until} -notext"
        ),
    );
}

impl Fixture {
    fn new() -> Self {
        let pair = Pair::new(crate::SVN);
        let certs = pair.root().join("certs");
        fs::create_dir(&certs).expect("a fresh folder");
        fs::create_dir(pair.root().join("served")).expect("a fresh folder");
        Self { pair, certs }
    }

    /// Makes a certificate of an authority `ca.pem` of its own.
    fn signed(&self, name: &str, host: &str) {
        if !self.certs.join("ca.pem").exists() {
            openssl(
                &self.certs,
                "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=ca",
            );
        }
        openssl(
            &self.certs,
            &format!(
                "req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={host}"
            ),
        );
        let extension = format!("subjectAltName=DNS:{host}");
        fs::write(self.certs.join("ext"), extension).expect("writable");
        openssl(
            &self.certs,
            &format!(
                "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial \
                 -out {name}.pem -days 30 -extfile ext"
            ),
        );
    }

    fn server(&self, name: &str, client_authority: Option<&str>) -> (Apache, String) {
        let root = self.pair.root().join("served");
        let tls = ApacheTls {
            certificate: self.certs.join(format!("{name}.pem")),
            key: self.certs.join(format!("{name}.key")),
            client_authority: client_authority.map(|file| self.certs.join(file)),
        };
        let server = Apache::start_with(&root, Some(&tls), "");
        if !root.join("r").exists() {
            server.create_repository("r");
        }
        let url = server.https_url("localhost", "v2/r");
        (server, url)
    }

    /// Runs both programs; the outcome must be the same.
    fn both(&self, url: &str, more: &[&str]) -> Run {
        let args = [
            &["info", "--show-item", "revision", "--config-dir", "cfg"],
            more,
            &[url],
        ]
        .concat();
        self.pair.both(&args)
    }

    /// Runs a program that is told to ask, without a terminal: it reads `answers`.
    fn asked(&self, program: &str, folder: &Path, url: &str, answers: &str) -> Run {
        let mut child = self
            .pair
            .command(Path::new("setsid"), folder)
            .args(["-w", program, "info", "--show-item", "revision"])
            .args(["--force-interactive", "--config-dir", "cfg", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("setsid is installed");
        let mut input = child.stdin.take().expect("it is a pipe");
        // A program that has enough answers does not read the rest.
        let _ = input.write_all(answers.as_bytes());
        drop(input);
        Run::from(child.wait_with_output().expect("it ends"))
    }

    fn ours_asked(&self, url: &str, answers: &str) -> Run {
        self.asked(crate::SVN, &self.pair.ours(), url, answers)
    }

    fn theirs_asked(&self, url: &str, answers: &str) -> Run {
        self.asked("svn", &self.pair.theirs(), url, answers)
    }

    fn forget(&self) {
        for folder in [self.pair.ours(), self.pair.theirs()] {
            let _ = fs::remove_dir_all(folder.join("cfg"));
        }
    }
}

/// Returns what is stored of one kind in a program's folder.
fn stored(folder: &Path, kind: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(folder.join("cfg/auth").join(kind))
        .map(|entries| {
            entries
                .map(|entry| {
                    let path = entry.expect("readable").path();
                    let name = path.file_name().expect("a name").to_string_lossy();
                    (name.into_owned(), fs::read_to_string(&path).expect("text"))
                })
                .collect()
        })
        .unwrap_or_default();
    found.sort();
    found
}

const KIND: &str = "svn.ssl.server";

#[test]
fn exceptions_are_asked_for_and_stored_as_by_svn() {
    let fixture = Fixture::new();
    self_signed(
        &fixture.certs,
        "odd",
        "elsewhere.example.org",
        "20200101000000Z",
        "20200201000000Z",
    );
    let (_server, url) = fixture.server("odd", None);
    let (ours, theirs) = (fixture.pair.ours(), fixture.pair.theirs());
    for (answer, code, is_stored) in [
        ("r\n", 1, false),
        ("\n", 1, false),
        ("x\n", 1, false),
        ("t\n", 0, false),
        ("p\n", 0, true),
    ] {
        fixture.forget();
        let run = fixture.ours_asked(&url, answer);
        assert_eq!(run, fixture.theirs_asked(&url, answer), "{answer:?}");
        assert_eq!(run.code, code, "{answer:?}: {}", run.stderr);
        assert!(run.stderr.contains("The certificate has expired."));
        assert_eq!(stored(&ours, KIND), stored(&theirs, KIND), "{answer:?}");
        assert_eq!(stored(&ours, KIND).len(), usize::from(is_stored));
    }
    // Each reads what the other has stored, and asks no more.
    let aside = fixture.pair.root().join("aside");
    let move_auth = |from: &Path, to: &Path| {
        fs::rename(from.join("cfg"), to.join("cfg")).expect("same file system");
    };
    fs::create_dir(&aside).expect("a fresh folder");
    move_auth(&ours, &aside);
    move_auth(&theirs, &ours);
    move_auth(&aside, &theirs);
    fixture.both(&url, &["--non-interactive"]).success();
    let again = fixture.ours_asked(&url, "");
    assert_eq!((again.code, again.stderr.as_str()), (0, ""));
    // An exception for less than what is wrong, or for another certificate, is none.
    for (from, to) in [("V 2\n14\n", "V 1\n8\n"), ("MII", "MIJ")] {
        for folder in [&ours, &theirs] {
            let (name, text) = stored(folder, KIND).remove(0);
            assert!(text.contains(from), "{text}");
            let file = folder.join("cfg/auth").join(KIND).join(name);
            fs::remove_file(&file).expect("it is there");
            fs::write(&file, text.replacen(from, to, 1)).expect("writable");
        }
        assert_eq!(fixture.both(&url, &["--non-interactive"]).code, 1);
    }
}

#[test]
fn each_failure_has_its_name() {
    let fixture = Fixture::new();
    let (past, future) = ("20200101000000Z", "20990101000000Z");
    let far = "21000101000000Z";
    for (name, host, from, until, needed) in [
        ("self", "localhost", past, future, "unknown-ca"),
        (
            "other",
            "elsewhere.example.org",
            past,
            future,
            "unknown-ca,cn-mismatch",
        ),
        (
            "old",
            "localhost",
            past,
            "20200201000000Z",
            "unknown-ca,expired",
        ),
        ("new", "localhost", future, far, "unknown-ca,not-yet-valid"),
    ] {
        self_signed(&fixture.certs, name, host, from, until);
        let (_server, url) = fixture.server(name, None);
        let trusting = |failures: &str| {
            fixture.both(
                &url,
                &[
                    "--non-interactive",
                    "--trust-server-cert-failures",
                    failures,
                ],
            )
        };
        assert_eq!(fixture.both(&url, &["--non-interactive"]).code, 1, "{name}");
        for one in needed.split(',').filter(|one| *one != needed) {
            assert_eq!(trusting(one).code, 1, "{name}: {one}");
        }
        trusting("cn-mismatch,expired,not-yet-valid,other");
        trusting(needed).success();
        trusting("unknown-ca,cn-mismatch,expired,not-yet-valid,other").success();
        assert!(stored(&fixture.pair.ours(), KIND).is_empty());
    }
}

#[test]
fn authorities_are_those_of_the_system_and_of_the_configuration() {
    let fixture = Fixture::new();
    fixture.signed("server", "localhost");
    let (_server, url) = fixture.server("server", None);
    let authority = fixture.certs.join("ca.pem").display().to_string();
    let option = |name: &str, value: &str| format!("servers:global:{name}={value}");
    let files = option("ssl-authority-files", &authority);
    let no_default = option("ssl-trust-default-ca", "no");
    let with = |options: &[&str]| {
        let mut args = vec!["--non-interactive"];
        options
            .iter()
            .for_each(|option| args.extend(["--config-option", option]));
        fixture.both(&url, &args)
    };
    assert_eq!(with(&[]).code, 1);
    with(&[&files]).success();
    with(&[&files, &no_default]).success();
    assert_eq!(with(&[&option("ssl-authority-files", "/no/such")]).code, 1);
    // The system's list is where this variable says.
    let system = |program: &str, more: &[&str]| {
        let output = fixture
            .pair
            .command(Path::new(program), fixture.pair.root())
            .args(["info", "--show-item", "revision", "--non-interactive"])
            .args(more)
            .arg(&url)
            .env("SSL_CERT_FILE", &authority)
            .output()
            .expect("it starts");
        Run::from(output)
    };
    for (more, code) in [
        (&[][..], 0),
        (&["--config-option", no_default.as_str()][..], 1),
    ] {
        let run = system(crate::SVN, more);
        assert_eq!(run, system("svn", more));
        assert_eq!(run.code, code, "{}", run.stderr);
    }
}

#[test]
fn passphrases_come_from_the_user_and_from_the_store() {
    let fixture = Fixture::new();
    fixture.signed("server", "localhost");
    fixture.signed("client", "jrandom");
    openssl(
        &fixture.certs,
        "pkcs12 -export -in client.pem -inkey client.key -out client.p12 -passout pass:secret",
    );
    let (_server, url) = fixture.server("server", Some("ca.pem"));
    let file = |name: &str| fixture.certs.join(name).display().to_string();
    let servers = format!(
        "[global]\nssl-authority-files = {}\nssl-client-cert-file = {}\n",
        file("ca.pem"),
        file("client.p12")
    );
    let configure = |more: &str| {
        fixture.forget();
        for folder in [fixture.pair.ours(), fixture.pair.theirs()] {
            let config = folder.join("cfg");
            fs::create_dir(&config).expect("a fresh folder");
            fs::write(config.join("servers"), format!("{servers}{more}")).expect("writable");
        }
    };
    let kind = "svn.ssl.client-passphrase";
    let (ours, theirs) = (fixture.pair.ours(), fixture.pair.theirs());
    configure("store-ssl-client-cert-pp-plaintext = no\n");
    let run = fixture.ours_asked(&url, "secret\n");
    assert_eq!(run, fixture.theirs_asked(&url, "secret\n"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(stored(&ours, kind).is_empty() && stored(&theirs, kind).is_empty());
    // A second chance, and the store, which both read.
    configure("store-ssl-client-cert-pp-plaintext = yes\n");
    let run = fixture.ours_asked(&url, "wrong\nsecret\n");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(fixture.theirs_asked(&url, "secret\n").code, 0);
    assert_eq!(stored(&ours, kind), stored(&theirs, kind));
    assert_eq!(stored(&ours, kind).len(), 1);
    fixture.both(&url, &["--non-interactive"]).success();
    // Without either there is no certificate to show.
    configure("");
    let run = fixture.pair.run_ours(&[
        "info",
        "--non-interactive",
        "--config-dir",
        "cfg",
        url.as_str(),
    ]);
    assert_eq!(run.code, 1);
}
