//! `exacta task log`: what a task ran and what that wrote; with `-f` also what comes.

use std::thread;
use std::time::Duration;

use exacta::records::Zone;
use exacta::tasks::{LogEntry, LogKind, State, Task};
use serde_json::json;

use super::show::time;
use super::{Asked, Done, exit_of};
use crate::exit::Exit;
use crate::output::{self, Reader};
use crate::terminal::visible_line;

const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn perform(asked: &Asked<'_>, id: &str, follow: bool) -> Done {
    let zone = Zone::of_operator();
    let mut task = asked.tasks.get(id)?;
    let mut last = 0;
    loop {
        for (number, entry) in asked.tasks.log(&task.id, last)? {
            last = number;
            if print(asked, &entry, &zone) == Reader::Gone {
                return Ok(Exit::Success);
            }
        }
        if !follow {
            return Ok(Exit::Success);
        }
        if is_over(asked, &task)? {
            return Ok(exit_of(&task));
        }
        thread::sleep(PAUSE);
        // The state first: what is written before it changes is read after it.
        task = asked.tasks.get(&task.id)?;
    }
}

/// Nothing more comes by itself.
fn is_over(asked: &Asked<'_>, task: &Task) -> Result<bool, exacta::tasks::TaskError> {
    // What is only asked for will be taken up; what waits for a person, or was left by somebody who died, may never be.
    Ok(task.state != State::Pending && !asked.tasks.is_worked_on(&task.id)?)
}

fn print(asked: &Asked<'_>, entry: &LogEntry, zone: &Zone) -> Reader {
    if asked.global.json {
        return output::print_bytes(format!("{}\n", json!(entry)).as_bytes());
    }
    let (mark, colour) = match entry.kind {
        LogKind::Command => ("$", "1"),
        LogKind::Output => ("|", "0"),
        LogKind::Error => ("!", "31"),
        LogKind::Info => ("-", "2"),
    };
    let mut text = String::new();
    let stamp = time(zone, entry.timestamp);
    for line in entry.content.split('\n') {
        let line = asked.look.painted(&format!("{mark} {}", visible_line(line)), colour);
        text.push_str(&format!("{stamp} {line}\n"));
    }
    output::print_bytes(text.as_bytes())
}
