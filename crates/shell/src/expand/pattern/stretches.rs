//! Patterns without groups: stretches of fixed form with stars between them. The first and the last stretch are
//! bound to the ends of the match; those in the middle are put as far left (or right) as they go, which leaves
//! the most room for the others. No memory is needed, and each stretch passes over the text once.

use memchr::memmem;

use super::{Node, Pattern, Reach};

impl Pattern {
    /// What stands between the stars; there are stars if there is more than one.
    fn stretches(&self) -> impl DoubleEndedIterator<Item = &[Node]> {
        self.nodes.split(|node| matches!(node, Node::Star))
    }

    pub(super) fn whole_by_stretches(&self, text: &[u8]) -> bool {
        if self.hides_leading_dot(text) {
            return false;
        }
        let mut stretches = self.stretches();
        let Some(first) = stretches.next() else { return text.is_empty() };
        let Some(mut at) = self.stretch_at(first, text, 0) else { return false };
        let Some(last) = stretches.next_back() else { return at == text.len() };
        for middle in stretches {
            match self.first_stretch(middle, text, at) {
                Some((_, end)) => at = end,
                None => return false,
            }
        }
        self.stretch_before(last, text, text.len()).is_some_and(|start| start >= at)
    }

    /// Would a dot at the beginning have to be matched by something other than a dot?
    fn hides_leading_dot(&self, text: &[u8]) -> bool {
        self.options.leading_dot
            && text.first() == Some(&b'.')
            && matches!(self.nodes.first(), Some(Node::AnyOne | Node::Star | Node::Set(_)))
    }

    /// The end of a match that begins at `start`.
    pub(super) fn end_by_stretches(
        &self,
        text: &[u8],
        start: usize,
        reach: Reach,
    ) -> Option<usize> {
        let mut stretches = self.stretches();
        let mut at = self.stretch_at(stretches.next()?, text, start)?;
        let Some(last) = stretches.next_back() else { return Some(at) };
        for middle in stretches {
            at = self.first_stretch(middle, text, at)?.1;
        }
        let (_, end) = match reach {
            Reach::Shortest => self.first_stretch(last, text, at)?,
            Reach::Longest => self.last_stretch(last, text, at, text.len())?,
        };
        Some(end)
    }

    /// The beginning of a match that ends with the text.
    pub(super) fn start_by_stretches(&self, text: &[u8], reach: Reach) -> Option<usize> {
        let mut stretches = self.stretches();
        let mut at = self.stretch_before(stretches.next_back()?, text, text.len())?;
        let Some(first) = stretches.next() else { return Some(at) };
        for middle in stretches.rev() {
            at = self.last_stretch(middle, text, 0, at)?.0;
        }
        match reach {
            Reach::Shortest => self.last_stretch(first, text, 0, at).map(|(start, _)| start),
            Reach::Longest => {
                let (start, end) = self.first_stretch(first, text, 0)?;
                (end <= at).then_some(start)
            }
        }
    }

    /// Every match from left to right, each as long as it can be.
    pub(super) fn each_by_stretches(
        &self,
        text: &[u8],
        visit: &mut dyn FnMut(usize, usize) -> bool,
    ) {
        let Some(first) = self.stretches().next() else { return };
        let mut at = 0;
        while let Some((start, _)) = self.first_stretch(first, text, at) {
            // If what follows the first star is not to be found from here, it is not from farther on.
            let Some(end) = self.end_by_stretches(text, start, Reach::Longest) else { return };
            if start >= text.len() || !visit(start, end) {
                return;
            }
            at = if end > start { end } else { start + self.length_at(text, start) };
        }
    }

    fn stretch_at(&self, stretch: &[Node], text: &[u8], at: usize) -> Option<usize> {
        stretch.iter().try_fold(at, |at, node| self.forward(node, text, at))
    }

    fn stretch_before(&self, stretch: &[Node], text: &[u8], at: usize) -> Option<usize> {
        stretch.iter().rev().try_fold(at, |at, node| self.backward(node, text, at))
    }

    /// The leftmost place from `from` on.
    fn first_stretch(&self, stretch: &[Node], text: &[u8], from: usize) -> Option<(usize, usize)> {
        let literal = self.leading_literal(stretch);
        let mut at = from;
        loop {
            if let Some(literal) = literal {
                at += memmem::find(text.get(at..)?, literal)?;
            }
            if let Some(end) = self.stretch_at(stretch, text, at) {
                return Some((at, end));
            }
            if at >= text.len() {
                return None;
            }
            at += self.length_at(text, at);
        }
    }

    /// The rightmost place from `from` up to `until`.
    fn last_stretch(
        &self,
        stretch: &[Node],
        text: &[u8],
        from: usize,
        until: usize,
    ) -> Option<(usize, usize)> {
        let literal = self.leading_literal(stretch);
        let mut at = until;
        loop {
            if let Some(literal) = literal {
                let window = text.get(from..(at + literal.len()).min(until))?;
                at = from + memmem::rfind(window, literal)?;
            }
            if let Some(end) = self.stretch_at(stretch, text, at).filter(|end| *end <= until) {
                return Some((at, end));
            }
            at = at.checked_sub(self.length_before(text, at)).filter(|at| *at >= from)?;
        }
    }

    /// The text with which a stretch begins, if it can be looked for as it is.
    fn leading_literal<'n>(&self, stretch: &'n [Node]) -> Option<&'n [u8]> {
        match stretch.first() {
            Some(Node::Literal(literal)) if !self.options.ignore_case => Some(literal),
            _ => None,
        }
    }
}
