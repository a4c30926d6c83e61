//! `$x`, `${…}` and all that can be done to a parameter on the way.
//!
//! First what the parameter stands for is found ([`subject`]), through indirection if asked for; then the
//! operation is applied, to a list element by element; then the result joins the word ([`list`]).

mod case;
mod default;
mod indirect;
mod list;
mod replace;
mod slice;
mod special;
mod strip;
mod subject;
mod transform;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{Operation, Parameter, ParameterExpansion, Selector, Word, WordPart};

use super::characters;
use super::field::Expansion;
use super::parts::Mode;
use super::pattern::{Pattern, PatternOptions};
use crate::shell::Shell;
use crate::status::{ExitStatus, Interrupt, Running};
use crate::variables::is_name;
pub(super) use subject::Place;
use subject::{Reference, Subject};

impl Shell {
    pub(super) fn expand_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        // The plain variable is by far the most frequent, and needs no copy.
        if let Some(value) = self.plain_variable(expansion) {
            return out.push(mode.origin(), &value);
        }
        stacker::maybe_grow(64 << 10, 1 << 20, || self.expand_any_parameter(expansion, mode, out))
    }

    fn expand_any_parameter(
        &mut self,
        expansion: &ParameterExpansion,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        match &expansion.operation {
            // Backquotes are read only when they run: what is wrong in them is that command's failure.
            Operation::Bad(text) if text.starts_with(b"`") => {
                let inside = text.strip_prefix(b"`").unwrap_or_default();
                let inside = inside.strip_suffix(b"`").unwrap_or(inside);
                let output = self.capture_text(inside.as_bstr())?;
                return out.push(mode.origin(), output.trim_end_with(|byte| byte == '\n'));
            }
            Operation::Bad(text) => return self.expand_bad(text.as_bstr()),
            Operation::NamesWithPrefix { separate } => {
                return self.expand_names(&expansion.parameter, *separate, mode, out);
            }
            _ => {}
        }
        let lists_keys = expansion.indirect
            && matches!(expansion.operation, Operation::Plain)
            && matches!(expansion.selector, Some(Selector::All | Selector::Joined));
        if lists_keys {
            return self.expand_keys(expansion, mode, out);
        }
        if let (Parameter::Variable(name), None, false) =
            (&expansion.parameter, &expansion.selector, expansion.braced)
            && let Some((array, star)) = self.list_behind(name.as_bstr())
        {
            let (place, subject) = self.array_list(&array, star)?;
            return self.push_subject(subject, &place, mode, out);
        }
        let reference = if expansion.indirect {
            match self.indirect_reference(expansion)? {
                indirect::Found::Reference(reference) => reference,
                indirect::Found::Name(name) => return out.push(mode.origin(), &name),
            }
        } else {
            self.reference(&expansion.parameter, expansion.selector.as_ref())?
        };
        self.apply_operation(expansion, reference, mode, out)
    }

    fn apply_operation(
        &mut self,
        expansion: &ParameterExpansion,
        reference: Reference,
        mode: Mode,
        out: &mut Expansion,
    ) -> Running<()> {
        if let (Operation::ChangeCase { .. }, Parameter::Count) =
            (&expansion.operation, &expansion.parameter)
        {
            return Err(self.bad_substitution(written(expansion).as_bstr()));
        }
        if let Operation::Default { kind, colon, word } = &expansion.operation {
            return self.expand_default((*kind, *colon, word), reference, mode, out);
        }
        if let Operation::Transform(letter) = expansion.operation {
            return self.expand_transform(letter, expansion, reference, mode, out);
        }
        let unset = matches!(reference.subject, Subject::Unset);
        if let (Operation::Length, Place::Variable(name)) = (&expansion.operation, &reference.place)
            && self.refers_to_element(name.as_bstr())
        {
            return out.push(mode.origin(), b"0");
        }
        if self.options.nounset && self.must_be_set(&expansion.operation, &reference) {
            return Err(self.unbound(&reference.place));
        }
        match &expansion.operation {
            Operation::Length => {
                let length = match &reference.subject {
                    Subject::Unset => 0,
                    Subject::One(text) => characters::count(text, self.encoding()),
                    Subject::List(values) => values.len(),
                };
                out.push(mode.origin(), length.to_string().as_bytes())
            }
            Operation::Slice { offset, length } => {
                let sliced = self.slice(&reference, offset, length.as_ref())?;
                self.push_subject(sliced, &reference.place, mode.after_operation(false), out)
            }
            // Bash does not look at the words of an operation on nothing.
            _ if unset => Ok(()),
            operation => {
                let changed = self.change(operation, reference.subject)?;
                let strips = matches!(
                    operation,
                    Operation::RemovePrefix { .. } | Operation::RemoveSuffix { .. }
                );
                if strips
                    && let (Subject::List(values), Place::List { name: Some(_), .. }) =
                        (&changed, &reference.place)
                    && self.keeps_together(mode)
                {
                    return list::push_joined(values, b" ", mode.origin(), out);
                }
                let plain = matches!(operation, Operation::Plain);
                let mode = if plain { mode } else { mode.after_operation(strips) };
                self.push_subject(changed, &reference.place, mode, out)
            }
        }
    }

    /// With `set -u`: is this unset, and does bash mind? It counts what is in an array that exists, and takes one
    /// that does not for an empty list.
    fn must_be_set(&self, operation: &Operation, reference: &Reference) -> bool {
        match (operation, &reference.place) {
            (
                Operation::Length,
                Place::List { name: Some(name), .. } | Place::Element(name, ..),
            ) => self.value_of(name.as_bstr()).is_none(),
            (_, Place::Variable(name)) if self.refers_to_element(name.as_bstr()) => false,
            _ => matches!(reference.subject, Subject::Unset),
        }
    }

    /// The operations that turn one text into another.
    fn change(&mut self, operation: &Operation, subject: Subject) -> Running<Subject> {
        // Where nothing could be removed or changed, bash does not expand the pattern.
        if matches!(&subject, Subject::One(text) if text.is_empty())
            && !matches!(operation, Operation::Replace { .. })
        {
            return Ok(subject);
        }
        match operation {
            Operation::RemovePrefix { longest, pattern } => {
                let strip = self.prepare_strip(pattern, strip::End::Prefix, *longest)?;
                subject.map(self, |_, text| Ok(strip.apply(text)?))
            }
            Operation::RemoveSuffix { longest, pattern } => {
                let strip = self.prepare_strip(pattern, strip::End::Suffix, *longest)?;
                subject.map(self, |_, text| Ok(strip.apply(text)?))
            }
            Operation::Replace { kind, pattern, replacement } => {
                let replace = self.prepare_replace(*kind, pattern, replacement.as_ref())?;
                let limit = self.control.limits.expansion_bytes;
                subject.map(self, |_, text| replace.apply(text, limit))
            }
            Operation::ChangeCase { change, all, pattern } => {
                let pattern = match pattern {
                    Some(word) => Some(self.compile_pattern(word)?),
                    None => None,
                };
                let encoding = self.encoding();
                subject.map(self, |_, text| {
                    Ok(case::change(text, *change, *all, pattern.as_ref(), encoding)?)
                })
            }
            Operation::Plain
            | Operation::Length
            | Operation::Default { .. }
            | Operation::Slice { .. }
            | Operation::Transform(_)
            | Operation::NamesWithPrefix { .. }
            | Operation::Bad(_) => Ok(subject),
        }
    }

    /// A word as a pattern of `${x#…}` and its kin.
    fn compile_pattern(&mut self, word: &Word) -> Running<Pattern> {
        let text = self.expand_pattern(word)?;
        let options = PatternOptions { ignore_case: false, ..self.pattern_options() };
        Ok(Pattern::new(text.as_bstr(), options).watched_by(&self.control))
    }

    /// What patterns of `case`, `[[` and replacement follow.
    pub(crate) fn pattern_options(&self) -> PatternOptions {
        PatternOptions {
            extglob: self.options.extglob,
            ignore_case: self.options.nocasematch,
            leading_dot: false,
            encoding: self.encoding(),
        }
    }

    /// What follows an `@` is looked at only if there is a value, and then bash leaves the shell.
    fn expand_bad(&mut self, text: &BStr) -> Running<()> {
        let inside = text.strip_prefix(b"${").unwrap_or(text);
        let end = inside.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let (name, rest) = inside.split_at(end.unwrap_or(inside.len()));
        if !is_name(name) || !rest.starts_with(b"@") {
            return Err(self.bad_substitution(text));
        }
        if self.scalar_of(name.as_bstr()).is_none() {
            return Ok(());
        }
        self.complain([text.as_bytes(), b": bad substitution"].concat());
        Err(self.fatal())
    }

    /// `${…}` that bash cannot make sense of.
    fn bad_substitution(&self, text: &BStr) -> Interrupt {
        self.refuse([text.as_bytes(), b": bad substitution"].concat())
    }

    /// An error that drops the rest of the command; with `set -e` it leaves the shell wherever it happens.
    pub(crate) fn refuse(&self, message: impl AsRef<[u8]>) -> Interrupt {
        self.complain(message);
        match (self.options.errexit, self.status) {
            (false, _) => Interrupt::Discard(ExitStatus::FAILURE),
            (true, ExitStatus::SUCCESS) => Interrupt::Exit(ExitStatus::FAILURE),
            (true, status) => Interrupt::Exit(status),
        }
    }

    /// `set -u`
    pub(super) fn unbound(&self, place: &Place) -> Interrupt {
        let mut message = match place {
            Place::List { name: Some(name), .. } => name.clone(),
            place => place.label_with_dollar(),
        };
        message.extend_from_slice(b": unbound variable");
        self.complain(&message);
        self.fatal()
    }

    /// The error of a parameter that has to be set: it leaves a shell that nobody talks to.
    pub(crate) fn fatal(&self) -> Interrupt {
        if self.options.interactive {
            return Interrupt::Discard(ExitStatus::FAILURE);
        }
        let top_level =
            self.options.command_string && self.subshell_level == 0 && !self.options.errexit;
        Interrupt::Exit(if top_level { ExitStatus::NOT_FOUND } else { ExitStatus::FAILURE })
    }

    fn names_with_prefix(&self, prefix: &Parameter) -> Vec<BString> {
        let Parameter::Variable(prefix) = prefix else { return Vec::new() };
        let mut names = self.variables.names();
        let is_set = |name: &BString| match self.variables.get(name.as_bstr()) {
            Some(variable) if variable.attributes.nameref => variable.value.is_some(),
            _ => self.value_of(name.as_bstr()).is_some(),
        };
        names.retain(|name| name.starts_with(prefix) && is_set(name));
        names
    }
}

/// `${…}` as the script has it.
fn written(expansion: &ParameterExpansion) -> BString {
    let part = WordPart::Parameter(Box::new(expansion.clone()));
    exacta_syntax::print_word(&Word { parts: vec![part], span: expansion.span })
}
