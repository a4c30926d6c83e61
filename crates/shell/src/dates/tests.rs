//! A table of dates, checked against GNU `date` when it was written: zone, text, what it means.

use bstr::ByteSlice;

use super::{Dialect, Moment, Zone, format, parse};

/// Friday, 2024-03-15 13:37:42.123456789 UTC: what "now" is in the table.
const NOW: Moment = Moment { seconds: 1_710_509_862, nanoseconds: 123_456_789 };

fn shown(zone: &str, text: &str, pattern: &str) -> String {
    let zone = Zone::named(zone.as_bytes().as_bstr());
    let moment = parse(text.as_bytes().as_bstr(), NOW, &zone);
    let Some(local) = moment.and_then(|moment| zone.local(moment)) else {
        return "invalid".to_owned();
    };
    let mut out = Vec::new();
    format(&mut out, pattern.as_bytes().as_bstr(), &local, Dialect::Gnu);
    out.to_str_lossy().into_owned()
}

#[test]
fn dates_mean_what_gnu_says() {
    let table = include_str!("dates.txt");
    let mut count = 0;
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let fields: Vec<&str> = line.split('|').collect();
        let &[zone, text, expected] = fields.as_slice() else { panic!("not a row: {line}") };
        assert_eq!(shown(zone, text, "%F %T.%N %z"), expected, "{zone}: {text}");
        count += 1;
    }
    assert!(count >= 150, "only {count} rows");
}

#[test]
fn formats_are_those_of_gnu() {
    let at = "2024-02-03 04:05:06.007 UTC";
    for (pattern, expected) in [
        ("%a %A %b %B %h", "Sat Saturday Feb February Feb"),
        (
            "%c|%D|%F|%r|%R|%T|%x|%X",
            "Sat Feb  3 04:05:06 2024|02/03/24|2024-02-03|04:05:06 AM|04:05|04:05:06|02/03/24|04:05:06",
        ),
        ("%C %d %e %g %G %H %I %j %k %l", "20 03  3 24 2024 04 04 034  4  4"),
        (
            "%m %M %N %p %P %q %s %S %u %U %V %w %W %y %Y",
            "02 05 007000000 AM am 1 1706933106 06 6 04 05 6 05 24 2024",
        ),
        ("%-d %_d %03d %^a %#Z %^B %-m", "3  3 003 SAT utc FEBRUARY 2"),
        ("%3N %6N %1N %12N", "007 007000 0 007000000000"),
        ("%z %:z %::z %:::z %Z", "+0000 +00:00 +00:00:00 +00 UTC"),
        ("%10a|%-10a|%010d|%_10d", "       Sat|Sat|0000000003|         3"),
        ("%% %n%t|%", "% \n\t|%"),
        ("%Q %5 %Ed %OY %J", "%Q   %5 %Ed %OY %J"),
        ("%+4Y %+6Y %12F", "2024 +02024 002024-02-03"),
    ] {
        assert_eq!(shown("UTC", at, pattern), expected, "{pattern}");
    }
}

#[test]
fn the_c_library_has_fewer_conversions() {
    let local = Zone::utc().local(NOW).expect("a year that fits");
    let mut out = Vec::new();
    format(&mut out, b"%F %N %q %:z".as_bstr(), &local, Dialect::C);
    assert_eq!(out.as_bstr(), "2024-03-15 %N %q %:z");
}

#[test]
fn zones_by_name_and_by_rule() {
    for (zone, expected) in [
        ("America/New_York", "2024-07-03 05:46:40 -0400 EDT"),
        (":America/Chicago", "2024-07-03 04:46:40 -0500 CDT"),
        ("america/new_york", "2024-07-03 09:46:40 +0000 america"),
        ("Foo", "2024-07-03 09:46:40 +0000 Foo"),
        ("Foo3", "2024-07-03 06:46:40 -0300 Foo"),
        ("X", "2024-07-03 09:46:40 +0000 "),
        ("", "2024-07-03 09:46:40 +0000 UTC"),
        ("<+03>-3", "2024-07-03 12:46:40 +0300 +03"),
        ("EST5EDT", "2024-07-03 05:46:40 -0400 EDT"),
        ("AAA5BBB", "2024-07-03 05:46:40 -0400 BBB"),
        ("ABC5:30:15", "2024-07-03 04:16:25 -0530 ABC"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2024-07-03 11:46:40 +0200 CEST"),
        ("../../etc/passwd", "2024-07-03 09:46:40 +0000 "),
    ] {
        assert_eq!(shown(zone, "@1720000000", "%F %T %z %Z"), expected, "{zone}");
    }
}

#[test]
fn nothing_panics() {
    let pieces = [
        "9223372036854775807",
        "-",
        "+",
        "@",
        "(",
        "TZ=\"",
        "year",
        "ago",
        ":",
        "next",
        "fri",
        "1.9999999999",
        "T",
        "/",
        "\u{e9}",
    ];
    for one in pieces {
        for two in pieces {
            for three in pieces {
                shown("Europe/Berlin", &format!("{one} {two}{three}"), "%c");
            }
        }
    }
    for year in ["2147485547", "2147485548", "99999", "0"] {
        shown("America/New_York", &format!("{year}-01-01 -1 year"), "%c %V %j");
    }
}
