//! Permissions as `chmod` writes them: `755`, `u+x,go-w`, `a=rX`; and as `ls` shows them: `drwxr-xr-x`.

use bstr::BStr;

use crate::filesystem::FileKind;

pub const SET_USER: u32 = 0o4000;
pub const SET_GROUP: u32 = 0o2000;
pub const STICKY: u32 = 0o1000;
/// Every bit that `chmod` can change.
pub const ALL: u32 = 0o7777;

/// What a mode operand asks for: changes, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode {
    changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    operator: Operator,
    /// The bits that `u`, `g`, `o` and `a` name; 0: nobody was named, so the umask has a say.
    affected: u32,
    value: u32,
    source: Source,
    /// Bits the operand speaks of. A directory keeps its set-user and set-group bits unless they are mentioned.
    mentioned: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Set,
    Add,
    Remove,
}

/// Where the bits of a change come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Written in the operand.
    Literal,
    /// `X`: execute for a directory, or where anybody may already execute.
    ExecuteIfAny,
    /// `g=u`: copied from one class of the mode so far.
    Copy,
}

/// The new mode, and which bits the operand had a say in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    pub mode: u32,
    pub touched: u32,
}

impl Mode {
    /// `None`: not a mode.
    pub fn parse(text: &BStr) -> Option<Mode> {
        if text.first().is_some_and(u8::is_ascii_digit) {
            return Some(Mode { changes: vec![numeric(text)?] });
        }
        let mut changes = Vec::new();
        let mut rest: &[u8] = text;
        loop {
            rest = parse_clause(rest, &mut changes)?;
            match rest.split_first() {
                None => return Some(Mode { changes }),
                Some((b',', after)) => rest = after,
                Some(_) => return None,
            }
        }
    }

    /// Exactly these bits, set-user and set-group of directories included.
    pub fn exactly(bits: u32) -> Mode {
        let change = Change {
            operator: Operator::Set,
            affected: ALL,
            value: bits & ALL,
            source: Source::Literal,
            mentioned: ALL,
        };
        Mode { changes: vec![change] }
    }

    /// The mode that `old` becomes.
    pub fn apply(&self, old: u32, is_directory: bool, umask: u32) -> u32 {
        self.apply_noting(old, is_directory, umask).mode
    }

    pub fn apply_noting(&self, old: u32, is_directory: bool, umask: u32) -> Applied {
        let mut applied = Applied { mode: old & ALL, touched: 0 };
        for change in &self.changes {
            change.apply(&mut applied, is_directory, umask);
        }
        applied
    }
}

impl Change {
    fn apply(&self, applied: &mut Applied, is_directory: bool, umask: u32) {
        let special = if is_directory { SET_USER | SET_GROUP } else { 0 };
        let omitted = special & !self.mentioned;
        let may_change = if self.affected == 0 { !umask } else { self.affected };
        let value = self.value_for(applied.mode, is_directory) & may_change & !omitted & ALL;
        match self.operator {
            Operator::Set => {
                let others = if self.affected == 0 { 0 } else { !self.affected };
                let preserved = others | omitted;
                applied.touched |= ALL & !preserved;
                applied.mode = (applied.mode & preserved) | value;
            }
            Operator::Add => {
                applied.touched |= value;
                applied.mode |= value;
            }
            Operator::Remove => {
                applied.touched |= value;
                applied.mode &= !value;
            }
        }
    }

    fn value_for(&self, mode: u32, is_directory: bool) -> u32 {
        match self.source {
            Source::ExecuteIfAny if is_directory || mode & 0o111 != 0 => self.value | 0o111,
            Source::Literal | Source::ExecuteIfAny => self.value,
            Source::Copy => {
                let class = self.value & mode;
                [0o444, 0o222, 0o111].into_iter().filter(|bits| class & bits != 0).sum()
            }
        }
    }
}

fn numeric(digits: &[u8]) -> Option<Change> {
    let value = octal(digits)?;
    // Five digits are a full mode; up to four leave the special bits of a directory alone if they are zero.
    let mentioned =
        if digits.len() < 5 { (value & (SET_USER | SET_GROUP)) | STICKY | 0o777 } else { ALL };
    let (operator, source) = (Operator::Set, Source::Literal);
    Some(Change { operator, affected: ALL, value, source, mentioned })
}

fn octal(digits: &[u8]) -> Option<u32> {
    let mut value = 0;
    for digit in digits {
        if !(b'0'..=b'7').contains(digit) {
            return None;
        }
        value = value * 8 + u32::from(digit - b'0');
        if value > ALL {
            return None;
        }
    }
    (!digits.is_empty()).then_some(value)
}

/// `ug+rw-x`: classes, then one or more operators with their permissions. Gives what follows it.
fn parse_clause<'a>(text: &'a [u8], changes: &mut Vec<Change>) -> Option<&'a [u8]> {
    let mut affected = 0;
    let mut rest = text;
    while let Some((class, after)) = rest.split_first() {
        affected |= match class {
            b'u' => SET_USER | 0o700,
            b'g' => SET_GROUP | 0o070,
            b'o' => STICKY | 0o007,
            b'a' => ALL,
            _ => break,
        };
        rest = after;
    }
    let mut found = false;
    while let Some((operator, after)) = rest.split_first() {
        let operator = match operator {
            b'=' => Operator::Set,
            b'+' => Operator::Add,
            b'-' => Operator::Remove,
            _ => break,
        };
        let (change, after) = parse_permissions(operator, affected, after)?;
        changes.push(change);
        rest = after;
        found = true;
    }
    found.then_some(rest)
}

fn parse_permissions(operator: Operator, affected: u32, text: &[u8]) -> Option<(Change, &[u8])> {
    match text.first() {
        Some(b'0'..=b'7') => {
            if affected != 0 {
                return None;
            }
            let end = text.iter().position(|byte| *byte == b',').unwrap_or(text.len());
            let (digits, rest) = text.split_at_checked(end)?;
            let value = octal(digits)?;
            let source = Source::Literal;
            Some((Change { operator, affected: ALL, value, source, mentioned: ALL }, rest))
        }
        Some(class @ (b'u' | b'g' | b'o')) => {
            let value = match class {
                b'u' => 0o700,
                b'g' => 0o070,
                _ => 0o007,
            };
            let change = Change::symbolic(operator, affected, value, Source::Copy);
            Some((change, text.get(1..)?))
        }
        _ => Some(parse_letters(operator, affected, text)),
    }
}

fn parse_letters(operator: Operator, affected: u32, text: &[u8]) -> (Change, &[u8]) {
    let mut value = 0;
    let mut source = Source::Literal;
    let mut rest = text;
    while let Some((letter, after)) = rest.split_first() {
        match letter {
            b'r' => value |= 0o444,
            b'w' => value |= 0o222,
            b'x' => value |= 0o111,
            b'X' => source = Source::ExecuteIfAny,
            b's' => value |= SET_USER | SET_GROUP,
            b't' => value |= STICKY,
            _ => break,
        }
        rest = after;
    }
    (Change::symbolic(operator, affected, value, source), rest)
}

impl Change {
    fn symbolic(operator: Operator, affected: u32, value: u32, source: Source) -> Change {
        let mentioned = if affected == 0 { value } else { affected & value };
        Change { operator, affected, value, source, mentioned }
    }
}

/// `drwxr-xr-x`, as `ls -l` and `stat` print it.
pub fn permission_text(kind: FileKind, permissions: u32) -> String {
    let kind = match kind {
        FileKind::File => '-',
        FileKind::Directory => 'd',
        FileKind::Symlink => 'l',
        FileKind::Fifo => 'p',
        FileKind::Socket => 's',
        FileKind::BlockDevice => 'b',
        FileKind::CharacterDevice => 'c',
    };
    let mut text = String::with_capacity(10);
    text.push(kind);
    let classes = [(6, SET_USER, ('s', 'S')), (3, SET_GROUP, ('s', 'S')), (0, STICKY, ('t', 'T'))];
    for (shift, special, (with_execute, without)) in classes {
        let bits = permissions >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (permissions & special != 0, bits & 1 != 0) {
            (true, true) => with_execute,
            (true, false) => without,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// The file type bits of `st_mode`.
pub fn type_bits(kind: FileKind) -> u32 {
    match kind {
        FileKind::File => 0o100_000,
        FileKind::Directory => 0o040_000,
        FileKind::Symlink => 0o120_000,
        FileKind::Fifo => 0o010_000,
        FileKind::Socket => 0o140_000,
        FileKind::BlockDevice => 0o060_000,
        FileKind::CharacterDevice => 0o020_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(mode: &str, old: u32, is_directory: bool) -> Option<u32> {
        Some(Mode::parse(mode.into())?.apply(old, is_directory, 0o022))
    }

    #[test]
    fn numbers_replace_everything_but_special_bits_of_directories() {
        assert_eq!(apply("755", 0o644, false), Some(0o755));
        assert_eq!(apply("755", 0o2700, true), Some(0o2755));
        assert_eq!(apply("00755", 0o2700, true), Some(0o755));
        assert_eq!(apply("0755", 0o6700, true), Some(0o6755));
        assert_eq!(apply("4755", 0o2700, true), Some(0o6755));
        assert_eq!(apply("7777", 0, false), Some(0o7777));
        assert_eq!(apply("10000", 0, false), None);
        assert_eq!(apply("8", 0, false), None);
        assert_eq!(apply("75x", 0, false), None);
    }

    #[test]
    fn letters_change_classes() {
        assert_eq!(apply("u+x", 0o644, false), Some(0o744));
        assert_eq!(apply("go-rwx", 0o755, false), Some(0o700));
        assert_eq!(apply("a=r", 0o755, false), Some(0o444));
        assert_eq!(apply("u=rwx,go=rx", 0, false), Some(0o755));
        assert_eq!(apply("u+r-w=x", 0o600, false), Some(0o100));
        assert_eq!(apply("g=u", 0o640, false), Some(0o660));
        assert_eq!(apply("o+g", 0o640, false), Some(0o644));
        assert_eq!(apply("+t", 0o755, true), Some(0o1755));
        assert_eq!(apply("u+s", 0o755, false), Some(0o4755));
        assert_eq!(apply("g+s", 0o755, true), Some(0o2755));
        assert_eq!(apply("u=", 0o755, false), Some(0o055));
        assert_eq!(apply("=755", 0o600, false), Some(0o755));
        assert_eq!(apply("+111", 0o600, false), Some(0o711));
    }

    #[test]
    fn without_a_class_the_umask_counts() {
        assert_eq!(apply("+w", 0o444, false), Some(0o644));
        assert_eq!(apply("-w", 0o666, false), Some(0o466));
        assert_eq!(apply("=rw", 0, false), Some(0o644));
    }

    #[test]
    fn capital_x_looks_at_what_is_there() {
        assert_eq!(apply("a+X", 0o644, false), Some(0o644));
        assert_eq!(apply("a+X", 0o744, false), Some(0o755));
        assert_eq!(apply("a+X", 0o644, true), Some(0o755));
    }

    #[test]
    fn what_is_not_a_mode() {
        for text in ["", "u", "u+x,", "+z", "u+x g-w", ",u+x", "u+7", "z=r", "u+ug", "+8"] {
            assert_eq!(apply(text, 0o644, false), None, "{text}");
        }
    }

    #[test]
    fn shown_as_ls_does() {
        assert_eq!(permission_text(FileKind::Directory, 0o1777), "drwxrwxrwt");
        assert_eq!(permission_text(FileKind::File, 0o4644), "-rwSr--r--");
        assert_eq!(permission_text(FileKind::File, 0o2755), "-rwxr-sr-x");
        assert_eq!(permission_text(FileKind::Fifo, 0o1000), "p--------T");
    }
}
