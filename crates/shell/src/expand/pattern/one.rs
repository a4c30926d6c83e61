//! Steps over a single node, in both directions.

use super::characters;
use super::{Node, Pattern, same_letter};

impl Pattern {
    pub(super) fn decode(&self, text: &[u8]) -> Option<(u32, usize)> {
        characters::decode(text, self.options.encoding)
    }

    pub(super) fn length_at(&self, text: &[u8], at: usize) -> usize {
        characters::length_at(text, at, self.options.encoding)
    }

    pub(super) fn length_before(&self, text: &[u8], at: usize) -> usize {
        characters::length_before(text, at, self.options.encoding)
    }

    /// Where a literal, `?` or a set that begins at `at` ends.
    pub(super) fn forward(&self, node: &Node, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        match node {
            Node::Literal(literal) => self.literal_length(literal, rest).map(|length| at + length),
            Node::AnyOne if rest.is_empty() => None,
            Node::AnyOne => Some(at + self.length_at(text, at)),
            Node::Set(set) => {
                let (character, length) = self.decode(rest)?;
                set.contains(character, self.options.ignore_case).then_some(at + length)
            }
            Node::Star | Node::Group(..) => None,
        }
    }

    /// Where one that ends at `at` begins.
    pub(super) fn backward(&self, node: &Node, text: &[u8], at: usize) -> Option<usize> {
        let start = match node {
            Node::Literal(literal) if !self.options.ignore_case => at.checked_sub(literal.len())?,
            Node::Literal(literal) => self.back_over(literal, text, at)?,
            _ => at.checked_sub(self.length_before(text, at))?,
        };
        (self.forward(node, text, start)? == at).then_some(start)
    }

    /// As many characters back as the literal has.
    fn back_over(&self, literal: &[u8], text: &[u8], at: usize) -> Option<usize> {
        let (mut left, mut at) = (literal.len(), at);
        while left > 0 {
            at = at.checked_sub(self.length_before(text, at))?;
            left -= self.length_before(literal, left);
        }
        Some(at)
    }

    /// How much of the text the literal covers.
    fn literal_length(&self, literal: &[u8], rest: &[u8]) -> Option<usize> {
        if rest.starts_with(literal) {
            return Some(literal.len());
        }
        if !self.options.ignore_case {
            return None;
        }
        let (mut wanted, mut found) = (literal, rest);
        while let Some((one, length)) = self.decode(wanted) {
            let (other, other_length) = self.decode(found)?;
            if !same_letter(one, other) {
                return None;
            }
            wanted = wanted.get(length..)?;
            found = found.get(other_length..)?;
        }
        Some(rest.len() - found.len())
    }
}
