use rustix::fs::{FileType, Stat};
use sylvan_core::Timestamp;

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symlink.
    Symlink,
    /// A device, socket or pipe.
    Other,
}

impl From<FileType> for FileKind {
    fn from(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Dir,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// What the system tells of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content changed, in the microseconds that wc.db records.
    pub mtime: Timestamp,
    /// The permission bits.
    pub mode: u32,
    /// The user who owns it.
    pub uid: u32,
    /// The device it is on.
    pub dev: u64,
    /// Its number on that device.
    pub ino: u64,
}

impl Meta {
    /// Tells whether this is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// Tells whether this is a folder.
    pub fn is_dir(&self) -> bool {
        self.kind == FileKind::Dir
    }

    /// Tells whether this is a symlink.
    pub fn is_symlink(&self) -> bool {
        self.kind == FileKind::Symlink
    }

    /// Tells whether its owner may execute it.
    pub fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Tells whether nobody may write to it.
    pub fn is_read_only(&self) -> bool {
        self.mode & 0o222 == 0
    }
}

impl From<Stat> for Meta {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        clippy::useless_conversion,
        trivial_numeric_casts,
        reason = "the types of the fields differ between systems"
    )]
    fn from(stat: Stat) -> Self {
        let seconds = stat.st_mtime as i64;
        let micros = stat.st_mtime_nsec as i64 / 1000;
        Self {
            kind: FileType::from_raw_mode(stat.st_mode as _).into(),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime: Timestamp::from_micros(seconds.saturating_mul(1_000_000).saturating_add(micros)),
            mode: u32::from(stat.st_mode) & 0o7777,
            uid: stat.st_uid,
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
        }
    }
}
