//! `[[ … ]]`

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{Conditional, ConditionalOperator, Word};

use crate::shell::Shell;
use crate::status::{ExitStatus, Flow, Interrupt, Running};

impl Shell {
    pub(super) fn run_conditional(&mut self, condition: &Conditional) -> Flow {
        match self.holds(condition) {
            Ok(holds) => Ok(ExitStatus::from_bool(holds)),
            // A bad regular expression or operand: the message is printed.
            Err(Interrupt::Discard(status)) if status == ExitStatus::USAGE => Ok(status),
            Err(interrupt) => Err(interrupt),
        }
    }

    fn holds(&mut self, condition: &Conditional) -> Running<bool> {
        match condition {
            Conditional::Not(inner) => Ok(!self.holds(inner)?),
            Conditional::And(all) => {
                for one in all {
                    if !self.holds(one)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Conditional::Or(any) => {
                for one in any {
                    if self.holds(one)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Conditional::Word(word) => {
                let text = self.expand_to_string(word)?;
                if self.options.xtrace {
                    self.trace_test(&[b"-n".as_slice(), &text]);
                }
                Ok(!text.is_empty())
            }
            Conditional::Unary { operator, operand } => self.holds_unary(*operator, operand),
            Conditional::Binary { operator, left, right } => {
                self.holds_binary(*operator, left, right)
            }
        }
    }

    fn holds_unary(&mut self, operator: u8, operand: &Word) -> Running<bool> {
        let operand = self.expand_to_string(operand)?;
        if self.options.xtrace {
            self.trace_test(&[&[b'-', operator], &operand]);
        }
        self.unary_condition(operator, operand.as_bstr())
    }

    fn holds_binary(
        &mut self,
        operator: ConditionalOperator,
        left: &Word,
        right: &Word,
    ) -> Running<bool> {
        let left = self.expand_to_string(left)?;
        let right = match operator {
            ConditionalOperator::Matches | ConditionalOperator::Differs => {
                self.expand_pattern(right)?
            }
            ConditionalOperator::Regex => self.expand_regex(right)?,
            _ => self.expand_to_string(right)?,
        };
        if self.options.xtrace {
            self.trace_binary(&left, operator, &right);
        }
        match operator {
            ConditionalOperator::Matches => Ok(self.matches_pattern(&right, &left, true)),
            ConditionalOperator::Differs => Ok(!self.matches_pattern(&right, &left, true)),
            ConditionalOperator::Regex => {
                match self.match_regex(left.as_bstr(), right.as_bstr())? {
                    ExitStatus::USAGE => Err(Interrupt::Discard(ExitStatus::USAGE)),
                    status => Ok(status.success()),
                }
            }
            ConditionalOperator::Before => Ok(left < right),
            ConditionalOperator::After => Ok(left > right),
            ConditionalOperator::Newer
            | ConditionalOperator::Older
            | ConditionalOperator::SameFile => {
                Ok(self.file_comparison(operator, left.as_bstr(), right.as_bstr()))
            }
            _ => {
                let left = self.evaluate_text_for("[[", left.as_bstr());
                let right = left.and_then(|left| {
                    self.evaluate_text_for("[[", right.as_bstr()).map(|right| (left, right))
                });
                let (left, right) = match right {
                    Ok(both) => both,
                    // What is no number compares as false; the message is printed.
                    Err(Interrupt::Discard(_)) => return Ok(false),
                    Err(interrupt) => return Err(interrupt),
                };
                Ok(match operator {
                    ConditionalOperator::Equal => left == right,
                    ConditionalOperator::NotEqual => left != right,
                    ConditionalOperator::Less => left < right,
                    ConditionalOperator::LessOrEqual => left <= right,
                    ConditionalOperator::Greater => left > right,
                    _ => left >= right,
                })
            }
        }
    }

    fn trace_binary(&mut self, left: &BString, operator: ConditionalOperator, right: &BString) {
        self.trace_test(&[left, spelling(operator).as_bytes(), right]);
    }
}

fn spelling(operator: ConditionalOperator) -> &'static str {
    match operator {
        ConditionalOperator::Matches => "==",
        ConditionalOperator::Differs => "!=",
        ConditionalOperator::Regex => "=~",
        ConditionalOperator::Before => "<",
        ConditionalOperator::After => ">",
        ConditionalOperator::Equal => "-eq",
        ConditionalOperator::NotEqual => "-ne",
        ConditionalOperator::Less => "-lt",
        ConditionalOperator::LessOrEqual => "-le",
        ConditionalOperator::Greater => "-gt",
        ConditionalOperator::GreaterOrEqual => "-ge",
        ConditionalOperator::Newer => "-nt",
        ConditionalOperator::Older => "-ot",
        ConditionalOperator::SameFile => "-ef",
    }
}
