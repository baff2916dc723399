use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Lets tests that are written for a server do the same with its repositories on the disk.
pub const FILE_URLS: &str = "SYLVAN_TEST_FILE_URLS";

/// A running svnserve, Debian's or another, that serves the repositories of one folder on a loopback port.
pub struct Svnserve {
    process: Child,
    port: u16,
    root: PathBuf,
}

impl Svnserve {
    /// Serves the repositories below `root`, writable by anybody.
    pub fn start(root: &Path) -> Self {
        Self::start_with(
            root,
            "[general]\nanon-access = write\nauth-access = write\n",
        )
    }

    /// Serves the repositories below `root` with this `svnserve.conf` for all of them.
    pub fn start_with(root: &Path, config: &str) -> Self {
        let config_file = root.join("svnserve.conf");
        std::fs::write(&config_file, config).expect("the scratch folder is writable");
        let config_file = config_file.to_string_lossy();
        Self::start_program(
            Path::new("svnserve"),
            root,
            &["--threads", "--config-file", &config_file],
        )
    }

    /// Serves the repositories below `root` with a program of choice, and options besides those for
    /// folder and port.
    pub fn start_program(program: &Path, root: &Path, options: &[&str]) -> Self {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let port = free_port();
            let mut process = Command::new(program)
                .args(["--daemon", "--foreground"])
                .args(["--listen-host", "127.0.0.1"])
                .arg(format!("--listen-port={port}"))
                .arg("--root")
                .arg(root)
                .args(options)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("svnserve is installed");
            if answers(port, &mut process) {
                return Self {
                    process,
                    port,
                    root: root.to_owned(),
                };
            }
            let _ = process.kill();
            let _ = process.wait();
            assert!(Instant::now() < deadline, "svnserve does not start");
        }
    }

    /// Returns the number of its process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it ends, and returns its exit code, or the signal as a negative number.
    pub fn wait(mut self) -> i32 {
        use std::os::unix::process::ExitStatusExt as _;
        let status = self.process.wait().expect("it is a child");
        let signal = status.signal().map_or(-1, |signal| -signal);
        status.code().unwrap_or(signal)
    }

    /// Returns the URL of the repository `name` below the served root: `svn://…`, or `file://…` if
    /// the environment variable [`FILE_URLS`] is set.
    pub fn url(&self, name: &str) -> String {
        if std::env::var_os(FILE_URLS).is_some() {
            return format!("file://{}/{name}", self.root.display());
        }
        format!("svn://127.0.0.1:{}/{name}", self.port)
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Makes an empty repository below the served root with Debian's svnadmin, returns its URL.
    pub fn create_repository(&self, name: &str) -> String {
        let status = Command::new("svnadmin")
            .arg("create")
            .arg(self.root.join(name))
            .status()
            .expect("svnadmin is installed");
        assert!(status.success(), "svnadmin create {name}");
        self.url(name)
    }

    /// Returns the folder of a repository on disk.
    pub fn repository_path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

impl Drop for Svnserve {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .expect("loopback has a free port")
}

fn answers(port: u16, process: &mut Child) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return matches!(process.try_wait(), Ok(None));
        }
        if matches!(process.try_wait(), Ok(Some(_))) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
