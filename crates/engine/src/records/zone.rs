//! The operator's own time zone, for lists that a person reads. Rules and data come from the binary itself: of the
//! machine only the name of the zone is asked.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator's clock and not a script's: the name of its zone, and nothing else, is read"
)]

use jiff::Timestamp;
use jiff::tz::TimeZone;

#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

impl Zone {
    /// `TZ`, else what `/etc/localtime` is a link to, else UTC.
    pub fn of_operator() -> Self {
        let variable = std::env::var("TZ").ok();
        let link = || Some(std::fs::read_link("/etc/localtime").ok()?.to_str()?.to_owned());
        match variable.or_else(link) {
            Some(text) => Zone::named(&text),
            None => Zone(TimeZone::UTC),
        }
    }

    /// A name (`Europe/Paris`), the path of its file, or a rule (`CET-1CEST,M3.5.0,M10.5.0/3`).
    pub fn named(text: &str) -> Self {
        let text = text.strip_prefix(':').unwrap_or(text);
        let name = text.rsplit_once("zoneinfo/").map_or(text, |(_, name)| name);
        let zone = TimeZone::get(name).or_else(|_| TimeZone::posix(name));
        Zone(zone.unwrap_or(TimeZone::UTC))
    }

    /// `2026-11-15 23:04:53`
    pub fn show(&self, seconds: i64) -> String {
        match Timestamp::from_second(seconds) {
            Ok(time) => time.to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
            Err(_) => "-".to_owned(),
        }
    }

    /// RFC 3339, UTC, for programs.
    pub fn exact(seconds: i64) -> Option<String> {
        Timestamp::from_second(seconds).ok().map(|time| time.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_by_name_by_path_and_by_rule() {
        let shown = |zone: &str| Zone::named(zone).show(1_700_000_000);
        assert_eq!(shown("UTC"), "2023-11-14 22:13:20");
        assert_eq!(shown(":Europe/Berlin"), "2023-11-14 23:13:20");
        assert_eq!(shown("/usr/share/zoneinfo/Asia/Tokyo"), "2023-11-15 07:13:20");
        assert_eq!(shown("XYZ-2"), "2023-11-15 00:13:20");
        assert_eq!(shown("nonsense nowhere"), "2023-11-14 22:13:20");
        assert_eq!(Zone::exact(0).as_deref(), Some("1970-01-01T00:00:00Z"));
    }
}
