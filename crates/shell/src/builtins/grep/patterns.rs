//! From the patterns to one matcher.

use bstr::ByteSlice;

use super::options::{Dialect, Request, Whole};
use super::{Context, ToolError, trouble};
use crate::regex::{self, Anchor, Error, Matcher, Node, Preference, Syntax};

pub(super) fn compile(context: &mut Context<'_>, request: &Request) -> Result<Matcher, ToolError> {
    let mut nodes = Vec::with_capacity(request.patterns.len());
    let mut groups = 0;
    if request.dialect == Dialect::Perl && request.patterns.len() > 1 {
        return Err(trouble("the -P option only supports a single pattern"));
    }
    for pattern in &request.patterns {
        let mut node = parse(context, request, pattern)?;
        node.renumber(groups);
        groups = groups.max(node.groups());
        nodes.push(node);
    }
    let perl = request.dialect == Dialect::Perl;
    let node = if nodes.is_empty() { nothing() } else { Node::alternate(nodes) };
    let node = match request.whole {
        Whole::Anything => node,
        Whole::Lines => node.between(Anchor::LineStart, Anchor::LineEnd),
        Whole::Words if perl => node.between(Anchor::AsciiStartHalf, Anchor::AsciiEndHalf),
        Whole::Words => node.between(Anchor::WordStartHalf, Anchor::WordEndHalf),
    };
    let preference = if perl { Preference::First } else { Preference::Longest };
    Matcher::new(&node, preference, request.output.end).map_err(explain)
}

/// No patterns match nothing.
fn nothing() -> Node {
    Node::Set(regex_syntax::hir::ClassUnicode::empty().into())
}

fn parse(context: &mut Context<'_>, request: &Request, pattern: &[u8]) -> Result<Node, ToolError> {
    let syntax = match request.dialect {
        Dialect::Fixed => return Ok(Node::text(pattern, request.fold)),
        Dialect::Perl => return regex::parse_perl(pattern, request.fold).map_err(explain),
        Dialect::Basic => Syntax::GREP,
        Dialect::Extended => Syntax::EGREP,
    };
    let parsed = regex::parse_posix(pattern, syntax, request.fold).map_err(explain)?;
    for warning in parsed.warnings {
        context.complain(format_args!("warning: {warning}"));
    }
    Ok(parsed.node)
}

pub(super) fn explain(error: Error) -> ToolError {
    match error {
        Error::Invalid(message) => trouble(message),
        Error::Unsupported(what) => ToolError::Unsupported(what.to_owned()),
        Error::TooComplex => trouble("exceeded PCRE's backtracking limit"),
        Error::Stopped => trouble("stopped"),
    }
}

/// Is the text made of characters only, as far as `grep` asks?
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.is_ascii() || bytes.to_str().is_ok()
}
