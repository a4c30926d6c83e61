//! `seq`: numbers from one to another.

mod decimal;
mod format;

use bstr::{BStr, BString, ByteSlice};

use self::decimal::Decimal;
use self::format::Format;
use super::digits::Counter;
use super::{Command, Context, Run, ToolError, input};
use crate::arguments::{self, Arguments, OptionSpec, Order, both};
use crate::float::{self, FloatFormat};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 3] = [
    both('f', "f", "format", "write numbers by a printf format: %e, %f or %g").takes("FORMAT"),
    both('s', "s", "separator", "put STRING between numbers, not a newline").takes("STRING"),
    both('w', "w", "equal-width", "the same width for all, with zeros in front"),
];

pub static COMMAND: Command = Command {
    name: "seq",
    synopsis: "seq [OPTION]... [FIRST [INCREMENT]] LAST",
    summary: "print numbers from FIRST to LAST in steps of INCREMENT",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, &protect_negative(words), Order::OptionsFirst)
        .map_err(|error| error.with_hint("seq", ExitStatus::FAILURE))?;
    let format = arguments.value("f").map(Format::parse).transpose()?;
    let operands = operands(&arguments)?;
    if format.is_some() && arguments.has("w") {
        let message = "format string may not be specified when printing equal width strings";
        return Err(wrong_use(message));
    }
    let mut printer = Printer {
        separator: arguments.value("s").map_or_else(|| b"\n".to_vec(), |value| value.to_vec()),
        format,
        first: true,
        text: Vec::new(),
    };
    match Decimals::new(&operands) {
        Some(numbers) => numbers.print(context, &mut printer, arguments.has("w"))?,
        None => print_floats(context, &mut printer, &operands)?,
    }
    printer.finish(context)?;
    Ok(ExitStatus::SUCCESS)
}

fn wrong_use(message: impl Into<String>) -> ToolError {
    ToolError::hinted("seq", message, ExitStatus::FAILURE)
}

/// `-5` and `-.5` are numbers: options end before them.
fn protect_negative(words: &[BString]) -> Vec<BString> {
    let mut protected = words.to_vec();
    let is_number = |word: &BString| matches!(word.as_slice(), [b'-', b'.' | b'0'..=b'9', ..]);
    let mut at = 0;
    while let Some(word) = protected.get(at) {
        if is_number(word) {
            protected.insert(at, "--".into());
            break;
        }
        if word == "--" || !word.starts_with(b"-") {
            break;
        }
        let takes_next = matches!(word.as_slice(), b"-f" | b"-s" | b"--format" | b"--separator");
        at += if takes_next { 2 } else { 1 };
    }
    protected
}

/// A number as it was given.
struct Operand {
    /// `None`: not a decimal number that fits, but a float all the same.
    decimal: Option<Decimal>,
    float: f64,
}

struct Operands {
    first: Operand,
    step: Operand,
    last: Operand,
}

fn operands(arguments: &Arguments) -> Result<Operands, ToolError> {
    let one = || Operand { decimal: Some(Decimal::one()), float: 1.0 };
    let parse = |word: &BString| parse_operand(word.as_bstr());
    let operands = match arguments.operands.as_slice() {
        [] => return Err(wrong_use("missing operand")),
        [last] => Operands { first: one(), step: one(), last: parse(last)? },
        [first, last] => Operands { first: parse(first)?, step: one(), last: parse(last)? },
        [first, step, last] => {
            let operands =
                Operands { first: parse(first)?, step: parse(step)?, last: parse(last)? };
            if operands.step.float == 0.0 {
                let step = input::shown(step.as_bstr());
                return Err(wrong_use(format!("invalid Zero increment value: {step}")));
            }
            operands
        }
        [_, _, _, extra, ..] => {
            return Err(wrong_use(format!("extra operand {}", input::shown(extra.as_bstr()))));
        }
    };
    Ok(operands)
}

fn parse_operand(word: &BStr) -> Result<Operand, ToolError> {
    let shown = input::shown(word);
    let float = float::parse(word)
        .ok_or_else(|| wrong_use(format!("invalid floating point argument: {shown}")))?;
    if float.is_nan() {
        return Err(wrong_use(format!("invalid 'not-a-number' argument: {shown}")));
    }
    Ok(Operand { decimal: word.to_str().ok().and_then(Decimal::parse), float })
}

/// Collects the text and writes it in large pieces.
struct Printer {
    separator: Vec<u8>,
    format: Option<Format>,
    first: bool,
    text: Vec<u8>,
}

const ENOUGH: usize = 32 << 10;

impl Printer {
    fn begin(&mut self, context: &mut Context<'_>) -> Result<(), ToolError> {
        if self.text.len() >= ENOUGH {
            context.output.write(&self.text)?;
            self.text.clear();
        }
        if !self.first {
            self.text.extend_from_slice(&self.separator);
        }
        self.first = false;
        Ok(())
    }

    fn finish(&mut self, context: &mut Context<'_>) -> Result<(), ToolError> {
        if !self.first {
            self.text.push(b'\n');
        }
        context.output.write(&self.text)
    }
}

/// All three numbers as integers of the same scale.
struct Decimals {
    first: i128,
    step: i128,
    last: i128,
    /// Places of the scale, and those that are printed.
    places: u32,
    shown: u32,
    width: usize,
    minus_zero: bool,
}

impl Decimals {
    fn new(operands: &Operands) -> Option<Self> {
        let first = operands.first.decimal?;
        let step = operands.step.decimal?;
        let shown = first.places.max(step.places);
        let (last, places, width) = match operands.last.decimal {
            Some(last) => {
                let places = shown.max(last.places);
                (last.scaled(places)?, places, last.width(shown))
            }
            None if operands.last.float == f64::INFINITY => (i128::MAX, shown, 0),
            None if operands.last.float == f64::NEG_INFINITY => (i128::MIN, shown, 0),
            None => return None,
        };
        Some(Decimals {
            first: first.scaled(places)?,
            step: step.scaled(places)?,
            last,
            places,
            shown,
            width: first.width(shown).max(width),
            minus_zero: first.negative && first.digits == 0,
        })
    }

    fn print(
        &self,
        context: &mut Context<'_>,
        printer: &mut Printer,
        equal_width: bool,
    ) -> Result<(), ToolError> {
        let width = if equal_width { self.width } else { 0 };
        if self.places == 0
            && self.step == 1
            && self.first >= 0
            && !self.minus_zero
            && printer.format.is_none()
        {
            return self.count_up(context, printer, width);
        }
        // What is printed has fewer places only if LAST has more: those are zeros.
        let hidden = 10_i128.checked_pow(self.places - self.shown).unwrap_or(1);
        let mut number = Some(self.first);
        let mut minus_zero = self.minus_zero;
        while let Some(value) = number.filter(|value| self.is_within(*value)) {
            printer.begin(context)?;
            match &printer.format {
                None => {
                    let digits = value / hidden;
                    decimal::write(&mut printer.text, digits, self.shown, width, minus_zero);
                }
                Some(format) => {
                    let mut exact = Vec::new();
                    decimal::write(&mut exact, value, self.places, 0, minus_zero);
                    let float = exact.to_str_lossy().parse().unwrap_or(f64::NAN);
                    printer.text.extend_from_slice(&format.apply(float));
                }
            }
            minus_zero = false;
            number = value.checked_add(self.step);
        }
        Ok(())
    }

    fn is_within(&self, value: i128) -> bool {
        if self.step < 0 { value >= self.last } else { value <= self.last }
    }

    /// Natural numbers, counted in their digits: much quicker than writing each anew.
    fn count_up(
        &self,
        context: &mut Context<'_>,
        printer: &mut Printer,
        width: usize,
    ) -> Result<(), ToolError> {
        let mut digits = Vec::new();
        decimal::write(&mut digits, self.first, 0, width, false);
        let mut counter = Counter::new(&digits, 0, b'0', &printer.separator);
        let mut number = self.first;
        while number < self.last {
            // As many as fill the buffer, with nothing else to think about.
            let room = ENOUGH.saturating_sub(printer.text.len()) / counter.text().len() + 1;
            let left = self.last - number;
            for _ in 0..room.min(usize::try_from(left).unwrap_or(usize::MAX)) {
                printer.text.extend_from_slice(counter.text());
                counter.increment();
                number += 1;
            }
            context.output.write(&printer.text)?;
            printer.text.clear();
        }
        if number == self.last {
            printer.first = false;
            printer.text.extend_from_slice(counter.number());
        }
        Ok(())
    }
}

fn print_floats(
    context: &mut Context<'_>,
    printer: &mut Printer,
    operands: &Operands,
) -> Result<(), ToolError> {
    let usual = FloatFormat { conversion: b'g', ..FloatFormat::default() };
    let Operands { first, step, last } = operands;
    let mut count = 0_u64;
    loop {
        let number = first.float + count as f64 * step.float;
        let beyond = if step.float < 0.0 { number < last.float } else { number > last.float };
        if beyond || number.is_nan() {
            return Ok(());
        }
        printer.begin(context)?;
        let text = match &printer.format {
            None => usual.format(number).into_bytes(),
            Some(format) => format.apply(number),
        };
        printer.text.extend_from_slice(&text);
        count += 1;
    }
}
