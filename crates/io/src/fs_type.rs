use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};

/// The kind of file system that a path is on, as far as it tells how long a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FsType {
    /// On a disk or in memory.
    Local,
    /// NFS of any version.
    Nfs,
    /// A Windows share (CIFS, SMB 2 and 3).
    Cifs,
    /// A file system in user space: anything from a local disk to a web service.
    Fuse,
    /// 9P, as virtual machines share folders with their host.
    NineP,
    /// Lustre.
    Lustre,
    /// GPFS (IBM Storage Scale).
    Gpfs,
    /// CephFS.
    Ceph,
    /// AFS of any kind.
    Afs,
    /// Another one over a network or from the host of a virtual machine.
    OtherNetwork,
}

/// Returns the kind of file system that `path` is on; local if the system does not tell.
///
/// A network file system is asked once for each device: `statfs` is a round trip there, `stat` mostly
/// is none.
pub fn fs_type(path: &Path) -> FsType {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        static KNOWN: Mutex<Vec<(u64, FsType)>> = Mutex::new(Vec::new());
        let Ok(dev) = std::fs::metadata(path).map(|meta| meta.dev()) else {
            return FsType::Local;
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, kind)) = known.iter().find(|(known, _)| *known == dev) {
            return *kind;
        }
        // The numbers have 32 bits; the type of the field differs between systems.
        #[allow(clippy::unnecessary_cast, reason = "as above")]
        let kind = rustix::fs::statfs(path).map_or(FsType::Local, |stat| {
            let magic = u32::try_from(stat.f_type as i64 & 0xffff_ffff);
            FsType::from_magic(magic.unwrap_or(0))
        });
        if known.len() < 64 {
            known.push((dev, kind));
        }
        kind
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        FsType::Local
    }
}

impl FsType {
    /// Returns the kind that a number of Linux's `statfs` stands for.
    pub const fn from_magic(magic: u32) -> Self {
        match magic {
            0x6969 => Self::Nfs,
            // smbfs, cifs, smb2
            0x517b | 0xff53_4d42 | 0xfe53_4d42 => Self::Cifs,
            0x6573_5546 => Self::Fuse,
            0x0102_1997 => Self::NineP,
            0x0bd0_0bd0 => Self::Lustre,
            0x4750_4653 => Self::Gpfs,
            0x00c3_6400 => Self::Ceph,
            // OpenAFS, kAFS
            0x5346_414f | 0x6b41_4653 => Self::Afs,
            // coda, ncp, gfs2, ocfs2, beegfs, panfs, snfs, orangefs, vboxsf, vmhgfs, prl_fs, wslfs
            0x7375_7245 | 0x564c | 0x0116_1970 | 0x7461_636f | 0x1983_0326 | 0xaad7_aaea
            | 0xbeef_dead | 0x2003_0528 | 0x786f_4256 | 0xbacb_acbc | 0x7c7c_6673 | 0x5346_4846 => {
                Self::OtherNetwork
            }
            _ => Self::Local,
        }
    }

    /// Tells whether a request is likely to be a round trip to another machine.
    pub const fn is_network(self) -> bool {
        !matches!(self, Self::Local)
    }

    /// More threads than this are of no use on a local disk.
    pub const MOST_LOCAL_WORKERS: usize = 4;

    /// Returns how many threads should work on files at once: as many as there are processors, and
    /// four at most, on a local disk; many where each waits for the network most of the time.
    pub fn workers(self) -> usize {
        match self {
            Self::Local => std::thread::available_parallelism()
                .map_or(2, |count| count.get().clamp(2, Self::MOST_LOCAL_WORKERS)),
            Self::Fuse | Self::NineP => 16,
            _ => 32,
        }
    }
}

/// More threads than this never help.
const MAX_WORKERS: usize = 256;

/// Returns how many threads should work on files below `path`: what the environment variable
/// `SYLVAN_WORKERS` says (its value is `variable`), else option `workers` of section
/// `[working-copy]`, else what suits the file system.
///
/// # Errors
/// `BAD_CONFIG_VALUE` if one of the two is no number from 1.
pub fn worker_count(
    path: &Path,
    config: &crate::Config,
    variable: Option<&str>,
) -> sylvan_core::Result<usize> {
    let option = config.get(crate::Category::Config, "working-copy", "workers");
    let Some(text) = variable
        .or(option)
        .filter(|text| *text != "auto" && !text.is_empty())
    else {
        return Ok(fs_type(path).workers());
    };
    match text.trim().parse() {
        Ok(count) if count > 0 => Ok(MAX_WORKERS.min(count)),
        _ => Err(sylvan_core::Error::new(
            sylvan_core::ErrorCode::BAD_CONFIG_VALUE,
            format!("Config error: invalid number of workers '{text}'"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Category, Config};

    #[test]
    fn numbers() {
        for (magic, kind) in [
            (0x6969, FsType::Nfs),
            (0xff53_4d42, FsType::Cifs),
            (0xef53, FsType::Local),
            (0x0102_1994, FsType::Local),
        ] {
            assert_eq!(FsType::from_magic(magic), kind);
        }
        assert_eq!(FsType::Nfs.workers(), 32);
        assert!((2..=4).contains(&FsType::Local.workers()));
    }

    #[test]
    fn the_user_decides() {
        let path = Path::new("/");
        let mut config = Config::default();
        let default = fs_type(path).workers();
        assert_eq!(worker_count(path, &config, None).unwrap(), default);
        config.set(Category::Config, "working-copy", "workers", "7");
        assert_eq!(worker_count(path, &config, None).unwrap(), 7);
        assert_eq!(worker_count(path, &config, Some("9")).unwrap(), 9);
        assert_eq!(worker_count(path, &config, Some("auto")).unwrap(), default);
        assert_eq!(worker_count(path, &config, Some("100000")).unwrap(), 256);
        assert!(worker_count(path, &config, Some("0")).is_err());
    }
}
