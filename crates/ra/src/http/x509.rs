//! What users are shown of a certificate, and what Subversion checks itself.
//!
//! rustls verifies signatures and chains but stops at the first fault; a user who decides about
//! trust must see all of them.

use std::net::IpAddr;

use sylvan_core::Sha1;
use sylvan_proto::dav::encode_base64;

use crate::auth::CertInfo;

/// The parts of a certificate that matter here.
#[derive(Debug)]
pub(super) struct Certificate<'a> {
    der: &'a [u8],
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
    /// Seconds since 1970.
    pub(super) not_before: i64,
    pub(super) not_after: i64,
    /// The public key with its algorithm.
    pub(super) spki: &'a [u8],
    dns_names: Vec<&'a str>,
    addresses: Vec<&'a [u8]>,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_ID: u8 = 0x06;
const OCTETS: u8 = 0x04;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;
const LATIN1_STRING: u8 = 0x14;

const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const EMAIL: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01];

/// Reads one value after the other.
#[derive(Clone, Copy)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Returns tag, content, and the whole with its head.
    fn next(&mut self) -> Option<(u8, &'a [u8], &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            if count == 0 || count > 4 {
                return None;
            }
            let (bytes, rest) = rest.split_at_checked(count)?;
            let length = bytes
                .iter()
                .fold(0_usize, |length, &byte| length << 8 | usize::from(byte));
            (length, rest)
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some((tag, content, whole))
    }

    fn expect(&mut self, wanted: u8) -> Option<&'a [u8]> {
        self.next()
            .and_then(|(tag, content, _)| (tag == wanted).then_some(content))
    }

    /// Skips a value if it has this tag, and returns its content.
    fn optional(&mut self, wanted: u8) -> Option<&'a [u8]> {
        if self.0.first() == Some(&wanted) {
            self.expect(wanted)
        } else {
            None
        }
    }
}

impl<'a> Certificate<'a> {
    /// Parses a certificate; `None` if it is not one.
    pub(super) fn parse(der: &'a [u8]) -> Option<Self> {
        let mut tbs = Der(Der(Der(der).expect(SEQUENCE)?).expect(SEQUENCE)?);
        tbs.optional(VERSION);
        tbs.next()?; // serial number
        tbs.next()?; // signature algorithm
        let (_, _, issuer) = tbs.next()?;
        let mut validity = Der(tbs.expect(SEQUENCE)?);
        let (_, _, subject) = tbs.next()?;
        let (_, _, spki) = tbs.next()?;
        let mut certificate = Self {
            der,
            issuer,
            subject,
            not_before: time(validity.next()?)?,
            not_after: time(validity.next()?)?,
            spki,
            dns_names: Vec::new(),
            addresses: Vec::new(),
        };
        while let Some((tag, content, _)) = tbs.next() {
            if tag == EXTENSIONS {
                certificate.extensions(content);
            }
        }
        Some(certificate)
    }

    fn extensions(&mut self, content: &'a [u8]) {
        let Some(list) = Der(content).expect(SEQUENCE) else {
            return;
        };
        let mut list = Der(list);
        while let Some(extension) = list.expect(SEQUENCE) {
            let mut extension = Der(extension);
            if extension.expect(OBJECT_ID) != Some(SUBJECT_ALT_NAME) {
                continue;
            }
            extension.optional(0x01); // critical
            let names = extension
                .expect(OCTETS)
                .and_then(|octets| Der(octets).expect(SEQUENCE));
            let mut names = Der(names.unwrap_or_default());
            while let Some((tag, name, _)) = names.next() {
                match tag {
                    DNS_NAME => self.dns_names.extend(std::str::from_utf8(name).ok()),
                    IP_ADDRESS => self.addresses.push(name),
                    _ => {}
                }
            }
        }
    }

    pub(super) fn is_self_signed(&self) -> bool {
        self.issuer == self.subject
    }

    /// Tells whether the certificate was made for `host`: by its alternative names, or if it has
    /// none by its common name.
    pub(super) fn is_for(&self, host: &str) -> bool {
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = literal.parse::<IpAddr>() {
            let matches = |bytes: &[u8]| match address {
                IpAddr::V4(address) => bytes == address.octets(),
                IpAddr::V6(address) => bytes == address.octets(),
            };
            if self.addresses.iter().any(|bytes| matches(bytes)) {
                return true;
            }
        }
        if self.dns_names.is_empty() {
            return common_name(self.subject).is_some_and(|name| name_matches(&name, literal));
        }
        self.dns_names
            .iter()
            .any(|name| name_matches(name, literal))
    }

    /// Returns what the user is shown.
    pub(super) fn info(&self) -> CertInfo {
        let digest = Sha1::of(self.der).0;
        let fingerprint: Vec<_> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        CertInfo {
            hostname: common_name(self.subject).unwrap_or_default(),
            fingerprint: fingerprint.join(":"),
            valid_from: time_text(self.not_before),
            valid_until: time_text(self.not_after),
            issuer: name_text(self.issuer),
            ascii_cert: encode_base64(self.der),
        }
    }
}

/// Compares a host with a name whose first label may be `*`, or end or begin with it.
fn name_matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim_end_matches('.').to_ascii_lowercase();
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if pattern == host {
        return true;
    }
    let (Some((first, rest)), Some((label, domain))) =
        (pattern.split_once('.'), host.split_once('.'))
    else {
        return false;
    };
    let Some((head, tail)) = first.split_once('*') else {
        return false;
    };
    // A wildcard covers one label, not of an internationalised name, and never a top domain.
    !first.starts_with("xn--")
        && !tail.contains('*')
        && rest.contains('.')
        && rest == domain
        && label.len() > head.len() + tail.len()
        && label.starts_with(head)
        && label.ends_with(tail)
        && host.parse::<IpAddr>().is_err()
}

/// Goes through a name's attributes: object identifier, tag and value.
fn attributes(name: &[u8]) -> Vec<(&[u8], u8, &[u8])> {
    let mut found = Vec::new();
    let mut sets = Der(Der(name).expect(SEQUENCE).unwrap_or_default());
    while let Some(set) = sets.expect(SET) {
        let mut pairs = Der(set);
        while let Some(pair) = pairs.expect(SEQUENCE) {
            let mut pair = Der(pair);
            if let (Some(id), Some((tag, value, _))) = (pair.expect(OBJECT_ID), pair.next()) {
                found.push((id, tag, value));
            }
        }
    }
    found
}

fn attribute(name: &[u8], wanted: &[u8]) -> Option<String> {
    let found = attributes(name);
    let (_, tag, value) = found.iter().rev().find(|(id, _, _)| *id == wanted)?;
    Some(match *tag {
        BMP_STRING => {
            let (pairs, _) = value.as_chunks::<2>();
            let units: Vec<_> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
            String::from_utf16_lossy(&units)
        }
        LATIN1_STRING => value.iter().map(|&byte| char::from(byte)).collect(),
        _ => String::from_utf8_lossy(value).into_owned(),
    })
}

fn common_name(name: &[u8]) -> Option<String> {
    attribute(name, &[0x55, 4, 3])
}

/// Writes a name as Subversion shows it: `CN, OU, O, L, ST, C(E)`.
fn name_text(name: &[u8]) -> String {
    let parts: Vec<_> = [3, 11, 10, 7, 8, 6]
        .iter()
        .filter_map(|&last| attribute(name, &[0x55, 4, last]))
        .collect();
    let mut text = parts.join(", ");
    if let Some(email) = attribute(name, EMAIL) {
        text.push_str(&format!("({email})"));
    }
    text
}

/// Reads a time: seconds since 1970.
fn time((tag, content, _): (u8, &[u8], &[u8])) -> Option<i64> {
    let digits = content.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| {
        digits
            .iter()
            .fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'))
    };
    let (year, rest) = match (tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year = number(&digits[..2]);
            (if year < 50 { 2000 } else { 1900 } + year, &digits[2..])
        }
        (GENERALIZED_TIME, 14) => (number(&digits[..4]), &digits[4..]),
        _ => return None,
    };
    let part = |at: usize| number(&rest[at..at + 2]);
    let (month, day) = (part(0), part(2));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days_from_civil(year, month, day) * 86_400 + part(4) * 3_600 + part(6) * 60 + part(8))
}

/// Days since 1970-01-01 of a date in the Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Writes a time as OpenSSL does: `Nov  3 09:52:45 2026 GMT`.
fn time_text(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400);
    let of_day = seconds.rem_euclid(86_400);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    let names = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let name = usize::try_from(month)
        .ok()
        .and_then(|month| names.get(month))
        .unwrap_or(&"???");
    format!(
        "{name} {day:2} {:02}:{:02}:{:02} {year} GMT",
        of_day / 3_600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// Fuzzing: shows a certificate.
pub(super) fn fuzz(data: &[u8]) {
    if let Some(certificate) = Certificate::parse(data) {
        certificate.info();
        certificate.is_for("www.example.org");
        certificate.is_for("127.0.0.1");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_with_one_wildcard() {
        for (pattern, host, matches) in [
            ("a.example.org", "A.Example.org", true),
            ("*.example.org", "a.example.org", true),
            ("*.example.org", "a.b.example.org", false),
            ("*.example.org", "example.org", false),
            ("w*.example.org", "www.example.org", true),
            ("w*.example.org", "w.example.org", false),
            ("*w.example.org", "www.example.org", true),
            ("*.org", "example.org", false),
            ("*", "localhost", false),
            ("xn--*.example.org", "xn--a.example.org", false),
            ("*.0.0.1", "127.0.0.1", false),
            ("localhost", "localhost", true),
            ("localhost.", "localhost", true),
            ("a", "b", false),
        ] {
            assert_eq!(name_matches(pattern, host), matches, "{pattern} {host}");
        }
    }

    #[test]
    fn times_are_read_and_written() {
        for (tag, text, seconds, shown) in [
            (UTC_TIME, "700101000000Z", 0, "Jan  1 00:00:00 1970 GMT"),
            (
                UTC_TIME,
                "261130095245Z",
                1_796_032_365,
                "Nov 30 09:52:45 2026 GMT",
            ),
            (
                UTC_TIME,
                "240229235959Z",
                1_709_251_199,
                "Feb 29 23:59:59 2024 GMT",
            ),
            (
                GENERALIZED_TIME,
                "21000301000000Z",
                4_107_542_400,
                "Mar  1 00:00:00 2100 GMT",
            ),
        ] {
            let read = time((tag, text.as_bytes(), &[])).unwrap();
            assert_eq!(read, seconds, "{text}");
            assert_eq!(time_text(read), shown);
        }
        for text in ["", "Z", "2611300952Z", "269930095245Z", "2611300952+1Z"] {
            assert_eq!(time((UTC_TIME, text.as_bytes(), &[])), None, "{text}");
        }
    }

    #[test]
    fn garbage_is_no_certificate() {
        for der in [
            &[][..],
            &[0x30],
            &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[0x30, 0x80],
        ] {
            assert!(Certificate::parse(der).is_none());
        }
    }
}
