//! What `declare` is asked to do: attributes to switch on and off, and where.

use bstr::ByteSlice;

use crate::builtins::{Command, DeclarationArgument, usage};
use crate::shell::Shell;
use crate::status::ExitStatus;
use crate::variables::Attributes;

#[derive(Debug, Clone)]
pub(in crate::builtins) struct Request {
    /// `declare`, `typeset` or `local`: for messages.
    pub builtin: &'static str,
    pub on: Attributes,
    pub off: Attributes,
    /// `-f`
    pub functions: bool,
    /// `-F`
    pub function_names: bool,
    pub global: bool,
    pub inherit: bool,
    pub print: bool,
    /// `local`: nothing outside the function that is running.
    pub local: bool,
}

impl Request {
    pub fn new(builtin: &'static str) -> Self {
        Request {
            builtin,
            on: Attributes::default(),
            off: Attributes::default(),
            functions: false,
            function_names: false,
            global: false,
            inherit: false,
            print: false,
            local: builtin == "local",
        }
    }

    /// Splits options from names. An error is printed; its status is to be returned.
    pub fn parse<'a, 'b>(
        shell: &Shell,
        command: &'static Command,
        arguments: &'a [DeclarationArgument<'b>],
    ) -> Result<(Request, &'a [DeclarationArgument<'b>]), ExitStatus> {
        let mut request = Request::new(command.name);
        let mut rest = arguments;
        while let Some((DeclarationArgument::Word(word), after)) = rest.split_first() {
            if word == "--" {
                rest = after;
                break;
            }
            let (letters, on) = match word.split_first() {
                Some((b'-', letters)) if !letters.is_empty() => (letters, true),
                Some((b'+', letters)) if !letters.is_empty() => (letters, false),
                _ => break,
            };
            for letter in letters.chars() {
                if !request.switch(letter, on) {
                    let sign = if on { '-' } else { '+' };
                    let what = format!("{sign}{letter}: invalid option");
                    return Err(usage::complain(shell, command, &what));
                }
            }
            rest = after;
        }
        request.settle();
        Ok((request, rest))
    }

    /// `false`: no such letter.
    fn switch(&mut self, letter: char, on: bool) -> bool {
        let attributes = if on { &mut self.on } else { &mut self.off };
        match letter {
            'a' => attributes.indexed = true,
            'A' => attributes.associative = true,
            'c' => attributes.capitalize = true,
            'i' => attributes.integer = true,
            'l' => attributes.lowercase = true,
            'n' => attributes.nameref = true,
            'r' => attributes.readonly = true,
            't' => attributes.trace = true,
            'u' => attributes.uppercase = true,
            'x' => attributes.exported = true,
            'f' => self.functions = on,
            'F' => self.function_names = on,
            'g' => self.global = on,
            'I' => self.inherit = on,
            'p' => self.print = on,
            _ => return false,
        }
        true
    }

    /// Changes of case that contradict each other cancel out.
    fn settle(&mut self) {
        let on = &mut self.on;
        let wanted = [on.lowercase, on.uppercase, on.capitalize];
        if wanted.iter().filter(|one| **one).count() > 1 {
            (on.lowercase, on.uppercase, on.capitalize) = (false, false, false);
            let off = &mut self.off;
            (off.lowercase, off.uppercase, off.capitalize) = (true, true, true);
        }
        // Nothing is a reference and has a kind of its own.
        if on.nameref && (on.integer || on.indexed || on.associative) {
            (on.nameref, on.integer) = (false, false);
        }
    }

    /// No attribute, no other place than the usual one.
    pub fn is_plain(&self) -> bool {
        let none = Attributes::default();
        self.on == none && self.off == none && !self.global && !self.inherit
    }

    pub fn wants_array(&self) -> bool {
        self.on.indexed || self.on.associative
    }
}
