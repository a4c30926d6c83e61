//! The schema and the reader agree: on the fields, and on every example in `examples.json`.

use serde_json::Value;

use super::super::reading::{self, Format};
use super::*;
use crate::tasks::Plan;

fn examples(kind: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("examples.json")).unwrap();
    all[kind].as_array().unwrap().clone()
}

fn is_read(plan: &Value) -> Result<Plan, String> {
    Plan::read(&plan.to_string(), Format::Json).map_err(|error| error.to_string())
}

#[test]
fn what_is_valid_is_read() {
    for plan in examples("valid") {
        assert!(fits(&schema(), &plan), "{plan}");
        assert!(is_read(&plan).is_ok(), "{plan}: {:?}", is_read(&plan));
    }
}

#[test]
fn what_the_schema_refuses_the_reader_refuses() {
    for plan in examples("malformed") {
        assert!(!fits(&schema(), &plan), "{plan}");
        assert!(is_read(&plan).is_err(), "{plan}");
    }
}

#[test]
fn what_only_the_reader_can_know() {
    for plan in examples("meaningless") {
        assert!(fits(&schema(), &plan), "{plan}");
        assert!(is_read(&plan).is_err(), "{plan}");
    }
}

#[test]
fn what_a_model_must_write_is_read() {
    for plan in examples("strict") {
        assert!(fits(&strict_schema(), &plan), "{plan}");
        assert!(is_read(&plan).is_ok(), "{plan}: {:?}", is_read(&plan));
    }
}

#[test]
fn the_fields_are_those_of_the_reader() {
    let names = |fields: &[Field]| fields.iter().map(|field| field.name).collect::<Vec<_>>();
    for (table, known) in [
        (PLAN, reading::FIELDS_OF_PLAN),
        (STEP, reading::FIELDS_OF_STEP),
        (EXPECT, reading::FIELDS_OF_EXPECT),
        (RETRY, reading::FIELDS_OF_RETRY),
    ] {
        assert_eq!(names(table), known);
    }
}

/// What `OpenAI` asks of a schema that a model is held to.
#[test]
fn the_strict_schema_is_strict() {
    fn check(schema: &Value) {
        let fields = schema.as_object().unwrap();
        let known =
            ["type", "properties", "required", "additionalProperties", "items", "description"];
        for name in fields.keys() {
            assert!(known.contains(&name.as_str()), "{name}");
        }
        if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
            assert_eq!(fields["additionalProperties"], false);
            let required: Vec<&str> = fields["required"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap())
                .collect();
            assert_eq!(required.len(), properties.len());
            assert!(properties.keys().all(|name| required.contains(&name.as_str())));
            properties.values().for_each(check);
        }
        fields.get("items").into_iter().for_each(check);
    }
    check(&strict_schema());
}

/// As much of JSON Schema as there is in these two. A keyword that it does not know fails the test.
fn fits(schema: &Value, value: &Value) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "title" | "description" => true,
        "type" => match wanted {
            Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
            kind => is_of(kind, value),
        },
        "properties" => value.as_object().is_none_or(|fields| {
            fields.iter().all(|(name, field)| wanted.get(name).is_none_or(|it| fits(it, field)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|fields| {
            fields.keys().all(|name| schema["properties"].get(name).is_some())
        }),
        "required" => value.as_object().is_none_or(|fields| {
            wanted
                .as_array()
                .unwrap()
                .iter()
                .all(|name| fields.contains_key(name.as_str().unwrap()))
        }),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(wanted, item))),
        "anyOf" => wanted.as_array().unwrap().iter().any(|one| fits(one, value)),
        "minItems" => {
            value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap())
        }
        "maxItems" => {
            value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap())
        }
        "minLength" => {
            value.as_str().is_none_or(|text| text.len() as u64 >= wanted.as_u64().unwrap())
        }
        "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
        "pattern" => value.as_str().is_none_or(|text| {
            super::super::patterns::regex(wanted.as_str().unwrap()).unwrap().is_match(text)
        }),
        other => panic!("unknown keyword {other}"),
    })
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}
