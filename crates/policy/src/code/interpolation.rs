//! Texts with code in them, in languages where the code is scanned where it stands: a token for the text, then each
//! piece of code in round brackets.

use super::tokens::{Escapes, Kind, Scanner, unescape};

/// A text that has begun.
#[derive(Debug)]
pub(super) struct Interpolated {
    start: usize,
    /// Where its token is.
    place: usize,
    plain: bool,
}

impl Scanner<'_> {
    /// A text begins here; what it is shows at its end.
    pub fn begin_text(&mut self) -> Interpolated {
        let text = Interpolated { start: self.at, place: self.tokens.len(), plain: true };
        self.push(Kind::Mixed, &b""[..]);
        text
    }

    /// `${…}`: over the two bytes at its beginning, the code, and the one at its end.
    pub fn embedded(
        &mut self,
        text: &mut Interpolated,
        code: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        text.plain = false;
        self.at += 2;
        self.push(Kind::Sign, &b"("[..]);
        self.depth += 1;
        code(self)?;
        self.depth -= 1;
        self.push(Kind::Sign, &b")"[..]);
        self.at += 1;
        Some(())
    }

    /// The text ends here, before a quote of one byte. `None`: it is plain, but its escapes are not understood.
    pub fn end_text(&mut self, text: &Interpolated, escapes: Escapes) -> Option<()> {
        let raw = self.slice(text.start..self.at);
        self.at += 1;
        if text.plain {
            let value = unescape(raw, escapes)?;
            let token = self.tokens.get_mut(text.place)?;
            token.kind = Kind::Text;
            token.text = value;
        }
        Some(())
    }
}
