//! `uniq`: equal lines in a row as one, counted, or only those that are repeated.

use bstr::{BStr, BString, ByteSlice};
use memchr::memchr;

use super::choice::choose;
use super::digits::push_padded;
use super::input::{self, Wording};
use super::{Command, Context, Output, Run, ToolError};
use crate::arguments::{self, Arguments, OptionSpec, Order, ValueSpec, both, flag, long};
use crate::filesystem::OpenOptions;
use crate::lines::LineReader;
use crate::status::ExitStatus;

static OPTIONS: [OptionSpec; 11] = [
    both('c', "c", "count", "put the number of lines in front of each"),
    both('d', "d", "repeated", "print only repeated lines, each once"),
    flag('D', "D", "print all repeated lines"),
    OptionSpec { value: ValueSpec::Optional("METHOD"), id: "D", ..ALL_REPEATED },
    both('f', "f", "skip-fields", "do not compare the first N fields").takes("N"),
    long("group", "print all lines, groups set apart: separate, prepend, append, both")
        .may_take("METHOD"),
    both('i', "i", "ignore-case", "small and large letters are the same"),
    both('s', "s", "skip-chars", "do not compare the first N bytes").takes("N"),
    both('u', "u", "unique", "print only lines that are not repeated"),
    both('w', "w", "check-chars", "compare no more than N bytes").takes("N"),
    both('z', "z", "zero-terminated", "lines end with NUL, not newline"),
];

const ALL_REPEATED: OptionSpec =
    long("all-repeated", "the same, groups set apart: none, prepend, separate");

pub static COMMAND: Command = Command {
    name: "uniq",
    synopsis: "uniq [OPTION]... [INPUT [OUTPUT]]",
    summary: "print equal lines that follow each other once",
    options: &OPTIONS,
    run: Run::Tool(run),
};

fn run(context: &mut Context<'_>, words: &[BString]) -> Result<ExitStatus, ToolError> {
    let words = translate_obsolete(words);
    let arguments = arguments::parse(&OPTIONS, &words, Order::Anywhere)
        .map_err(|error| error.with_hint("uniq", ExitStatus::FAILURE))?;
    let settings = Settings::new(&arguments)?;
    let source = arguments.operands.first().map_or(BStr::new("-"), |name| name.as_bstr());
    let Some(file) = input::open(context, source, Wording::Plain)? else {
        return Ok(ExitStatus::FAILURE);
    };
    let target = arguments.operands.get(1).filter(|name| *name != "-");
    let mut output = match target {
        None => None,
        Some(name) => {
            let options = OpenOptions::writing(context.masked(0o666));
            match context.open_with(name.as_bstr(), options) {
                Ok(file) => Some(Output::new(file, context.control())),
                Err(error) => {
                    context.complain_of(name.as_bstr(), &error);
                    return Ok(ExitStatus::FAILURE);
                }
            }
        }
    };
    let mut reader = input::reader(context, &file).separated_by(settings.separator);
    let mut printer = Printer::new(&settings);
    let out = output.as_mut().unwrap_or(&mut context.output);
    if let Err(error) = copy(&mut reader, &mut printer, out)? {
        context.interrupted(&error)?;
        input::complain(context, &[b"error reading ", &input::quoted(source)], None);
        return Ok(ExitStatus::FAILURE);
    }
    if let Some(output) = &mut output {
        output.flush()?;
    }
    Ok(ExitStatus::SUCCESS)
}

/// Which lines are the same, and which are printed.
struct Settings {
    skip_fields: usize,
    skip_bytes: usize,
    compare_bytes: usize,
    ignore_case: bool,
    count: bool,
    print_unique: bool,
    print_first_repeated: bool,
    print_later_repeated: bool,
    /// `-D`: where empty lines go between groups of repeated lines.
    delimit: Delimit,
    /// `--group`: the same for all groups.
    group: Option<Delimit>,
    separator: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimit {
    None,
    Prepend,
    Append,
    Separate,
    Both,
}

impl Settings {
    fn new(arguments: &Arguments) -> Result<Self, ToolError> {
        let hint = |message: &str| ToolError::hinted("uniq", message, ExitStatus::FAILURE);
        if let Some(extra) = arguments.operands.get(2) {
            return Err(hint(&format!("extra operand {}", input::shown(extra.as_bstr()))));
        }
        let has = |id: &str| arguments.has(id);
        let settings = Settings {
            skip_fields: number(arguments, "f", "fields to skip")?.unwrap_or(0),
            skip_bytes: number(arguments, "s", "bytes to skip")?.unwrap_or(0),
            compare_bytes: number(arguments, "w", "bytes to compare")?.unwrap_or(usize::MAX),
            ignore_case: has("i"),
            count: has("c"),
            print_unique: !has("d") && !has("D"),
            print_first_repeated: !has("u"),
            print_later_repeated: has("D"),
            delimit: match arguments.value("D") {
                Some(value) => choose("uniq", "all-repeated", value, &REPEATED_METHODS)?,
                None => Delimit::None,
            },
            group: match arguments.value("group") {
                Some(value) => Some(choose("uniq", "group", value, &GROUP_METHODS)?),
                None => has("group").then_some(Delimit::Separate),
            },
            separator: if has("z") { 0 } else { b'\n' },
        };
        if settings.group.is_some() && (has("c") || has("d") || has("D") || has("u")) {
            return Err(hint("--group is mutually exclusive with -c/-d/-D/-u"));
        }
        if settings.count && settings.print_later_repeated {
            return Err(hint("printing all duplicated lines and repeat counts is meaningless"));
        }
        Ok(settings)
    }

    /// What of the line is compared.
    fn compared<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
        let mut rest = line.strip_suffix(&[self.separator]).unwrap_or(line);
        for _ in 0..self.skip_fields {
            if rest.is_empty() {
                break;
            }
            let blanks = rest.iter().take_while(|byte| is_blank(byte)).count();
            let word = rest.iter().skip(blanks).take_while(|byte| !is_blank(byte)).count();
            rest = rest.get(blanks + word..).unwrap_or_default();
        }
        rest = rest.get(self.skip_bytes..).unwrap_or_default();
        rest.get(..self.compare_bytes).unwrap_or(rest)
    }

    fn is_same(&self, one: &[u8], other: &[u8]) -> bool {
        if self.ignore_case { one.eq_ignore_ascii_case(other) } else { one == other }
    }
}

const REPEATED_METHODS: [(&str, Delimit); 3] =
    [("none", Delimit::None), ("prepend", Delimit::Prepend), ("separate", Delimit::Separate)];
const GROUP_METHODS: [(&str, Delimit); 4] = [
    ("prepend", Delimit::Prepend),
    ("append", Delimit::Append),
    ("separate", Delimit::Separate),
    ("both", Delimit::Both),
];

/// A number that is too large is as good as the largest.
fn number(arguments: &Arguments, id: &str, what: &str) -> Result<Option<usize>, ToolError> {
    let mut last = None;
    for value in arguments.values(id) {
        let digits = value.strip_prefix(b"+").unwrap_or(value);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(ToolError::usage(format!("{value}: invalid number of {what}")));
        }
        last = Some(digits.to_str_lossy().parse().unwrap_or(usize::MAX));
    }
    Ok(last)
}

/// `-N` is an old way to write `-f N`, `+N` for `-s N`.
fn translate_obsolete(words: &[BString]) -> Vec<BString> {
    let mut translated = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            translated.push(word.clone());
            translated.extend(rest.cloned());
            break;
        }
        // The value of another option is not looked at.
        let takes_next = matches!(
            word.as_slice(),
            b"-f" | b"-s" | b"-w" | b"--skip-fields" | b"--skip-chars" | b"--check-chars"
        );
        if takes_next {
            translated.push(word.clone());
            translated.extend(rest.next().cloned());
            continue;
        }
        let number = word.get(1..).unwrap_or_default();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, letters) = number.split_at(digits);
        let option: &[u8] = match word.first() {
            Some(b'-') if letters.iter().all(u8::is_ascii_alphabetic) => b"-f",
            Some(b'+') if letters.is_empty() => b"-s",
            _ => b"",
        };
        if option.is_empty() || digits.is_empty() {
            translated.push(word.clone());
            continue;
        }
        translated.push([option, digits].concat().into());
        if !letters.is_empty() {
            translated.push([b"-", letters].concat().into());
        }
    }
    translated
}

/// The outer error ends the tool, the inner one is a failed read.
type Copied = Result<std::io::Result<()>, ToolError>;

fn copy(reader: &mut LineReader, printer: &mut Printer<'_>, output: &mut Output) -> Copied {
    // The line before, carried over from one block to the next.
    let mut carried = Vec::new();
    let mut any = false;
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(error) => return Ok(Err(error)),
        };
        let mut before = any.then_some(carried.as_slice());
        let mut rest = block;
        while !rest.is_empty() {
            let end = memchr(printer.settings.separator, rest).map_or(rest.len(), |at| at + 1);
            let (line, behind) = rest.split_at(end);
            rest = behind;
            before = Some(match before {
                None => printer.first(line),
                Some(before) => printer.next(before, line),
            });
        }
        any = true;
        carried = before.unwrap_or_default().to_vec();
        output.write(&printer.text)?;
        printer.text.clear();
    }
    if any {
        printer.last(&carried);
        output.write(&printer.text)?;
    }
    Ok(Ok(()))
}

struct Printer<'a> {
    settings: &'a Settings,
    /// Lines after the first of this group.
    repeats: u64,
    first_group: bool,
    /// What is ready to be written.
    text: Vec<u8>,
}

impl<'a> Printer<'a> {
    fn new(settings: &'a Settings) -> Self {
        Printer { settings, repeats: 0, first_group: true, text: Vec::new() }
    }

    fn first<'b>(&mut self, line: &'b [u8]) -> &'b [u8] {
        if let Some(group) = self.settings.group {
            if matches!(group, Delimit::Prepend | Delimit::Both) {
                self.text.push(self.settings.separator);
            }
            self.add(line);
        }
        line
    }

    /// Decides about the line before, now that the one behind it is known; gives the line to compare next.
    fn next<'b>(&mut self, before: &'b [u8], line: &'b [u8]) -> &'b [u8] {
        let settings = self.settings;
        let same = settings.is_same(settings.compared(before), settings.compared(line));
        if settings.group.is_some() {
            // Between two groups there is one empty line, whichever of them it belongs to.
            if !same {
                self.text.push(settings.separator);
            }
            self.add(line);
            return line;
        }
        self.repeats += u64::from(same);
        self.delimit_repeated(same);
        if same && !settings.print_later_repeated {
            return before;
        }
        self.write(before, same);
        if !same {
            self.repeats = 0;
        }
        line
    }

    fn last(&mut self, line: &[u8]) {
        match self.settings.group {
            None => self.write(line, false),
            Some(Delimit::Append | Delimit::Both) => self.text.push(self.settings.separator),
            Some(_) => {}
        }
    }

    /// Empty lines of `--all-repeated`.
    fn delimit_repeated(&mut self, same: bool) {
        let delimit = self.settings.delimit;
        if !same {
            self.first_group &= self.repeats == 0;
        } else if self.repeats == 1
            && (delimit == Delimit::Prepend || (delimit == Delimit::Separate && !self.first_group))
        {
            self.text.push(self.settings.separator);
        }
    }

    fn write(&mut self, line: &[u8], same_follows: bool) {
        let settings = self.settings;
        let wanted = match (self.repeats, same_follows) {
            (0, _) => settings.print_unique,
            (_, false) => settings.print_first_repeated,
            (_, true) => settings.print_later_repeated,
        };
        if !wanted {
            return;
        }
        if settings.count {
            push_padded(&mut self.text, self.repeats + 1, 7);
            self.text.push(b' ');
        }
        self.add(line);
    }

    fn add(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        if !line.ends_with(&[self.settings.separator]) {
            self.text.push(self.settings.separator);
        }
    }
}
