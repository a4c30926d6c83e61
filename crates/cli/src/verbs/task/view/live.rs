//! The board on a terminal: drawn again in place, ten times a second at most.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use exacta::tasks::{Event, Task};

use super::board::{Board, Room, columns};
use crate::terminal::visible;
use crate::{output, progress};

const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Live {
    screen: Arc<Mutex<Screen>>,
    end: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

struct Screen {
    board: Board,
    begun: Instant,
    colour: bool,
    /// How wide each line is that stands there.
    shown: Vec<usize>,
}

impl Live {
    pub(super) fn begin(board: Board, colour: bool) -> Self {
        let screen = Screen { board, begun: Instant::now(), colour, shown: Vec::new() };
        let screen = Arc::new(Mutex::new(screen));
        let (ending, ended) = mpsc::channel();
        let drawing = Arc::clone(&screen);
        let tell = move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                lock(&drawing).draw();
            }
        };
        let thread = std::thread::Builder::new().name("board".to_owned()).spawn(tell);
        Live { screen, end: thread.ok().map(|thread| (ending, thread)) }
    }

    pub(super) fn notice(&self, event: &Event<'_>) {
        let mut screen = lock(&self.screen);
        if let Event::Noted(text) = event {
            // It stays, above where the board is.
            screen.clear();
            output::error(&format!("exacta: {}\n", visible(text)));
        }
        screen.board.notice(event);
    }

    /// The plan may have been made meanwhile.
    pub(super) fn replace(&self, task: &Task) {
        lock(&self.screen).board = Board::of(task);
    }

    /// Takes the board away.
    pub(super) fn end(mut self) {
        if let Some((ending, thread)) = self.end.take() {
            let _ = ending.send(());
            let _ = thread.join();
        }
        lock(&self.screen).clear();
    }
}

fn lock(screen: &Mutex<Screen>) -> MutexGuard<'_, Screen> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    fn draw(&mut self) {
        if !self.board.is_shown() {
            return;
        }
        let room = self.room();
        let lines = self.board.drawn(room, self.begun.elapsed());
        let mut text = self.back(room.width);
        for line in &lines {
            text.push_str(&format!("\x1b[K{line}\n"));
        }
        text.push_str("\x1b[J");
        self.shown = lines.iter().map(|line| columns(&uncoloured(line))).collect();
        let _nothing_else = progress::aside();
        // In one piece: half a board is never seen.
        output::error(&text);
    }

    fn clear(&mut self) {
        if self.shown.is_empty() {
            return;
        }
        let text = self.back(self.room().width);
        output::error(&format!("{text}\x1b[J"));
        self.shown.clear();
    }

    /// To where the board begins. A terminal that became narrower has broken lines meanwhile.
    fn back(&self, width: usize) -> String {
        let rows: usize = self.shown.iter().map(|long| long.div_ceil(width.max(1)).max(1)).sum();
        if rows == 0 { "\r".to_owned() } else { format!("\r\x1b[{rows}A") }
    }

    fn room(&self) -> Room {
        let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
        let of = |given: Option<u16>, usual| match given.map(usize::from) {
            None | Some(0) => usual,
            Some(given) => given,
        };
        Room {
            width: of(size.map(|size| size.ws_col), 80),
            height: of(size.map(|size| size.ws_row), 24),
            colour: self.colour,
        }
    }
}

/// Colours are ours alone: nothing else in a line is an escape.
fn uncoloured(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\x1b') {
        text.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    text + rest
}
