//! Arithmetic text to an expression tree, with bash's own complaints.
//!
//! The text comes as the parts of a word. A plain `$name` in it is an operand here; the evaluator checks that
//! its value really is a number before it trusts the tree.

mod scanner;

use bstr::{BStr, BString, ByteSlice};

use crate::ast::{ArithmeticVariable, BinaryOperator, Expression, UnaryOperator, WordPart};
use crate::{Limits, Span, SyntaxError, SyntaxErrorKind};

use scanner::{Failure, Scanned, Scanner, Token};

/// Nested deeper than allowed.
#[derive(Debug)]
pub(super) struct TooDeep;

/// The tree of a text that may hold expansions; `None` if it is invalid or depends on what they give.
pub(super) fn of_parts(parts: &[WordPart], depth: usize) -> Result<Option<Expression>, TooDeep> {
    match Builder::new(parts, depth).whole() {
        Ok(expression) => Ok(Some(expression)),
        Err(failure) => match *failure {
            Failure::TooDeep => Err(TooDeep),
            Failure::Unknown | Failure::Invalid { .. } => Ok(None),
        },
    }
}

/// The tree of a text that is already expanded.
pub(super) fn parse_text(text: &BStr, limits: Limits) -> Result<Expression, SyntaxError> {
    let span = Span { start: 0, end: text.len() as u32, line: 1 };
    let parts = [WordPart::Literal(BString::from(text.to_vec()))];
    let failure = match Builder::new(&parts, limits.depth).whole() {
        Ok(expression) => return Ok(expression),
        Err(failure) => *failure,
    };
    let kind = match failure {
        Failure::TooDeep => SyntaxErrorKind::TooDeep(limits.depth),
        Failure::Unknown => complaint(text, "syntax error in expression", text),
        Failure::Invalid { words, start, end } => {
            // Bash cuts the text off behind a number it cannot read.
            let shown = text.get(..end).unwrap_or_default();
            complaint(BStr::new(shown), words, BStr::new(shown.get(start..).unwrap_or_default()))
        }
    };
    Err(SyntaxError { kind, span })
}

fn complaint(text: &BStr, words: &str, token: &BStr) -> SyntaxErrorKind {
    let shown = text.trim_start_with(|character| matches!(character, ' ' | '\t'));
    let shown = shown.to_str_lossy();
    let token = token.to_str_lossy();
    SyntaxErrorKind::Other(format!("{shown}: {words} (error token is \"{token}\")"))
}

struct Builder<'text> {
    scanner: Scanner<'text>,
}

impl<'text> Builder<'text> {
    fn new(parts: &'text [WordPart], depth: usize) -> Self {
        Builder { scanner: Scanner::new(parts, depth) }
    }

    /// Empty text is zero.
    fn whole(mut self) -> Scanned<Expression> {
        self.scanner.advance()?;
        if self.scanner.current == Token::End {
            return Ok(Expression::Number(0));
        }
        let expression = self.comma()?;
        match self.scanner.current {
            Token::End => Ok(expression),
            _ => self.scanner.invalid("syntax error in expression"),
        }
    }

    fn comma(&mut self) -> Scanned<Expression> {
        let first = self.assignment()?;
        if self.scanner.current != Token::Comma {
            return Ok(first);
        }
        let mut expressions = vec![first];
        while self.scanner.current == Token::Comma {
            self.scanner.advance()?;
            expressions.push(self.assignment()?);
        }
        Ok(Expression::Comma(expressions))
    }

    fn assignment(&mut self) -> Scanned<Expression> {
        let target = self.ternary()?;
        let Token::Assign(operator) = self.scanner.current else { return Ok(target) };
        let Expression::Variable(target) = target else {
            return self.scanner.invalid("attempted assignment to non-variable");
        };
        if !self.scanner.after_name {
            return self.scanner.invalid("attempted assignment to non-variable");
        }
        self.scanner.advance()?;
        self.scanner.enter()?;
        let value = Box::new(self.assignment()?);
        self.scanner.leave(1);
        Ok(Expression::Assign { target, operator, value })
    }

    fn ternary(&mut self) -> Scanned<Expression> {
        let condition = self.binary(0)?;
        if self.scanner.current == Token::Question {
            self.branches(condition)
        } else {
            Ok(condition)
        }
    }

    fn branches(&mut self, condition: Expression) -> Scanned<Expression> {
        self.scanner.enter()?;
        self.scanner.advance()?;
        if matches!(self.scanner.current, Token::End | Token::Colon) {
            return self.scanner.invalid("expression expected");
        }
        let yes = Box::new(self.comma()?);
        if self.scanner.current != Token::Colon {
            return self.scanner.invalid("`:' expected for conditional expression");
        }
        self.scanner.advance()?;
        if self.scanner.current == Token::End {
            return self.scanner.invalid("expression expected");
        }
        let no = Box::new(self.ternary()?);
        self.scanner.leave(1);
        Ok(Expression::Ternary(Box::new(condition), yes, no))
    }

    /// Operators that bind at least as tightly as `least`. What follows a chain binds less tightly than it, and
    /// has it as its first operand: that makes the tree deeper, so it counts.
    fn binary(&mut self, least: u8) -> Scanned<Expression> {
        let mut left = self.unary()?;
        let mut chains = 0;
        while let Token::Binary(operator) = self.scanner.current {
            let rank = rank(operator);
            if rank < least {
                break;
            }
            self.scanner.enter()?;
            chains += 1;
            let links = self.links(rank)?;
            left = Expression::Chain(Box::new(left), links);
        }
        self.scanner.leave(chains);
        Ok(left)
    }

    /// Operators of one rank, each with the operand that follows it.
    fn links(&mut self, wanted: u8) -> Scanned<Vec<(BinaryOperator, Expression)>> {
        let mut links = Vec::new();
        while let Token::Binary(operator) = self.scanner.current {
            if rank(operator) != wanted {
                break;
            }
            self.scanner.advance()?;
            links.push((operator, self.binary(wanted + 1)?));
        }
        Ok(links)
    }

    fn unary(&mut self) -> Scanned<Expression> {
        let operator = match self.scanner.current {
            Token::Not => UnaryOperator::Not,
            Token::Complement => UnaryOperator::Complement,
            Token::Binary(BinaryOperator::Subtract) => UnaryOperator::Minus,
            Token::Binary(BinaryOperator::Add) => UnaryOperator::Plus,
            _ => return self.primary(),
        };
        self.scanner.enter()?;
        self.scanner.advance()?;
        let operand = self.unary()?;
        self.scanner.leave(1);
        Ok(Expression::Unary(operator, Box::new(operand)))
    }

    fn primary(&mut self) -> Scanned<Expression> {
        match self.scanner.current {
            Token::Number(value) => {
                self.scanner.advance()?;
                Ok(Expression::Number(value))
            }
            Token::Name => self.variable(),
            Token::Expansion => self.expansion(),
            Token::StepBefore { increment } => self.step_before(increment),
            Token::Open => self.parenthesized(),
            _ => self.scanner.invalid("syntax error: operand expected"),
        }
    }

    fn expansion(&mut self) -> Scanned<Expression> {
        let expansion = self.scanner.expansion()?;
        self.scanner.advance()?;
        Ok(Expression::Expansion(Box::new(expansion)))
    }

    fn step_before(&mut self, increment: bool) -> Scanned<Expression> {
        self.scanner.advance()?;
        if self.scanner.current != Token::Name {
            let words = "identifier expected after pre-increment or pre-decrement";
            return self.scanner.invalid(words);
        }
        let target = self.target()?;
        self.scanner.current = Token::Number(0);
        self.scanner.forbid_step_after()?;
        self.scanner.advance()?;
        Ok(Expression::Step { target, increment, prefix: true })
    }

    fn parenthesized(&mut self) -> Scanned<Expression> {
        self.scanner.enter()?;
        self.scanner.advance()?;
        let inner = self.comma()?;
        if self.scanner.current != Token::Close {
            return self.scanner.invalid("missing `)'");
        }
        self.scanner.leave(1);
        self.scanner.advance()?;
        Ok(inner)
    }

    fn variable(&mut self) -> Scanned<Expression> {
        let target = self.target()?;
        self.scanner.advance()?;
        let Token::StepAfter { increment } = self.scanner.current else {
            return Ok(Expression::Variable(target));
        };
        self.scanner.current = Token::Number(0);
        self.scanner.advance()?;
        Ok(Expression::Step { target, increment, prefix: false })
    }

    fn target(&mut self) -> Scanned<ArithmeticVariable> {
        let (name, subscript) = self.scanner.variable()?;
        Ok(ArithmeticVariable { name, subscript })
    }
}

/// How tightly an operator binds.
fn rank(operator: BinaryOperator) -> u8 {
    match operator {
        BinaryOperator::Or => 1,
        BinaryOperator::And => 2,
        BinaryOperator::BitOr => 3,
        BinaryOperator::BitXor => 4,
        BinaryOperator::BitAnd => 5,
        BinaryOperator::Equal | BinaryOperator::NotEqual => 6,
        BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => 7,
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => 8,
        BinaryOperator::Add | BinaryOperator::Subtract => 9,
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => 10,
        BinaryOperator::Power => 11,
    }
}
