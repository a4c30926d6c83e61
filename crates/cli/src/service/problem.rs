//! What went wrong, with a code that never changes, for programs to go by.

use std::fmt;

use serde_json::{Map, Value, json};

/// For programs. The names are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    BadRequest,
    UnknownProject,
    UnknownSession,
    UnknownProcess,
    UnknownApproval,
    UnknownRecord,
    UnknownTask,
    BadPlan,
    NoPlanner,
    TaskBusy,
    WrongState,
    UnsafeRetry,
    AlreadyDecided,
    NotUndone,
    SessionBusy,
    TooMany,
    NotADirectory,
    Failed,
}

impl Code {
    pub fn name(self) -> &'static str {
        match self {
            Code::BadRequest => "bad_request",
            Code::UnknownProject => "unknown_project",
            Code::UnknownSession => "unknown_session",
            Code::UnknownProcess => "unknown_process",
            Code::UnknownApproval => "unknown_approval",
            Code::UnknownRecord => "unknown_record",
            Code::UnknownTask => "unknown_task",
            Code::BadPlan => "bad_plan",
            Code::NoPlanner => "no_planner",
            Code::TaskBusy => "task_busy",
            Code::WrongState => "wrong_state",
            Code::UnsafeRetry => "unsafe_retry",
            Code::NotUndone => "not_undone",
            Code::AlreadyDecided => "already_decided",
            Code::SessionBusy => "session_busy",
            Code::TooMany => "too_many",
            Code::NotADirectory => "not_a_directory",
            Code::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Problem {
    pub code: Code,
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// What else there is to say about it: where in a plan it is.
    pub more: Map<String, Value>,
}

impl Problem {
    pub fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Problem { code, message: message.into(), hint: hint.into(), more: Map::new() }
    }

    /// exacta itself could not do it.
    pub fn failed(problem: impl fmt::Display) -> Self {
        Problem::new(Code::Failed, problem.to_string(), "`exacta doctor` says what is missing")
    }
}

impl Problem {
    /// As every door says it.
    pub fn in_json(&self) -> Value {
        let Problem { code, message, hint, more } = self;
        let mut error = json!({ "code": code.name(), "message": message, "hint": hint });
        if let Some(error) = error.as_object_mut() {
            error.extend(more.clone());
        }
        json!({ "error": error })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
