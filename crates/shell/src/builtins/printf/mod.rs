//! `printf`

mod argument;
mod number;
mod specification;

use bstr::{BStr, BString, ByteSlice};

use self::argument::Arguments;
use self::specification::Specification;
use super::escape::{self, Outcome, Style};
use super::{Command, Run, usage};
use crate::arguments::{OptionSpec, flag};
use crate::dates::{self, Dialect, Moment, Zone};
use crate::expand::quote;
use crate::release::Heavy;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, LimitKind, Running};
use crate::variables::parse_reference;

static OPTIONS: [OptionSpec; 1] =
    [flag('v', "v", "assign the output to a variable instead of writing it").takes("var")];

pub static COMMAND: Command = Command {
    name: "printf",
    synopsis: "printf [-v var] format [arguments]",
    summary: "Write the arguments in a given format",
    options: &OPTIONS,
    run: Run::Builtin { special: false, run },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    let parsed = match usage::parse(shell, &COMMAND, words) {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let variable = parsed.value("v");
    if let Some(variable) = variable.filter(|variable| parse_reference(variable).is_none()) {
        shell.complain_of_identifier("printf", variable);
        return Ok(ExitStatus::USAGE);
    }
    let Some((format, arguments)) = parsed.operands.split_first() else {
        usage::print(shell, &COMMAND);
        return Ok(ExitStatus::USAGE);
    };
    let mut printer = Printer {
        shell,
        arguments: Arguments::new(arguments),
        out: Heavy::default(),
        failed: false,
        saved_length: 0,
    };
    printer.run(format.as_bstr())?;
    let Printer { out, failed, .. } = printer;
    let status = ExitStatus::from_bool(!failed);
    if let Some(variable) = variable {
        let stored = shell.try_assign_reference(variable, without_nul(out.into_inner()))?;
        return Ok(if stored { status } else { ExitStatus::FAILURE });
    }
    let written = shell.print("printf", &out)?;
    Ok(if written.success() { status } else { written })
}

/// A variable holds text up to the first NUL, as a C string does.
fn without_nul(mut out: Vec<u8>) -> BString {
    if let Some(end) = memchr::memchr(0, &out) {
        out.truncate(end);
    }
    out.into()
}

struct Printer<'a, 'b> {
    shell: &'a mut Shell,
    arguments: Arguments<'b>,
    out: Heavy<Vec<u8>>,
    /// Status 1 in the end.
    failed: bool,
    /// How much was there when the format was begun: a format that writes nothing and takes nothing ends.
    saved_length: usize,
}

/// Whether to go on after a part of the format.
#[derive(PartialEq, Eq)]
enum Next {
    Continue,
    End,
}

impl Printer<'_, '_> {
    /// The format is used again as long as it takes arguments and there are some left.
    fn run(&mut self, format: &BStr) -> Running<()> {
        loop {
            self.shell.control.check()?;
            let before = self.arguments.left();
            if self.once(format)? == Next::End || self.arguments.left() == 0 {
                return Ok(());
            }
            if self.arguments.left() == before {
                return Ok(());
            }
        }
    }

    fn once(&mut self, format: &[u8]) -> Running<Next> {
        let mut rest = format;
        while let Some(at) = memchr::memchr2(b'%', b'\\', rest) {
            let (plain, after) = rest.split_at(at);
            self.out.extend_from_slice(plain);
            if after.starts_with(b"\\") {
                let shell = &*self.shell;
                let mut missing = |message: &str| shell.complain(format!("printf: {message}"));
                let used = escape::decode(after, Style::Format, &mut self.out, &mut missing);
                rest = after.get(used.unwrap_or(2)..).unwrap_or_default();
            } else if let Some(rest_after) = after.strip_prefix(b"%%") {
                self.out.push(b'%');
                rest = rest_after;
            } else {
                let (specification, used) = self.read_specification(after);
                rest = after.get(used..).unwrap_or_default();
                if specification.letter == Some(b'(') {
                    self.shell.complain("printf: warning: invalid time format specification");
                    self.out.extend_from_slice(b"%(");
                    continue;
                }
                if self.convert(&specification, after)? == Next::End {
                    return Ok(Next::End);
                }
            }
        }
        self.out.extend_from_slice(rest);
        Ok(Next::Continue)
    }

    /// Takes `*` from the arguments.
    fn read_specification(&mut self, text: &[u8]) -> (Specification, usize) {
        let Printer { shell, arguments, failed, .. } = self;
        specification::read(text, || arguments.integer(shell, failed))
    }

    fn convert(&mut self, specification: &Specification, text: &[u8]) -> Running<Next> {
        let limit = self.shell.control.limits.expansion_bytes;
        let wanted = specification.width.max(specification.precision.unwrap_or(0)) as u64;
        if wanted.saturating_add(self.out.len() as u64) > limit {
            return Err(self.shell.control.exceeded(LimitKind::ExpansionBytes, limit).into());
        }
        match specification.letter {
            Some(b's') => {
                let text = self.arguments.text();
                self.pad(specification.cut(text), specification)?;
            }
            Some(b'c') => {
                let text = self.arguments.text();
                let byte = text.get(..1).unwrap_or(b"\0");
                self.pad(byte, specification)?;
            }
            Some(b'b') => return self.escaped(specification),
            Some(b'q') => {
                let quoted = quote::percent_q(self.arguments.text());
                self.pad(specification.cut(&quoted), specification)?;
            }
            Some(b'Q') => {
                let quoted = quote::percent_q(specification.cut(self.arguments.text()));
                self.pad(&quoted, specification)?;
            }
            Some(b'n') => self.store_length()?,
            Some(b'T') => self.time(specification)?,
            Some(b'd' | b'i') => {
                let number = self.arguments.integer(self.shell, &mut self.failed);
                let text = number::signed(number, specification);
                self.out.extend_from_slice(&text);
            }
            Some(letter @ (b'u' | b'o' | b'x' | b'X')) => {
                let number = self.arguments.unsigned(self.shell, &mut self.failed);
                let text = number::unsigned(number, letter, specification);
                self.out.extend_from_slice(&text);
            }
            Some(letter @ (b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A')) => {
                let number = self.arguments.float(self.shell, &mut self.failed);
                let text = number::float(number, letter, specification);
                self.out.extend_from_slice(&text);
            }
            letter => {
                self.refuse(letter, text);
                return Ok(Next::End);
            }
        }
        Ok(Next::Continue)
    }

    /// The text, filled up to the width with spaces.
    fn pad(&mut self, text: &[u8], specification: &Specification) -> Running<()> {
        let missing = specification.width.saturating_sub(text.len());
        let (before, after) = if specification.left { (0, missing) } else { (missing, 0) };
        self.fill(before)?;
        self.out.extend_from_slice(text);
        self.fill(after)
    }

    /// A width may be hundreds of megabytes: memory that takes a while to fill.
    fn fill(&mut self, mut spaces: usize) -> Running<()> {
        const STRETCH: usize = 1 << 20;
        while spaces > 0 {
            self.shell.control.check()?;
            let some = spaces.min(STRETCH);
            let filled = self.out.len() + some;
            self.out.resize(filled, b' ');
            spaces -= some;
        }
        Ok(())
    }

    fn refuse(&mut self, letter: Option<u8>, text: &[u8]) {
        self.failed = true;
        match letter {
            Some(letter) => {
                let shown = [b"printf: `", &[letter][..], b"': invalid format character"].concat();
                self.shell.complain(shown);
            }
            None => {
                self.shell.complain([b"printf: `", text, b"': missing format character"].concat());
            }
        }
    }

    fn escaped(&mut self, specification: &Specification) -> Running<Next> {
        let mut expanded = Vec::new();
        let shell = &*self.shell;
        let mut missing = |message: &str| shell.complain(format!("printf: {message}"));
        let text = self.arguments.text();
        let outcome = escape::expand(text, Style::Argument, &mut expanded, &mut missing);
        self.pad(specification.cut(&expanded), specification)?;
        Ok(if outcome == Outcome::Stop { Next::End } else { Next::Continue })
    }

    /// `%n`: how much was written so far, into the variable that the argument names.
    fn store_length(&mut self) -> Running<()> {
        let name = BString::from(self.arguments.text());
        if !name.is_empty() {
            let length = (self.out.len() - self.saved_length).to_string();
            self.failed |= !self.shell.try_assign_reference(name.as_bstr(), length.into())?;
        }
        Ok(())
    }

    /// `%(format)T`: -1 or nothing is now, -2 when the shell began.
    fn time(&mut self, specification: &Specification) -> Running<()> {
        let seconds = match self.arguments.left() {
            0 => -1,
            _ => self.arguments.integer(self.shell, &mut self.failed),
        };
        let moment = match seconds {
            -1 => Moment::from(self.shell.host.now()),
            -2 => Moment::from(self.shell.started),
            seconds => Moment::from_seconds(seconds),
        };
        let format: &[u8] = match specification.time_format.as_slice() {
            b"" => b"%X",
            format => format,
        };
        let mut text = Vec::new();
        // `TZ` counts when it is exported, as it does for the C library.
        let exported = self.shell.variables.exported_value("TZ".into());
        let otherwise = &self.shell.host.identity().time_zone;
        let zone = Zone::choose(exported.as_ref().map(|value| value.as_bstr()), otherwise);
        if let Some(local) = zone.local(moment) {
            dates::format(&mut text, format.as_bstr(), &local, Dialect::C);
        }
        // Bash formats into 128 bytes, and writes nothing when they are not enough.
        if text.len() > LONGEST_TIME {
            text.clear();
        }
        self.pad(specification.cut(&text), specification)?;
        Ok(())
    }
}

const LONGEST_TIME: usize = 127;
