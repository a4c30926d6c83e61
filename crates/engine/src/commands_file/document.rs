//! The file as JSON: two lists of ours, and everything else to the letter and in its order.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

const ALLOWED: &str = "allowed";
const BLOCKED: &str = "blocked";

#[derive(Debug, Clone, Default)]
pub(super) struct Document {
    entries: Vec<(String, Entry)>,
}

#[derive(Debug, Clone)]
enum Entry {
    List(Vec<String>),
    /// Somebody else's.
    Other(Box<RawValue>),
}

#[derive(Debug)]
pub(super) struct Broken {
    pub line: usize,
    pub column: usize,
    pub problem: String,
}

impl Document {
    pub(super) fn parse(content: &[u8]) -> Result<Self, Broken> {
        serde_json::from_slice(content).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = error.to_string();
            let place = format!(" at line {line} column {column}");
            let problem = text.strip_suffix(&place).unwrap_or(&text).to_owned();
            Broken { line: line.max(1), column: column.max(1), problem }
        })
    }

    pub(super) fn allowed(&self) -> &[String] {
        self.list(ALLOWED)
    }

    pub(super) fn blocked(&self) -> &[String] {
        self.list(BLOCKED)
    }

    pub(super) fn allow(&mut self, command: &str) {
        self.enter(ALLOWED, command);
        self.complete();
    }

    /// A command is never in both lists because of us.
    pub(super) fn block(&mut self, command: &str) {
        for (name, entry) in &mut self.entries {
            if let Entry::List(commands) = entry
                && name == ALLOWED
            {
                commands.retain(|known| known != command);
            }
        }
        self.complete();
        self.enter(BLOCKED, command);
    }

    /// In the form that S1 shows: a key on each line, a list within its line.
    pub(super) fn text(&self) -> String {
        let lines: Vec<String> = self
            .entries
            .iter()
            .map(|(name, entry)| format!("  {}: {}", string(name), entry.text()))
            .collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    fn list(&self, wanted: &str) -> &[String] {
        let entry = self.entries.iter().find(|(name, _)| name == wanted);
        match entry {
            Some((_, Entry::List(commands))) => commands,
            _ => &[],
        }
    }

    fn enter(&mut self, list: &str, command: &str) {
        if self.list(list).iter().any(|known| known == command) {
            return;
        }
        let entry = self.entries.iter_mut().find(|(name, _)| name == list);
        match entry {
            Some((_, Entry::List(commands))) => commands.push(command.to_owned()),
            _ => self.entries.push((list.to_owned(), Entry::List(vec![command.to_owned()]))),
        }
    }

    /// A file that we write has both lists.
    fn complete(&mut self) {
        for list in [ALLOWED, BLOCKED] {
            if !self.entries.iter().any(|(name, _)| name == list) {
                self.entries.push((list.to_owned(), Entry::List(Vec::new())));
            }
        }
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Entry {
    fn text(&self) -> String {
        match self {
            Entry::List(commands) => {
                let commands: Vec<String> = commands.iter().map(|text| string(text)).collect();
                format!("[{}]", commands.join(", "))
            }
            Entry::Other(value) => value.get().to_owned(),
        }
    }
}

/// A string as JSON writes it.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the lists \"allowed\" and \"blocked\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut entries: Vec<(String, Entry)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            // Which of the two would hold is anybody's guess.
            if entries.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format_args!("the key {name:?} is there twice")));
            }
            let entry = if name == ALLOWED || name == BLOCKED {
                Entry::List(map.next_value()?)
            } else {
                Entry::Other(map.next_value()?)
            };
            entries.push((name, entry));
        }
        Ok(Document { entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_makes_the_file_of_s1() {
        let mut document = Document::default();
        document.allow("npm test");
        document.allow("jest --coverage");
        document.block("npm run build");
        document.block("rm -rf node_modules");
        let expected = r#"{
  "allowed": ["npm test", "jest --coverage"],
  "blocked": ["npm run build", "rm -rf node_modules"]
}
"#;
        assert_eq!(document.text(), expected);
    }

    #[test]
    fn what_is_not_ours_stays_to_the_letter() {
        let text = r#"{"note":  {"b": 1.50, "a": [1,  2]}, "blocked": [], "z": null}"#;
        let mut document = Document::parse(text.as_bytes()).expect("valid");
        document.allow("echo \"a\"\n");
        let expected = r#"{
  "note": {"b": 1.50, "a": [1,  2]},
  "blocked": [],
  "z": null,
  "allowed": ["echo \"a\"\n"]
}
"#;
        assert_eq!(document.text(), expected);
    }

    #[test]
    fn a_block_ends_an_allowance() {
        let text = br#"{"allowed": ["make", "ls"], "blocked": []}"#;
        let mut document = Document::parse(text).expect("valid");
        document.block("make");
        document.block("make");
        assert_eq!(
            (document.allowed(), document.blocked()),
            (&["ls".into()][..], &["make".into()][..])
        );
    }

    #[test]
    fn what_is_broken_is_placed() {
        let cases: [(&str, usize, usize, &str); 7] = [
            ("{\n  \"allowed\": [\"a\",]\n}", 2, 19, "trailing comma"),
            ("", 1, 1, "EOF"),
            ("[]", 1, 1, "object"),
            ("{\"allowed\": \"ls\"}", 1, 16, "sequence"),
            ("{\"blocked\": [1]}", 1, 14, "string"),
            ("{\"allowed\": [],\n\"allowed\": []}", 2, 9, "twice"),
            ("{} x", 1, 4, "trailing characters"),
        ];
        for (text, line, column, problem) in cases {
            let broken = Document::parse(text.as_bytes()).expect_err(text);
            assert_eq!((broken.line, broken.column), (line, column), "{text}: {}", broken.problem);
            assert!(broken.problem.contains(problem), "{text}: {}", broken.problem);
        }
    }
}
