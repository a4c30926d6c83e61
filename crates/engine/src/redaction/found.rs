//! What was found in a line, and what lines before it have said.

use super::names::Name;

/// What kind of secret it is, for the record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Known(&'static str),
    Own(std::sync::Arc<str>),
}

impl Kind {
    pub fn name(&self) -> &str {
        match self {
            Kind::Known(name) => name,
            Kind::Own(name) => name,
        }
    }
}

/// A piece of the buffer that is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// It belongs to the one before it: it is not counted, and where it touches that not shown either.
    pub continues: bool,
    /// Of several kinds for the same place the one with the least says most.
    pub rank: u8,
}

/// What the operator has named.
pub const RANK_OWN: u8 = 0;
/// What shows by itself what it is.
pub const RANK_TOKEN: u8 = 1;
/// What is known by what stands around it.
pub const RANK_CONTEXT: u8 = 2;

/// A place in a line at which a word of the gate begins.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// As much of the line as may be looked at.
    pub line: &'a [u8],
    pub at: usize,
    /// The first byte here is the first one of the line.
    pub begins: bool,
    /// Where the first byte is in the whole stream.
    pub offset: u64,
}

impl Hit<'_> {
    pub fn absolute(&self, place: usize) -> u64 {
        self.offset + place as u64
    }

    pub fn rest(&self) -> &[u8] {
        self.line.get(self.at..).unwrap_or_default()
    }
}

/// Takes what is found, by places in the line.
#[derive(Debug)]
pub struct Found<'a> {
    pub spans: &'a mut Vec<Span>,
    /// Where the line begins in the buffer.
    pub base: usize,
}

impl Found<'_> {
    pub fn add(&mut self, start: usize, end: usize, kind: &'static str) {
        self.add_kind(start, end, Kind::Known(kind), RANK_CONTEXT);
    }

    pub fn add_token(&mut self, start: usize, end: usize, kind: &'static str) {
        self.add_kind(start, end, Kind::Known(kind), RANK_TOKEN);
    }

    pub fn add_kind(&mut self, start: usize, end: usize, kind: Kind, rank: u8) {
        if end > start {
            let (start, end) = (self.base + start, self.base + end);
            self.spans.push(Span { start, end, kind, continues: false, rank });
        }
    }
}

/// What is remembered from earlier in the stream. By distances only: so it does not matter in which pieces it came.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    name_end: Option<u64>,
    line_start: Option<u64>,
    named: Option<(u64, Name)>,
    login: Option<u64>,
    question: Option<u64>,
    server: Option<u64>,
    /// `kind: Secret` was the last of its kind.
    pub secret_document: bool,
    /// Where `kind:` stood last.
    pub kind_at: Option<u64>,
    /// The end of `apiVersion: v1`.
    pub api_version: Option<u64>,
}

/// So far a name reaches: the next line, or the next attributes.
const NAME_REACHES: u64 = 160;
/// So far the lines reach that belong to a server which a device is told of.
const SERVER_REACHES: u64 = 512;
/// So far `machine … login …` reaches.
const LOGIN_REACHES: u64 = 256;

impl Memory {
    /// False if the name that ends here was looked at already.
    pub fn is_new_name(&mut self, end: u64) -> bool {
        self.name_end.replace(end) != Some(end)
    }

    /// False if the line that begins here was looked at already.
    pub fn is_new_line(&mut self, start: u64) -> bool {
        self.line_start.replace(start) != Some(start)
    }

    pub fn remember_name(&mut self, end: u64, name: Name) {
        self.named = Some((end, name));
    }

    pub fn forget_name(&mut self) {
        self.named = None;
    }

    pub fn name_near(&self, place: u64) -> Option<Name> {
        let (end, name) = self.named?;
        (place.checked_sub(end)? <= NAME_REACHES).then_some(name)
    }

    /// A script waits for a question for a password that ends here, or for another one.
    pub fn remember_question(&mut self, end: Option<u64>) {
        self.question = end;
    }

    /// What is sent here is the answer to it. There is only one.
    pub fn answers(&mut self, place: u64) -> bool {
        let end = self.question.take().and_then(|end| place.checked_sub(end));
        end.is_some_and(|far| far <= NAME_REACHES)
    }

    pub fn remember_server(&mut self, place: u64) {
        self.server = Some(place);
    }

    pub fn server_is_near(&self, place: u64) -> bool {
        self.server
            .and_then(|server| place.checked_sub(server))
            .is_some_and(|far| far <= SERVER_REACHES)
    }

    pub fn remember_login(&mut self, place: u64) {
        self.login = Some(place);
    }

    pub fn login_is_near(&self, place: u64) -> bool {
        self.login
            .and_then(|login| place.checked_sub(login))
            .is_some_and(|far| far <= LOGIN_REACHES)
    }
}
