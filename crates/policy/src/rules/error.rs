//! A file that cannot be used, shown with the place that is wrong.

use std::fmt;
use std::sync::Arc;

use super::LoadError;

/// A line longer than this is shown only around the place.
const WIDEST: usize = 160;

/// A text and its name, to say where something is.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    pub name: &'a Arc<str>,
    pub text: &'a str,
}

impl Text<'_> {
    pub fn error(
        &self,
        at: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> LoadError {
        let at = (0..=at.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at));
        let (before, after) = self.text.split_at(at.unwrap_or_default());
        let start = before.rsplit_once('\n').map_or(before, |(_, start)| start);
        let end = after.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        LoadError {
            file: Arc::clone(self.name),
            line: line_of(before),
            column: u32::try_from(start.chars().count()).unwrap_or(u32::MAX).saturating_add(1),
            text: format!("{start}{end}"),
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub fn line(&self, at: usize) -> u32 {
        line_of(self.text.get(..at).unwrap_or(self.text))
    }
}

fn line_of(before: &str) -> u32 {
    let lines = before.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(lines).unwrap_or(u32::MAX).saturating_add(1)
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let (shown, before) = self.window();
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {shown}")?;
        write!(f, "{margin} | {before}^")?;
        if !self.hint.is_empty() {
            write!(f, "\n{margin} = {}", self.hint)?;
        }
        Ok(())
    }
}

impl LoadError {
    /// The part of the line to show, and what stands before the caret: tabs stay tabs so that they align.
    /// Control characters would let a file of a stranger paint over the message.
    fn window(&self) -> (String, String) {
        let column = self.column.saturating_sub(1) as usize;
        let start = column.saturating_sub(WIDEST / 2);
        let plain = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
        let shown: String = self.text.chars().skip(start).take(WIDEST).map(plain).collect();
        let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
        let before = shown.chars().take(column - start).map(blank).collect();
        (shown, before)
    }
}

impl std::error::Error for LoadError {}
