//! S2's validator: refuses what is plainly dangerous or blocked by the caller. It judges what a text would run, not
//! which letters it contains.
//!
//! It is a courtesy, not a wall: whatever passes is still judged and confined when it runs.

use bstr::ByteSlice;

use super::dangers::is_dangerous;
use super::error::{PrimitiveError, PrimitiveResult};
use super::explore::explore;
use super::patterns::Pattern;

/// Validates commands before execution.
pub struct CommandValidator {
    blocked: Vec<Pattern>,
}

impl CommandValidator {
    /// With patterns of commands to block, besides what is dangerous anyway.
    pub fn new(blocked: &[String]) -> Self {
        CommandValidator { blocked: blocked.iter().map(|text| Pattern::new(text)).collect() }
    }

    pub fn validate(&self, command: &str) -> PrimitiveResult<()> {
        if command.trim().is_empty() {
            return refused("Empty command");
        }
        let seen = match explore(command.as_bytes().as_bstr()) {
            Ok(seen) => seen,
            Err(error) => return refused(&format!("Command cannot be parsed: {error}")),
        };
        if let Some(pattern) = self.blocked.iter().find(|pattern| pattern.matches(command, &seen)) {
            return refused(&format!("Command contains blocked pattern: {}", pattern.text));
        }
        if seen.cut || is_dangerous(&seen) {
            return refused("Command appears to be dangerous");
        }
        Ok(())
    }

    /// The text as one word for a shell.
    pub fn escape_arg(arg: &str) -> String {
        crate::executor::quoted(arg)
    }

    /// A command whose arguments stand for themselves.
    pub fn build_safe_command(cmd: &str, args: &[&str]) -> String {
        let escaped: Vec<String> = args.iter().map(|arg| Self::escape_arg(arg)).collect();
        format!("{cmd} {}", escaped.join(" "))
    }
}

fn refused(message: &str) -> PrimitiveResult<()> {
    Err(PrimitiveError::Validation { message: message.to_owned() })
}
