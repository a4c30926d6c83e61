//! A text in pieces: what may still become a part of a secret is held until it is known.

use super::blocks::{Begun, Block, Part};
use super::found::{Found, Hit, Kind, Memory, RANK_CONTEXT, RANK_OWN, RANK_TOKEN, Span};
use super::{
    Meaning, REDACTED, Report, Rules, addresses, arguments, assignment, blocks, calls, headers,
    lines, tokens,
};

/// So far back on its line a decision may look.
pub const BACK: usize = 4 << 10;
/// So far ahead on its line a decision may look.
pub const FORWARD: usize = 16 << 10;
/// Lines longer than this are given to the operator's patterns in pieces that overlap by half.
const OWN_PIECE: usize = 64 << 10;

/// Takes a text piece by piece and gives it back without its secrets.
#[derive(Debug)]
pub struct Redactor {
    rules: Rules,
    buffer: Vec<u8>,
    /// Where the buffer begins in the stream.
    base: u64,
    /// Up to here the buffer was looked at; in a block: the end of its last line.
    scanned: usize,
    /// Up to here it was given back.
    given: usize,
    /// Up to here the operator's patterns were tried.
    own: usize,
    spans: Vec<Span>,
    /// Where the last secret that was replaced ended in the stream.
    replaced: u64,
    memory: Memory,
    block: Option<Block>,
    report: Report,
}

/// Is there more to come?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    Perhaps,
    No,
}

impl Redactor {
    pub fn new(rules: Rules) -> Self {
        Redactor {
            rules,
            buffer: Vec::new(),
            base: 0,
            scanned: 0,
            given: 0,
            own: 0,
            spans: Vec::new(),
            replaced: u64::MAX,
            memory: Memory::default(),
            block: None,
            report: Report::default(),
        }
    }

    /// Adds to `output` what is decided: whole lines as a rule.
    pub fn push(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        // A large piece is taken in parts, so that the buffer stays small.
        for part in bytes.chunks(256 << 10) {
            self.buffer.extend_from_slice(part);
            self.advance(More::Perhaps, output);
        }
    }

    /// The rest. What comes afterwards is another text.
    pub fn finish(&mut self, output: &mut Vec<u8>) -> Report {
        self.advance(More::No, output);
        let fresh = Redactor::new(self.rules.clone());
        std::mem::replace(self, fresh).report
    }

    /// What was replaced so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn advance(&mut self, more: More, output: &mut Vec<u8>) {
        let length = self.buffer.len();
        let lines_end = memchr::memrchr(b'\n', &self.buffer).map_or(0, |at| at + 1);
        let limit = match more {
            More::No => length,
            More::Perhaps => lines_end.max(length.saturating_sub(FORWARD)),
        };
        loop {
            if self.block.is_some() {
                if !self.take_line(more) {
                    break;
                }
            } else if self.scanned < limit {
                self.scan(limit);
            } else {
                break;
            }
        }
        self.try_own(more);
        self.give(self.decided(limit, lines_end, more), output);
    }

    /// Up to where nothing can change any more.
    fn decided(&self, limit: usize, lines_end: usize, more: More) -> usize {
        let mut decided = match (&self.block, more) {
            (_, More::No) => limit,
            (Some(Block::Armour(armour)), _) if !armour.body => {
                (armour.begins.saturating_sub(self.base)) as usize
            }
            (Some(_), _) => self.scanned,
            (None, _) if limit > lines_end => limit.saturating_sub(BACK),
            (None, _) => limit,
        };
        if !self.rules.own.is_empty() {
            decided = decided.min(self.own);
        }
        // What is cut through waits for the rest of it, and so does what overlaps that.
        while let Some(span) =
            self.spans.iter().find(|span| span.start < decided && span.end > decided)
        {
            decided = span.start;
        }
        decided.max(self.given)
    }

    /// Looks at every word of the gate up to the limit, or to where a block begins.
    fn scan(&mut self, limit: usize) {
        let gate = std::sync::Arc::clone(&self.rules.gate);
        let mut line = LineAround::default();
        let mut from = self.scanned;
        let mut limit = limit;
        while let Some(place) = gate.next(&self.buffer, from, limit) {
            from = place + 1;
            let rest = self.buffer.get(place..).unwrap_or_default();
            for (meaning, length) in gate.words(rest) {
                line.move_to(&self.buffer, place);
                let (hit, base) = line.hit(&self.buffer, place, self.base);
                let mut found = Found { spans: &mut self.spans, base };
                let begun = dispatch(meaning, length, &hit, &mut self.memory, &mut found);
                if let (Begun::Block(block), false) = (begun, line.is_endless(place)) {
                    // A block takes whole lines: what else is on this one is seen before it.
                    limit = line.end;
                    if self.block.as_ref().is_none_or(Block::gives_way) {
                        self.block = Some(block);
                    }
                }
            }
        }
        self.scanned = limit;
    }

    /// Gives the next line to the block. False: it is not there yet.
    fn take_line(&mut self, more: More) -> bool {
        let start = self.scanned + 1;
        let Some(rest) = self.buffer.get(start..) else {
            if more == More::No {
                self.block = None;
            }
            return more == More::No;
        };
        let length = match (memchr::memchr(b'\n', rest), more) {
            (Some(length), _) => length,
            (None, More::Perhaps) if rest.len() <= FORWARD => return false,
            (None, _) => rest.len(),
        };
        // No block has such lines, and nobody waits for the end of one.
        if length > FORWARD {
            self.block = None;
            return true;
        }
        let line = rest.get(..length).unwrap_or_default();
        let Some(mut block) = self.block.take() else { return true };
        let had_body = matches!(block, Block::Armour(armour) if armour.body);
        let part = block.line(line);
        let end = start + length;
        if let (Block::Armour(armour), false) = (&block, had_body)
            && armour.body
        {
            // The line that says it is there: everything from the first one on is covered.
            let begins = armour.begins.saturating_sub(self.base) as usize;
            self.cover(begins, self.scanned, block.kind(), false);
        }
        self.apply(block, part, (start, end));
        true
    }

    fn apply(&mut self, block: Block, part: Part, (start, end): (usize, usize)) {
        let kind = block.kind();
        match part {
            Part::Whole => {
                let line = self.buffer.get(start..end).unwrap_or_default();
                let length = line.strip_suffix(b"\r").unwrap_or(line).len();
                self.cover(self.scanned, start + length, kind, true);
            }
            Part::Piece(from, to) => {
                let continues = matches!(block, Block::Armour(_));
                self.cover(start + from, start + to, kind, continues);
            }
            Part::Until(place) => {
                self.cover(self.scanned, start + place, kind, true);
                self.scanned = start + place;
                return;
            }
            Part::Nothing => {}
            Part::Harmless => {
                // What shows by itself what it is counts all the same, and so do values that are known.
                self.scanned = start;
                self.scan(end);
                self.spans.retain(|span| span.start < start || span.rank != RANK_CONTEXT);
                self.scanned = end;
                self.block.get_or_insert(block);
                return;
            }
            Part::Over => {
                // From here on it is a line like any other.
                self.scanned = start.min(self.buffer.len());
                return;
            }
        }
        if block.shares_lines() && part != Part::Whole {
            // What else is in the line counts as well, and may begin another block.
            self.scanned = start;
            self.scan(end);
        } else {
            self.scanned = end;
        }
        self.block.get_or_insert(block);
    }

    fn cover(&mut self, start: usize, end: usize, kind: &'static str, continues: bool) {
        if end > start {
            let kind = Kind::Known(kind);
            self.spans.push(Span { start, end, kind, continues, rank: RANK_TOKEN });
        }
    }

    fn try_own(&mut self, more: More) {
        let patterns = std::sync::Arc::clone(&self.rules.own);
        if patterns.is_empty() {
            return;
        }
        while self.own < self.buffer.len() {
            let rest = self.buffer.get(self.own..).unwrap_or_default();
            let window = rest.get(..OWN_PIECE.min(rest.len())).unwrap_or_default();
            let newline = memchr::memchr(b'\n', window);
            let (piece, step) = match newline {
                Some(newline) => (newline, newline + 1),
                None if window.len() == OWN_PIECE => (OWN_PIECE, OWN_PIECE / 2),
                None if more == More::No => (window.len(), window.len()),
                None => return,
            };
            let line = window.get(..piece).unwrap_or_default();
            let mut found = Found { spans: &mut self.spans, base: self.own };
            for pattern in patterns.iter() {
                pattern.look(line, &mut found);
            }
            self.own += step;
        }
    }

    /// Gives back what is decided, without its secrets.
    fn give(&mut self, decided: usize, output: &mut Vec<u8>) {
        self.spans.sort_by_key(|span| (span.start, span.rank));
        let ready = self.spans.iter().take_while(|span| span.start < decided).count();
        let spans: Vec<Span> = self.spans.drain(..ready).collect();
        let mut from = self.given;
        let mut rest = spans.as_slice();
        while let [first, others @ ..] = rest {
            let mut end = first.end;
            let mut most = first;
            rest = others;
            while let [next, others @ ..] = rest
                && next.start < end
            {
                end = end.max(next.end);
                most = if next.rank < most.rank { next } else { most };
                rest = others;
            }
            let start = first.start.max(from);
            let touches = self.base + start as u64 == self.replaced;
            output.extend_from_slice(self.buffer.get(from..start).unwrap_or_default());
            if !(touches && first.continues) {
                output.extend_from_slice(REDACTED.as_bytes());
            }
            if !first.continues {
                self.report.count(most.kind.name());
            }
            from = end;
            self.replaced = self.base + end as u64;
        }
        let upto = decided.max(from);
        output.extend_from_slice(self.buffer.get(from..upto).unwrap_or_default());
        self.given = upto;
        self.forget();
    }

    /// Drops what nobody looks back at.
    fn forget(&mut self) {
        let mut surplus = self.given.min(self.scanned).saturating_sub(BACK + 1);
        if !self.rules.own.is_empty() {
            surplus = surplus.min(self.own);
        }
        if surplus == 0 {
            return;
        }
        self.buffer.drain(..surplus);
        self.base += surplus as u64;
        self.scanned -= surplus;
        self.given -= surplus;
        self.own = self.own.saturating_sub(surplus);
        for span in &mut self.spans {
            span.start -= surplus.min(span.start);
            span.end -= surplus.min(span.end);
        }
    }
}

/// The line around a place, found once for all places in it.
#[derive(Debug, Default)]
struct LineAround {
    start: usize,
    end: usize,
}

impl LineAround {
    fn move_to(&mut self, buffer: &[u8], place: usize) {
        if place < self.end && place >= self.start {
            return;
        }
        let (before, after) = buffer.split_at(place.min(buffer.len()));
        self.start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        self.end = memchr::memchr(b'\n', after).map_or(buffer.len(), |length| place + length);
    }

    /// As much of the line as may be looked at, and where that begins in the buffer.
    fn hit<'a>(&self, buffer: &'a [u8], place: usize, base: u64) -> (Hit<'a>, usize) {
        let from = self.start.max(place.saturating_sub(BACK));
        let to = self.end.min(place.saturating_add(FORWARD));
        let line = buffer.get(from..to).unwrap_or_default();
        let begins = from == self.start && (from > 0 || base == 0);
        (Hit { line, at: place - from, begins, offset: base + from as u64 }, from)
    }

    /// The line goes on for longer than anybody may look.
    fn is_endless(&self, place: usize) -> bool {
        self.end - place > FORWARD
    }
}

fn dispatch(
    meaning: &Meaning,
    length: usize,
    hit: &Hit<'_>,
    memory: &mut Memory,
    found: &mut Found<'_>,
) -> Begun {
    match meaning {
        Meaning::Token(token) => tokens::look(hit, token, length, found),
        Meaning::Program(program) => arguments::look(hit, program, found),
        Meaning::Line(line) => return lines::look(hit, *line, length, memory, found),
        Meaning::Call(argument) => calls::look(hit, hit.at + length, *argument, found),
        Meaning::Keyed(argument) => calls::look_for_key(hit, hit.at + length, *argument, found),
        Meaning::Block(start) => return blocks::look(hit, *start, length, memory, found),
        Meaning::Name => return assignment::look(hit, memory, found),
        Meaning::Value => return assignment::look_for_value(hit, memory, found),
        Meaning::Authorization => headers::look_for_authorization(hit, length, found),
        Meaning::Scheme => headers::look_for_scheme(hit, length, found),
        Meaning::Cookie => headers::look_for_cookie(hit, length, found),
        Meaning::Address => addresses::look(hit, found),
        Meaning::Literal(kind) => {
            let kind = Kind::Own(std::sync::Arc::clone(kind));
            found.add_kind(hit.at, hit.at + length, kind, RANK_OWN);
        }
    }
    Begun::Nothing
}
