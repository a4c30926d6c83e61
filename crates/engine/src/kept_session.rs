//! A session that goes on from one process to the next (`run --session NAME`): what it has made of its shell lies in the state of the
//! project, and nobody else uses it meanwhile. Secrets are not written: a variable that has one is not kept.

#![expect(
    clippy::disallowed_methods,
    reason = "exacta's own state, which no script can see: opened by handle, never through a link"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use exacta_shell::keeping::{Kept, KeptFunction};
use exacta_shell::shell::Shell;
use exacta_shell::variables::{
    AssociativeArray, Attributes, IndexedArray, Value, Variable, is_name,
};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::kept_file::{self, Lock};
use crate::project;
use crate::redaction::Rules;

const FOLDER: &str = "sessions";
const FILE: &str = "state.json";
/// Longer, and it would be no name any more.
const LONGEST_NAME: usize = 64;
/// More is no shell's state.
const LARGEST: u64 = 16 << 20;
/// A session by its name, held until this goes.
#[derive(Debug)]
pub struct KeptSession {
    path: PathBuf,
    folder: OwnedFd,
    /// Its private `/tmp`, from the state of the project on.
    temporary: PathBuf,
    lock: Lock,
}

/// Why there is none.
#[derive(Debug)]
pub enum KeepError {
    Name(String),
    /// Another call uses it.
    Busy(String),
    Io(PathBuf, io::Error),
    Broken(PathBuf, String),
}

impl std::fmt::Display for KeepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeepError::Name(name) => write!(
                f,
                "{name:?} is no name of a session: letters, digits, '.', '_' and '-', at most {LONGEST_NAME}"
            ),
            KeepError::Busy(name) => {
                write!(f, "the session {name} is in use: another command runs in it")
            }
            KeepError::Io(path, error) => {
                write!(f, "{}: {}", path.display(), exacta_shell::errno::text(error))
            }
            KeepError::Broken(path, problem) => {
                write!(f, "{} is broken: {problem}; removing it begins anew", path.display())
            }
        }
    }
}

impl std::error::Error for KeepError {}

impl KeptSession {
    /// The one of this name, made if it is new. Waits a little for whoever uses it.
    pub fn open(root: &Path, name: &str) -> Result<Self, KeepError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let sound = !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(plain);
        if !sound || name.starts_with('.') {
            return Err(KeepError::Name(name.to_owned()));
        }
        let below = Path::new(FOLDER).join(name);
        let opened = || {
            let state = project::state_directory(root)?;
            let path = project::directory_in_state(&state, &below)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = rustix::fs::open(&path, flags, Mode::empty())?;
            Ok((path, folder))
        };
        let (path, folder) = opened().map_err(|error| KeepError::Io(below.clone(), error))?;
        let lock = kept_file::lock(&folder, "lock").map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => KeepError::Busy(name.to_owned()),
            _ => KeepError::Io(path.clone(), error),
        })?;
        Ok(KeptSession { path, folder, temporary: below.join("tmp"), lock })
    }

    /// What `/tmp` is for it, from the state of the project on.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// What it was when it was last left; `None`: it is new.
    pub fn read(&self) -> Result<Option<Kept>, KeepError> {
        let text = kept_file::read(&self.folder, FILE, LARGEST);
        let Some(text) = text.map_err(|error| self.failed(error))? else { return Ok(None) };
        let written: Written = serde_json::from_slice(&text)
            .map_err(|error| KeepError::Broken(self.path.join(FILE), error.to_string()))?;
        Ok(Some(written.into()))
    }

    /// Leaves it to the next one. The names of what was left out, because it is secret.
    pub fn write(
        &self,
        shell: &Shell,
        begun: &Shell,
        rules: &Rules,
    ) -> Result<Vec<BString>, KeepError> {
        let mut kept = shell.changed_since(begun);
        let left_out = without_secrets(&mut kept, rules);
        // Plain texts and flags can always be written.
        let text = serde_json::to_vec(&Written::from(kept)).unwrap_or_default();
        kept_file::replace(&self.folder, FILE, "new", &text, &self.lock)
            .map_err(|error| self.failed(error))?;
        Ok(left_out)
    }

    fn failed(&self, error: io::Error) -> KeepError {
        KeepError::Io(self.path.clone(), error)
    }
}

fn without_secrets(kept: &mut Kept, rules: &Rules) -> Vec<BString> {
    let has_secret = |text: &[u8]| !rules.redact(text).1.is_empty();
    let texts = |value: &Value| -> Vec<BString> {
        match value {
            Value::Scalar(text) => vec![text.clone()],
            Value::Indexed(array) => array.iter().map(|(_, text)| text.clone()).collect(),
            Value::Associative(map) => map.iter().map(|(_, text)| text.clone()).collect(),
        }
    };
    let mut left_out = Vec::new();
    kept.variables.retain(|(name, variable)| {
        let secret = variable.value.iter().flat_map(texts).any(|text| {
            let assigned = [name.as_slice(), b"=", &text, b"\n"].concat();
            has_secret(&assigned) || has_secret(&text)
        });
        if secret {
            left_out.push(name.clone());
        }
        !secret
    });
    kept.functions.retain(|function| !has_secret(&function.text));
    kept.aliases.retain(|(_, text)| !has_secret(text));
    left_out
}

/// As it stands in the file.
#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    directory: Text,
    variables: Vec<WrittenVariable>,
    unset: Vec<Text>,
    functions: Vec<(Text, bool, bool)>,
    aliases: Vec<(Text, Text)>,
}

/// Bytes, readable where they are text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Serialize, Deserialize)]
struct WrittenVariable {
    name: Text,
    /// As `declare -p` has them.
    attributes: String,
    value: Option<WrittenValue>,
}

#[derive(Serialize, Deserialize)]
enum WrittenValue {
    Scalar(Text),
    Indexed(Vec<(u64, Text)>),
    Associative(Vec<(Text, Text)>),
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        bytes.to_str().map_or_else(|_| Text::Bytes(bytes.into()), |text| Text::Text(text.into()))
    }
}

impl From<Text> for BString {
    fn from(text: Text) -> Self {
        match text {
            Text::Text(text) => text.into(),
            Text::Bytes(bytes) => bytes.into(),
        }
    }
}

fn written(text: &BString) -> Text {
    text.as_slice().into()
}

impl From<Kept> for Written {
    fn from(kept: Kept) -> Self {
        let variable = |(name, variable): &(BString, Variable)| WrittenVariable {
            name: written(name),
            attributes: letters(variable.attributes),
            value: variable.value.as_ref().map(|value| match value {
                Value::Scalar(text) => WrittenValue::Scalar(written(text)),
                Value::Indexed(array) => WrittenValue::Indexed(
                    array.iter().map(|(index, text)| (index, written(text))).collect(),
                ),
                Value::Associative(map) => WrittenValue::Associative(
                    map.iter().map(|(key, text)| (written(key), written(text))).collect(),
                ),
            }),
        };
        let function = |it: &KeptFunction| (written(&it.text), it.exported, it.readonly);
        let alias = |(name, text): &(BString, BString)| (written(name), written(text));
        Written {
            version: 1,
            directory: written(&kept.directory),
            variables: kept.variables.iter().map(variable).collect(),
            unset: kept.unset.iter().map(written).collect(),
            functions: kept.functions.iter().map(function).collect(),
            aliases: kept.aliases.iter().map(alias).collect(),
        }
    }
}

impl From<Written> for Kept {
    fn from(written: Written) -> Self {
        let variable = |it: WrittenVariable| {
            let name = BString::from(it.name);
            let value = it.value.map(value);
            let attributes = attributes(&it.attributes);
            is_name(&name).then_some((name, Variable { value, attributes }))
        };
        let function = |(text, exported, readonly): (Text, bool, bool)| KeptFunction {
            text: text.into(),
            exported,
            readonly,
        };
        Kept {
            directory: written.directory.into(),
            variables: written.variables.into_iter().filter_map(variable).collect(),
            unset: written.unset.into_iter().map(Into::into).collect(),
            functions: written.functions.into_iter().map(function).collect(),
            aliases: written
                .aliases
                .into_iter()
                .map(|(name, text)| (name.into(), text.into()))
                .collect(),
        }
    }
}

fn value(written: WrittenValue) -> Value {
    match written {
        WrittenValue::Scalar(text) => Value::Scalar(text.into()),
        WrittenValue::Indexed(elements) => {
            let mut array = IndexedArray::default();
            for (index, text) in elements {
                array.set(index, text.into());
            }
            Value::Indexed(array)
        }
        WrittenValue::Associative(pairs) => {
            let mut map = AssociativeArray::default();
            for (key, text) in pairs {
                map.set(key.into(), text.into());
            }
            Value::Associative(map)
        }
    }
}

fn letters(attributes: Attributes) -> String {
    let all = [
        ('x', attributes.exported),
        ('r', attributes.readonly),
        ('i', attributes.integer),
        ('l', attributes.lowercase),
        ('u', attributes.uppercase),
        ('c', attributes.capitalize),
        ('n', attributes.nameref),
        ('t', attributes.trace),
        ('a', attributes.indexed),
        ('A', attributes.associative),
    ];
    all.iter().filter(|(_, on)| *on).map(|(letter, _)| letter).collect()
}

fn attributes(letters: &str) -> Attributes {
    let has = |letter| letters.contains(letter);
    Attributes {
        exported: has('x'),
        readonly: has('r'),
        integer: has('i'),
        lowercase: has('l'),
        uppercase: has('u'),
        capitalize: has('c'),
        nameref: has('n'),
        trace: has('t'),
        indexed: has('a'),
        associative: has('A'),
        dynamic: None,
    }
}
