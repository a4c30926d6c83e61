//! SQL, with the commands of its clients: `\!` of psql and mysql, `.shell` of sqlite3.
//!
//! The words that change or destroy have meaning where a statement begins, not in texts and comments.

use bstr::ByteSlice;

use super::findings::Findings;
use super::tokens::among;
use crate::event::Access;

/// Functions and options that reach outside of the database. Sorted.
const DANGEROUS: &[&str] = &[
    "DBLINK",
    "DBLINK_CONNECT",
    "DBLINK_EXEC",
    "DBMS_SCHEDULER",
    "DUMPFILE",
    "EDIT",
    "FTS3_TOKENIZER",
    "LOAD_EXTENSION",
    "LO_EXPORT",
    "LO_IMPORT",
    "OPENROWSET",
    "OUTFILE",
    "PG_EXECUTE_SERVER_PROGRAM",
    "SP_OACREATE",
    "SYS_EVAL",
    "SYS_EXEC",
    "UTL_FILE",
    "UTL_HTTP",
    "WRITEFILE",
    "XP_CMDSHELL",
];

/// Functions that read files of the server. Sorted.
const READING: &[&str] =
    &["LOAD_FILE", "PG_LS_DIR", "PG_READ_BINARY_FILE", "PG_READ_FILE", "READFILE"];

/// Functions that take a file for a table: duckdb. Sorted.
const TABLES: &[&str] = &[
    "DELTA_SCAN",
    "GLOB",
    "ICEBERG_SCAN",
    "PARQUET_FILE_METADATA",
    "PARQUET_METADATA",
    "PARQUET_SCAN",
    "PARQUET_SCHEMA",
    "READ_BLOB",
    "READ_CSV",
    "READ_CSV_AUTO",
    "READ_JSON",
    "READ_JSON_AUTO",
    "READ_JSON_OBJECTS",
    "READ_NDJSON",
    "READ_NDJSON_AUTO",
    "READ_PARQUET",
    "READ_TEXT",
    "READ_XLSX",
    "SNIFF_CSV",
    "SQLITE_SCAN",
    "ST_READ",
];

/// Statements that look, and those that change rows in the open. Sorted.
const HARMLESS: &[&str] = &[
    "ABORT",
    "ANALYZE",
    "BEGIN",
    "COMMIT",
    "DESC",
    "DESCRIBE",
    "DETACH",
    "END",
    "EXPLAIN",
    "INSERT",
    "PRAGMA",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "ROLLBACK",
    "SAVEPOINT",
    "SELECT",
    "SHOW",
    "START",
    "TABLE",
    "USE",
    "VALUES",
    "WITH",
];

pub(super) fn read(text: &[u8], findings: &mut Findings) {
    let mut script = Script { text, at: 0, findings };
    while script.at < text.len() {
        script.statement();
    }
}

pub(super) struct Script<'a, 'f> {
    text: &'a [u8],
    at: usize,
    pub(super) findings: &'f mut Findings,
}

#[derive(Default)]
struct Statement<'a> {
    words: Vec<Vec<u8>>,
    /// Texts, each with the number of words before it.
    texts: Vec<(usize, &'a [u8])>,
}

impl<'a> Script<'a, '_> {
    fn peek(&self, offset: usize) -> Option<u8> {
        self.text.get(self.at + offset).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn line(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// One statement, or one command of the client.
    fn statement(&mut self) {
        let mut statement = Statement::default();
        while let Some(byte) = self.peek(0) {
            match byte {
                b';' => {
                    self.at += 1;
                    break;
                }
                b'\\' => self.client_command(),
                b'.' if statement.words.is_empty() && statement.texts.is_empty() => {
                    self.dot_command();
                }
                b'-' if self.peek(1) == Some(b'-') => self.comment(),
                b'#' => {
                    // A comment to some, an operator to others.
                    self.findings.unclear("#");
                    self.line();
                }
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                b'\'' | b'"' | b'`' => {
                    if let Some(text) = self.quoted(byte) {
                        statement.texts.push((statement.words.len(), text));
                    }
                }
                b'$' if self
                    .peek(1)
                    .is_some_and(|byte| byte == b'$' || byte.is_ascii_alphabetic()) =>
                {
                    self.dollar();
                }
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let rest = self.rest();
                    let length = rest
                        .iter()
                        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
                        .unwrap_or(rest.len());
                    statement
                        .words
                        .push(rest.get(..length).unwrap_or_default().to_ascii_uppercase());
                    self.at += length;
                }
                _ => self.at += 1,
            }
        }
        self.judge(&statement);
    }

    fn comment(&mut self) {
        let line = self.line();
        // To some databases it is one only with a space behind it.
        let plain = line.get(2).is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'-');
        if !plain && line.contains(&b';') {
            self.findings.unclear("--");
        }
    }

    fn block_comment(&mut self) {
        if matches!(self.peek(2), Some(b'!' | b'+')) || self.rest().starts_with(b"/*M!") {
            self.findings.unclear("/*!");
        }
        self.at += 2;
        let end = self.rest().windows(2).position(|pair| pair == b"*/");
        match end {
            Some(end) => self.at += end + 2,
            None => self.at = self.text.len(),
        }
    }

    fn quoted(&mut self, quote: u8) -> Option<&'a [u8]> {
        let start = self.at + 1;
        self.at = start;
        let mut escaped = false;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\\' && self.peek(0) == Some(quote) {
                escaped = true;
            }
            if byte == quote {
                if self.peek(0) == Some(quote) {
                    self.at += 1;
                    continue;
                }
                if escaped {
                    // Whether the text ends there depends on the database.
                    self.findings.unclear("a backslash before a quote");
                }
                return self.text.get(start..self.at - 1);
            }
        }
        self.findings.unclear("a text without end");
        None
    }

    /// `$tag$…$tag$`: the body of a function, most likely.
    fn dollar(&mut self) {
        let rest = self.rest();
        let tag =
            rest.iter().skip(1).position(|byte| *byte == b'$').and_then(|end| rest.get(..end + 2));
        let tag = tag.filter(|tag| tag.len() < 64).unwrap_or(b"$");
        self.at += tag.len();
        if tag.len() > 1 {
            self.findings.unclear("$$");
            match self.rest().windows(tag.len()).position(|window| window == tag) {
                Some(end) => self.at += end + tag.len(),
                None => self.at = self.text.len(),
            }
        }
    }

    /// Functions and words that reach out of the database, wherever they stand.
    fn functions(&mut self, statement: &Statement<'_>) {
        for (place, word) in statement.words.iter().enumerate() {
            let dangerous = among(DANGEROUS, word);
            let table = among(TABLES, word) || matches!(word.as_slice(), b"FROM" | b"JOIN");
            if !dangerous && !table && !among(READING, word) {
                continue;
            }
            let next = statement.texts.partition_point(|(at, _)| *at <= place);
            let text = statement.texts.get(next).filter(|(at, _)| *at == place + 1);
            let text = text.map_or(&b""[..], |(_, text)| *text);
            if table {
                self.table(text);
                continue;
            }
            if dangerous {
                self.findings.danger(word);
            } else {
                self.findings.unclear(word);
            }
            match word.as_slice() {
                _ if text.is_empty() => {}
                b"OUTFILE" | b"DUMPFILE" | b"WRITEFILE" => self.findings.open(text, Access::Write),
                b"XP_CMDSHELL" => self.findings.shell(text),
                _ if !dangerous => self.findings.open(text, Access::Read),
                _ => {}
            }
        }
    }

    /// A file or an address in the place of a table.
    fn table(&mut self, name: &[u8]) {
        if name.contains_str("://") {
            self.findings.connect(name);
        } else if name.contains(&b'/') {
            self.findings.open(name, Access::Read);
        }
    }

    fn judge(&mut self, statement: &Statement<'_>) {
        let words = &statement.words;
        let has = |word: &[u8]| words.iter().any(|known| known == word);
        let Some(first) = words.first() else { return };
        self.functions(statement);
        let second = words.get(1).map_or(&b""[..], Vec::as_slice);
        match first.as_slice() {
            b"DROP" | b"TRUNCATE" | b"SHUTDOWN" | b"KILL" | b"LOAD" | b"INSTALL" => {
                self.findings.danger(first);
            }
            b"DELETE" if !has(b"WHERE") => self.findings.danger("DELETE without WHERE"),
            b"UPDATE" if !has(b"WHERE") => self.findings.unclear("UPDATE without WHERE"),
            b"WITH" | b"EXPLAIN" if has(b"DELETE") && !has(b"WHERE") => {
                self.findings.danger("DELETE without WHERE");
            }
            b"ALTER" if second == b"SYSTEM" || has(b"DROP") => self.findings.danger("ALTER"),
            b"ALTER" if second == b"TABLE" && (has(b"ADD") || has(b"RENAME")) => {}
            b"CREATE" if !creates_plainly(words) => self.findings.unclear("CREATE"),
            b"CREATE" | b"DELETE" | b"UPDATE" => {}
            b"COPY" => self.copy(statement),
            b"ATTACH" | b"VACUUM" => {
                for (_, path) in
                    statement.texts.iter().take(1).filter(|(_, path)| *path != b":memory:")
                {
                    self.findings.open(path, Access::Write);
                }
            }
            b"SET" if has(b"GLOBAL") || has(b"PERSIST") => self.findings.unclear("SET GLOBAL"),
            b"SOURCE" | b"SYSTEM" | b"PAGER" | b"TEE" | b"EDIT" => self.findings.danger(first),
            _ if among(HARMLESS, first) => {}
            _ => self.findings.unclear(first),
        }
    }

    fn copy(&mut self, statement: &Statement<'_>) {
        if statement.words.iter().any(|word| word == b"PROGRAM") {
            self.findings.danger("COPY … PROGRAM");
            for (_, command) in statement.texts.iter().take(1) {
                self.findings.shell(command);
            }
            return;
        }
        let writes = statement.words.iter().any(|word| word == b"TO");
        // `COPY (SELECT … FROM 'x') TO 'y'`
        let to = statement.words.iter().rposition(|word| word == b"TO").map_or(0, |at| at + 1);
        for (_, path) in statement.texts.iter().filter(|(at, _)| *at >= to).take(1) {
            if path.contains_str("://") {
                self.findings.connect(path);
            }
            self.findings.open(path, if writes { Access::Write } else { Access::Read });
        }
    }
}

/// What is created holds data and no code of another language.
fn creates_plainly(words: &[Vec<u8>]) -> bool {
    let modifiers: &[&[u8]] = &[b"OR", b"REPLACE", b"TEMP", b"TEMPORARY", b"UNIQUE"];
    let plain: &[&[u8]] =
        &[b"TABLE", b"INDEX", b"VIEW", b"TRIGGER", b"SCHEMA", b"TYPE", b"SEQUENCE", b"VIRTUAL"];
    let kind = words.iter().skip(1).find(|word| !modifiers.contains(&word.as_slice()));
    kind.is_some_and(|kind| plain.contains(&kind.as_slice()))
}
