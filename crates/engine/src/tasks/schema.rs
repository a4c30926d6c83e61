//! The JSON Schema of a plan, for people (`exacta task schema`), editors and planners. What a schema cannot say, such as
//! whether a command can be read by the shell, [`super::reading`] says.
//!
//! Both schemas are made of one table, which has the fields that the reader knows (a test compares them).

use serde_json::{Map, Value, json};

use super::reading::{LARGEST_CODE, MOST_ATTEMPTS, MOST_STEPS};

/// What a field may be.
enum Kind {
    Text,
    /// A text or a list of them.
    Texts,
    /// Seconds, or a text with its unit.
    Time,
    /// A whole number up to this.
    Whole(u32),
    Flag,
    Table(&'static [Field]),
    /// So many tables.
    Tables(usize, &'static [Field]),
}

struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
    description: &'static str,
}

const fn field(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field { name, kind, required: false, description }
}

const fn required(name: &'static str, kind: Kind, description: &'static str) -> Field {
    Field { name, kind, required: true, description }
}

const PLAN: &[Field] = &[
    required("goal", Kind::Text, "What is to be achieved, in a sentence."),
    field("agent", Kind::Text, "Who it is done for; of one agent one task runs at a time."),
    required(
        "steps",
        Kind::Tables(MOST_STEPS, STEP),
        "Commands, run one after the other until one fails.",
    ),
];

const STEP: &[Field] = &[
    required(
        "command",
        Kind::Text,
        "A command line for bash, run from the root of the project. It must end by itself and ask nothing.",
    ),
    field("why", Kind::Text, "What it is good for, in a sentence, for whoever approves the plan."),
    field("expect", Kind::Table(EXPECT), "What it must lead to; else the task has failed."),
    field(
        "timeout",
        Kind::Time,
        "How long it may take: seconds, or a text such as \"90s\", \"2m\", \"500ms\". Absent: 60 seconds.",
    ),
    field(
        "retry",
        Kind::Table(RETRY),
        "How often it is tried again after a failure. Absent: three times.",
    ),
    field(
        "idempotent",
        Kind::Flag,
        "Running it twice is as good as once, whatever came of the first time. Absent: false.",
    ),
];

const EXPECT: &[Field] = &[
    field("exit_code", Kind::Whole(LARGEST_CODE), "What it ends with. Absent: 0."),
    field("stdout_contains", Kind::Texts, "All of these are somewhere in its standard output."),
    field(
        "stdout_matches",
        Kind::Texts,
        "Regular expressions found somewhere in its standard output; ^ and $ are the ends of lines.",
    ),
    field("stderr_matches", Kind::Texts, "The same of its standard error."),
    field(
        "files_exist",
        Kind::Texts,
        "Paths from the root of the project on that exist afterwards.",
    ),
    field("files_absent", Kind::Texts, "Paths that do not exist afterwards."),
    field(
        "changed_only",
        Kind::Texts,
        "Patterns of paths such as \"src/**\": nothing else was changed. An empty list: nothing at all was.",
    ),
];

const RETRY: &[Field] = &[
    field("attempts", Kind::Whole(MOST_ATTEMPTS), "How often it is tried again. Absent: 3."),
    field(
        "backoff",
        Kind::Time,
        "The pause before it is tried again; it doubles. Absent: 1 second.",
    ),
];

/// Which rules a schema is written by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// All that the draft has.
    Full,
    /// What servers that hold a model to a schema take: every field is required, one that may be absent may be null, and
    /// there are no bounds.
    Strict,
}

/// Draft 2020-12.
pub fn schema() -> Value {
    let mut schema = table(PLAN, Dialect::Full);
    if let Some(fields) = schema.as_object_mut() {
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        fields.insert("$schema".to_owned(), dialect.into());
        fields.insert("title".to_owned(), "A plan for exacta".into());
    }
    schema
}

/// The same for structured output of models.
pub fn strict_schema() -> Value {
    table(PLAN, Dialect::Strict)
}

fn table(fields: &[Field], dialect: Dialect) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), property(field, dialect))).collect();
    let needed = fields.iter().filter(|field| field.required || dialect == Dialect::Strict);
    let needed: Vec<&str> = needed.map(|field| field.name).collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !needed.is_empty() {
        schema["required"] = json!(needed);
    }
    schema
}

fn property(field: &Field, dialect: Dialect) -> Value {
    let mut schema = match dialect {
        Dialect::Full => full(field),
        Dialect::Strict => strict(&field.kind),
    };
    if dialect == Dialect::Strict && !field.required {
        let kind = schema["type"].take();
        schema["type"] = json!([kind, "null"]);
    }
    schema["description"] = field.description.into();
    schema
}

fn full(field: &Field) -> Value {
    const TIME: &str = "^[0-9]+(\\.[0-9]+)? *(ms|s|m|h)?$";
    match &field.kind {
        Kind::Text if field.required => json!({ "type": "string", "minLength": 1 }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "anyOf": [
            { "type": "string", "minLength": 1 },
            { "type": "array", "items": { "type": "string", "minLength": 1 } },
        ] }),
        Kind::Time => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 86_400 },
            { "type": "string", "pattern": TIME },
        ] }),
        Kind::Whole(most) => json!({ "type": "integer", "minimum": 0, "maximum": most }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Table(fields) => table(fields, Dialect::Full),
        Kind::Tables(most, fields) => {
            let items = table(fields, Dialect::Full);
            json!({ "type": "array", "minItems": 1, "maxItems": most, "items": items })
        }
    }
}

/// One way to write each thing suffices.
fn strict(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Time => json!({ "type": "number" }),
        Kind::Whole(_) => json!({ "type": "integer" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Table(fields) => table(fields, Dialect::Strict),
        Kind::Tables(_, fields) => {
            json!({ "type": "array", "items": table(fields, Dialect::Strict) })
        }
    }
}

#[cfg(test)]
mod tests;
