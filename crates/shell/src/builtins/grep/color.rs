//! Colours, as `--color` and `GREP_COLORS` choose them.

use bstr::{BString, ByteSlice};

use super::{Context, ToolError, trouble};
use crate::arguments::Arguments;

/// What `\e[…m` gets for each part. Empty: that part is not coloured.
#[derive(Debug, Clone)]
pub(super) struct Colors {
    pub(super) selected_match: BString,
    pub(super) context_match: BString,
    pub(super) file_name: BString,
    pub(super) line_number: BString,
    pub(super) byte_offset: BString,
    pub(super) separator: BString,
    pub(super) selected_line: BString,
    pub(super) context_line: BString,
    /// With `-v`, selected and context lines change places.
    reverse: bool,
    /// Do not clear to the end of the line.
    no_erase: bool,
}

impl Default for Colors {
    fn default() -> Self {
        Colors {
            selected_match: "01;31".into(),
            context_match: "01;31".into(),
            file_name: "35".into(),
            line_number: "32".into(),
            byte_offset: "32".into(),
            separator: "36".into(),
            selected_line: BString::default(),
            context_line: BString::default(),
            reverse: false,
            no_erase: false,
        }
    }
}

impl Colors {
    pub(super) fn read(
        context: &Context<'_>,
        arguments: &Arguments,
    ) -> Result<Option<Colors>, ToolError> {
        if !arguments.has("color") {
            return Ok(None);
        }
        let wanted = match arguments.value("color").map(|value| value.as_bytes()) {
            Some(b"always" | b"yes" | b"force") => true,
            Some(b"never" | b"no" | b"none") => false,
            None | Some(b"auto" | b"tty" | b"if-tty") => {
                let terminal = context.variable("TERM").is_some_and(|term| term != "dumb");
                context.output.is_terminal() && terminal
            }
            Some(_) => return Err(trouble("invalid argument for --color")),
        };
        if !wanted {
            return Ok(None);
        }
        let mut colors = Colors::default();
        if let Some(text) = context.variable("GREP_COLORS") {
            colors.apply(&text);
        }
        Ok(Some(colors))
    }

    /// `mt=01;32:fn=35:ne`; what is not understood ends it.
    fn apply(&mut self, text: &[u8]) {
        for part in text.split(|byte| *byte == b':') {
            let (name, value) = match part.find_byte(b'=') {
                Some(at) => (part.get(..at).unwrap_or_default(), part.get(at + 1..)),
                None => (part, None),
            };
            let valid =
                |value: &[u8]| value.iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
            match (name, value) {
                (b"rv", None) => self.reverse = true,
                (b"ne", None) => self.no_erase = true,
                (_, Some(value)) if valid(value) => self.set(name, value),
                _ => return,
            }
        }
    }

    fn set(&mut self, name: &[u8], value: &[u8]) {
        let target = match name {
            b"mt" => {
                self.selected_match = value.into();
                &mut self.context_match
            }
            b"ms" => &mut self.selected_match,
            b"mc" => &mut self.context_match,
            b"fn" => &mut self.file_name,
            b"ln" => &mut self.line_number,
            b"bn" => &mut self.byte_offset,
            b"se" => &mut self.separator,
            b"sl" => &mut self.selected_line,
            b"cx" => &mut self.context_line,
            _ => return,
        };
        *target = value.into();
    }

    /// The colours of a whole line and of matches in it.
    pub(super) fn of_line(&self, selected: bool, invert: bool) -> (&BString, &BString) {
        let line_selected = selected != (invert && self.reverse);
        let line = if line_selected { &self.selected_line } else { &self.context_line };
        (line, if selected { &self.selected_match } else { &self.context_match })
    }

    pub(super) fn start(&self, out: &mut Vec<u8>, color: &BString) {
        if color.is_empty() {
            return;
        }
        out.extend_from_slice(b"\x1b[");
        out.extend_from_slice(color);
        out.push(b'm');
        self.erase(out);
    }

    pub(super) fn end(&self, out: &mut Vec<u8>, color: &BString) {
        if color.is_empty() {
            return;
        }
        out.extend_from_slice(b"\x1b[m");
        self.erase(out);
    }

    fn erase(&self, out: &mut Vec<u8>) {
        if !self.no_erase {
            out.extend_from_slice(b"\x1b[K");
        }
    }
}
