//! From words to an expression: operators by precedence, primaries one by one.

use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};

use super::expression::{Ending, Execute, Expression, Primary, Settings, Target};
use super::printf::Format;
use super::{Context, ToolError, is_expression, primaries};
use crate::filesystem::Access;
use crate::fnmatch::Pattern;
use crate::regex::Syntax;
use crate::walk::Symlinks;

const MISSING: &str =
    "invalid expression; I was expecting to find a ')' somewhere but did not see one.";

/// Parentheses inside each other.
const DEPTH: usize = 200;

pub(super) struct Parser<'a, 'c> {
    pub(super) context: &'a mut Context<'c>,
    words: &'a [BString],
    position: usize,
    pub(super) settings: Settings,
    syntax: Syntax,
    /// Something is done with what is found, so that it is not printed by itself.
    acts: bool,
    prunes: bool,
    deletes: bool,
    /// The last word that was an operator with nothing after it yet.
    operator: Option<BString>,
}

/// Reads the whole expression; without an action, it prints.
pub(super) fn parse(
    context: &mut Context<'_>,
    words: &[BString],
    settings: Settings,
) -> Result<(Expression, Settings), ToolError> {
    let mut parser = Parser {
        context,
        words,
        position: 0,
        settings,
        syntax: Syntax::EMACS,
        acts: false,
        prunes: false,
        deletes: false,
        operator: None,
    };
    let mut expression =
        if words.is_empty() { Expression::Primary(Primary::True) } else { parser.comma(0)? };
    if parser.peek().is_some_and(|word| word == ")") {
        return Err(ToolError::usage("you have too many ')'"));
    }
    if parser.deletes && parser.prunes && !parser.settings.depth_given {
        return Err(ToolError::usage(
            "The -delete action automatically turns on -depth, but -prune does nothing when -depth is in \
             effect.  If you want to carry on anyway, just explicitly use the -depth option.",
        ));
    }
    if !parser.acts {
        let print = Expression::Primary(Primary::Print(Target::Output, Ending::Newline));
        expression = Expression::And(vec![expression, print]);
    }
    Ok((expression, parser.settings))
}

impl Parser<'_, '_> {
    fn peek(&self) -> Option<&BStr> {
        self.words.get(self.position).map(|word| word.as_bstr())
    }

    fn take(&mut self) -> Option<BString> {
        let word = self.words.get(self.position).cloned();
        self.position += usize::from(word.is_some());
        word
    }

    fn comma(&mut self, depth: usize) -> Result<Expression, ToolError> {
        let mut all = vec![self.or(depth)?];
        while self.peek().is_some_and(|word| word == ",") {
            self.operator = self.take();
            all.push(self.or(depth)?);
        }
        Ok(single(all, Expression::Comma))
    }

    fn or(&mut self, depth: usize) -> Result<Expression, ToolError> {
        let mut all = vec![self.and(depth)?];
        while self.peek().is_some_and(|word| word == "-o" || word == "-or") {
            self.operator = self.take();
            all.push(self.and(depth)?);
        }
        Ok(single(all, Expression::Or))
    }

    fn and(&mut self, depth: usize) -> Result<Expression, ToolError> {
        let mut all = vec![self.not(depth)?];
        while let Some(word) = self.peek() {
            match word.as_bytes() {
                b"-o" | b"-or" | b"," | b")" => break,
                b"-a" | b"-and" => self.operator = self.take(),
                _ => {}
            }
            all.push(self.not(depth)?);
        }
        Ok(single(all, Expression::And))
    }

    fn not(&mut self, depth: usize) -> Result<Expression, ToolError> {
        let mut negated = false;
        while self.peek().is_some_and(|word| word == "!" || word == "-not") {
            self.operator = self.take();
            negated = !negated;
        }
        let one = self.one(depth)?;
        Ok(if negated { Expression::Not(Box::new(one)) } else { one })
    }

    fn one(&mut self, depth: usize) -> Result<Expression, ToolError> {
        let Some(word) = self.take() else {
            let operator = self.operator.take().unwrap_or_default();
            return Err(ToolError::usage(format!("expected an expression after '{operator}'")));
        };
        match word.as_bytes() {
            b"(" => return self.parentheses(depth),
            b"-a" | b"-and" | b"-o" | b"-or" | b"," => {
                return Err(ToolError::usage(format!(
                    "invalid expression; you have used a binary operator '{word}' with nothing before it."
                )));
            }
            b")" => {
                return Err(ToolError::usage("invalid expression; you have too many ')'"));
            }
            _ => {}
        }
        self.operator = None;
        if !is_expression(word.as_bstr(), false) {
            return Err(ToolError::usage(format!("paths must precede expression: `{word}'")));
        }
        self.primary(word.as_bstr()).map(Expression::Primary)
    }

    fn parentheses(&mut self, depth: usize) -> Result<Expression, ToolError> {
        if depth >= DEPTH {
            return Err(ToolError::Unsupported("parentheses nested this deep".to_owned()));
        }
        match self.peek() {
            None => return Err(ToolError::usage(MISSING)),
            Some(word) if word == ")" => {
                return Err(ToolError::usage(
                    "invalid expression; empty parentheses are not allowed.",
                ));
            }
            Some(_) => {}
        }
        let inside = self.comma(depth + 1)?;
        match self.take() {
            Some(word) if word == ")" => Ok(inside),
            _ => Err(ToolError::usage(MISSING)),
        }
    }

    /// The argument of a primary.
    pub(super) fn argument(&mut self, name: &BStr) -> Result<BString, ToolError> {
        self.take().ok_or_else(|| ToolError::usage(format!("missing argument to `{name}'")))
    }

    fn primary(&mut self, name: &BStr) -> Result<Primary, ToolError> {
        if let Some(option) = self.option(name)? {
            return Ok(option);
        }
        if let Some(action) = self.action(name)? {
            self.acts = true;
            return Ok(action);
        }
        let pattern = |text: BString, fold| Pattern::new(&text, fold);
        Ok(match name.as_bytes() {
            b"-true" => Primary::True,
            // Every number is somebody here.
            b"-false" | b"-nouser" | b"-nogroup" => Primary::False,
            b"-name" => Primary::Name(pattern(self.argument(name)?, false)),
            b"-iname" => Primary::Name(pattern(self.argument(name)?, true)),
            b"-path" | b"-wholename" => Primary::Path(pattern(self.argument(name)?, false)),
            b"-ipath" | b"-iwholename" => Primary::Path(pattern(self.argument(name)?, true)),
            b"-lname" => Primary::LinkTarget(pattern(self.argument(name)?, false)),
            b"-ilname" => Primary::LinkTarget(pattern(self.argument(name)?, true)),
            b"-regex" => primaries::regex(&self.argument(name)?, self.syntax, false)?,
            b"-iregex" => primaries::regex(&self.argument(name)?, self.syntax, true)?,
            b"-type" => Primary::Type(primaries::kinds(name, &self.argument(name)?)?),
            b"-xtype" => Primary::OtherType(primaries::kinds(name, &self.argument(name)?)?),
            b"-size" => primaries::size(&self.argument(name)?)?,
            b"-links" => Primary::Links(primaries::number(name, &self.argument(name)?)?),
            b"-inum" => Primary::Inode(primaries::number(name, &self.argument(name)?)?),
            b"-uid" => Primary::User(primaries::number(name, &self.argument(name)?)?),
            b"-gid" => Primary::Group(primaries::number(name, &self.argument(name)?)?),
            b"-user" => self.user(name)?,
            b"-group" => self.group(name)?,
            b"-perm" => primaries::permissions(&self.argument(name)?)?,
            b"-empty" => Primary::Empty,
            b"-samefile" => self.same_file(name)?,
            b"-readable" => Primary::Access(Access::Read),
            b"-writable" => Primary::Access(Access::Write),
            b"-executable" => Primary::Access(Access::Execute),
            b"-quit" => Primary::Quit,
            b"-prune" => {
                self.prunes = true;
                Primary::Prune
            }
            _ => return self.time(name),
        })
    }

    /// Options that hold for the whole search wherever they stand.
    fn option(&mut self, name: &BStr) -> Result<Option<Primary>, ToolError> {
        match name.as_bytes() {
            b"-maxdepth" => self.settings.most = self.levels(name)?,
            b"-mindepth" => self.settings.least = self.levels(name)?,
            b"-depth" | b"-d" => {
                self.settings.depth_first = true;
                self.settings.depth_given = true;
            }
            b"-xdev" | b"-mount" => self.settings.one_device = true,
            b"-follow" => self.settings.symlinks = Symlinks::Always,
            b"-daystart" => self.settings.day_start = super::times::end_of_day(&self.settings),
            b"-regextype" => {
                let kind = self.argument(name)?;
                self.syntax = Syntax::named(&kind).ok_or_else(|| {
                    ToolError::usage(format!("Unknown regular expression type ‘{kind}’"))
                })?;
            }
            b"-noleaf"
            | b"-warn"
            | b"-nowarn"
            | b"-ignore_readdir_race"
            | b"-noignore_readdir_race" => {}
            _ => return Ok(None),
        }
        Ok(Some(Primary::True))
    }

    fn levels(&mut self, name: &BStr) -> Result<usize, ToolError> {
        let text = self.argument(name)?;
        let digits = text.to_str().ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
            ToolError::usage(format!(
                "Expected a positive decimal integer argument to {name}, but got ‘{text}’"
            ))
        })
    }

    fn action(&mut self, name: &BStr) -> Result<Option<Primary>, ToolError> {
        Ok(Some(match name.as_bytes() {
            b"-print" => Primary::Print(Target::Output, Ending::Newline),
            b"-print0" => Primary::Print(Target::Output, Ending::Nul),
            b"-printf" => Primary::Format(Target::Output, self.format(name)?),
            b"-ls" => Primary::List(Target::Output),
            b"-fprint" => Primary::Print(self.file(name)?, Ending::Newline),
            b"-fprint0" => Primary::Print(self.file(name)?, Ending::Nul),
            b"-fls" => Primary::List(self.file(name)?),
            b"-fprintf" => {
                let file = self.file(name)?;
                Primary::Format(file, self.format(name)?)
            }
            b"-delete" => {
                self.deletes = true;
                self.settings.depth_first = true;
                Primary::Delete
            }
            b"-exec" => Primary::Execute(self.command(name, false, false)?),
            b"-execdir" => Primary::Execute(self.command(name, true, false)?),
            b"-ok" => Primary::Execute(self.command(name, false, true)?),
            b"-okdir" => Primary::Execute(self.command(name, true, true)?),
            _ => return Ok(None),
        }))
    }

    fn format(&mut self, name: &BStr) -> Result<Format, ToolError> {
        let text = self.argument(name)?;
        let (format, warnings) = Format::parse(&text)?;
        for warning in warnings {
            self.context.complain(warning);
        }
        Ok(format)
    }

    /// A file to write to; it is opened when the whole expression has been read.
    fn file(&mut self, name: &BStr) -> Result<Target, ToolError> {
        let path = self.argument(name)?;
        let known = self.settings.files.iter().position(|file| *file == path);
        Ok(Target::File(known.unwrap_or_else(|| {
            self.settings.files.push(path);
            self.settings.files.len() - 1
        })))
    }

    /// The words up to `;`, or up to `{} +`.
    fn command(
        &mut self,
        name: &BStr,
        in_directory: bool,
        asks: bool,
    ) -> Result<Execute, ToolError> {
        let missing = || ToolError::usage(format!("missing argument to `{name}'"));
        let mut words: Vec<BString> = Vec::new();
        loop {
            let word = self.take().ok_or_else(missing)?;
            if word == ";" {
                if words.is_empty() {
                    return Err(ToolError::usage(format!("invalid argument `;' to `{name}'")));
                }
                return Ok(Execute { words, in_directory, asks, batch: None });
            }
            if word == "+" && !asks && words.last().is_some_and(|last| *last == "{}") {
                words.pop();
                break;
            }
            words.push(word);
        }
        if words.iter().any(|word| word.find(b"{}").is_some()) {
            return Err(ToolError::usage(format!(
                "Only one instance of {{}} is supported with {name} ... +"
            )));
        }
        if words.is_empty() {
            return Err(missing());
        }
        self.settings.batches += 1;
        let batch = Some(self.settings.batches - 1);
        Ok(Execute { words, in_directory, asks, batch })
    }

    fn time(&mut self, name: &BStr) -> Result<Primary, ToolError> {
        match super::times::primary(self, name)? {
            Some(primary) => Ok(primary),
            None => Err(ToolError::Unsupported(name.to_string())),
        }
    }

    pub(super) fn now(&self) -> SystemTime {
        self.settings.now.to_system_time().unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// One is itself.
fn single(mut all: Vec<Expression>, several: fn(Vec<Expression>) -> Expression) -> Expression {
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            all.extend(last);
            several(all)
        }
    }
}
