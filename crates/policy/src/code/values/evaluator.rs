//! Evaluates expressions that are made of literals, names with known values, and what a language says of its calls.

use std::ops::Range;

use super::scope::Given;
use super::{Scope, Value, dotted};
use crate::code::tokens::{Kind, Tokens};

/// Deeper nesting than this is nobody's file name.
const DEEPEST: usize = 8;

/// What the evaluation must know of a language.
pub(in crate::code) trait Dialect {
    /// Signs that put texts one after the other.
    fn is_concatenation(&self, sign: &[u8]) -> bool;
    /// Signs that join paths.
    fn is_join(&self, _sign: &[u8]) -> bool {
        false
    }
    /// What an imported name stands for: `np` is `numpy`.
    fn full_name(&self, name: &[u8]) -> Option<Vec<u8>>;
    /// What a call gives; `path` is the whole dotted name.
    fn call(&self, path: &[u8], arguments: &[Value]) -> Value;
    /// What a method of a value gives.
    fn method(&self, _receiver: &Value, _name: &[u8]) -> Value {
        Value::Unknown
    }
    /// Does a call of this only hand on the elements of its first argument?
    fn passes_elements(&self, _path: &[u8]) -> bool {
        false
    }
    /// The texts around the expressions in a text, one more than there are expressions.
    fn pieces(&self, _raw: &[u8]) -> Option<Vec<Vec<u8>>> {
        None
    }
    /// What a dotted name is by itself.
    fn constant(&self, _path: &[u8]) -> Value {
        Value::Unknown
    }
}

/// Evaluates expressions of one piece of code.
pub(in crate::code) struct Evaluator<'t, 'a> {
    pub tokens: &'t Tokens<'a>,
    pub scope: &'t Scope<'t>,
    pub dialect: &'t dyn Dialect,
}

impl Evaluator<'_, '_> {
    pub fn value(&self, range: Range<usize>) -> Value {
        self.expression(range, 0)
    }

    /// The elements of a literal list, or the text itself: the words of a command.
    pub fn words(&self, range: Range<usize>) -> Option<Vec<Vec<u8>>> {
        let range = self.tokens.trim(range);
        let list = self.tokens.is(range.start, b"[") || self.tokens.is(range.start, b"(");
        if !list || self.tokens.partner(range.start) + 1 != range.end {
            return None;
        }
        let parts = self.tokens.arguments(range.start);
        parts.into_iter().map(|part| Some(self.value(part).single()?.to_vec())).collect()
    }

    fn expression(&self, range: Range<usize>, depth: usize) -> Value {
        if depth > DEEPEST || range.is_empty() {
            return Value::Unknown;
        }
        let Some((mut value, mut at)) = self.operand(range.start, range.end, depth) else {
            return Value::Unknown;
        };
        while at < range.end {
            let sign = match self.tokens.kind(at) {
                Some(Kind::Sign) => self.tokens.text(at),
                Some(Kind::Newline) => {
                    at += 1;
                    continue;
                }
                _ => return Value::Unknown,
            };
            let between: &[u8] = if self.dialect.is_concatenation(sign) {
                b""
            } else if self.dialect.is_join(sign) {
                b"/"
            } else {
                return Value::Unknown;
            };
            let Some((next, after)) = self.operand(at + 1, range.end, depth) else {
                return Value::Unknown;
            };
            value = value.concat(&next, between);
            at = after;
            if value == Value::Unknown {
                return value;
            }
        }
        value
    }

    /// One operand, and where it ends.
    fn operand(&self, start: usize, end: usize, depth: usize) -> Option<(Value, usize)> {
        let start = if self.tokens.is_name(start, b"await") { start + 1 } else { start };
        let (value, at) = match self.tokens.kind(start)? {
            Kind::Text => {
                let mut at = start + 1;
                let mut text = self.tokens.text(start).to_vec();
                while at < end && (self.tokens.kind(at) == Some(Kind::Text)) {
                    text.extend_from_slice(self.tokens.text(at));
                    at += 1;
                }
                (Value::Texts(vec![text]), at)
            }
            Kind::Sign if self.tokens.is(start, b"(") => {
                let close = self.tokens.partner(start);
                let inner = self.tokens.trim(start + 1..close);
                (self.expression(inner, depth + 1), close + 1)
            }
            Kind::Mixed => self.mixed(start, depth)?,
            Kind::Name => self.chain(start, depth),
            _ => return None,
        };
        let (value, at) = self.methods(value, at, end);
        (at <= end).then_some((value, at))
    }

    /// A text with expressions in it, each of which follows in brackets.
    fn mixed(&self, start: usize, depth: usize) -> Option<(Value, usize)> {
        let pieces = self.dialect.pieces(self.tokens.text(start))?;
        let mut pieces = pieces.into_iter();
        let mut value = pieces.next().map_or(Value::Unknown, |text| Value::text(&text));
        let mut at = start + 1;
        for piece in pieces {
            if !self.tokens.is(at, b"(") {
                return None;
            }
            let close = self.tokens.partner(at);
            let end = (at + 1..close)
                .find(|index| self.tokens.is(*index, b":") || self.tokens.is(*index, b"!"))
                .unwrap_or(close);
            let inner = self.expression(at + 1..end, depth + 1);
            // A format changes the text, but makes no path of what is none.
            let inner = if end < close && inner != Value::Inside { Value::Unknown } else { inner };
            for part in [inner, Value::text(&piece)] {
                value = match (&value, &part) {
                    (_, Value::Texts(texts)) if texts.iter().all(Vec::is_empty) => value,
                    (Value::Texts(texts), _) if texts.iter().all(Vec::is_empty) => part,
                    _ => value.concat(&part, b""),
                };
            }
            at = close + 1;
        }
        Some((value, at))
    }

    fn chain(&self, start: usize, depth: usize) -> (Value, usize) {
        let (path, end) = dotted(self.tokens, start);
        let path = match self
            .dialect
            .full_name(path.split(|byte| *byte == b'.').next().unwrap_or(&path))
        {
            Some(mut full) => {
                let rest = path.iter().position(|byte| *byte == b'.');
                full.extend_from_slice(rest.and_then(|at| path.get(at..)).unwrap_or_default());
                full
            }
            None => path,
        };
        if self.tokens.is(end, b"(") {
            let arguments: Vec<Value> = self
                .tokens
                .arguments(end)
                .into_iter()
                .take(8)
                .map(|argument| self.expression(argument, depth + 1))
                .collect();
            let value = self.dialect.call(&path, &arguments);
            if value != Value::Unknown {
                return (value, self.tokens.partner(end) + 1);
            }
        }
        if let Some(name) = self.tokens.name(start) {
            let value = self.named(name, depth);
            if value != Value::Unknown {
                return (value, start + 1);
            }
        }
        (self.dialect.constant(&path), end)
    }

    /// `.name(…)` after a value.
    fn methods(&self, mut value: Value, mut at: usize, end: usize) -> (Value, usize) {
        while at < end
            && (self.tokens.is(at, b".") || self.tokens.is(at, b"?.") || self.tokens.is(at, b":"))
        {
            let Some(name) = self.tokens.name(at + 1) else { break };
            value = self.dialect.method(&value, name);
            at += 2;
            if self.tokens.is(at, b"(") {
                at = self.tokens.partner(at) + 1;
            }
        }
        (value, at)
    }

    /// Every value that a name is ever given.
    pub fn named(&self, name: &'_ [u8], depth: usize) -> Value {
        let Some((&key, Some(given))) = self.scope.given.get_key_value(name) else {
            return Value::Unknown;
        };
        if self.scope.forgotten {
            return Value::Unknown;
        }
        if let Some(value) = self.scope.known.borrow().get(key) {
            return value.clone();
        }
        // While it is being found out, it is unknown: a name that depends on itself is.
        self.scope.known.borrow_mut().insert(key, Value::Unknown);
        let value = given
            .iter()
            .map(|given| match given {
                Given::Assigned(range) => self.expression(range.clone(), depth + 1),
                Given::Each(range) => self.element(range.clone(), depth + 1),
            })
            .reduce(Value::or)
            .unwrap_or(Value::Unknown);
        self.scope.known.borrow_mut().insert(key, value.clone());
        value
    }

    /// Any element of what an expression holds.
    fn element(&self, range: Range<usize>, depth: usize) -> Value {
        if depth > DEEPEST {
            return Value::Unknown;
        }
        let range = self.tokens.trim(range);
        let list = self.tokens.is(range.start, b"[") || self.tokens.is(range.start, b"(");
        if list && self.tokens.partner(range.start) + 1 == range.end {
            let parts = self.tokens.arguments(range.start);
            return parts
                .into_iter()
                .map(|part| self.expression(part, depth + 1))
                .reduce(Value::or)
                .unwrap_or(Value::Unknown);
        }
        if let Some(inner) = self.handed_on(range.clone()) {
            return self.element(inner, depth + 1);
        }
        if let Some(value) = self.listed(range.clone(), depth) {
            return value;
        }
        // A single text has characters for elements; only what lists paths gives paths.
        match self.expression(range, depth) {
            Value::Inside => Value::Inside,
            _ => Value::Unknown,
        }
    }

    /// The `x` of `sorted(x)`.
    fn handed_on(&self, range: Range<usize>) -> Option<Range<usize>> {
        self.tokens.name(range.start)?;
        let (path, open) = dotted(self.tokens, range.start);
        if !self.tokens.is(open, b"(")
            || self.tokens.partner(open) + 1 != range.end
            || !self.dialect.passes_elements(&path)
        {
            return None;
        }
        self.tokens.arguments(open).into_iter().next()
    }

    /// An element of a list that has a name, if nobody can have changed it.
    fn listed(&self, range: Range<usize>, depth: usize) -> Option<Value> {
        let name = self.tokens.name(range.start).filter(|_| range.len() == 1)?;
        if depth > DEEPEST || self.scope.forgotten || self.scope.listed.get(name) != Some(&true) {
            return None;
        }
        let given = self.scope.given.get(name)?.as_ref()?;
        let lists: Option<Vec<Range<usize>>> = given
            .iter()
            .map(|given| match given {
                Given::Assigned(range) => Some(self.tokens.trim(range.clone())),
                Given::Each(_) => None,
            })
            .collect();
        let literal = |range: &Range<usize>| {
            let open = self.tokens.is(range.start, b"[") || self.tokens.is(range.start, b"(");
            open && self.tokens.partner(range.start) + 1 == range.end
        };
        let lists = lists?;
        if !lists.iter().all(literal) {
            return None;
        }
        lists.into_iter().map(|list| self.element(list, depth + 1)).reduce(Value::or)
    }
}
