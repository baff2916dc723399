//! The file `fsfs.conf`.

use std::path::Path;

use sylvan_core::{Error, ErrorCode, Result};
use sylvan_io::config::ConfigFile;

use crate::format::FormatNumber;

/// The file's name.
pub(crate) const FILE_NAME: &str = "fsfs.conf";

/// How new representations are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all: svndiff 0.
    None,
    /// With zlib at a level from 0 to 9: svndiff 1.
    Zlib(u32),
    /// With LZ4: svndiff 2.
    Lz4,
}

/// The options that count, with their defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conf {
    /// Whether equal representations are stored once.
    pub rep_sharing: bool,
    /// Whether folders are stored as deltas.
    pub deltify_directories: bool,
    /// Whether properties are stored as deltas.
    pub deltify_props: bool,
    /// After how many changes of a node a full text comes again.
    pub max_deltification_walk: i64,
    /// How long deltas are against the version before, until skip-deltas begin.
    pub max_linear_deltification: i64,
    /// How new representations are compressed.
    pub compression: Compression,
    /// How many bytes a file of packed revision properties has before compression.
    pub revprop_pack_size: u64,
    /// Whether packed revision properties are compressed.
    pub compress_packed_revprops: bool,
    /// The block size for reading, in bytes.
    pub block_size: u64,
    /// How many items a page of the log-to-phys index has.
    pub l2p_page_size: u64,
    /// How many bytes a page of the phys-to-log index covers.
    pub p2l_page_size: u64,
    /// Whether each commit packs what can be packed.
    pub pack_after_commit: bool,
    /// Whether each revision is verified before it is made visible.
    pub verify_before_commit: bool,
}

const DEFAULT_LEVEL: u32 = 5;

impl Conf {
    /// Reads the file of the file system at `db`, if its format has one.
    ///
    /// # Errors
    /// [`ErrorCode::BAD_CONFIG_VALUE`] for values that make no sense.
    pub fn read(db: &Path, format: FormatNumber) -> Result<Self> {
        let file = ConfigFile::read(&db.join(FILE_NAME))?.unwrap_or_default();
        Self::from_file(&file, format)
    }

    pub(crate) fn from_file(file: &ConfigFile, format: FormatNumber) -> Result<Self> {
        let mut conf = Self::defaults(format);
        if format.has_config() {
            conf.take_deltification(file, format)?;
            conf.rep_sharing = file.get_bool("rep-sharing", "enable-rep-sharing", true)?;
            conf.pack_after_commit = file.get_bool("debug", "pack-after-commit", false)?;
        }
        if format.has_packed_revprops() {
            conf.take_revprops(file)?;
        }
        if format.has_logical_addressing() {
            conf.take_io(file)?;
        }
        conf.verify_before_commit = file.get_bool("debug", "verify-before-commit", false)?;
        Ok(conf)
    }

    fn defaults(format: FormatNumber) -> Self {
        Self {
            rep_sharing: false,
            deltify_directories: false,
            deltify_props: false,
            max_deltification_walk: 1023,
            max_linear_deltification: 16,
            compression: if format.has_svndiff2() {
                Compression::Lz4
            } else if format.has_svndiff1() {
                Compression::Zlib(DEFAULT_LEVEL)
            } else {
                Compression::None
            },
            revprop_pack_size: 0x10000,
            compress_packed_revprops: false,
            block_size: 0x1000,
            l2p_page_size: 0x2000,
            p2l_page_size: 0x10_0000,
            pack_after_commit: false,
            verify_before_commit: false,
        }
    }

    fn take_deltification(&mut self, file: &ConfigFile, format: FormatNumber) -> Result<()> {
        const SECTION: &str = "deltification";
        self.deltify_directories = file.get_bool(SECTION, "enable-dir-deltification", true)?;
        self.deltify_props = file.get_bool(SECTION, "enable-props-deltification", true)?;
        self.max_deltification_walk = file.get_i64(SECTION, "max-deltification-walk", 1023)?;
        self.max_linear_deltification = file.get_i64(SECTION, "max-linear-deltification", 16)?;
        let compression = file.get(SECTION, "compression");
        let level = file.get(SECTION, "compression-level");
        match (compression, level) {
            (Some(_), Some(_)) => {
                return Err(bad(
                    "The 'compression' and 'compression-level' config options are mutually \
                     exclusive",
                ));
            }
            (Some(value), None) => {
                self.compression = parse_compression(value)?;
                if self.compression == Compression::Lz4 && !format.has_svndiff2() {
                    return Err(bad(
                        "Compression type 'lz4' requires filesystem format 8 or higher",
                    ));
                }
            }
            (None, Some(_)) => {
                let level = file.get_i64(SECTION, "compression-level", 5)?.clamp(0, 9);
                self.compression = Compression::Zlib(u32::try_from(level).unwrap_or(0));
            }
            (None, None) => {}
        }
        Ok(())
    }

    fn take_revprops(&mut self, file: &ConfigFile) -> Result<()> {
        const SECTION: &str = "packed-revprops";
        let compress = file.get_bool(SECTION, "compress-packed-revprops", false)?;
        self.compress_packed_revprops = compress;
        let default = if compress { 0x40 } else { 0x10 };
        let size = file.get_i64(SECTION, "revprop-pack-size", default)?;
        self.revprop_pack_size = u64::try_from(size).unwrap_or(0).saturating_mul(1024);
        Ok(())
    }

    fn take_io(&mut self, file: &ConfigFile) -> Result<()> {
        let size = |name: &str, default: i64, unit: i64| -> Result<u64> {
            let value = file.get_i64("io", name, default)?;
            let problem = if value <= 0 {
                "too small for fsfs.conf setting '{}'."
            } else if value > i64::from(u32::MAX) / unit {
                "too large for fsfs.conf setting '{}'."
            } else if value & (value - 1) != 0 {
                "invalid for fsfs.conf setting '{}' because it is not a power of 2."
            } else {
                return Ok(u64::try_from(value).unwrap_or(0));
            };
            Err(bad(format!("{value} is {}", problem.replace("{}", name))))
        };
        self.block_size = size("block-size", 64, 0x400)? * 0x400;
        self.p2l_page_size = size("p2l-page-size", 0x400, 0x400)? * 0x400;
        self.l2p_page_size = size("l2p-page-size", 0x2000, 8)?;
        Ok(())
    }
}

fn parse_compression(value: &str) -> Result<Compression> {
    let level = |digits: &str| match digits.as_bytes() {
        [digit @ b'1'..=b'9'] => Some(u32::from(digit - b'0')),
        _ => None,
    };
    let parsed = match value {
        "none" => Some(Compression::None),
        "lz4" => Some(Compression::Lz4),
        "zlib" => Some(Compression::Zlib(DEFAULT_LEVEL)),
        _ => value
            .strip_prefix("zlib-")
            .and_then(level)
            .map(Compression::Zlib),
    };
    parsed.ok_or_else(|| {
        bad(format!(
            "Invalid 'compression' value '{value}' in the config"
        ))
    })
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::BAD_CONFIG_VALUE, message)
}

/// What a new file system gets: every option with its default, as a comment.
pub(crate) const TEMPLATE: &str = include_str!("fsfs.conf");

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(text: &str, format: u8) -> Result<Conf> {
        let mut file = ConfigFile::default();
        file.parse(text.as_bytes())?;
        Conf::from_file(&file, FormatNumber::new(format).unwrap())
    }

    #[test]
    fn defaults_follow_the_format() {
        assert_eq!(conf("", 8).unwrap().compression, Compression::Lz4);
        assert_eq!(conf("", 7).unwrap().compression, Compression::Zlib(5));
        assert_eq!(conf("", 1).unwrap().compression, Compression::None);
        assert!(!conf("", 3).unwrap().rep_sharing);
        assert!(conf("", 4).unwrap().rep_sharing);
        assert!(!conf("", 3).unwrap().deltify_directories);
        assert_eq!(conf("", 8).unwrap().revprop_pack_size, 16 * 1024);
        assert_eq!(conf("", 8).unwrap().p2l_page_size, 1024 * 1024);
    }

    #[test]
    fn the_template_changes_nothing() {
        for format in [4, 6, 7, 8] {
            assert_eq!(conf(TEMPLATE, format).unwrap(), conf("", format).unwrap());
        }
    }

    #[test]
    fn options_are_taken() {
        let text = "[deltification]\ncompression = zlib-9\nmax-linear-deltification = 1\n\
                    [io]\nl2p-page-size = 16\n[packed-revprops]\ncompress-packed-revprops = yes\n";
        let found = conf(text, 8).unwrap();
        assert_eq!(found.compression, Compression::Zlib(9));
        assert_eq!(found.max_linear_deltification, 1);
        assert_eq!(found.l2p_page_size, 16);
        assert_eq!(found.revprop_pack_size, 64 * 1024);
        let level = conf("[deltification]\ncompression-level = 99\n", 8).unwrap();
        assert_eq!(level.compression, Compression::Zlib(9));
    }

    #[test]
    fn bad_values_are_refused_in_subversions_words() {
        for (text, format, message) in [
            (
                "[deltification]\ncompression = lzma\n",
                8,
                "Invalid 'compression' value 'lzma' in the config",
            ),
            (
                "[deltification]\ncompression = zlib-0\n",
                8,
                "Invalid 'compression' value 'zlib-0' in the config",
            ),
            (
                "[deltification]\ncompression = lz4\n",
                7,
                "Compression type 'lz4' requires filesystem format 8 or higher",
            ),
            (
                "[deltification]\ncompression = lz4\ncompression-level = 1\n",
                8,
                "The 'compression' and 'compression-level' config options are mutually exclusive",
            ),
            (
                "[io]\nblock-size = 0\n",
                8,
                "0 is too small for fsfs.conf setting 'block-size'.",
            ),
            (
                "[io]\np2l-page-size = 3\n",
                8,
                "3 is invalid for fsfs.conf setting 'p2l-page-size' because it is not a power of 2.",
            ),
        ] {
            let error = conf(text, format).unwrap_err();
            assert_eq!(error.code(), ErrorCode::BAD_CONFIG_VALUE);
            assert_eq!(error.message(), message);
        }
    }
}
