//! The command line of `ls`.

use bstr::{BString, ByteSlice};

use super::quote::Style;
use super::size::Scale;
use super::{Context, SERIOUS, ToolError};
use crate::arguments::{self, Arguments, GivenOption, OptionSpec, Order, both, flag, long};
use crate::dates::{Moment, Zone};
use crate::fnmatch::Pattern;
use crate::status::ExitStatus;

pub(super) static OPTIONS: [OptionSpec; 57] = [
    both('a', "a", "all", "show names that begin with a dot"),
    both('A', "A", "almost-all", "the same without . and .."),
    long("author", "with -l, show the author of each file"),
    both('b', "b", "escape", "escape characters that cannot be shown"),
    long("block-size", "show sizes in units of this many bytes").takes("SIZE"),
    both('B', "B", "ignore-backups", "do not show names that end in ~"),
    flag('c', "c", "show or sort by when the status changed"),
    flag('C', "C", "in columns"),
    long("color", "colour the names: always, never or auto").may_take("WHEN"),
    both('d', "d", "directory", "directories themselves, not what is in them"),
    flag('f', "f", "all, in the order of the directory"),
    flag('F', "F", "append one of */=@| to names"),
    long("classify", "the same: always, never or auto").may_take("WHEN"),
    long("file-type", "the same without *"),
    long("format", "across, commas, long, single-column or vertical").takes("WORD"),
    long("full-time", "like -l with the full time"),
    flag('g', "g", "like -l without the owner"),
    long("group-directories-first", "directories before files"),
    both('G', "G", "no-group", "in a long listing, no groups"),
    both('h', "h", "human-readable", "sizes like 1K 234M 2G"),
    long("si", "the same with powers of 1000"),
    both('H', "H", "dereference-command-line", "follow symbolic links that are given"),
    long("dereference-command-line-symlink-to-dir", "follow those given that lead to directories"),
    long("hide", "do not show names like this").takes("PATTERN"),
    long("indicator-style", "none, slash, file-type or classify").takes("WORD"),
    both('i', "i", "inode", "show the number of each file"),
    both('I', "I", "ignore", "do not show names like this, ever").takes("PATTERN"),
    both('k', "k", "kibibytes", "blocks of 1024 bytes"),
    flag('l', "l", "in a long listing"),
    both('L', "L", "dereference", "show what symbolic links lead to"),
    flag('m', "m", "in lines, separated by commas"),
    both('n', "n", "numeric-uid-gid", "like -l with numbers of users and groups"),
    both('N', "N", "literal", "names as they are"),
    flag('o', "o", "like -l without the group"),
    flag('p', "p", "append / to directories"),
    both('q', "q", "hide-control-chars", "? for characters that cannot be shown"),
    long("show-control-chars", "such characters as they are"),
    both('Q', "Q", "quote-name", "names in double quotes"),
    long("quoting-style", "how names are quoted").takes("WORD"),
    both('r', "r", "reverse", "in the opposite order"),
    both('R', "R", "recursive", "list directories inside too"),
    both('s', "s", "size", "show the blocks of each file"),
    flag('S', "S", "sort by size, largest first"),
    long("sort", "none, size, time, version, extension or width").takes("WORD"),
    long("time", "atime, ctime, birth or mtime").takes("WORD"),
    long("time-style", "full-iso, long-iso, iso, locale or +FORMAT").takes("STYLE"),
    flag('t', "t", "sort by time, newest first"),
    both('T', "T", "tabsize", "columns of tab stops").takes("COLS"),
    flag('u', "u", "show or sort by when the file was read"),
    flag('U', "U", "do not sort"),
    flag('v', "v", "sort by version"),
    both('w', "w", "width", "columns of a line").takes("COLS"),
    flag('x', "x", "in lines instead of columns"),
    flag('X', "X", "sort by extension"),
    flag('1', "1", "one name per line"),
    long("zero", "end lines with NUL"),
    long("hyperlink", "never is all there is").may_take("WHEN"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    Long,
    Single,
    Commas,
    /// Columns, filled downwards.
    Down,
    /// Columns, filled along the lines.
    Across,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    None,
    Name,
    Extension,
    Size,
    Version,
    Time,
    Width,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeKind {
    Modified,
    Changed,
    Accessed,
    Created,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indicator {
    None,
    Slash,
    FileType,
    Classify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    Skip,
    /// `-A`
    Almost,
    /// `-a`
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dereference {
    Never,
    CommandLineDirectories,
    CommandLine,
    Always,
}

/// How times are written: those of the last half year, and all others.
#[derive(Debug, Clone)]
pub(super) struct TimeFormats {
    pub(super) recent: BString,
    pub(super) old: BString,
}

#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) show: Show,
    pub(super) sort: Sort,
    pub(super) reverse: bool,
    pub(super) directories_first: bool,
    pub(super) time: TimeKind,
    pub(super) formats: TimeFormats,
    pub(super) hidden: Hidden,
    pub(super) ignore: Vec<Pattern>,
    pub(super) hide: Vec<Pattern>,
    pub(super) dereference: Dereference,
    pub(super) directories_as_files: bool,
    pub(super) recursive: bool,
    pub(super) inode: bool,
    pub(super) blocks: bool,
    pub(super) owner: bool,
    pub(super) group: bool,
    pub(super) author: bool,
    pub(super) numeric: bool,
    pub(super) indicator: Indicator,
    pub(super) style: Style,
    /// `-q`
    pub(super) question_marks: bool,
    pub(super) block_scale: Scale,
    pub(super) size_scale: Scale,
    /// 0: lines have no end.
    pub(super) width: usize,
    pub(super) tab: usize,
    pub(super) end: u8,
    pub(super) color: bool,
    pub(super) now: Moment,
    pub(super) zone: Zone,
}

impl Options {
    /// Must every entry be asked for more than its name and kind?
    pub(super) fn needs_metadata(&self) -> bool {
        self.show == Show::Long || self.blocks || matches!(self.sort, Sort::Size | Sort::Time)
    }

    /// Is what a symbolic link says shown?
    pub(super) fn needs_target(&self) -> bool {
        self.show == Show::Long || self.color || self.directories_first
    }
}

impl Options {
    /// Is it found out what symbolic links lead to? Only then is that shown in its own way.
    pub(super) fn looks_behind_links(&self) -> bool {
        matches!(self.indicator, Indicator::FileType | Indicator::Classify)
            || self.directories_first
    }
}

fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::Usage(message.into(), SERIOUS)
}

fn value_of(option: &GivenOption) -> &[u8] {
    option.value.as_ref().map_or(b"", |value| value.as_bytes())
}

fn no_such_word(option: &str, word: &[u8]) -> ToolError {
    let message = format!("invalid argument ‘{}’ for ‘{option}’", word.as_bstr());
    ToolError::Usage(message, ExitStatus(1))
}

pub(super) fn read(
    context: &mut Context<'_>,
    words: &[BString],
) -> Result<(Options, Vec<BString>), ToolError> {
    let mut arguments =
        arguments::parse(&OPTIONS, words, Order::Anywhere).map_err(|error| match error {
            ToolError::Usage(message, _) => wrong(message),
            other => other,
        })?;
    if arguments.has("hyperlink") && when(&arguments, "hyperlink", context)? {
        return Err(ToolError::Unsupported("--hyperlink".to_owned()));
    }
    let operands = std::mem::take(&mut arguments.operands);
    let terminal = context.output.is_terminal();
    let show = show(&arguments, terminal)?;
    let indicator = indicator(&arguments, context)?;
    let (block_scale, size_scale) = scales(&arguments, context)?;
    let patterns = |id| arguments.values(id).map(|text| Pattern::new(text, false)).collect();
    let time = time_kind(&arguments)?;
    let zero = arguments.has("zero");
    let sort = sort(&arguments, show, time)?;
    let mut ignore: Vec<Pattern> = patterns("I");
    if arguments.has("B") {
        ignore.push(Pattern::new(b"*~", false));
        ignore.push(Pattern::new(b".*~", false));
    }
    let options = Options {
        sort,
        reverse: arguments.has("r"),
        directories_first: arguments.has("group-directories-first"),
        time: time.unwrap_or(TimeKind::Modified),
        formats: formats(&arguments, context)?,
        hidden: hidden(&arguments),
        ignore,
        hide: patterns("hide"),
        dereference: dereference(&arguments, show, indicator),
        directories_as_files: arguments.has("d"),
        recursive: arguments.has("R"),
        inode: arguments.has("i"),
        blocks: arguments.has("s"),
        owner: !arguments.has("g"),
        group: !arguments.has("o") && !arguments.has("G"),
        author: arguments.has("author"),
        numeric: arguments.has("n"),
        indicator,
        style: style(&arguments, context, terminal)?,
        question_marks: match arguments.last_of(&["q", "show-control-chars"]) {
            Some(id) => id == "q",
            None => terminal && !zero,
        },
        block_scale,
        size_scale,
        width: width(&arguments, context)?,
        tab: tab(&arguments, context)?,
        end: if zero { 0 } else { b'\n' },
        color: arguments.has("color") && when(&arguments, "color", context)? && !zero,
        now: Moment::from(context.host().now()),
        zone: Zone::of(context),
        show,
    };
    Ok((options, operands))
}

/// `always`, `never` or `auto`; alone it is `always`.
fn when(arguments: &Arguments, id: &str, context: &Context<'_>) -> Result<bool, ToolError> {
    let last = arguments.options.iter().rev().find(|option| option.id == id);
    when_of(id, last.and_then(|option| option.value.as_ref()), context)
}

fn when_of(id: &str, word: Option<&BString>, context: &Context<'_>) -> Result<bool, ToolError> {
    match word.map(|word| word.as_bytes()) {
        None | Some(b"always" | b"yes" | b"force") => Ok(true),
        Some(b"never" | b"no" | b"none") => Ok(false),
        Some(b"auto" | b"tty" | b"if-tty") => Ok(context.output.is_terminal()),
        Some(word) => Err(no_such_word(&format!("--{id}"), word)),
    }
}

/// A unique beginning is enough, as for options.
fn word<T: Copy>(option: &str, given: &[u8], words: &[(&str, T)]) -> Result<T, ToolError> {
    if let Some((_, value)) = words.iter().find(|(name, _)| name.as_bytes() == given) {
        return Ok(*value);
    }
    let mut candidates = words.iter().filter(|(name, _)| name.as_bytes().starts_with(given));
    match (candidates.next(), candidates.next()) {
        (Some((_, value)), None) if !given.is_empty() => Ok(*value),
        _ => Err(no_such_word(option, given)),
    }
}

fn show(arguments: &Arguments, terminal: bool) -> Result<Show, ToolError> {
    let mut chosen = None;
    for option in &arguments.options {
        chosen = Some(match option.id {
            "l" | "g" | "n" | "o" | "full-time" => Show::Long,
            // One name per line is less than a long listing, so it does not undo one.
            "1" if chosen == Some(Show::Long) => Show::Long,
            "1" => Show::Single,
            "zero" if chosen != Some(Show::Long) => Show::Single,
            "m" => Show::Commas,
            "C" => Show::Down,
            "x" => Show::Across,
            "f" if chosen == Some(Show::Long) => Show::Down,
            "format" => {
                let words = [
                    ("verbose", Show::Long),
                    ("long", Show::Long),
                    ("commas", Show::Commas),
                    ("horizontal", Show::Across),
                    ("across", Show::Across),
                    ("vertical", Show::Down),
                    ("single-column", Show::Single),
                ];
                word("--format", value_of(option), &words)?
            }
            _ => continue,
        });
    }
    Ok(chosen.unwrap_or(if terminal { Show::Down } else { Show::Single }))
}

fn time_kind(arguments: &Arguments) -> Result<Option<TimeKind>, ToolError> {
    let mut chosen = None;
    for option in &arguments.options {
        chosen = Some(match option.id {
            "c" => TimeKind::Changed,
            "u" => TimeKind::Accessed,
            "time" => {
                let words = [
                    ("atime", TimeKind::Accessed),
                    ("access", TimeKind::Accessed),
                    ("use", TimeKind::Accessed),
                    ("ctime", TimeKind::Changed),
                    ("status", TimeKind::Changed),
                    ("birth", TimeKind::Created),
                    ("creation", TimeKind::Created),
                    ("mtime", TimeKind::Modified),
                    ("modification", TimeKind::Modified),
                ];
                word("--time", value_of(option), &words)?
            }
            _ => continue,
        });
    }
    Ok(chosen)
}

/// A time that is chosen but not shown is what is sorted by.
fn sort(arguments: &Arguments, show: Show, time: Option<TimeKind>) -> Result<Sort, ToolError> {
    let mut chosen = None;
    for option in &arguments.options {
        chosen = Some(match option.id {
            "S" => Sort::Size,
            "t" => Sort::Time,
            "U" | "f" => Sort::None,
            "v" => Sort::Version,
            "X" => Sort::Extension,
            "sort" => {
                let words = [
                    ("none", Sort::None),
                    ("time", Sort::Time),
                    ("size", Sort::Size),
                    ("extension", Sort::Extension),
                    ("version", Sort::Version),
                    ("width", Sort::Width),
                    ("name", Sort::Name),
                ];
                word("--sort", value_of(option), &words)?
            }
            _ => continue,
        });
    }
    let by_time = time.is_some() && show != Show::Long;
    Ok(chosen.unwrap_or(if by_time { Sort::Time } else { Sort::Name }))
}

fn hidden(arguments: &Arguments) -> Hidden {
    match arguments.last_of(&["a", "A", "f"]) {
        None => Hidden::Skip,
        Some("A") => Hidden::Almost,
        Some(_) => Hidden::All,
    }
}

fn indicator(arguments: &Arguments, context: &Context<'_>) -> Result<Indicator, ToolError> {
    let mut chosen = Indicator::None;
    for option in &arguments.options {
        chosen = match option.id {
            "F" => Indicator::Classify,
            "classify" if when_of("classify", option.value.as_ref(), context)? => {
                Indicator::Classify
            }
            "p" => Indicator::Slash,
            "file-type" => Indicator::FileType,
            "indicator-style" => {
                let words = [
                    ("none", Indicator::None),
                    ("slash", Indicator::Slash),
                    ("file-type", Indicator::FileType),
                    ("classify", Indicator::Classify),
                ];
                word("--indicator-style", value_of(option), &words)?
            }
            _ => continue,
        };
    }
    Ok(chosen)
}

fn dereference(arguments: &Arguments, show: Show, indicator: Indicator) -> Dereference {
    match arguments.last_of(&["L", "H", "dereference-command-line-symlink-to-dir"]) {
        Some("L") => Dereference::Always,
        Some("H") => Dereference::CommandLine,
        None if arguments.has("d") || indicator == Indicator::Classify || show == Show::Long => {
            Dereference::Never
        }
        Some(_) | None => Dereference::CommandLineDirectories,
    }
}

fn style(arguments: &Arguments, context: &Context<'_>, terminal: bool) -> Result<Style, ToolError> {
    let mut chosen = None;
    for option in &arguments.options {
        chosen = Some(match option.id {
            "b" => Style::Escape,
            "N" | "zero" => Style::Literal,
            "Q" => Style::C,
            "quoting-style" => {
                let given = value_of(option);
                word("--quoting-style", given, &Style::NAMES)?
            }
            _ => continue,
        });
    }
    let from_environment = || {
        let name = context.variable("QUOTING_STYLE")?;
        word("", &name, &Style::NAMES).ok()
    };
    let default = if terminal { Style::ShellEscape } else { Style::Literal };
    Ok(chosen.or_else(from_environment).unwrap_or(default))
}

/// The scales of blocks and of sizes.
fn scales(arguments: &Arguments, context: &Context<'_>) -> Result<(Scale, Scale), ToolError> {
    let mut chosen = None;
    for option in &arguments.options {
        chosen = Some(match option.id {
            "h" => (Scale::HUMAN, Scale::HUMAN),
            "si" => (Scale::SI, Scale::SI),
            "block-size" => {
                let given = value_of(option);
                let scale = Scale::parse(given).ok_or_else(|| {
                    wrong(format!("invalid --block-size argument '{}'", given.as_bstr()))
                })?;
                (scale, scale)
            }
            _ => continue,
        });
    }
    let named = ["LS_BLOCK_SIZE", "BLOCK_SIZE"].into_iter();
    let from_environment = || {
        let value = named.clone().find_map(|name| context.variable(name))?;
        Scale::parse(&value).map(|scale| (scale, scale))
    };
    let default = if arguments.has("k") { None } else { from_environment() };
    Ok(chosen.or(default).unwrap_or((Scale::KIBIBYTES, Scale::BYTES)))
}

fn number(text: &[u8]) -> Option<usize> {
    let text = text.to_str().ok()?;
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

fn width(arguments: &Arguments, context: &Context<'_>) -> Result<usize, ToolError> {
    if let Some(text) = arguments.value("w") {
        return number(text).ok_or_else(|| wrong(format!("invalid line width: ‘{text}’")));
    }
    let columns = context.variable("COLUMNS").and_then(|text| number(&text));
    Ok(columns.filter(|columns| *columns > 0).unwrap_or(80))
}

fn tab(arguments: &Arguments, context: &Context<'_>) -> Result<usize, ToolError> {
    if let Some(text) = arguments.value("T") {
        return number(text).ok_or_else(|| wrong(format!("invalid tab size: ‘{text}’")));
    }
    Ok(context.variable("TABSIZE").and_then(|text| number(&text)).unwrap_or(8))
}

fn formats(arguments: &Arguments, context: &Context<'_>) -> Result<TimeFormats, ToolError> {
    let last = arguments.last_of(&["time-style", "full-time"]);
    let environment = context.variable("TIME_STYLE").filter(|_| last.is_none());
    let given = match last {
        Some("full-time") => Some(BString::from("full-iso")),
        Some(_) => arguments.value("time-style").map(BString::from),
        None => environment,
    };
    let style = given.unwrap_or_else(|| "locale".into());
    if let Some(format) = style.strip_prefix(b"+") {
        let mut lines = format.split(|byte| *byte == b'\n');
        let first: BString = lines.next().unwrap_or_default().into();
        let second = lines.next().map_or_else(|| first.clone(), BString::from);
        if lines.next().is_some() {
            return Err(wrong(format!("invalid time style format ‘{style}’")));
        }
        return Ok(TimeFormats { old: first, recent: second });
    }
    let name = style.strip_prefix(b"posix-").unwrap_or(&style);
    let both = |format: &str| TimeFormats { recent: format.into(), old: format.into() };
    Ok(match name {
        b"full-iso" => both("%Y-%m-%d %H:%M:%S.%N %z"),
        b"long-iso" => both("%Y-%m-%d %H:%M"),
        b"iso" => TimeFormats { recent: "%m-%d %H:%M".into(), old: "%Y-%m-%d ".into() },
        b"locale" => TimeFormats { recent: "%b %e %H:%M".into(), old: "%b %e  %Y".into() },
        _ => return Err(wrong(format!("invalid argument ‘{style}’ for ‘time style’"))),
    })
}
