use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::free_port;

/// A running Debian Apache with mod_dav_svn that serves the repositories of one folder on a loopback
/// port, several ways at once. Below the root of the server:
///
/// | folder | what it does |
/// |---|---|
/// | `/v2/` | HTTP v2, anybody may do anything |
/// | `/v1/` | as `/v2/`, but HTTP v1 |
/// | `/skelta/` | as `/v2/`, but no bulk updates |
/// | `/prefer/` | as `/v2/`, but bulk updates are preferred |
/// | `/basic/` | asks for a user by Basic authentication in the realm `Basic Realm` |
/// | `/digest/` | asks for a user by Digest authentication in the realm `Digest Realm` |
/// | `/moved/` | redirects to `/v2/`, permanently |
/// | `/away/` | redirects to `/v2/`, for now |
/// | `/gzip/` | as `/v2/`, but answers are compressed |
///
/// The user is [`Apache::USER`] with the password [`Apache::PASSWORD`].
pub struct Apache {
    process: Child,
    port: u16,
    tls_port: u16,
    root: PathBuf,
}

/// How Apache does TLS, on a port of its own.
#[derive(Clone, Debug)]
pub struct ApacheTls {
    /// The server's certificate, PEM.
    pub certificate: PathBuf,
    /// Its key, PEM.
    pub key: PathBuf,
    /// The authority of the certificates that clients must show, if they must.
    pub client_authority: Option<PathBuf>,
}

const MODULES: [&str; 16] = [
    "mpm_event",
    "alias",
    "dav",
    "dav_fs",
    "dav_svn",
    "auth_basic",
    "auth_digest",
    "authn_core",
    "authn_file",
    "authz_core",
    "authz_user",
    "deflate",
    "filter",
    "ssl",
    "socache_shmcb",
    "env",
];

impl Apache {
    /// The user that is known.
    pub const USER: &str = "jrandom";
    /// Its password.
    pub const PASSWORD: &str = "rayjandom";

    /// Tells whether Apache with its modules is installed.
    pub fn is_installed() -> bool {
        Path::new(PROGRAM).exists() && Path::new(MODULE_DIR).join("mod_dav_svn.so").exists()
    }

    /// Serves the repositories below `root`.
    pub fn start(root: &Path) -> Self {
        Self::start_with(root, None, "")
    }

    /// Serves the repositories below `root`, with TLS too if wanted, and with more lines of
    /// configuration.
    pub fn start_with(root: &Path, tls: Option<&ApacheTls>, more: &str) -> Self {
        let home = root.join("apache");
        fs::create_dir_all(home.join("dav")).expect("the scratch folder is writable");
        fs::create_dir_all(home.join("empty")).expect("the scratch folder is writable");
        write_users(&home);
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let (port, tls_port) = (free_port(), free_port());
            let text = configuration(root, &home, port, tls_port, tls) + more;
            let file = home.join("httpd.conf");
            fs::write(&file, text).expect("the scratch folder is writable");
            give_to_server(root);
            let process = Command::new(PROGRAM)
                .arg("-f")
                .arg(&file)
                .arg("-DFOREGROUND")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("apache2 is installed");
            let mut server = Self {
                process,
                port,
                tls_port,
                root: root.to_owned(),
            };
            if server.answers() {
                return server;
            }
            let log = fs::read_to_string(home.join("error_log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "apache2 does not start: {log}");
        }
    }

    /// Returns the URL of a path below the root of the server, as in `v2/repository`.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Returns the `https` URL of a path below the root of the server.
    pub fn https_url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}/{path}", self.tls_port)
    }

    /// Returns the port without TLS.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the port with TLS.
    pub fn tls_port(&self) -> u16 {
        self.tls_port
    }

    /// Makes an empty repository below the served root with Debian's svnadmin.
    pub fn create_repository(&self, name: &str) {
        let path = self.root.join(name);
        let status = Command::new("svnadmin").arg("create").arg(&path).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "svnadmin create {name}"
        );
        // Whoever is anonymous may change revision properties.
        let hook = path.join("hooks/pre-revprop-change");
        fs::write(&hook, "#!/bin/sh\nexit 0\n").expect("the repository is writable");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("the hook is ours");
        give_to_server(&path);
    }

    /// Returns what Apache logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.root.join("apache/error_log")).unwrap_or_default()
    }

    fn answers(&mut self) -> bool {
        let deadline = Instant::now() + Duration::from_secs(15);
        while Instant::now() < deadline {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return false;
            }
            if speaks(self.port) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        // The parent process ends its children itself, if it is asked politely.
        let _ = Command::new("kill")
            .arg("-TERM")
            .arg(self.process.id().to_string())
            .status();
        let deadline = Instant::now() + Duration::from_secs(5);
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const PROGRAM: &str = "/usr/sbin/apache2";
const MODULE_DIR: &str = "/usr/lib/apache2/modules";
/// Who Apache runs as if it is started by root.
const SERVER_USER: &str = "www-data";

/// Apache takes connections before it can serve.
fn speaks(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
    let mut answer = [0; 4];
    stream
        .write_all(b"GET / HTTP/1.0\r\n\r\n")
        .and_then(|()| stream.read_exact(&mut answer))
        .is_ok_and(|()| &answer == b"HTTP")
}

fn am_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

/// Lets the server write where it must.
fn give_to_server(path: &Path) {
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
    if am_root() {
        let _ = Command::new("chown")
            .args(["-R", SERVER_USER])
            .arg(path)
            .status();
    }
}

fn write_users(home: &Path) {
    let basic = format!("{}:{{PLAIN}}{}\n", Apache::USER, Apache::PASSWORD);
    let hashed = Command::new("openssl")
        .args(["passwd", "-apr1", Apache::PASSWORD])
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .map_or(basic, |hash| format!("{}:{hash}\n", Apache::USER));
    fs::write(home.join("users"), hashed).expect("the scratch folder is writable");
    let triple = format!("{}:Digest Realm:{}", Apache::USER, Apache::PASSWORD);
    let mut digest = Command::new("md5sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("md5sum is installed");
    if let Some(mut input) = digest.stdin.take() {
        let _ = input.write_all(triple.as_bytes());
    }
    let output = digest.wait_with_output().expect("md5sum works");
    let sum = String::from_utf8_lossy(&output.stdout);
    let sum = sum.split_whitespace().next().unwrap_or_default().to_owned();
    let line = format!("{}:Digest Realm:{sum}\n", Apache::USER);
    fs::write(home.join("digests"), line).expect("the scratch folder is writable");
}

fn configuration(
    root: &Path,
    home: &Path,
    port: u16,
    tls_port: u16,
    tls: Option<&ApacheTls>,
) -> String {
    let home = home.display();
    let mut text = String::new();
    for module in MODULES {
        let file = format!("{MODULE_DIR}/mod_{module}.so");
        if Path::new(&file).exists()
            && (tls.is_some() || !matches!(module, "ssl" | "socache_shmcb"))
        {
            let _ = writeln!(text, "LoadModule {module}_module {file}");
        }
    }
    if am_root() {
        let _ = writeln!(text, "User {SERVER_USER}\nGroup {SERVER_USER}");
    }
    let _ = writeln!(
        text,
        "ServerRoot \"{home}\"\nDocumentRoot \"{home}/empty\"\nServerName localhost\n\
         Listen 127.0.0.1:{port}\nPidFile \"{home}/pid\"\nDefaultRuntimeDir \"{home}\"\n\
         Mutex \"file:{home}\" default\nErrorLog \"{home}/error_log\"\nLogLevel warn\n\
         DavLockDB \"{home}/dav/lock\"\nStartServers 1\nServerLimit 2\nThreadsPerChild 16\n\
         MaxRequestWorkers 32\nKeepAliveTimeout 15\nHostNameLookups Off\n\
         RedirectMatch permanent ^/moved/(.*)$ /v2/$1\nRedirectMatch temp ^/away/(.*)$ /v2/$1"
    );
    let user = "Require valid-user";
    let basic =
        format!("AuthType Basic\nAuthName \"Basic Realm\"\nAuthUserFile \"{home}/users\"\n{user}");
    let digest = format!(
        "AuthType Digest\nAuthName \"Digest Realm\"\nAuthDigestProvider file\n\
         AuthUserFile \"{home}/digests\"\n{user}"
    );
    for (name, lines) in [
        ("v2", "SVNAdvertiseV2Protocol on"),
        ("v1", "SVNAdvertiseV2Protocol off"),
        ("skelta", "SVNAllowBulkUpdates off"),
        ("prefer", "SVNAllowBulkUpdates prefer"),
        ("gzip", "SetOutputFilter DEFLATE"),
        ("basic", &basic),
        ("digest", &digest),
    ] {
        let _ = writeln!(
            text,
            "<Location /{name}>\nDAV svn\nSVNParentPath \"{}\"\nSVNCacheFullTexts on\n{lines}\n</Location>",
            root.display()
        );
    }
    if let Some(tls) = tls {
        let _ = writeln!(
            text,
            "Listen 127.0.0.1:{tls_port}\nSSLSessionCache none\n<VirtualHost 127.0.0.1:{tls_port}>\n\
             SSLEngine on\nSSLCertificateFile \"{}\"\nSSLCertificateKeyFile \"{}\"",
            tls.certificate.display(),
            tls.key.display()
        );
        if let Some(authority) = &tls.client_authority {
            let _ = writeln!(
                text,
                "SSLVerifyClient require\nSSLCACertificateFile \"{}\"",
                authority.display()
            );
        }
        text.push_str("</VirtualHost>\n");
    }
    text
}
