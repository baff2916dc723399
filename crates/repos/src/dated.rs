//! The youngest revision at a moment.

use sylvan_core::{Error, ErrorCode, Result, Revnum, Timestamp, props};
use sylvan_fs::revprops::RevpropsReader;

use crate::Repos;

impl Repos {
    /// Returns the youngest revision at a moment, by halving: the dates of revisions ought to grow.
    ///
    /// # Errors
    /// `FS_GENERAL` if a revision has no date, `BAD_DATE` if it has none that can be read.
    pub fn dated_revision(&self, time: Timestamp) -> Result<Revnum> {
        let latest = self.fs().youngest()?;
        let mut reader = self.fs().revprops_reader();
        let (mut bottom, mut top) = (0, latest.number());
        while bottom <= top {
            let middle = i64::midpoint(top, bottom);
            let at = |number| Revnum::new(number).unwrap_or(Revnum::ZERO);
            let here = date_of(&mut reader, at(middle))?;
            if here == time {
                return Ok(at(middle));
            }
            if here > time {
                if middle == 0 {
                    return Ok(Revnum::ZERO);
                }
                if date_of(&mut reader, at(middle - 1))? <= time {
                    return Ok(at(middle - 1));
                }
                top = middle - 1;
            } else {
                if middle == latest.number() {
                    return Ok(latest);
                }
                if date_of(&mut reader, at(middle + 1))? > time {
                    return Ok(at(middle));
                }
                bottom = middle + 1;
            }
        }
        Ok(Revnum::ZERO)
    }
}

fn date_of(reader: &mut RevpropsReader, revision: Revnum) -> Result<Timestamp> {
    let props = reader.read(revision)?;
    let Some(date) = props.get(props::REVISION_DATE) else {
        let text = format!("Failed to find time on revision {revision}");
        return Err(Error::new(ErrorCode::FS_GENERAL, text));
    };
    Timestamp::parse_iso(&String::from_utf8_lossy(date))
}
