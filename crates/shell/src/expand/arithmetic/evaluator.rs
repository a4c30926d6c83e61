//! The value of an expression.

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::{
    ArithmeticVariable, BinaryOperator, Expression, ParameterExpansion, UnaryOperator,
};

use super::number;
use crate::expand::parameter::Place;
use crate::shell::Shell;
use crate::status::{Interrupt, Running};
use crate::variables::ElementKey;

/// Why there is no value. The operator's place in the tree says where, for the message.
#[derive(Debug)]
pub(super) enum Failure {
    Interrupted(Interrupt),
    DivisionByZero(*const BinaryOperator),
    NegativeExponent(*const BinaryOperator),
}

impl From<Interrupt> for Failure {
    fn from(interrupt: Interrupt) -> Self {
        Failure::Interrupted(interrupt)
    }
}

type Evaluated = Result<i64, Failure>;

type Link = (BinaryOperator, Expression);

pub(super) struct Evaluator<'a> {
    shell: &'a mut Shell,
    /// For messages.
    command: &'a str,
    /// How many variables' values this expression is inside of.
    depth: u32,
    /// Values of every `$name`, taken before anything is assigned; and which is next.
    expansions: Vec<i64>,
    next: usize,
}

/// Where an assignment goes; the subscript is evaluated once.
struct Target<'e> {
    name: &'e BString,
    key: Option<ElementKey>,
}

impl<'a> Evaluator<'a> {
    pub fn new(shell: &'a mut Shell, command: &'a str, depth: u32, expansions: Vec<i64>) -> Self {
        Evaluator { shell, command, depth, expansions, next: 0 }
    }

    pub fn evaluate(&mut self, expression: &Expression) -> Evaluated {
        match expression {
            Expression::Number(number) => Ok(*number),
            Expression::Variable(variable) => {
                let target = self.target(variable)?;
                self.value(&target)
            }
            Expression::Expansion(_) => {
                let value = self.expansions.get(self.next).copied().unwrap_or(0);
                self.next += 1;
                Ok(value)
            }
            Expression::Unary(operator, operand) => {
                let value = self.evaluate(operand)?;
                Ok(match operator {
                    UnaryOperator::Plus => value,
                    UnaryOperator::Minus => value.wrapping_neg(),
                    UnaryOperator::Not => i64::from(value == 0),
                    UnaryOperator::Complement => !value,
                })
            }
            Expression::Chain(first, links) => self.chain(first, links),
            Expression::Assign { target, operator, value } => {
                self.assign(target, operator.as_ref(), value)
            }
            Expression::Step { target, increment, prefix } => {
                let target = self.target(target)?;
                let before = self.value(&target)?;
                let after = before.wrapping_add(if *increment { 1 } else { -1 });
                self.store(&target, after)?;
                Ok(if *prefix { after } else { before })
            }
            Expression::Ternary(condition, yes, no) => {
                if self.evaluate(condition)? != 0 {
                    let value = self.evaluate(yes)?;
                    self.skip(no);
                    Ok(value)
                } else {
                    self.skip(yes);
                    self.evaluate(no)
                }
            }
            Expression::Comma(expressions) => {
                expressions.iter().try_fold(0, |_, expression| self.evaluate(expression))
            }
        }
    }

    fn chain(&mut self, first: &Expression, links: &[Link]) -> Evaluated {
        if let [(BinaryOperator::Power, _), ..] = links {
            return self.powers(first, links);
        }
        let mut value = self.evaluate(first)?;
        for (operator, operand) in links {
            let decided = match operator {
                BinaryOperator::And => value == 0,
                BinaryOperator::Or => value != 0,
                _ => false,
            };
            if decided {
                self.skip(operand);
                value = i64::from(value != 0);
            } else {
                value = calculate(operator, value, self.evaluate(operand)?)?;
            }
        }
        Ok(value)
    }

    /// `2 ** 3 ** 2`: operands from the left, powers from the right.
    fn powers(&mut self, first: &Expression, links: &[Link]) -> Evaluated {
        let mut bases = vec![self.evaluate(first)?];
        for (_, operand) in links {
            bases.push(self.evaluate(operand)?);
        }
        let mut value = bases.pop().unwrap_or(1);
        for ((operator, _), base) in links.iter().zip(bases).rev() {
            value = calculate(operator, base, value)?;
        }
        Ok(value)
    }

    fn assign(
        &mut self,
        target: &ArithmeticVariable,
        operator: Option<&BinaryOperator>,
        value: &Expression,
    ) -> Evaluated {
        let target = self.target(target)?;
        let result = match operator {
            None => self.evaluate(value)?,
            Some(operator) => {
                let before = self.value(&target)?;
                let change = self.evaluate(value)?;
                calculate(operator, before, change)?
            }
        };
        self.store(&target, result)?;
        Ok(result)
    }

    fn target<'e>(&mut self, variable: &'e ArithmeticVariable) -> Result<Target<'e>, Failure> {
        let key = match &variable.subscript {
            None => None,
            Some(subscript) => Some(self.shell.element_key(variable.name.as_bstr(), subscript)?),
        };
        Ok(Target { name: &variable.name, key })
    }

    fn value(&mut self, target: &Target<'_>) -> Evaluated {
        let name = target.name.as_bstr();
        let text: BString = match &target.key {
            None => match self.shell.scalar_of(name) {
                Some(text) => match number::plain(&text) {
                    Some(number) => return Ok(number),
                    None => text.into_owned(),
                },
                None => return self.unset(Place::Variable(target.name.clone())),
            },
            Some(key) => {
                let Some(text) = self.shell.element_or_complain(name, key)? else {
                    let place = Place::Element(target.name.clone(), key.clone(), written_key(key));
                    return self.unset(place);
                };
                text
            }
        };
        Ok(self.shell.evaluate_text_at(self.command, text.as_bstr(), self.depth + 1)?)
    }

    fn unset(&self, place: Place) -> Evaluated {
        if self.shell.options.nounset {
            return Err(Failure::Interrupted(self.shell.unbound(&place)));
        }
        Ok(0)
    }

    fn store(&mut self, target: &Target<'_>, value: i64) -> Running<()> {
        let text = BString::from(value.to_string());
        match &target.key {
            None => self.shell.assign_scalar(target.name.as_bstr(), text),
            Some(key) => self.shell.assign_element(target.name.as_bstr(), key.clone(), text),
        }
    }

    /// Passes over a part that is not evaluated.
    fn skip(&mut self, expression: &Expression) {
        if self.next < self.expansions.len() {
            let _ = each_expansion(expression, &mut |_| {
                self.next += 1;
                Some(())
            });
        }
    }
}

fn written_key(key: &ElementKey) -> BString {
    match key {
        ElementKey::Index(index) => index.to_string().into(),
        ElementKey::Key(key) => key.clone(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a failure names the operator by its place")]
fn calculate(operator: &BinaryOperator, one: i64, other: i64) -> Evaluated {
    Ok(match operator {
        BinaryOperator::Power => {
            if other < 0 {
                return Err(Failure::NegativeExponent(operator));
            }
            power(one, other)
        }
        BinaryOperator::Multiply => one.wrapping_mul(other),
        BinaryOperator::Divide | BinaryOperator::Remainder if other == 0 => {
            return Err(Failure::DivisionByZero(operator));
        }
        BinaryOperator::Divide => one.wrapping_div(other),
        BinaryOperator::Remainder => one.wrapping_rem(other),
        BinaryOperator::Add => one.wrapping_add(other),
        BinaryOperator::Subtract => one.wrapping_sub(other),
        // As the processor does it: only the low six bits of the distance count.
        BinaryOperator::ShiftLeft => one.wrapping_shl(other as u32),
        BinaryOperator::ShiftRight => one.wrapping_shr(other as u32),
        BinaryOperator::Less => i64::from(one < other),
        BinaryOperator::LessOrEqual => i64::from(one <= other),
        BinaryOperator::Greater => i64::from(one > other),
        BinaryOperator::GreaterOrEqual => i64::from(one >= other),
        BinaryOperator::Equal => i64::from(one == other),
        BinaryOperator::NotEqual => i64::from(one != other),
        BinaryOperator::BitAnd => one & other,
        BinaryOperator::BitXor => one ^ other,
        BinaryOperator::BitOr => one | other,
        BinaryOperator::And => i64::from(one != 0 && other != 0),
        BinaryOperator::Or => i64::from(one != 0 || other != 0),
    })
}

fn power(mut base: i64, mut exponent: i64) -> i64 {
    let mut result = 1_i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// Every `$name` of a tree, from left to right, until `visit` says `None`.
pub(super) fn each_expansion(
    expression: &Expression,
    visit: &mut dyn FnMut(&ParameterExpansion) -> Option<()>,
) -> Option<()> {
    match expression {
        // Subscripts are expanded when they are evaluated.
        Expression::Number(_) | Expression::Variable(_) | Expression::Step { .. } => Some(()),
        Expression::Expansion(expansion) => visit(expansion),
        Expression::Unary(_, operand) => each_expansion(operand, visit),
        Expression::Chain(first, links) => {
            each_expansion(first, visit)?;
            links.iter().try_for_each(|(_, operand)| each_expansion(operand, visit))
        }
        Expression::Assign { value, .. } => each_expansion(value, visit),
        Expression::Ternary(condition, yes, no) => {
            each_expansion(condition, visit)?;
            each_expansion(yes, visit)?;
            each_expansion(no, visit)
        }
        Expression::Comma(expressions) => {
            expressions.iter().try_for_each(|expression| each_expansion(expression, visit))
        }
    }
}
