//! Shell patterns of the simple kind: `*`, `?` and text. Whatever else they hold is not matched here but not known.

use bstr::{BStr, BString};
use exacta_syntax::ast::ReplaceKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Byte(u8),
    One,
    Any,
}

/// A pattern of the simple kind.
#[derive(Debug)]
pub(super) struct Pattern {
    steps: Vec<Step>,
}

impl Pattern {
    /// `None` if it is of another kind: brackets, extended groups.
    pub fn new(pattern: &BStr) -> Option<Self> {
        let mut steps = Vec::with_capacity(pattern.len());
        let mut bytes = pattern.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            steps.push(match byte {
                b'\\' => Step::Byte(bytes.next()?),
                b'*' | b'?' | b'+' | b'@' | b'!' if bytes.peek() == Some(&b'(') => return None,
                b'*' => Step::Any,
                b'?' => Step::One,
                b'[' => return None,
                other => Step::Byte(other),
            });
        }
        Some(Pattern { steps })
    }

    /// What one attempt on a text of this length costs.
    pub fn cost(&self, length: usize) -> usize {
        self.steps.len().saturating_add(1).saturating_mul(length.saturating_add(1))
    }

    pub fn remove_prefix(&self, text: &BStr, longest: bool) -> BString {
        let reached = reach(self.steps.iter().copied(), text.iter().copied());
        let cut = choose(&reached, longest).unwrap_or(0);
        BString::from(text.get(cut..).unwrap_or_default())
    }

    pub fn remove_suffix(&self, text: &BStr, longest: bool) -> BString {
        let reached = reach(self.steps.iter().rev().copied(), text.iter().rev().copied());
        let cut = choose(&reached, longest).unwrap_or(0);
        BString::from(text.get(..text.len().saturating_sub(cut)).unwrap_or_default())
    }

    /// `${x/p/r}` in all its kinds.
    pub fn replace(&self, kind: ReplaceKind, text: &BStr, replacement: &BStr) -> BString {
        if self.steps.is_empty() {
            return text.into();
        }
        let mut result = BString::default();
        let mut at = 0;
        let mut next = self.first(kind, text);
        while let Some((start, end)) = next {
            result.extend_from_slice(text.get(at..start).unwrap_or_default());
            result.extend_from_slice(replacement);
            at = end;
            let more = kind == ReplaceKind::All && end > start && end < text.len();
            next = if more { self.find(text, end) } else { None };
        }
        result.extend_from_slice(text.get(at..).unwrap_or_default());
        result
    }

    fn first(&self, kind: ReplaceKind, text: &BStr) -> Option<(usize, usize)> {
        match kind {
            ReplaceKind::First | ReplaceKind::All => self.find(text, 0),
            ReplaceKind::Prefix => {
                let reached = reach(self.steps.iter().copied(), text.iter().copied());
                choose(&reached, true).map(|end| (0, end))
            }
            ReplaceKind::Suffix => {
                let reached = reach(self.steps.iter().rev().copied(), text.iter().rev().copied());
                choose(&reached, true).map(|cut| (text.len().saturating_sub(cut), text.len()))
            }
        }
    }

    /// The first match that begins at or after `from`, the longest there.
    fn find(&self, text: &BStr, from: usize) -> Option<(usize, usize)> {
        (from..=text.len()).find_map(|start| {
            let rest = text.get(start..)?;
            let reached = reach(self.steps.iter().copied(), rest.iter().copied());
            choose(&reached, true).map(|length| (start, start + length))
        })
    }
}

fn choose(reached: &[bool], longest: bool) -> Option<usize> {
    if longest {
        reached.iter().rposition(|reached| *reached)
    } else {
        reached.iter().position(|reached| *reached)
    }
}

/// For every length whether the steps match just so much of the beginning.
fn reach(
    steps: impl Iterator<Item = Step>,
    text: impl ExactSizeIterator<Item = u8> + Clone,
) -> Vec<bool> {
    let mut reached = vec![false; text.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for step in steps {
        let mut before = false;
        let bytes = std::iter::once(None).chain(text.clone().map(Some));
        for (place, byte) in reached.iter_mut().zip(bytes) {
            let here = *place;
            *place = match step {
                Step::Any => before || here,
                Step::One => before && byte.is_some(),
                Step::Byte(wanted) => before && byte == Some(wanted),
            };
            before = if step == Step::Any { *place } else { here };
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use bstr::BStr;
    use exacta_syntax::ast::ReplaceKind;

    use super::Pattern;

    #[test]
    fn patterns_cut_and_replace() {
        let pattern = |text: &str| Pattern::new(BStr::new(text)).unwrap();
        let text = BStr::new("abc.tar.gz");
        assert_eq!(pattern("*.").remove_prefix(text, false), "tar.gz");
        assert_eq!(pattern("*.").remove_prefix(text, true), "gz");
        assert_eq!(pattern(".*").remove_suffix(text, false), "abc.tar");
        assert_eq!(pattern(".*").remove_suffix(text, true), "abc");
        assert_eq!(pattern("x").remove_suffix(text, true), text);
        assert!(Pattern::new(BStr::new("[a-z]")).is_none());
        let with = |kind, text_pattern| pattern(text_pattern).replace(kind, text, BStr::new("-"));
        assert_eq!(with(ReplaceKind::All, "?."), "ab-ta-gz");
        assert_eq!(with(ReplaceKind::First, "."), "abc-tar.gz");
        assert_eq!(with(ReplaceKind::Prefix, "a*c"), "-.tar.gz");
        assert_eq!(with(ReplaceKind::Suffix, ".*"), "abc-");
        assert_eq!(with(ReplaceKind::All, "x"), "abc.tar.gz");
    }
}
