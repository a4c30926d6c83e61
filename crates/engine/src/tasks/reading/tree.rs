//! What JSON and TOML have in common, each value with its place in the text.

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub at: usize,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// As good as absent: models that must write every field write this.
    Null,
    Boolean(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// Nothing that any field could be, by its name: a date.
    Other(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub at: usize,
    pub node: Node,
}

impl Node {
    /// What it is, for people.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Boolean(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

/// What is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    pub at: usize,
    pub field: String,
    pub message: String,
    pub hint: String,
}

impl Wrong {
    pub fn new(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Wrong { at, field: String::new(), message: message.into(), hint: hint.into() }
    }

    /// One level further out: `steps[2]` before `.expect`.
    pub fn within(mut self, field: &str) -> Self {
        self.field = match self.field.as_str() {
            "" => field.to_owned(),
            inner if inner.starts_with('[') => format!("{field}{inner}"),
            inner => format!("{field}.{inner}"),
        };
        self
    }
}
