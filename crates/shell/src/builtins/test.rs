//! `test`, `[`

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::ConditionalOperator;

use super::{Command, Run};
use crate::conditions;
use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt};

pub static COMMAND: Command = Command {
    name: "test",
    synopsis: "test [EXPRESSION]",
    summary: "evaluate a condition on files, texts and numbers",
    options: &[],
    run: Run::Builtin { special: false, run },
};

pub static BRACKET: Command = Command {
    name: "[",
    synopsis: "[ [EXPRESSION] ]",
    summary: "evaluate a condition on files, texts and numbers",
    options: &[],
    run: Run::Builtin { special: false, run: run_bracket },
};

fn run(shell: &mut Shell, words: &[BString]) -> Flow {
    answer(shell, "test", words)
}

fn run_bracket(shell: &mut Shell, words: &[BString]) -> Flow {
    match words.split_last() {
        Some((last, words)) if last == "]" => answer(shell, "[", words),
        _ => {
            shell.complain("[: missing `]'");
            Ok(ExitStatus::USAGE)
        }
    }
}

fn answer(shell: &mut Shell, name: &'static str, words: &[BString]) -> Flow {
    let mut test = Test { shell, words, at: 0 };
    match test.by_count(words) {
        Ok(holds) => Ok(ExitStatus::from_bool(holds)),
        Err(Wrong::Message(message)) => {
            let mut line = format!("{name}: ").into_bytes();
            line.extend_from_slice(&message);
            shell.complain(&line);
            Ok(ExitStatus::USAGE)
        }
        // A bad subscript in `-v`: the message is printed.
        Err(Wrong::Interrupted(Interrupt::Discard(status))) => Ok(status),
        Err(Wrong::Interrupted(interrupt)) => Err(interrupt),
    }
}

/// Why there is no answer.
enum Wrong {
    Message(BString),
    Interrupted(Interrupt),
}

impl From<Interrupt> for Wrong {
    fn from(interrupt: Interrupt) -> Self {
        Wrong::Interrupted(interrupt)
    }
}

type Answer = Result<bool, Wrong>;

struct Test<'a> {
    shell: &'a mut Shell,
    words: &'a [BString],
    /// The next word, where the whole grammar is used.
    at: usize,
}

impl Test<'_> {
    /// With up to four words POSIX says what they mean by their number; beyond that the grammar decides.
    fn by_count(&mut self, words: &[BString]) -> Answer {
        match words {
            [] => Ok(false),
            [word] => Ok(!word.is_empty()),
            [one, two] => self.two(one, two),
            [one, two, three] => self.three(one, two, three),
            [first, rest @ ..] if words.len() == 4 && first == "!" => Ok(!self.by_count(rest)?),
            [open, one, two, close] if open == "(" && close == ")" => self.two(one, two),
            _ => self.by_grammar(),
        }
    }

    fn two(&mut self, one: &BString, two: &BString) -> Answer {
        if one == "!" {
            return Ok(two.is_empty());
        }
        match unary_operator(one) {
            Some(operator) => Ok(self.shell.unary_condition(operator, two.as_bstr())?),
            None => Err(wrong(one, ": unary operator expected")),
        }
    }

    fn three(&mut self, one: &BString, two: &BString, three: &BString) -> Answer {
        if let Some(operator) = binary_operator(two) {
            return self.binary(operator, one, three);
        }
        match two.as_bytes() {
            b"-a" => Ok(!one.is_empty() && !three.is_empty()),
            b"-o" => Ok(!one.is_empty() || !three.is_empty()),
            _ if one == "!" => Ok(!self.two(two, three)?),
            _ if one == "(" && three == ")" => Ok(!two.is_empty()),
            _ => Err(wrong(two, ": binary operator expected")),
        }
    }

    fn by_grammar(&mut self) -> Answer {
        let holds = self.any()?;
        match self.words.get(self.at) {
            None => Ok(holds),
            Some(word) if word.starts_with(b"-") => {
                let mut message = BString::from("syntax error: `");
                message.extend_from_slice(word);
                message.extend_from_slice(b"' unexpected");
                Err(Wrong::Message(message))
            }
            Some(_) => Err(Wrong::Message("too many arguments".into())),
        }
    }

    /// `-o` binds less than `-a`. Everything is evaluated: what is asked has no effects.
    fn any(&mut self) -> Answer {
        let mut holds = self.all()?;
        while self.takes("-o") {
            holds |= self.all()?;
        }
        Ok(holds)
    }

    fn all(&mut self) -> Answer {
        let mut holds = self.term()?;
        while self.takes("-a") {
            holds &= self.term()?;
        }
        Ok(holds)
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(found);
        found
    }

    fn term(&mut self) -> Answer {
        let words = self.words;
        let Some(first) = words.get(self.at) else {
            return Err(Wrong::Message("argument expected".into()));
        };
        let mut negated = false;
        let mut first = first;
        while first == "!" {
            negated = !negated;
            self.at += 1;
            match words.get(self.at) {
                Some(next) => first = next,
                None => return Err(Wrong::Message("argument expected".into())),
            }
        }
        let holds = if first == "(" {
            self.at += 1;
            stacker::maybe_grow(64 << 10, 1 << 20, || self.parenthesis())?
        } else {
            self.primary(first)?
        };
        Ok(holds != negated)
    }

    fn parenthesis(&mut self) -> Answer {
        let holds = self.any()?;
        match self.words.get(self.at) {
            Some(word) if word == ")" => {
                self.at += 1;
                Ok(holds)
            }
            Some(word) => Err(wrong_after("`)' expected, found ", word)),
            None => Err(Wrong::Message("`)' expected".into())),
        }
    }

    fn primary(&mut self, first: &BString) -> Answer {
        let words = self.words;
        if let (Some(operator), Some(right)) =
            (words.get(self.at + 1).and_then(binary_operator), words.get(self.at + 2))
        {
            self.at += 3;
            return self.binary(operator, first, right);
        }
        if let (Some(operator), Some(operand)) = (unary_operator(first), words.get(self.at + 1)) {
            self.at += 2;
            return Ok(self.shell.unary_condition(operator, operand.as_bstr())?);
        }
        self.at += 1;
        Ok(!first.is_empty())
    }

    fn binary(&mut self, operator: ConditionalOperator, left: &BString, right: &BString) -> Answer {
        use ConditionalOperator as Is;
        Ok(match operator {
            Is::Matches => left == right,
            Is::Differs => left != right,
            Is::Before => left < right,
            Is::After => left > right,
            Is::Newer | Is::Older | Is::SameFile => {
                self.shell.file_comparison(operator, left.as_bstr(), right.as_bstr())
            }
            Is::Equal => integer(left)? == integer(right)?,
            Is::NotEqual => integer(left)? != integer(right)?,
            Is::Less => integer(left)? < integer(right)?,
            Is::LessOrEqual => integer(left)? <= integer(right)?,
            Is::Greater => integer(left)? > integer(right)?,
            Is::GreaterOrEqual => integer(left)? >= integer(right)?,
            Is::Regex => false,
        })
    }
}

fn unary_operator(word: &BString) -> Option<u8> {
    match word.as_bytes() {
        [b'-', letter] if conditions::is_unary(*letter) => Some(*letter),
        _ => None,
    }
}

fn binary_operator(word: &BString) -> Option<ConditionalOperator> {
    Some(match word.as_bytes() {
        b"=" | b"==" => ConditionalOperator::Matches,
        b"!=" => ConditionalOperator::Differs,
        b"<" => ConditionalOperator::Before,
        b">" => ConditionalOperator::After,
        b"-eq" => ConditionalOperator::Equal,
        b"-ne" => ConditionalOperator::NotEqual,
        b"-lt" => ConditionalOperator::Less,
        b"-le" => ConditionalOperator::LessOrEqual,
        b"-gt" => ConditionalOperator::Greater,
        b"-ge" => ConditionalOperator::GreaterOrEqual,
        b"-nt" => ConditionalOperator::Newer,
        b"-ot" => ConditionalOperator::Older,
        b"-ef" => ConditionalOperator::SameFile,
        _ => return None,
    })
}

/// Decimal with an optional sign, white space around it.
fn integer(word: &BString) -> Result<i64, Wrong> {
    let text = word.trim_ascii_start();
    let text = text.trim_end_with(|character| matches!(character, ' ' | '\t'));
    let digits = text.strip_prefix(b"+").filter(|rest| rest.first() != Some(&b'-')).unwrap_or(text);
    let number = digits.to_str().ok().and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| wrong(word, ": integer expression expected"))
}

fn wrong(word: &BString, message: &str) -> Wrong {
    let mut text = word.clone();
    text.extend_from_slice(message.as_bytes());
    Wrong::Message(text)
}

fn wrong_after(message: &str, word: &BString) -> Wrong {
    let mut text = BString::from(message);
    text.extend_from_slice(word);
    Wrong::Message(text)
}
