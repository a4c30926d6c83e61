//! Paths in messages: bytes, as the kernel has them. What serde has for paths takes only such as are text, and looks for that.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For `#[serde(with = …)]` on a path.
pub mod one {
    use super::{Deserializer, Given, Path, PathBuf, Serializer, Taken};
    use serde::{Deserialize as _, Serialize as _};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        Given(path).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Taken::deserialize(deserializer).map(|Taken(path)| path)
    }
}

/// The same for several.
pub mod all {
    use super::{Deserializer, Given, PathBuf, Serializer, Taken};
    use serde::Deserialize as _;

    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| Given(path)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let all = Vec::<Taken>::deserialize(deserializer)?;
        Ok(all.into_iter().map(|Taken(path)| path).collect())
    }
}

struct Given<'a>(&'a Path);

impl Serialize for Given<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_os_str().as_bytes())
    }
}

struct Taken(PathBuf);

impl<'de> Deserialize<'de> for Taken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Taken;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a path")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Taken, E> {
        Ok(Taken(OsStr::from_bytes(bytes).into()))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Taken, E> {
        Ok(Taken(OsString::from_vec(bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Message {
        #[serde(with = "one")]
        path: PathBuf,
        #[serde(with = "all")]
        paths: Vec<PathBuf>,
    }

    #[test]
    fn paths_arrive_that_are_no_text() {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let sent = Message { path: path(b"/a/\xff"), paths: vec![path(b""), path(b"b\xc3/c")] };
        let bytes = postcard::to_allocvec(&sent).expect("it can be written");
        assert_eq!(postcard::from_bytes::<Message>(&bytes).expect("and read"), sent);
    }
}
