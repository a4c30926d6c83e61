//! Signals by name and number.

/// Linux on the usual machines. Real-time signals are named by their distance from either end.
static NAMES: [(i32, &str); 31] = [
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (4, "ILL"),
    (5, "TRAP"),
    (6, "ABRT"),
    (7, "BUS"),
    (8, "FPE"),
    (9, "KILL"),
    (10, "USR1"),
    (11, "SEGV"),
    (12, "USR2"),
    (13, "PIPE"),
    (14, "ALRM"),
    (15, "TERM"),
    (16, "STKFLT"),
    (17, "CHLD"),
    (18, "CONT"),
    (19, "STOP"),
    (20, "TSTP"),
    (21, "TTIN"),
    (22, "TTOU"),
    (23, "URG"),
    (24, "XCPU"),
    (25, "XFSZ"),
    (26, "VTALRM"),
    (27, "PROF"),
    (28, "WINCH"),
    (29, "IO"),
    (30, "PWR"),
    (31, "SYS"),
];

const REAL_TIME_MINIMUM: i32 = 34;
const REAL_TIME_MAXIMUM: i32 = 64;

/// The name without `SIG`.
pub fn signal_name(number: i32) -> Option<String> {
    if let Some((_, name)) = NAMES.iter().find(|(one, _)| *one == number) {
        return Some((*name).into());
    }
    match number {
        REAL_TIME_MINIMUM => Some("RTMIN".into()),
        REAL_TIME_MAXIMUM => Some("RTMAX".into()),
        35..=49 => Some(format!("RTMIN+{}", number - REAL_TIME_MINIMUM)),
        50..=63 => Some(format!("RTMAX-{}", REAL_TIME_MAXIMUM - number)),
        _ => None,
    }
}

/// `TERM`, `sigterm` or `SIGTERM`; numbers are not names.
pub fn signal_number(name: &[u8]) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let bare = upper.strip_prefix(b"SIG").unwrap_or(&upper);
    signal_numbers().find(|number| signal_name(*number).is_some_and(|one| one.as_bytes() == bare))
}

/// Every signal there is, in order.
pub fn signal_numbers() -> impl Iterator<Item = i32> {
    (1..=REAL_TIME_MAXIMUM).filter(|number| !(32..REAL_TIME_MINIMUM).contains(number))
}

/// What `jobs` says of a process that a signal ended.
pub fn signal_description(number: i32) -> String {
    let text = match number {
        1 => "Hangup",
        2 => "Interrupt",
        3 => "Quit",
        4 => "Illegal instruction",
        5 => "Trace/breakpoint trap",
        6 => "Aborted",
        7 => "Bus error",
        8 => "Floating point exception",
        9 => "Killed",
        10 => "User defined signal 1",
        11 => "Segmentation fault",
        12 => "User defined signal 2",
        13 => "Broken pipe",
        14 => "Alarm clock",
        15 => "Terminated",
        _ => return format!("Unknown signal {number}"),
    };
    text.into()
}
