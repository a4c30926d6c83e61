//! Arithmetic: numbers where all of them are known, and the commands and assignments hidden in expressions.

use bstr::{BStr, BString, ByteSlice};
use exacta_syntax::ast::{
    Arithmetic, ArithmeticVariable, BinaryOperator, Expression, Parameter, UnaryOperator,
};

use super::Walker;
use super::values::Value;
use super::variables::is_name;

/// Names that stand for names that stand for names: so far they are followed.
const DEEPEST: usize = 4;

impl Walker<'_> {
    /// Walks an expression that is evaluated; its value if that is known.
    pub(super) fn arithmetic(&mut self, arithmetic: &Arithmetic) -> Option<i64> {
        match arithmetic.expression.as_deref() {
            // Surely evaluated, so what it assigns is what the variable has.
            Some(Expression::Assign { target, operator: None, value })
                if target.subscript.is_none() =>
            {
                self.visit_expression(value);
                let number = self.number(value);
                self.set_number(target, number);
                number
            }
            // Holds no expansions but plain parameters.
            Some(expression) => {
                self.visit_expression(expression);
                self.number(expression)
            }
            None => {
                self.visit_computed(arithmetic);
                None
            }
        }
    }

    /// The commands in it, and what it sets.
    pub(super) fn visit_arithmetic(&mut self, arithmetic: &Arithmetic) {
        self.arithmetic(arithmetic);
    }

    /// An expression that is only known after expansion: what it sets is looked for in its text.
    fn visit_computed(&mut self, arithmetic: &Arithmetic) {
        let text = self.single(&arithmetic.text);
        let Some(text) = text.as_literal() else {
            // Which variable it sets is not known; it can only be set to a number.
            if exacta_syntax::print_word(&arithmetic.text).contains(&b'=') {
                self.state.forget_everything();
            }
            return;
        };
        let limits = exacta_syntax::Limits::default();
        // What is no expression sets nothing; it may be the key of an associative array.
        match exacta_syntax::parse_arithmetic(text, limits) {
            Ok(expression) => self.visit_expression(&expression),
            Err(_) => self.state.dropped = true,
        }
    }

    fn visit_expression(&mut self, expression: &Expression) {
        stacker::maybe_grow(64 << 10, 1 << 20, || match expression {
            Expression::Number(_) => {}
            Expression::Variable(variable) => self.visit_variable(variable),
            Expression::Expansion(expansion) => {
                if let Parameter::Variable(name) = &expansion.parameter {
                    self.visit_value(name.as_bstr());
                }
            }
            Expression::Unary(_, operand) => self.visit_expression(operand),
            Expression::Chain(first, links) => {
                self.visit_expression(first);
                for (_, operand) in links {
                    self.visit_expression(operand);
                }
            }
            Expression::Assign { target, value, .. } => {
                self.visit_expression(value);
                self.visit_subscript(target);
                self.set_number(target, None);
            }
            Expression::Step { target, .. } => {
                self.visit_variable(target);
                self.set_number(target, None);
            }
            Expression::Ternary(condition, yes, no) => {
                self.visit_expression(condition);
                self.visit_expression(yes);
                self.visit_expression(no);
            }
            Expression::Comma(expressions) => {
                for expression in expressions {
                    self.visit_expression(expression);
                }
            }
        });
    }

    fn visit_variable(&mut self, variable: &ArithmeticVariable) {
        self.visit_subscript(variable);
        self.visit_value(variable.name.as_bstr());
    }

    fn visit_subscript(&mut self, variable: &ArithmeticVariable) {
        if let Some(subscript) = &variable.subscript {
            self.visit_arithmetic(subscript);
        }
    }

    /// A variable's value is an expression too: `x='a[$(id)]'; ((x))` runs `id`. What is not known is taken for a
    /// number.
    fn visit_value(&mut self, name: &BStr) {
        self.visit_values(name, 0);
    }

    fn visit_values(&mut self, name: &BStr, depth: usize) {
        let Some(values) = self.lookup(name).possibilities() else { return };
        for value in values.into_iter().flatten() {
            self.evaluated_text(value.as_bstr());
            if value.iter().all(u8::is_ascii_digit) {
                continue;
            }
            if depth > DEEPEST {
                return self.state.forget_everything();
            }
            for inner in names_in(value.as_bstr()) {
                self.visit_values(inner, depth + 1);
                if may_assign(value.as_bstr()) {
                    self.assign_unknown(inner, "$((…))");
                }
            }
        }
    }

    /// A text that is evaluated sets what it names, as far as anybody can tell.
    pub(super) fn visit_expression_text(&mut self, text: &BStr) {
        self.evaluated_text(text);
        for name in names_in(text) {
            self.visit_value(name);
            if may_assign(text) {
                self.assign_unknown(name, "$((…))");
            }
        }
    }

    fn set_number(&mut self, target: &ArithmeticVariable, number: Option<i64>) {
        let name = target.name.as_bstr();
        match number.filter(|_| target.subscript.is_none()) {
            Some(number) => {
                let text = BString::from(number.to_string());
                let shown = crate::word::Word::Literal(text.clone());
                self.assign(name, Value::Text(text), shown, false);
            }
            None => self.assign_unknown(name, "$((…))"),
        }
    }

    /// The value of an expression without visiting it.
    pub(super) fn evaluated(&mut self, arithmetic: &Arithmetic) -> Option<i64> {
        let expression = arithmetic.expression.as_deref()?;
        self.number(expression)
    }

    fn number(&mut self, expression: &Expression) -> Option<i64> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match expression {
            Expression::Number(number) => Some(*number),
            Expression::Variable(variable) if variable.subscript.is_none() => {
                self.number_of(variable.name.as_bstr())
            }
            Expression::Expansion(expansion) => match &expansion.parameter {
                Parameter::Variable(name)
                    if expansion.selector.is_none()
                        && !expansion.indirect
                        && expansion.operation == exacta_syntax::ast::Operation::Plain =>
                {
                    self.number_of(name.as_bstr())
                }
                _ => None,
            },
            Expression::Unary(operator, operand) => {
                let operand = self.number(operand)?;
                Some(match operator {
                    UnaryOperator::Plus => operand,
                    UnaryOperator::Minus => operand.wrapping_neg(),
                    UnaryOperator::Not => i64::from(operand == 0),
                    UnaryOperator::Complement => !operand,
                })
            }
            Expression::Chain(first, links) => self.number_of_chain(first, links),
            Expression::Assign { operator: None, value, .. } => self.number(value),
            Expression::Ternary(condition, yes, no) => {
                if self.number(condition)? == 0 {
                    self.number(no)
                } else {
                    self.number(yes)
                }
            }
            Expression::Comma(expressions) => self.number(expressions.last()?),
            _ => None,
        })
    }

    /// From the left, but for powers.
    fn number_of_chain(
        &mut self,
        first: &Expression,
        links: &[(BinaryOperator, Expression)],
    ) -> Option<i64> {
        let mut value = self.number(first)?;
        if let [(BinaryOperator::Power, _), ..] = links {
            let mut bases = vec![value];
            for (_, operand) in links {
                bases.push(self.number(operand)?);
            }
            let last = bases.pop()?;
            return bases
                .into_iter()
                .rev()
                .try_fold(last, |exponent, base| binary(BinaryOperator::Power, base, exponent));
        }
        for (operator, operand) in links {
            value = binary(*operator, value, self.number(operand)?)?;
        }
        Some(value)
    }

    fn number_of(&mut self, name: &BStr) -> Option<i64> {
        match self.lookup(name) {
            Value::Unset => Some(0),
            Value::Text(text) if text.is_empty() => Some(0),
            // A leading zero would make it octal.
            Value::Text(text) if text != "0" && text.starts_with(b"0") => None,
            Value::Text(text) => text.to_str().ok()?.parse().ok(),
            _ => None,
        }
    }
}

/// `x = 1`, `x++`; a comparison is taken for one too.
fn may_assign(text: &BStr) -> bool {
    text.contains(&b'=') || text.contains_str("++") || text.contains_str("--")
}

fn names_in(text: &BStr) -> impl Iterator<Item = &BStr> {
    text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .filter(|piece| is_name(piece))
        .map(ByteSlice::as_bstr)
}

fn binary(operator: BinaryOperator, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        BinaryOperator::Add => left.wrapping_add(right),
        BinaryOperator::Subtract => left.wrapping_sub(right),
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::Divide => left.checked_div(right)?,
        BinaryOperator::Remainder => left.checked_rem(right)?,
        BinaryOperator::Power => left.checked_pow(u32::try_from(right).ok()?)?,
        BinaryOperator::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?)?,
        BinaryOperator::ShiftRight => left.checked_shr(u32::try_from(right).ok()?)?,
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::Less => i64::from(left < right),
        BinaryOperator::LessOrEqual => i64::from(left <= right),
        BinaryOperator::Greater => i64::from(left > right),
        BinaryOperator::GreaterOrEqual => i64::from(left >= right),
        BinaryOperator::Equal => i64::from(left == right),
        BinaryOperator::NotEqual => i64::from(left != right),
        BinaryOperator::And => i64::from(left != 0 && right != 0),
        BinaryOperator::Or => i64::from(left != 0 || right != 0),
    })
}
