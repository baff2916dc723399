use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sylvan_core::time::Clock;
use sylvan_core::{TimeZone, Timestamp};

/// Compiled zone files are some kilobytes.
const MAX_ZONE_FILE: u64 = 1 << 20;

/// Returns the time zone that the environment variable `TZ` names, as the C library does: a file
/// below `/usr/share/zoneinfo`, an absolute path, or a POSIX rule; the system's without the
/// variable. What cannot be read is UTC.
pub fn time_zone(variable: Option<&OsStr>) -> TimeZone {
    let zone = match variable.map(OsStr::as_bytes) {
        None => read_zone(Path::new("/etc/localtime")),
        Some(b"" | b":") => None,
        Some(name) => {
            let name = OsStr::from_bytes(name.strip_prefix(b":").unwrap_or(name));
            let file = PathBuf::from("/usr/share/zoneinfo").join(name);
            read_zone(&file).or_else(|| TimeZone::from_posix(name.to_str()?))
        }
    };
    zone.unwrap_or_else(TimeZone::utc)
}

/// Returns the present moment in the time zone that `TZ` names.
pub fn clock(variable: Option<&OsStr>) -> Clock {
    Clock {
        now: Timestamp::from(SystemTime::now()),
        zone: time_zone(variable),
    }
}

fn read_zone(path: &Path) -> Option<TimeZone> {
    let mut data = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_ZONE_FILE).read_to_end(&mut data).ok()?;
    TimeZone::from_tzif(&data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_c_library() {
        for (variable, summer, winter) in [
            ("", 0, 0),
            ("UTC", 0, 0),
            ("EST5EDT,M3.2.0,M11.1.0", -4, -5),
            (":no/such/zone", 0, 0),
            ("<+0530>-5:30", 5, 5),
        ] {
            let zone = time_zone(Some(OsStr::new(variable)));
            assert_eq!(zone.offset_at(1_751_328_000) / 3600, summer, "{variable}");
            assert_eq!(zone.offset_at(1_767_225_600) / 3600, winter, "{variable}");
        }
    }

    #[test]
    fn zone_files_agree_with_date() {
        for name in [
            "Europe/Berlin",
            "America/St_Johns",
            "Asia/Kolkata",
            "Australia/Lord_Howe",
        ] {
            if !Path::new("/usr/share/zoneinfo").join(name).exists() {
                continue;
            }
            let zone = time_zone(Some(OsStr::new(name)));
            for seconds in [
                0_i64,
                954_000_000,
                1_700_000_000,
                1_720_000_000,
                4_000_000_000,
            ] {
                let output = std::process::Command::new("date")
                    .env("TZ", name)
                    .args(["+%z", "-d", &format!("@{seconds}")])
                    .output()
                    .unwrap();
                let shown = String::from_utf8(output.stdout).unwrap();
                let offset = zone.offset_at(seconds);
                let ours = format!("{:+03}{:02}\n", offset / 3600, offset.abs() / 60 % 60);
                assert_eq!(shown, ours, "{name} {seconds}");
            }
        }
    }
}
