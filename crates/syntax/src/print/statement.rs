//! Lists, chains, pipelines, simple commands and function definitions.

use bstr::{BStr, BString, ByteSlice};

use super::layout::Printer;
use super::word::Surroundings;
use crate::ast::{
    AndOr, AndOrOperator, Argument, Arithmetic, AssignedValue, Assignment, Command,
    CompoundCommand, CompoundKind, FunctionDefinition, List, Pipeline, SimpleCommand, TimeFormat,
    Word, WordPart,
};

const RESERVED: [&[u8]; 22] = [
    b"if",
    b"then",
    b"elif",
    b"else",
    b"fi",
    b"case",
    b"esac",
    b"for",
    b"select",
    b"while",
    b"until",
    b"do",
    b"done",
    b"in",
    b"function",
    b"time",
    b"coproc",
    b"{",
    b"}",
    b"!",
    b"[[",
    b"]]",
];

/// Names that would be read as something else in front of `()`.
pub(super) fn needs_function_keyword(name: &BStr) -> bool {
    !is_only_a_command_word(name)
        && (RESERVED.contains(&name.as_bytes()) || name.contains(&b'=') || name.contains(&b'['))
}

/// `a[b c]` is one word where an assignment could stand, and nowhere else.
fn is_only_a_command_word(name: &BStr) -> bool {
    name.contains(&b'[') && name.find_byteset(b" \t\n").is_some()
}

/// Whether the last pipeline is a bare `time` or `!`, which only a `;` or a newline may follow.
pub(super) fn ends_bare(list: &List) -> bool {
    list.items.last().is_some_and(|item| {
        let last = item.chain.rest.last().map_or(&item.chain.first, |(_, pipeline)| pipeline);
        last.stages.is_empty() && !item.background
    })
}

/// A reserved word, or what `time` would take for an option.
fn is_reserved(word: &Word) -> bool {
    let reserved = |text: &[u8]| RESERVED.contains(&text) || matches!(text, b"-p" | b"--");
    matches!(word.parts.as_slice(), [WordPart::Literal(text)] if reserved(text))
}

fn begins_with_dashes(pipeline: &Pipeline) -> bool {
    let Some(Command::Simple(simple)) = pipeline.stages.first().map(|stage| &stage.command) else {
        return false;
    };
    let Some(Argument::Word(word)) = simple.words.first() else { return false };
    matches!(word.parts.as_slice(), [WordPart::Literal(text)] if text == "--")
}

impl<'tree> Printer<'tree> {
    /// Commands; the first begins where we are, without a semicolon behind the last.
    pub fn list(&mut self, list: &'tree List) {
        let mut items = list.items.iter().peekable();
        while let Some(item) = items.next() {
            self.chain(&item.chain);
            let last = items.peek().is_none();
            if item.background {
                self.text(b" &");
                let documents = self.end_documents();
                if documents && !last {
                    self.text(b" ");
                }
                if !last {
                    self.text(b" ");
                }
            } else if !last {
                self.between_commands();
            } else if self.in_function {
                self.end_documents();
            }
        }
    }

    fn between_commands(&mut self) {
        if !self.end_documents() {
            self.text(b";");
        }
        if self.in_function {
            self.line(b"");
        } else if !self.ends_with(b"\n") {
            self.text(b" ");
        }
    }

    fn chain(&mut self, chain: &'tree AndOr) {
        self.pipeline(&chain.first);
        for (operator, pipeline) in &chain.rest {
            self.text(match operator {
                AndOrOperator::And => b" && ",
                AndOrOperator::Or => b" || ",
            });
            if self.end_documents() {
                self.text(b" ");
            }
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &'tree Pipeline) {
        match pipeline.timed {
            None => {}
            Some(TimeFormat::Bash) => self.text(b"time "),
            Some(TimeFormat::Posix) if begins_with_dashes(pipeline) => self.text(b"time -p -- "),
            Some(TimeFormat::Posix) => self.text(b"time -p "),
        }
        if pipeline.negated {
            self.text(b"! ");
        } else if pipeline.stages.is_empty() && pipeline.timed.is_none() {
            self.text(b"! ! ");
        }
        let mut stages = pipeline.stages.iter().peekable();
        while let Some(stage) = stages.next() {
            self.command(&stage.command);
            if stages.peek().is_some() {
                self.text(if stage.pipes_errors { b" |&" } else { b" |" });
                if self.end_documents() {
                    self.text(b" ");
                }
                self.text(b" ");
            }
        }
    }

    pub fn command(&mut self, command: &'tree Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(compound),
            Command::Function(function) => self.function(function),
        }
    }

    fn simple(&mut self, simple: &'tree SimpleCommand) {
        let mut first = true;
        let mut separate = |printer: &mut Self| {
            if !std::mem::take(&mut first) {
                printer.text(b" ");
            }
        };
        // Only a redirect in front keeps a reserved word from being one.
        let redirects_first = simple.assignments.is_empty()
            && matches!(simple.words.first(), Some(Argument::Word(word)) if is_reserved(word));
        if redirects_first {
            for redirect in &simple.redirects {
                separate(self);
                self.redirect(redirect);
            }
        }
        for assignment in &simple.assignments {
            separate(self);
            self.assignment(assignment);
        }
        for argument in &simple.words {
            separate(self);
            match argument {
                Argument::Word(word) => self.word(word, Surroundings::Unquoted),
                Argument::Assignment(assignment) => self.assignment(assignment),
            }
        }
        if !redirects_first {
            for redirect in &simple.redirects {
                separate(self);
                self.redirect(redirect);
            }
        }
    }

    fn assignment(&mut self, assignment: &'tree Assignment) {
        self.text(&assignment.name);
        self.assigned_place(assignment.subscript.as_ref(), assignment.append);
        match &assignment.value {
            AssignedValue::Scalar(word) => self.word(word, Surroundings::Unquoted),
            AssignedValue::Array(elements) => {
                self.text(b"(");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.text(b" ");
                    }
                    if element.subscript.is_some() {
                        self.assigned_place(element.subscript.as_ref(), element.append);
                    }
                    self.word(&element.value, Surroundings::Unquoted);
                }
                // A here-document in a substitution of an element ends its line by itself.
                self.end_documents();
                self.text(b")");
            }
        }
    }

    /// `[…]` and `=` or `+=`.
    fn assigned_place(&mut self, subscript: Option<&'tree Arithmetic>, append: bool) {
        if let Some(subscript) = subscript {
            self.subscript(subscript);
        }
        self.text(if append { b"+=" } else { b"=" });
    }

    /// Inside another function bash always prints the keyword.
    fn function(&mut self, function: &'tree FunctionDefinition) {
        if !is_only_a_command_word(BStr::new(&function.name)) {
            self.text(b"function ");
        }
        self.text(&function.name);
        self.text(b" () ");
        self.function_body(&function.body);
    }

    /// From the end of the line with the name on.
    pub fn function_body(&mut self, body: &'tree CompoundCommand) {
        let outer = std::mem::replace(&mut self.in_function, true);
        self.line(b"{ ");
        self.deeper();
        self.line(b"");
        let redirects = if let CompoundKind::Group(list) = &body.kind {
            self.list(list);
            body.redirects.as_slice()
        } else {
            self.compound(body);
            &[]
        };
        self.end_documents();
        self.shallower();
        self.line(b"}");
        self.in_function = outer;
        for redirect in redirects {
            self.text(b" ");
            self.redirect(redirect);
        }
    }
}

/// `'…'`, with the quotes in it taken apart.
pub(super) fn single_quoted(text: &[u8]) -> BString {
    let mut quoted = BString::from("'");
    for byte in text {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}
