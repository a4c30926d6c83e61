//! `cd`, `pushd`, `popd`.

use bstr::{BStr, BString, ByteSlice};

use crate::event::Access;
use crate::guarded;
use crate::word::Word;

use super::Walker;
use super::paths::{Spot, Step, descent, resolve};
use super::values::Value;

/// What the words of a `cd` say.
enum Target {
    Path(BString),
    /// `cd -`
    Back,
    Unknown {
        /// How far down it leads, as far as one can tell.
        down: i32,
    },
}

/// How far down a directory lies of which nothing is known: what goes up from there has come from there.
const FAR_DOWN: i32 = 64;

impl Walker<'_> {
    pub(super) fn change_directory(&mut self, operands: &[Word]) {
        let target = self.target_directory(operands);
        self.go(|spot| match &target {
            Target::Path(path) => into(spot, path.as_bstr()),
            // It has been there.
            Target::Back if spot.previous.is_some() => {
                Step::Surely(spot.moved(spot.previous.clone()))
            }
            Target::Back => Step::Perhaps(spot.moved(None).back()),
            Target::Unknown { down } => Step::Perhaps(spot.moved(None).deeper(*down)),
        });
    }

    fn target_directory(&mut self, operands: &[Word]) -> Target {
        let mut rest = operands;
        while let Some((Word::Literal(option), more)) = rest.split_first() {
            match option.as_slice() {
                b"-L" | b"-P" | b"-e" | b"-@" | b"-Pe" | b"--" => rest = more,
                _ => break,
            }
        }
        match rest {
            [] => match self.lookup(BStr::new("HOME")) {
                Value::Text(home) => Target::Path(home),
                _ => Target::Unknown { down: FAR_DOWN },
            },
            [Word::Literal(path)] if path == "-" => {
                // Unless the script has set it itself.
                let own = self.state.value(BStr::new("OLDPWD")).is_none();
                if own { Target::Back } else { Target::Unknown { down: FAR_DOWN } }
            }
            [Word::Literal(path)] if self.is_exact(path.as_bstr()) => Target::Path(path.clone()),
            [word] => {
                one_of(word).map_or(Target::Unknown { down: least_descent(word) }, Target::Path)
            }
            _ => Target::Unknown { down: FAR_DOWN },
        }
    }

    /// `CDPATH` can send a plain name elsewhere.
    pub(super) fn is_exact(&mut self, path: &BStr) -> bool {
        let anchored = path == "."
            || path == ".."
            || [&b"/"[..], b"./", b"../"].iter().any(|start| path.starts_with(start));
        anchored
            || match self.lookup(BStr::new("CDPATH")) {
                Value::Unset => true,
                Value::Text(folders) => folders.is_empty(),
                _ => false,
            }
    }

    pub(super) fn push_directory(&mut self, operands: &[Word]) {
        match operands {
            [] => self.go(|spot| match spot.stack.as_deref().and_then(<[_]>::split_last) {
                Some((Some(next), rest)) => {
                    let mut moved = spot.moved(Some(next.clone()));
                    moved.stack = Some(with(rest, spot));
                    Step::Surely(moved)
                }
                _ => Step::Perhaps(Spot::default()),
            }),
            [Word::Literal(path)]
                if !path.starts_with(b"+")
                    && !path.starts_with(b"-")
                    && self.is_exact(path.as_bstr()) =>
            {
                self.go(|spot| {
                    let stack = spot.stack.as_deref().map(|stack| with(stack, spot));
                    match into(spot, path.as_bstr()) {
                        Step::Surely(moved) => Step::Surely(Spot { stack, ..moved }),
                        Step::Perhaps(moved) => Step::Perhaps(Spot { stack, ..moved }),
                    }
                });
            }
            [word] => match one_of(word) {
                Some(path) => self.push_directory(&[Word::Literal(path)]),
                None => self.state.lose_place(),
            },
            _ => self.state.lose_place(),
        }
    }

    pub(super) fn pop_directory(&mut self, operands: &[Word]) {
        if !operands.is_empty() {
            return self.state.lose_place();
        }
        self.go(|spot| match spot.stack.as_deref().and_then(<[_]>::split_last) {
            Some((Some(next), rest)) => {
                let mut moved = spot.moved(Some(next.clone()));
                moved.stack = Some(rest.to_vec());
                Step::Surely(moved)
            }
            // The session may have a stack of its own.
            _ => Step::Perhaps(Spot::default()),
        });
    }

    fn go(&mut self, step: impl Fn(&Spot) -> Step) {
        let crossing = self.state.place.cross(step);
        self.state.go(crossing.either());
        // What the script may have put there is overwritten.
        for own in ["PWD", "OLDPWD"] {
            if self.state.value(BStr::new(own)).is_some() {
                self.set(BStr::new(own), Value::unknown(), false);
            }
        }
        self.crossing = Some(crossing);
    }
}

/// The step that a known path is.
fn into(spot: &Spot, path: &BStr) -> Step {
    let down = descent(path);
    match spot.enter(resolve(spot.directory.as_ref(), path)) {
        Step::Surely(moved) => Step::Surely(moved.deeper(down)),
        Step::Perhaps(moved) => Step::Perhaps(moved.deeper(down)),
    }
}

/// Of several directories that it can be, the one that is least far down.
fn least_descent(word: &Word) -> i32 {
    let values = word.values().unwrap_or_default();
    let relative = values.iter().filter(|value| !value.starts_with(b"/"));
    relative.map(|value| descent(value.as_bstr())).min().unwrap_or(FAR_DOWN)
}

/// `cd .g?t/hooks`, `cd packages/*`: the guarded directory that it can be, or whichever it is, which lies where the
/// pattern does.
fn one_of(word: &Word) -> Option<BString> {
    let Word::Dynamic(dynamic) = word else { return None };
    let glob = dynamic.glob.as_ref()?;
    let guarded = guarded::paths(glob.as_bstr(), Access::Enter).into_iter().next();
    Some(guarded.unwrap_or_else(|| glob.clone()))
}

/// The stack with where the shell is on top.
fn with(stack: &[Option<BString>], spot: &Spot) -> Vec<Option<BString>> {
    stack.iter().chain([&spot.directory]).cloned().collect()
}
