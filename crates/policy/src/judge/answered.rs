//! A yes that nobody has given: `yes | ./deploy.sh`. A program of the project that asks wants to hear a person.

use bstr::{BStr, ByteSlice};

use super::command::Subjected;
use super::inquiry::Inquiry;
use crate::effect::Effect;
use crate::event::Input;
use crate::verdict::Finding;
use crate::word::Word;

impl Inquiry<'_> {
    pub fn answered(&self, subjected: &Subjected<'_>, findings: &mut Vec<Finding>) {
        let runs = |effect: &Effect| matches!(effect, Effect::ScriptFile { .. });
        let own = subjected.reading.path.is_some() || subjected.reading.effects.iter().any(runs);
        if own && says_yes(&subjected.invocation.input) {
            let about = subjected.reading.name.to_str_lossy();
            findings.extend(self.situation("answered", &about));
        }
    }
}

fn says_yes(input: &Input) -> bool {
    match input {
        Input::Pipe(names) => names.last().is_some_and(|name| name.shown() == "yes"),
        Input::Text(Word::Literal(text)) => is_yes(text.as_bstr()),
        _ => false,
    }
}

fn is_yes(text: &BStr) -> bool {
    const ANSWERS: [&str; 4] = ["y", "yes", "ok", "confirm"];
    let mut lines = text.lines().map(<[u8]>::trim_ascii).peekable();
    let answer = |line: &[u8]| ANSWERS.iter().any(|it| line.eq_ignore_ascii_case(it.as_bytes()));
    lines.peek().is_some() && lines.all(answer)
}
