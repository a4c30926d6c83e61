//! `wc`: counts lines, words, characters, bytes, and the longest line.

mod count;

use bstr::{BStr, BString, ByteSlice};

use self::count::{Columns, Counts};
use super::choice::choose;
use super::input::{self, Wording};
use super::{Command, Context, Run, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order, both, long};
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 7] = [
    both('c', "c", "bytes", "count bytes"),
    both('m', "m", "chars", "count characters"),
    both('l', "l", "lines", "count newlines"),
    long("files0-from", "read NUL-terminated names of files from F; - is standard input")
        .takes("F"),
    both('L', "L", "max-line-length", "the width of the widest line"),
    both('w', "w", "words", "count words"),
    long("total", "when to print a total: auto, always, only, never").takes("WHEN"),
];

pub static COMMAND: Command = Command {
    name: "wc",
    synopsis: "wc [OPTION]... [FILE]...",
    summary: "count lines, words and bytes of each file, and of all together",
    options: &OPTIONS,
    run: Run::Tool(run),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Total {
    Auto,
    Always,
    Only,
    Never,
}

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let arguments = arguments::parse(&OPTIONS, words, Order::Anywhere)
        .map_err(|error| error.with_hint("wc", ExitStatus::FAILURE))?;
    let columns = columns(&arguments);
    let total = total_wanted(&arguments)?;
    let names = match arguments.value("files0-from") {
        Some(list) => match listed_names(context, &arguments, list)? {
            Some(names) => names,
            None => return Ok(ExitStatus::FAILURE),
        },
        None => operands(&arguments),
    };
    let width = if total == Total::Only { 1 } else { number_width(context, columns, &names) };
    let mut report =
        Report { columns, width, total, sum: Counts::default(), status: ExitStatus(0) };
    for at in 0..names.all.len() {
        report.count_file(context, &names, at)?;
    }
    report.finish(context, names.all.len())?;
    Ok(report.status)
}

fn columns(arguments: &Arguments) -> Columns {
    let chosen = Columns {
        lines: arguments.has("l"),
        words: arguments.has("w"),
        characters: arguments.has("m"),
        bytes: arguments.has("c"),
        longest: arguments.has("L"),
    };
    if chosen == Columns::default() {
        return Columns { lines: true, words: true, bytes: true, ..chosen };
    }
    chosen
}

fn total_wanted(arguments: &Arguments) -> Result<Total, ToolError> {
    const WORDS: [(&str, Total); 4] = [
        ("auto", Total::Auto),
        ("always", Total::Always),
        ("only", Total::Only),
        ("never", Total::Never),
    ];
    match arguments.value("total") {
        None => Ok(Total::Auto),
        Some(value) => choose("wc", "total", value, &WORDS),
    }
}

/// What is to be counted.
struct Names {
    all: Vec<Name>,
    /// Where the names were read from, if not from the command line.
    list: Option<BString>,
    /// Their number was not known before they came: no widths can be planned.
    streamed: bool,
}

enum Name {
    /// Standard input without a name.
    Input,
    File(BString),
}

fn operands(arguments: &Arguments) -> Names {
    let files = arguments.operands.iter().cloned().map(Name::File);
    let all = if arguments.operands.is_empty() { vec![Name::Input] } else { files.collect() };
    Names { all, list: None, streamed: false }
}

fn listed_names(
    context: &mut Context<'_>,
    arguments: &Arguments,
    list: &BStr,
) -> Result<Option<Names>, ToolError> {
    if let Some(extra) = arguments.operands.first() {
        let message = format!(
            "extra operand {}\nfile operands cannot be combined with --files0-from",
            input::shown(extra.as_bstr())
        );
        return Err(ToolError::hinted("wc", message, ExitStatus::FAILURE));
    }
    let Some(file) = input::open(context, list, Wording::Sentence)? else { return Ok(None) };
    let mut text = Vec::new();
    if let Err(error) = file.read_within(&context.control(), &mut text) {
        input::read_failed(context, list, &error, Wording::Plain)?;
        return Ok(None);
    }
    let text = text.strip_suffix(b"\0").unwrap_or(&text);
    let parts = if text.is_empty() { Vec::new() } else { text.split(|byte| *byte == 0).collect() };
    let all = parts.into_iter().map(|name| Name::File(name.into())).collect();
    let streamed = !file.metadata().is_ok_and(|data| data.is_file());
    Ok(Some(Names { all, list: Some(list.into()), streamed }))
}

/// As many digits as the sizes of all regular files together have; seven if there is anything else, whose size
/// nobody knows yet.
fn number_width(context: &Context<'_>, columns: Columns, names: &Names) -> usize {
    let Columns { lines, words, characters, bytes, longest } = columns;
    let numbers = [lines, words, characters, bytes, longest].into_iter().filter(|on| *on).count();
    if names.streamed || names.all.is_empty() || (names.all.len() == 1 && numbers == 1) {
        return 1;
    }
    let mut minimum = 1;
    let mut total = 0_u64;
    for name in &names.all {
        let metadata = match name {
            Name::Input => context.input.metadata(),
            Name::File(operand) => input::metadata(context, operand.as_bstr()),
        };
        match metadata {
            Ok(data) if data.is_file() => total = total.saturating_add(data.size),
            Ok(_) => minimum = 7,
            Err(_) => {}
        }
    }
    total.to_string().len().max(minimum)
}

/// Names in a list have rules of their own.
fn is_bad_in_list(context: &mut Context<'_>, names: &Names, at: usize, operand: &BStr) -> bool {
    let Some(list) = &names.list else { return false };
    if operand.is_empty() {
        let number = format!(":{}: invalid zero-length file name", at + 1);
        input::complain(context, &[list, number.as_bytes()], None);
        return true;
    }
    if operand == "-" && list == "-" {
        context.complain("when reading file names from stdin, no file name of '-' allowed");
        return true;
    }
    false
}

struct Report {
    columns: Columns,
    width: usize,
    total: Total,
    sum: Counts,
    status: ExitStatus,
}

impl Report {
    fn count_file(
        &mut self,
        context: &mut Context<'_>,
        names: &Names,
        at: usize,
    ) -> Result<(), ToolError> {
        let name = names.all.get(at).unwrap_or(&Name::Input);
        let operand = match name {
            Name::Input => BStr::new("-"),
            Name::File(operand) => operand.as_bstr(),
        };
        if is_bad_in_list(context, names, at, operand) {
            self.status = ExitStatus::FAILURE;
            return Ok(());
        }
        let Some(file) = input::open(context, operand, Wording::Plain)? else {
            self.status = ExitStatus::FAILURE;
            return Ok(());
        };
        let mut reader = input::reader(context, &file);
        let (counts, result) = count::count(&file, &mut reader, self.columns);
        if let Err(error) = result {
            input::read_failed(context, operand, &error, Wording::Plain)?;
            self.status = ExitStatus::FAILURE;
        }
        self.sum.add(&counts);
        if self.total == Total::Only {
            return Ok(());
        }
        let shown = match name {
            Name::Input => None,
            Name::File(operand) => Some(operand.as_bstr()),
        };
        self.print(context, &counts, shown)
    }

    fn print(
        &self,
        context: &mut Context<'_>,
        counts: &Counts,
        name: Option<&BStr>,
    ) -> Result<(), ToolError> {
        let columns = [
            (self.columns.lines, counts.lines),
            (self.columns.words, counts.words),
            (self.columns.characters, counts.characters),
            (self.columns.bytes, counts.bytes),
            (self.columns.longest, counts.longest),
        ];
        let width = self.width;
        let numbers: Vec<String> = columns
            .iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, number)| format!("{number:width$}"))
            .collect();
        let mut line = numbers.join(" ").into_bytes();
        if let Some(name) = name {
            line.push(b' ');
            if name.contains(&b'\n') {
                line.extend_from_slice(&input::quoted(name));
            } else {
                line.extend_from_slice(name);
            }
        }
        context.output.line(&line)
    }

    fn finish(&self, context: &mut Context<'_>, files: usize) -> Result<(), ToolError> {
        match self.total {
            Total::Only => self.print(context, &self.sum, None),
            Total::Always => self.print(context, &self.sum, Some("total".into())),
            Total::Auto if files > 1 => self.print(context, &self.sum, Some("total".into())),
            Total::Auto | Total::Never => Ok(()),
        }
    }
}
