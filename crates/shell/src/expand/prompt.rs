//! Prompts: the backslash escapes of `PS1`, `PS4` and `${x@P}`, then the expansions of double quotes.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Command, RedirectKind};
use exacta_syntax::{Limits, ParseOptions};

use crate::shell::Shell;
use crate::status::Running;

impl Shell {
    /// The text of a prompt as bash would show it.
    pub(crate) fn expand_prompt(&mut self, text: &BStr) -> Running<BString> {
        let decoded = self.decode_prompt(text);
        if !self.options.promptvars || decoded.find_byteset(b"$`\\").is_none() {
            return Ok(decoded);
        }
        self.expand_as_quoted(decoded.as_bstr())
    }

    /// Text that becomes known late, expanded as inside double quotes. A here-document is exactly that, and
    /// lets the text hold any quotes.
    fn expand_as_quoted(&mut self, text: &BStr) -> Running<BString> {
        let mut script = Vec::with_capacity(text.len() + 16);
        script.extend_from_slice(b": <<\x01\n");
        script.extend_from_slice(text);
        script.extend_from_slice(b"\n\x01\n");
        let options = ParseOptions { extglob: self.options.extglob, posix: false };
        let Ok(list) = exacta_syntax::parse(&script, options, Limits::default()) else {
            return Ok(text.into());
        };
        let document =
            list.items.first().and_then(|item| match &item.chain.first.stages.first()?.command {
                Command::Simple(command) => match &command.redirects.first()?.kind {
                    RedirectKind::HereDocument(document) => Some(document),
                    _ => None,
                },
                _ => None,
            });
        let Some(document) = document else { return Ok(text.into()) };
        let mut expanded = self.expand_here_document(document)?;
        if expanded.last() == Some(&b'\n') {
            expanded.pop();
        }
        Ok(expanded)
    }

    fn decode_prompt(&self, text: &BStr) -> BString {
        let mut result = BString::default();
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'\\' {
                result.push(byte);
                continue;
            }
            let Some((&letter, after)) = after.split_first() else {
                result.push(b'\\');
                break;
            };
            rest = after;
            match letter {
                b'D' if rest.starts_with(b"{") => {
                    let end = rest.find_byte(b'}').unwrap_or(rest.len());
                    let format = rest.get(1..end).unwrap_or_default();
                    result.extend_from_slice(self.formatted_time(format).as_bytes());
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                b'0'..=b'7' => {
                    let length = 1 + rest
                        .iter()
                        .take(2)
                        .take_while(|byte| (b'0'..=b'7').contains(byte))
                        .count();
                    let digits = text_digits(letter, rest, length - 1);
                    result.push(digits);
                    rest = rest.get(length - 1..).unwrap_or_default();
                }
                _ => {
                    let start = result.len();
                    self.push_prompt_escape(letter, &mut result);
                    if self.options.promptvars {
                        protect(&mut result, start);
                    }
                }
            }
        }
        result
    }

    fn push_prompt_escape(&self, letter: u8, result: &mut BString) {
        let identity = self.host.identity();
        match letter {
            b'a' => result.push(7),
            b'e' => result.push(27),
            b'n' => result.push(b'\n'),
            b'r' => result.push(b'\r'),
            b'\\' => result.push(b'\\'),
            b'[' | b']' => {}
            b'u' => result.extend_from_slice(&identity.user_name),
            b'H' => result.extend_from_slice(&identity.host_name),
            b'h' => {
                let short = identity.host_name.split_str(b".").next().unwrap_or_default();
                result.extend_from_slice(short);
            }
            b'w' => result.extend_from_slice(&self.directory_from_home()),
            b'W' => {
                let directory = self.directory_from_home();
                let last = directory.rsplit_str(b"/").next().filter(|name| !name.is_empty());
                result.extend_from_slice(last.unwrap_or(&directory));
            }
            b'$' => result.push(if identity.user_id == 0 { b'#' } else { b'$' }),
            b's' => {
                let name = self.name.rsplit_str(b"/").next().unwrap_or_default();
                result.extend_from_slice(name);
            }
            b'v' => result.extend_from_slice(b"5.2"),
            b'V' => result.extend_from_slice(b"5.2.15"),
            b'd' => result.extend_from_slice(self.formatted_time(b"%a %b %d").as_bytes()),
            b't' => result.extend_from_slice(self.formatted_time(b"%H:%M:%S").as_bytes()),
            b'T' => result.extend_from_slice(self.formatted_time(b"%I:%M:%S").as_bytes()),
            b'@' => result.extend_from_slice(self.formatted_time(b"%I:%M %p").as_bytes()),
            b'A' => result.extend_from_slice(self.formatted_time(b"%H:%M").as_bytes()),
            b'j' => result.push(b'0'),
            b'l' => result.extend_from_slice(b"tty"),
            b'!' => {
                let next = if self.options.history {
                    self.history_number() + usize::from(!self.history.holds_current)
                } else {
                    1
                };
                result.extend_from_slice(next.to_string().as_bytes());
            }
            b'#' => result.push(b'1'),
            other => result.extend_from_slice(&[b'\\', other]),
        }
    }

    /// The working directory, with a tilde for the home directory.
    fn directory_from_home(&self) -> BString {
        let directory = &self.directory;
        let home = self.expand_tilde(BStr::new(b""));
        match directory.strip_prefix(home.as_bytes()) {
            Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with(b"/")) => {
                let mut short = BString::from("~");
                short.extend_from_slice(rest);
                short
            }
            _ => directory.clone(),
        }
    }

    fn formatted_time(&self, format: &[u8]) -> String {
        let now = self.host.now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let format = if format.is_empty() { b"%H:%M:%S" } else { format };
        self.time_as(format, now.unwrap_or_default().as_secs())
    }

    /// Seconds since 1970 by a format of `strftime`.
    pub(crate) fn time_as(&self, format: &[u8], seconds: u64) -> String {
        let zone_name = match self.plain_value("TZ") {
            Some(zone) => zone.to_string(),
            None => self.host.identity().time_zone.clone(),
        };
        let zone = jiff::tz::TimeZone::get(&zone_name).unwrap_or(jiff::tz::TimeZone::UTC);
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let Ok(time) = jiff::Timestamp::from_second(seconds) else { return String::new() };
        jiff::fmt::strtime::format(format, &time.to_zoned(zone)).unwrap_or_default()
    }
}

/// Up to three octal digits as one byte.
fn text_digits(first: u8, rest: &[u8], more: usize) -> u8 {
    rest.iter()
        .take(more)
        .fold(u32::from(first - b'0'), |number, digit| number * 8 + u32::from(digit - b'0'))
        as u8
}

/// What an escape stands for is not expanded once more.
fn protect(text: &mut BString, start: usize) {
    let made: Vec<u8> = text.drain(start..).collect();
    for byte in made {
        if matches!(byte, b'$' | b'`' | b'\\' | b'"') {
            text.push(b'\\');
        }
        text.push(byte);
    }
}
