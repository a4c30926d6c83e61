//! A tool that is started through its interpreter: `node node_modules/.bin/jest -c x` is `jest -c x`. What the rules
//! ask about a program of some name is asked about a script of that name, too: `php artisan db:wipe`, `sh gradlew publish`,
//! `python -m alembic downgrade base`.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::effect::{Effect, More};
use crate::programs;
use crate::rules::Subject;
use crate::verdict::Decision;
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
        let Some(script) = script else { return };
        let rest = after(subjected, script);
        let Some(name) = tool_of(script, subjected.reading.name.as_bstr()) else {
            return self.as_named(subjected, script, rest);
        };
        let mut words = vec![Word::literal(name)];
        words.extend_from_slice(rest);
        if programs::read(&words).known {
            let effect = Effect::Run { words, assignments: Vec::new(), more: More::None };
            self.nested_effect(subjected, &effect);
        } else {
            self.as_named(subjected, script, rest);
        }
    }

    /// What the rules ask about a program that is called so. What they allow or refuse is another program.
    fn as_named(&mut self, subjected: &Subjected<'_>, script: &BStr, rest: &[Word]) {
        let file = script.rsplit_once_str("/").map_or(script.as_bytes(), |(_, file)| file);
        let module =
            subjected.reading.options.iter().any(|option| option.names.contains(&"-m".into()));
        let name = if module { file.strip_suffix(b".py").unwrap_or(file) } else { file };
        let mut words = vec![Word::literal(name)];
        words.extend_from_slice(rest);
        let reading = programs::read(&words);
        let input = &subjected.invocation.input;
        let subject = Subject::Command { reading: &reading, input, builtin: false };
        let mut findings = self.rules_on(&subject, &subjected.lifted);
        findings.retain(|finding| finding.decision == Decision::Confirm);
        if !findings.is_empty() {
            self.note(vec![name.into()], &subjected.invocation.via, findings);
        }
    }
}

/// The words behind that which names the script or the module.
fn after<'w>(subjected: &'w Subjected<'_>, script: &BStr) -> &'w [Word] {
    let words = subjected.invocation.words.as_slice();
    let named = |word: &Word| {
        word.as_literal().is_some_and(|word| {
            word == script || script.strip_suffix(b".py") == Some(&word.replace(".", "/"))
        })
    };
    let at = words.iter().position(named).map_or(words.len(), |at| at + 1);
    words.get(at..).unwrap_or_default()
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
