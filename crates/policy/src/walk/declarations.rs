//! Builtins that set variables: `declare` and its kin, `read`, `printf -v`, `mapfile`, `getopts`, `let`.

use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::Assignment;

use crate::event::{Assign, Event, Input};
use crate::word::{Dynamic, Word};

use super::Walker;
use super::output::Output;
use super::values::Value;
use super::variables::{Folded, is_name};

/// What the options of a declaration say.
#[derive(Debug, Default)]
struct Kind {
    exports: bool,
    /// The name of another variable, or a number: what it has is not what was assigned.
    opaque: bool,
    refers: bool,
    functions: bool,
    global: bool,
    fixes: bool,
    keyed: bool,
}

impl Walker<'_> {
    pub(super) fn declaring(
        &mut self,
        name: &[u8],
        operands: &[Word],
        declared: Vec<(&Assignment, Folded)>,
        input: &Input,
    ) {
        match name {
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly" => {
                self.declare(name, operands, declared);
            }
            b"read" => self.read(operands, input),
            b"mapfile" | b"readarray" => self.mapfile(operands, input),
            b"printf" => self.printf(operands),
            b"getopts" => {
                match operands.get(1).map(Word::as_literal) {
                    Some(Some(name)) => {
                        let name = BString::from(name);
                        self.set_named(name.as_bstr(), "getopts");
                    }
                    Some(None) => self.state.forget_everything(),
                    None => {}
                }
                self.assign_unknown(BStr::new("OPTARG"), "getopts");
                self.set(BStr::new("OPTIND"), Value::unknown(), false);
            }
            b"wait" => self.named_by_option(operands, b"p"),
            b"let" => {
                for word in operands {
                    self.let_expression(word);
                }
            }
            b"test" | b"[" => {
                for pair in operands.windows(2) {
                    if let [Word::Literal(option), Word::Literal(operand)] = pair
                        && option == "-v"
                    {
                        self.evaluated_text(operand.as_bstr());
                    }
                }
            }
            _ => {}
        }
    }

    fn declare(&mut self, name: &[u8], operands: &[Word], declared: Vec<(&Assignment, Folded)>) {
        let mut kind =
            Kind { exports: name == b"export", fixes: name == b"readonly", ..Kind::default() };
        let mut names = Vec::new();
        for word in operands {
            match word.as_literal() {
                Some(option) if option.starts_with(b"-") || option.starts_with(b"+") => {
                    kind.add(option);
                }
                Some(text) => names.push((BString::from(text), true)),
                None if word.prefix().contains(&b'=') => names.push((word.prefix().into(), false)),
                None => self.state.forget_everything(),
            }
        }
        if kind.functions {
            return;
        }
        self.declare_nature(&kind, &names, &declared);
        let in_call = name != b"export" && name != b"readonly" && !kind.global;
        if kind.global && self.is_in_call() {
            self.state.forget_locals();
        }
        let mut assigned = Vec::new();
        for (assignment, folded) in declared {
            self.declare_assignment(assignment, folded, &kind, in_call);
            if kind.fixes {
                self.state.read_only.insert(assignment.name.clone());
            }
            assigned.push(&assignment.name);
        }
        if name == b"local" && !self.is_in_call() {
            // Outside a function it fails and sets nothing.
            for name in &assigned {
                self.set(name.as_bstr(), Value::unknown(), false);
            }
        }
        for (text, whole) in names {
            let end = text.find_byteset(b"=[+").unwrap_or(text.len());
            let name = BString::from(text.get(..end).unwrap_or_default());
            if text.get(end) == Some(&b'[') || !is_name(&name) {
                self.evaluated_text(text.as_bstr());
            }
            // `declare -a 'x=($(y))'`: the text is expanded like one that was written without the quotes.
            if let Some((_, list)) = text.split_once_str("=(") {
                let list = list.strip_suffix(b")").unwrap_or(list);
                self.evaluated_text(list.as_bstr());
            }
            if is_name(&name) && assigned.iter().all(|done| **done != name) {
                let text = if whole { Some(text.as_bstr()) } else { None };
                self.declare_name(name.as_bstr(), text, &kind, in_call);
                if kind.fixes {
                    self.state.read_only.insert(name);
                }
            }
        }
    }

    /// Numbers, letters that are changed and references never have what was assigned to them.
    fn declare_nature(
        &mut self,
        kind: &Kind,
        names: &[(BString, bool)],
        declared: &[(&Assignment, Folded)],
    ) {
        if !kind.opaque && !kind.refers {
            return;
        }
        let before_sign = |(text, _): &(BString, bool)| {
            let end = text.find_byteset(b"=[+").unwrap_or(text.len());
            BString::from(text.get(..end).unwrap_or_default())
        };
        let assigned = declared.iter().map(|(assignment, _)| assignment.name.clone());
        let all: Vec<BString> = names.iter().map(before_sign).chain(assigned).collect();
        self.state.unsettle(all.into_iter());
        if !kind.refers {
            return;
        }
        // Whatever is assigned to it is assigned to another one.
        self.state.forget_everything();
        for (_, folded) in declared {
            match folded {
                Folded::Scalar(Word::Literal(target)) => {
                    let end = target.find_byte(b'[').unwrap_or(target.len());
                    let target = BString::from(target.get(..end).unwrap_or_default());
                    self.state.unsettle(std::iter::once(target));
                }
                _ => self.state.adrift = true,
            }
        }
        // The first value that it gets names its target.
        self.state.adrift |= !names.is_empty();
    }

    fn declare_assignment(
        &mut self,
        assignment: &Assignment,
        folded: Folded,
        kind: &Kind,
        in_call: bool,
    ) {
        let name = assignment.name.as_bstr();
        if in_call {
            self.make_local(name);
        }
        let (mut value, shown) = self.assigned(assignment, folded);
        if kind.refers
            && let Some(target) = shown.as_literal().filter(|target| is_name(target))
        {
            self.refer(target);
        }
        if kind.keyed {
            value = self.keyed(assignment);
        }
        if kind.opaque {
            self.evaluated_operand(&shown);
            self.assign(name, Value::unknown(), shown, kind.exports);
        } else {
            self.assign(name, value, shown, kind.exports);
        }
    }

    /// `declare -n r=PATH`: whatever `r` gets later, `PATH` gets.
    fn refer(&mut self, target: &BStr) {
        let shown =
            Word::Dynamic(Box::new(Dynamic { written: "…".into(), ..Dynamic::default() }));
        // It may be exported by that name as well.
        (self.emit)(Event::Assign(Assign {
            name: target.into(),
            value: shown,
            exported: true,
            via: self.via.clone(),
        }));
    }

    /// A name alone, or an assignment that was only seen after expansion: `export "$x=1"`.
    fn declare_name(&mut self, name: &BStr, text: Option<&BStr>, kind: &Kind, in_call: bool) {
        if in_call {
            self.make_local(name);
        }
        let Some(text) = text else { return self.assign_unknown(name, "…") };
        match text.split_once_str("=") {
            // In brackets it is an array.
            Some((before, value))
                if before == name.as_bytes()
                    && !kind.opaque
                    && !kind.keyed
                    && !value.starts_with(b"(") =>
            {
                let value = BString::from(value);
                let shown = Word::Literal(value.clone());
                self.assign(name, Value::Text(value), shown, kind.exports);
            }
            Some(_) => self.assign_unknown(name, "…"),
            None if kind.keyed => {
                let value = match self.lookup(name) {
                    Value::Unset => Value::Keyed(Rc::default()),
                    Value::Keyed(pairs) if !in_call => Value::Keyed(pairs),
                    _ => Value::unknown(),
                };
                self.set(name, value, kind.exports);
            }
            None if kind.opaque || (in_call && kind.is_plain()) => {
                // A new variable in a call; the same one elsewhere.
                let value = if kind.opaque { Value::unknown() } else { self.lookup(name) };
                let value = value.join(&Value::Unset);
                self.set(name, value, kind.exports);
            }
            None if kind.exports => {
                let value = self.lookup(name);
                let shown = value.to_word(name);
                self.assign(name, value, shown, true);
            }
            None => {}
        }
    }

    fn printf(&mut self, operands: &[Word]) {
        let (name, rest) = match operands {
            [Word::Literal(option), Word::Literal(name), rest @ ..] if option == "-v" => {
                (BString::from(name.as_bstr()), rest)
            }
            [Word::Literal(option), rest @ ..] if option.starts_with(b"-v") && option != "-v" => {
                (BString::from(option.get(2..).unwrap_or_default()), rest)
            }
            [Word::Literal(option), ..] if option == "-v" => {
                return self.state.forget_everything();
            }
            [Word::Dynamic(dynamic), ..]
                if b"-v".starts_with(&dynamic.prefix) || dynamic.prefix.starts_with(b"-v") =>
            {
                // It may be `-v` and a name.
                return self.state.forget_everything();
            }
            _ => return,
        };
        match self.formatted(rest) {
            Output::Text(text) if is_name(&name) => {
                let shown = Word::Literal(text.clone());
                self.assign(name.as_bstr(), Value::Text(text), shown, false);
            }
            _ => self.set_named(name.as_bstr(), "printf -v"),
        }
    }

    fn named_by_option(&mut self, operands: &[Word], option: &[u8]) {
        if operands.iter().any(|word| word.as_literal().is_none()) {
            return self.state.forget_everything();
        }
        for pair in operands.windows(2) {
            if let [Word::Literal(given), Word::Literal(name)] = pair
                && given.ends_with(option)
            {
                self.set_named(name.as_bstr(), "wait");
            }
        }
    }

    fn let_expression(&mut self, word: &Word) {
        let Some(text) = word.as_literal() else { return self.state.forget_everything() };
        self.visit_expression_text(text);
    }
}

impl Kind {
    fn add(&mut self, option: &BStr) {
        let on = option.starts_with(b"-");
        for letter in option.iter().skip(1) {
            match letter {
                b'x' => self.exports = on,
                b'n' => {
                    // `export -n` takes the mark away; everywhere else it is a reference.
                    self.refers |= on && !self.exports;
                    self.exports = false;
                }
                b'i' | b'l' | b'u' | b'c' => self.opaque |= on,
                b'A' => self.keyed |= on,
                b'f' | b'F' | b'p' => self.functions |= on,
                b'g' => self.global |= on,
                b'r' => self.fixes |= on,
                _ => {}
            }
        }
    }

    fn is_plain(&self) -> bool {
        !self.exports && !self.refers
    }
}
