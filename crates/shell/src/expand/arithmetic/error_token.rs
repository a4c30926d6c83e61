//! `(error token is "0 + 5")`: bash shows the rest of the text from the place of the error. The tree has no places,
//! so the operator that failed is found again in the text by counting.

use bstr::{BStr, ByteSlice};
use exacta_syntax::ast::{BinaryOperator, Expression};

/// From what follows the division to the end.
pub(super) fn of_division<'t>(
    text: &'t BStr,
    root: &Expression,
    failed: *const BinaryOperator,
) -> &'t BStr {
    let wanted = |operator| matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    let Some(number) = number_of(root, failed, &wanted) else { return text };
    let mut operators = top_level(text).filter(|&(_, byte)| matches!(byte, b'/' | b'%'));
    let Some((at, _)) = operators.nth(number) else { return text };
    let rest = text.get(at + 1..).unwrap_or_default();
    match rest.strip_prefix(b"=") {
        Some(value) => after_value(value).as_bstr(),
        None => rest.trim_ascii_start().as_bstr(),
    }
}

/// `x /= value` has read on to what ends the value before it divides; at the end of the text the last token stands.
fn after_value(value: &[u8]) -> &[u8] {
    let mut open = 0_usize;
    for (at, byte) in value.iter().enumerate() {
        match byte {
            b'(' | b'[' => open += 1,
            b')' | b',' | b':' if open == 0 => return value.get(at..).unwrap_or_default(),
            b')' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    let end = value.trim_ascii_end().len();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'@');
    let word = value.get(..end).unwrap_or_default();
    // A subscript belongs to the name before it.
    let word = match (word.last(), word.rfind_byte(b'[')) {
        (Some(b']'), Some(open)) => word.get(..open).unwrap_or_default(),
        _ => word,
    };
    let start = word.iter().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
    value.get(start.min(end.saturating_sub(1))..).unwrap_or_default()
}

/// From the token after the exponent, or the exponent's last token if nothing follows.
pub(super) fn of_exponent<'t>(
    text: &'t BStr,
    root: &Expression,
    failed: *const BinaryOperator,
) -> &'t BStr {
    let wanted = |operator| operator == BinaryOperator::Power;
    let Some(number) = number_of(root, failed, &wanted) else { return text };
    let bytes = text.as_bytes();
    let mut operators =
        top_level(text).filter(|&(at, byte)| byte == b'*' && bytes.get(at + 1) == Some(&b'*'));
    let Some((at, _)) = operators.nth(number) else { return text };
    let after = text.get(at + 2..).unwrap_or_default();
    let operand = after.trim_start_with(|letter| " \t\n+-!~".contains(letter));
    let length = operand_length(operand);
    let rest = operand.get(length..).unwrap_or_default().trim_ascii_start();
    if rest.is_empty() { operand.as_bstr() } else { rest.as_bstr() }
}

/// A number, a name with its subscript, or a parenthesis.
fn operand_length(text: &[u8]) -> usize {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'@');
    let name = text.iter().position(|byte| !word(byte)).unwrap_or(text.len());
    let (open, close) = match text.get(name) {
        Some(b'[') => (b'[', b']'),
        Some(b'(') if name == 0 => (b'(', b')'),
        _ => return name,
    };
    let mut depth = 0_usize;
    for (at, &byte) in text.iter().enumerate().skip(name) {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

/// Every byte outside subscripts.
fn top_level(text: &BStr) -> impl Iterator<Item = (usize, u8)> {
    let mut depth = 0_usize;
    text.bytes().enumerate().filter(move |&(_, byte)| {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// Which of the wanted operators, counted from the left, the failed one is.
fn number_of(
    root: &Expression,
    failed: *const BinaryOperator,
    wanted: &dyn Fn(BinaryOperator) -> bool,
) -> Option<usize> {
    let mut count = 0;
    find(root, failed, wanted, &mut count).then_some(count)
}

fn find(
    expression: &Expression,
    failed: *const BinaryOperator,
    wanted: &dyn Fn(BinaryOperator) -> bool,
    count: &mut usize,
) -> bool {
    match expression {
        Expression::Number(_)
        | Expression::Variable(_)
        | Expression::Expansion(_)
        | Expression::Step { .. } => false,
        Expression::Unary(_, operand) => find(operand, failed, wanted, count),
        Expression::Chain(first, links) => {
            find(first, failed, wanted, count)
                || links.iter().any(|(operator, operand)| {
                    let here = std::ptr::eq(operator, failed);
                    *count += usize::from(!here && wanted(*operator));
                    here || find(operand, failed, wanted, count)
                })
        }
        Expression::Assign { operator, value, .. } => {
            let here = operator.as_ref().is_some_and(|operator| std::ptr::eq(operator, failed));
            *count += usize::from(!here && operator.is_some_and(wanted));
            here || find(value, failed, wanted, count)
        }
        Expression::Ternary(condition, yes, no) => [condition, yes, no]
            .into_iter()
            .any(|expression| find(expression, failed, wanted, count)),
        Expression::Comma(expressions) => {
            expressions.iter().any(|expression| find(expression, failed, wanted, count))
        }
    }
}
