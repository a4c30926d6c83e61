//! What an expression's value can be, where that is a matter of literals: the names of files, hosts and commands.
//!
//! Names are not followed through the flow of the code: a name has every value that it is given anywhere, and none
//! that is known as soon as it is given one in a way that is not understood.

mod chains;
mod evaluator;
mod scope;

pub(super) use chains::{dotted, receiver_start};
pub(super) use evaluator::{Dialect, Evaluator};
pub(super) use scope::Scope;

/// More alternatives than this are as good as unknown.
const MOST: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// One of these texts.
    Texts(Vec<Vec<u8>>),
    /// Some path below the working directory, or below `/tmp`.
    Inside,
    Unknown,
}

impl Value {
    pub fn text(text: &[u8]) -> Value {
        Value::Texts(vec![text.to_vec()])
    }

    pub fn texts(&self) -> Option<&[Vec<u8>]> {
        match self {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// The one text it is.
    pub fn single(&self) -> Option<&[u8]> {
        match self.texts() {
            Some([text]) => Some(text),
            _ => None,
        }
    }

    /// Either of both.
    fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Texts(mut texts), Value::Texts(more)) if texts.len() + more.len() <= MOST => {
                for text in more {
                    if !texts.contains(&text) {
                        texts.push(text);
                    }
                }
                Value::Texts(texts)
            }
            (Value::Inside, other) | (other, Value::Inside) if other.is_inside() => Value::Inside,
            _ => Value::Unknown,
        }
    }

    pub fn is_inside(&self) -> bool {
        match self {
            Value::Texts(texts) => texts.iter().all(|text| is_inside(text)),
            Value::Inside => true,
            Value::Unknown => false,
        }
    }

    /// A known path inside that is more than dots: a tree that may be deleted without losing everything.
    pub fn is_a_part(&self) -> bool {
        self.texts().is_some_and(|texts| {
            texts
                .iter()
                .all(|text| is_inside(text) && text.iter().any(|byte| !matches!(byte, b'.' | b'/')))
        })
    }

    /// … or something of its own below `/tmp`.
    pub fn is_a_part_or_scratch(&self) -> bool {
        let scratch = |text: &Vec<u8>| {
            text.strip_prefix(b"/tmp/").is_some_and(|rest| {
                is_below(rest) && rest.iter().any(|byte| !matches!(byte, b'.' | b'/' | b'*'))
            })
        };
        self.is_a_part()
            || self.texts().is_some_and(|texts| !texts.is_empty() && texts.iter().all(scratch))
    }

    /// Inside, or below `/tmp`.
    fn is_contained(&self) -> bool {
        let scratch = |text: &[u8]| text.strip_prefix(b"/tmp/").is_some_and(is_below);
        match self {
            Value::Texts(texts) => texts.iter().all(|text| is_inside(text) || scratch(text)),
            _ => self.is_inside(),
        }
    }

    /// The one followed by the other, with what is between them.
    pub fn concat(&self, other: &Value, between: &[u8]) -> Value {
        match (self, other) {
            (Value::Texts(left), Value::Texts(right)) if left.len() * right.len() <= MOST => {
                let mut texts = Vec::with_capacity(left.len() * right.len());
                for head in left {
                    for tail in right {
                        let absolute = !between.is_empty() && tail.starts_with(b"/");
                        let parts: [&[u8]; 3] =
                            if absolute || head.is_empty() && !between.is_empty() {
                                [b"", b"", tail]
                            } else if head.ends_with(between) {
                                [head, b"", tail]
                            } else {
                                [head, between, tail]
                            };
                        texts.push(parts.concat());
                    }
                }
                Value::Texts(texts)
            }
            (left, Value::Inside) if left.is_contained() && left.joins(between) => Value::Inside,
            (Value::Inside, right) if right.is_inside() => match right.texts() {
                // With a dot at its end the first would end in `..`.
                Some(texts)
                    if between.is_empty()
                        && texts.iter().any(|text| text == b"." || text.starts_with(b"./")) =>
                {
                    Value::Unknown
                }
                _ => Value::Inside,
            },
            _ => Value::Unknown,
        }
    }

    /// Could what follows not turn it into `..`?
    fn joins(&self, between: &[u8]) -> bool {
        between == b"/"
            || self.texts().is_none_or(|texts| {
                texts.iter().all(|text| {
                    text.last()
                        .is_some_and(|byte| b"/_-".contains(byte) || byte.is_ascii_alphanumeric())
                })
            })
    }
}

/// Relative, and never above where it begins.
pub(super) fn is_inside(path: &[u8]) -> bool {
    !path.is_empty() && !path.starts_with(b"/") && !path.starts_with(b"~") && is_below(path)
}

/// Never above where it begins, wherever that is.
fn is_below(path: &[u8]) -> bool {
    !path.contains(&0)
        && !path.contains(&b':')
        && path.split(|byte| *byte == b'/').all(|part| part != b"..")
}

pub(super) fn is_url(text: &[u8]) -> bool {
    let schemes: &[&[u8]] =
        &[b"http://", b"https://", b"ftp://", b"ws://", b"wss://", b"s3://", b"gs://", b"ssh://"];
    schemes.iter().any(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}
