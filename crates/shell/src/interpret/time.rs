//! `time`

use std::borrow::Cow;
use std::time::{Duration, Instant};

use bstr::{BStr, ByteSlice};
use exacta_syntax::ast::TimeFormat;

use crate::shell::Shell;
use crate::status::Flow;

impl Shell {
    /// Runs something and says how long it took, on standard error.
    pub(super) fn time(&mut self, format: TimeFormat, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let (began, worked) = (Instant::now(), self.host.processor_time());
        let flow = run(self)?;
        let real = began.elapsed();
        let used = self.host.processor_time().saturating_sub(worked);
        let pattern = match format {
            TimeFormat::Posix => "real %2R\nuser %2U\nsys %2S".into(),
            TimeFormat::Bash => self
                .scalar_of("TIMEFORMAT".into())
                .map_or_else(|| "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".into(), Cow::into_owned),
        };
        if !pattern.is_empty() {
            let mut text = self.formatted(pattern.as_bstr(), real, used);
            text.push(b'\n');
            self.write_error(&text);
        }
        Ok(flow)
    }

    /// `TIMEFORMAT`: `%[precision][l]R`, `U`, `S`, `%P`, `%%`. The kernel's own part is in the user's: see `times`.
    fn formatted(&self, pattern: &BStr, real: Duration, used: Duration) -> Vec<u8> {
        let mut text = Vec::new();
        let mut bytes = pattern.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                text.push(byte);
                continue;
            }
            let mut precision = 3;
            if let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
                precision = usize::from(digit - b'0').min(3);
            }
            let long = bytes.next_if_eq(&b'l').is_some();
            match bytes.next() {
                Some(b'R') => text.extend(seconds(real, precision, long).bytes()),
                Some(b'U') => text.extend(seconds(used, precision, long).bytes()),
                Some(b'S') => text.extend(seconds(Duration::ZERO, precision, long).bytes()),
                Some(b'P') => {
                    let share = 100.0 * used.as_secs_f64() / real.as_secs_f64().max(1e-9);
                    text.extend_from_slice(format!("{share:.2}").as_bytes());
                }
                Some(b'%') | None => text.push(b'%'),
                Some(other) => {
                    self.complain(format!(
                        "TIMEFORMAT: `{}': invalid format character",
                        char::from(other)
                    ));
                    return Vec::new();
                }
            }
        }
        text
    }
}

fn seconds(time: Duration, precision: usize, long: bool) -> String {
    let whole = time.as_secs_f64();
    if long {
        let minutes = time.as_secs() / 60;
        let rest = whole - (minutes * 60) as f64;
        format!("{minutes}m{rest:.precision$}s")
    } else {
        format!("{whole:.precision$}")
    }
}
