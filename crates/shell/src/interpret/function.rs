//! Functions: definition and call.

use std::sync::Arc;

use bstr::{BString, ByteSlice};
use exacta_syntax::ast::FunctionDefinition;

use crate::builtins::{self, Run};
use crate::long;
use crate::shell::{Frame, FrameKind, Function, Shell};
use crate::status::{ExitStatus, Flow, Interrupt};
use crate::variables::ScopeKind;

impl Shell {
    pub(super) fn define_function(&mut self, definition: &FunctionDefinition) -> Flow {
        self.line = definition.span.line;
        let name = &definition.name;
        if self.options.posix && is_special(name) {
            let mut message = BString::from("`");
            message.extend_from_slice(name);
            message.extend_from_slice(b"': is a special builtin");
            self.complain(message);
            return Err(Interrupt::Exit(ExitStatus::USAGE));
        }
        if name.find_byteset(b"$`\"'<>").is_some() {
            let mut message = BString::from("`");
            message.extend_from_slice(name);
            message.extend_from_slice(b"': not a valid identifier");
            self.complain(message);
            return Ok(ExitStatus::FAILURE);
        }
        if self.functions.get(name).is_some_and(|function| function.readonly) {
            let mut message = name.clone();
            message.extend_from_slice(b": readonly function");
            self.complain(message);
            return Ok(ExitStatus::FAILURE);
        }
        let exported = self.functions.get(name).is_some_and(|function| function.exported);
        let function = Function {
            name: name.clone(),
            body: Arc::clone(&definition.body),
            source: self.definition_source(),
            line: definition.span.line,
            exported,
            readonly: false,
            traced: false,
        };
        Arc::make_mut(&mut self.functions).insert(name.clone(), Arc::new(function));
        self.set_status(ExitStatus::SUCCESS);
        Ok(ExitStatus::SUCCESS)
    }

    /// The file a function is being defined in.
    fn definition_source(&self) -> BString {
        match self.frames.last() {
            Some(frame) => frame.source.clone(),
            None if self.options.from_stdin => "main".into(),
            None if self.script.is_empty() => "environment".into(),
            None => self.script.clone(),
        }
    }

    /// `words` is the call: the function's name, then what becomes `$1` and on.
    pub(crate) fn call_function(&mut self, function: &Arc<Function>, words: &[BString]) -> Flow {
        if let Some(limit) = self.exceeded_nesting() {
            let mut message = function.name.clone();
            let text = format!(": maximum function nesting level exceeded ({limit})");
            message.extend_from_slice(text.as_bytes());
            self.complain(message);
            return Err(Interrupt::Discard(ExitStatus::FAILURE));
        }
        let arguments = long::collect(words.get(1..).unwrap_or_default())?;
        let positional = std::mem::replace(&mut self.positional, Arc::new(arguments));
        let loop_depth = std::mem::take(&mut self.loop_depth);
        let evaluations = std::mem::take(&mut self.transient.evaluations);
        let call_line = self.line;
        self.frames.push(Frame {
            kind: FrameKind::Function,
            name: function.name.clone(),
            source: function.source.clone(),
            call_line,
            arguments_before: Arc::clone(&positional),
        });
        self.variables.push_scope(ScopeKind::Function);
        let hidden = if function.traced { None } else { Some(self.hide_traps(true)) };
        let flow = self.nested(|shell| {
            // With `functrace` the trap runs once more, for the call itself.
            shell.line = function.line;
            let goes_on = shell.run_debug_trap(|| function.name.clone())?;
            if goes_on { shell.run_compound(&function.body) } else { Ok(ExitStatus::SUCCESS) }
        });
        let flow = self.run_return_trap(flow);
        if let Some(hidden) = hidden {
            self.show_traps(hidden);
        }
        self.leave_scope();
        self.frames.pop();
        self.line = call_line;
        self.transient.evaluations = evaluations;
        self.loop_depth = loop_depth;
        self.positional = positional;
        match flow {
            Err(Interrupt::Return(status)) => Ok(status),
            other => other,
        }
    }

    /// `FUNCNEST`, if it is set and reached.
    fn exceeded_nesting(&self) -> Option<u64> {
        let limit: u64 = self.variables.scalar("FUNCNEST")?.to_str().ok()?.trim().parse().ok()?;
        let depth = self.frames.iter().filter(|frame| frame.kind == FrameKind::Function).count();
        (limit > 0 && depth as u64 >= limit).then_some(limit)
    }

    /// Ends the innermost scope, with the options that `local -` kept.
    pub(super) fn leave_scope(&mut self) {
        if let Some(options) = self.variables.pop_scope() {
            self.options = *options;
        }
    }
}

fn is_special(name: &BString) -> bool {
    builtins::find(name).is_some_and(|command| {
        matches!(
            command.run,
            Run::Builtin { special: true, .. } | Run::Declaration { special: true, .. }
        )
    })
}
