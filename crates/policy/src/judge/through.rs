//! A tool that is started through its interpreter: `node node_modules/.bin/jest -c x` is `jest -c x`.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::effect::{Effect, More};
use crate::programs;
use crate::word::Word;

/// Directories into which packages are installed.
const INSTALLED: [&str; 7] =
    ["node_modules", "vendor", ".venv", "venv", "env", "site-packages", "gems"];

/// Interpreters whose projects keep the starters of their tools in `bin`.
const WITH_STARTERS: [&str; 2] = ["ruby", "php"];

impl Inquiry<'_> {
    /// What the table says of the tool holds for its words here too.
    pub fn through(&mut self, subjected: &Subjected<'_>) {
        if self.comes_back {
            return;
        }
        let script = subjected.reading.effects.iter().find_map(|effect| match effect {
            Effect::ScriptFile { path, .. } => path.as_literal(),
            _ => None,
        });
        let Some(name) = script.and_then(|path| tool_of(path, subjected.reading.name.as_bstr()))
        else {
            return;
        };
        let given = subjected.invocation.words.iter();
        let mut words = vec![Word::literal(name)];
        words.extend(given.skip_while(|word| word.as_literal() != script).skip(1).cloned());
        if programs::read(&words).known {
            let effect = Effect::Run { words, assignments: Vec::new(), more: More::None };
            self.nested_effect(subjected, &effect);
        }
    }
}

fn tool_of<'p>(path: &'p BStr, interpreter: &BStr) -> Option<&'p [u8]> {
    let (folder, file) = path.rsplit_once_str("/")?;
    let mut folders = folder.split_str("/");
    let installed = folders.any(|part| INSTALLED.iter().any(|known| part == known.as_bytes()));
    let starters = [&b"bin"[..], b".bin"].iter().any(|known| {
        folder.strip_suffix(*known).is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/"))
    });
    let own = WITH_STARTERS.iter().any(|known| interpreter == *known);
    let name = file.split_str(".").next().unwrap_or(file);
    (starters && (installed || own) && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_tool_a_path_starts() {
        let tool = |path: &'static str, by: &'static str| tool_of(path.into(), by.into());
        assert_eq!(tool("node_modules/.bin/jest", "node"), Some(&b"jest"[..]));
        assert_eq!(tool("./node_modules/eslint/bin/eslint.js", "node"), Some(&b"eslint"[..]));
        assert_eq!(tool("bin/rails", "ruby"), Some(&b"rails"[..]));
        assert_eq!(tool("bin/curl.js", "node"), None);
        assert_eq!(tool("src/index.js", "node"), None);
        assert_eq!(tool("node_modules/x/format.js", "node"), None);
    }
}
