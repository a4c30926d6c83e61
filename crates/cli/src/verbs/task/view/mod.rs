//! What is to be seen while a task runs: a board that is drawn again in place on a terminal, plain lines elsewhere. On standard
//! error; what came of it is on standard output.

mod board;
mod live;
mod plain;

use std::io::IsTerminal as _;

use exacta::tasks::{Event, State, Watcher};

use super::Asked;
use crate::launch;
use board::Board;
use live::Live;
use plain::Plain;

pub(super) struct View<'a> {
    asked: &'a Asked<'a>,
    manner: Manner,
}

enum Manner {
    /// For programs: they get it at the end.
    Nothing,
    Plain(Plain),
    Live(Live),
}

impl<'a> View<'a> {
    pub(super) fn begin(asked: &'a Asked<'a>, id: &str) -> Self {
        let board = asked.tasks.get(id).map(|task| Board::of(&task)).unwrap_or_default();
        let moves = launch::text("TERM").is_some_and(|terminal| terminal != "dumb");
        let manner = if std::io::stderr().is_terminal() && moves {
            Manner::Live(Live::begin(board, !launch::no_colour()))
        } else if asked.global.json {
            Manner::Nothing
        } else {
            Manner::Plain(Plain::begin(&board))
        };
        View { asked, manner }
    }

    /// Leaves nothing behind that other texts would run into.
    pub(super) fn end(self) {
        if let Manner::Live(live) = self.manner {
            live.end();
        }
    }
}

impl Watcher for View<'_> {
    fn notice(&self, task: &str, event: &Event<'_>) {
        if matches!(event, Event::Moved { to: State::Running, .. })
            && let Ok(task) = self.asked.tasks.get(task)
        {
            match &self.manner {
                Manner::Nothing => {}
                Manner::Plain(plain) => plain.replace(&task),
                Manner::Live(live) => live.replace(&task),
            }
        }
        match &self.manner {
            Manner::Nothing => {}
            Manner::Plain(plain) => plain.notice(event),
            Manner::Live(live) => live.notice(event),
        }
    }
}
