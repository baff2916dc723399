//! TLS with certificates that openssl makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use sylvan_core::{ErrorCode, Url};
use sylvan_ra::auth::{AuthOptions, CertFailures};
use sylvan_ra::open;
use sylvan_testutil::{Apache, ApacheTls};

use crate::dump::{context, context_for};

fn openssl(folder: &Path, args: &[&str]) {
    let output = Command::new("openssl")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("openssl is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {args:?}: {errors}");
}

/// Makes an authority, and certificates signed by it and by themselves.
fn certificates(folder: &Path) {
    let new = |name: &str, subject: &str, more: &[&str]| {
        let (key, cert) = (format!("{name}.key"), format!("{name}.pem"));
        let mut args = vec![
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", &key, "-out", &cert,
            "-days", "30", "-subj", subject,
        ];
        args.extend(more);
        openssl(folder, &args);
    };
    new("ca", "/CN=Test Authority/O=Sylvan", &[]);
    new("self", "/C=DE/O=Org/OU=Unit/CN=localhost", &[]);
    new("elsewhere", "/CN=elsewhere.example.org", &[]);
    for (name, subject, extension) in [
        (
            "signed",
            "/CN=localhost",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ),
        ("client", "/CN=jrandom", "extendedKeyUsage=clientAuth"),
    ] {
        let (key, request) = (format!("{name}.key"), format!("{name}.csr"));
        openssl(
            folder,
            &[
                "req", "-newkey", "rsa:2048", "-nodes", "-keyout", &key, "-out", &request, "-subj",
                subject,
            ],
        );
        std::fs::write(folder.join("ext"), extension).expect("the folder is writable");
        let cert = format!("{name}.pem");
        openssl(
            folder,
            &[
                "x509",
                "-req",
                "-in",
                &request,
                "-CA",
                "ca.pem",
                "-CAkey",
                "ca.key",
                "-CAcreateserial",
                "-out",
                &cert,
                "-days",
                "30",
                "-extfile",
                "ext",
            ],
        );
    }
}

struct Fixture {
    _scratch: tempfile::TempDir,
    certs: PathBuf,
    root: PathBuf,
}

fn fixture() -> Fixture {
    let scratch = tempfile::tempdir().expect("the temp folder is writable");
    let certs = scratch.path().join("certs");
    let root = scratch.path().join("served");
    std::fs::create_dir(&certs).expect("a fresh folder is writable");
    std::fs::create_dir(&root).expect("a fresh folder is writable");
    certificates(&certs);
    Fixture {
        _scratch: scratch,
        certs,
        root,
    }
}

impl Fixture {
    fn server(&self, name: &str, client_authority: Option<&str>) -> Apache {
        let tls = ApacheTls {
            certificate: self.certs.join(format!("{name}.pem")),
            key: self.certs.join(format!("{name}.key")),
            client_authority: client_authority.map(|file| self.certs.join(file)),
        };
        let server = Apache::start_with(&self.root, Some(&tls), "");
        if !self.root.join("r").exists() {
            server.create_repository("r");
        }
        server
    }

    fn file(&self, name: &str) -> String {
        self.certs.join(name).display().to_string()
    }
}

fn https(server: &Apache, host: &str) -> Url {
    Url::parse(&server.https_url(host, "v2/r")).expect("a good URL")
}

fn trusting(failures: u32) -> AuthOptions {
    AuthOptions {
        trust: CertFailures(failures),
        ..AuthOptions::default()
    }
}

#[test]
fn trust_is_decided_as_by_svn() {
    let fixture = fixture();
    let authority = fixture.file("ca.pem");
    let with_ca = [("ssl-authority-files", authority.as_str())];
    let signed = fixture.server("signed", None);
    for host in ["localhost", "127.0.0.1"] {
        let session = open(&https(&signed, host), &context(&with_ca));
        session.unwrap_or_else(|error| panic!("{host}: {error:?}"));
    }
    drop(signed);

    for (name, needed, reasons) in [
        ("signed", 8, "issuer is not trusted"),
        ("self", 8, "issuer is not trusted"),
        (
            "elsewhere",
            12,
            "certificate issued for a different hostname, issuer is not trusted",
        ),
    ] {
        let server = fixture.server(name, None);
        let url = https(&server, "localhost");
        let theirs = Command::new("svn")
            .args(["info", "--non-interactive", url.as_str()])
            .args(["--config-dir", &fixture.file("no-config")])
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("svn is installed");
        let error = open(&url, &context(&[])).err().expect("it is not trusted");
        let text = error.to_lines("svn: ");
        assert_eq!(text, String::from_utf8_lossy(&theirs.stderr), "{name}");
        assert!(text.contains(reasons));
        let too_little = open(&url, &context_for(&[], trusting(needed & 4)));
        assert!(too_little.is_err());
        open(&url, &context_for(&[], trusting(needed)))
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
}

#[test]
fn a_trusted_certificate_of_its_own_is_enough() {
    let fixture = fixture();
    let server = fixture.server("self", None);
    let file = fixture.file("self.pem");
    let settings = [("ssl-authority-files", file.as_str())];
    open(&https(&server, "localhost"), &context(&settings)).unwrap();
    let missing = [("ssl-authority-files", "/no/such/file")];
    let error = open(&https(&server, "localhost"), &context(&missing))
        .err()
        .unwrap();
    assert!(error.has_code(ErrorCode::BAD_CONFIG_VALUE), "{error:?}");
    // A port that does not speak TLS.
    let plain = server.url("v2/r").replace("http://", "https://");
    let error = open(&Url::parse(&plain).unwrap(), &context(&[]))
        .err()
        .unwrap();
    assert!(error.has_code(ErrorCode(120_171)), "{error:?}");
}

#[test]
fn client_certificates_are_shown() {
    let fixture = fixture();
    let server = fixture.server("signed", Some("ca.pem"));
    let url = https(&server, "localhost");
    let authority = fixture.file("ca.pem");
    let join = |out: &str, parts: &[&str]| {
        let text: String = parts
            .iter()
            .map(|part| std::fs::read_to_string(fixture.certs.join(part)).expect("readable"))
            .collect();
        std::fs::write(fixture.certs.join(out), text).expect("writable");
    };
    join("plain-client.pem", &["client.pem", "client.key"]);
    let try_with = |file: &str, passphrase: &str| {
        let file = fixture.file(file);
        let settings = [
            ("ssl-authority-files", authority.as_str()),
            ("ssl-client-cert-file", file.as_str()),
            ("ssl-client-cert-password", passphrase),
        ];
        open(&url, &context(&settings)).map(drop)
    };
    try_with("plain-client.pem", "").unwrap_or_else(|error| panic!("{error:?}"));
    assert!(open(&url, &context(&[("ssl-authority-files", &authority)])).is_err());
    assert!(try_with("no-such-file", "").is_err());
    if cfg!(feature = "pkcs12") {
        openssl(
            &fixture.certs,
            &[
                "pkcs12",
                "-export",
                "-in",
                "client.pem",
                "-inkey",
                "client.key",
                "-out",
                "client.p12",
                "-passout",
                "pass:secret",
            ],
        );
        openssl(
            &fixture.certs,
            &[
                "pkcs8",
                "-topk8",
                "-in",
                "client.key",
                "-out",
                "locked.key",
                "-passout",
                "pass:secret",
            ],
        );
        join("locked-client.pem", &["client.pem", "locked.key"]);
        openssl(
            &fixture.certs,
            &[
                "rsa",
                "-aes256",
                "-traditional",
                "-in",
                "client.key",
                "-out",
                "old.key",
                "-passout",
                "pass:secret",
            ],
        );
        join("old-client.pem", &["client.pem", "old.key"]);
        let error = try_with("old-client.pem", "secret").unwrap_err();
        assert!(error.has_code(ErrorCode::BAD_CONFIG_VALUE), "{error:?}");
        for file in ["client.p12", "locked-client.pem"] {
            try_with(file, "secret").unwrap_or_else(|error| panic!("{file}: {error:?}"));
            assert!(try_with(file, "wrong").is_err(), "{file}");
        }
    }
}
