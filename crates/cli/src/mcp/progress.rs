//! Output while a command runs, as progress: as much as the client keeps up with, never holding the command up.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;

/// Of what was written since the last notification, the end is kept.
const MOST: usize = 8 << 10;
/// A client that takes longer misses this one.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Heard(Mutex<State>);

#[derive(Default)]
struct State {
    total: u64,
    told: u64,
    fresh: Vec<u8>,
    left_out: usize,
}

impl Heard {
    pub fn hear(&self, data: &[u8]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.total += data.len() as u64;
        state.fresh.extend_from_slice(data);
        let surplus = state.fresh.len().saturating_sub(MOST);
        state.left_out += surplus;
        state.fresh.drain(..surplus);
    }

    /// All that was written so far, and what is new of it.
    fn take(&self) -> Option<(u64, String)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.total == state.told {
            return None;
        }
        let half = unfinished(&state.fresh);
        let whole = state.fresh.len() - half;
        let bytes: Vec<u8> = state.fresh.drain(..whole).collect();
        if bytes.is_empty() {
            return None;
        }
        state.told = state.total - half as u64;
        let left_out = std::mem::take(&mut state.left_out);
        let text = exacta::report::without_escapes(&bytes);
        let text = match left_out {
            0 => text,
            count => format!("[… {count} bytes left out …]\n{text}"),
        };
        Some((state.told, text))
    }
}

/// As many bytes at the end begin a character whose rest has not come yet.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = bytes.get(bytes.len().saturating_sub(3)..).unwrap_or_default();
    (1..=tail.len())
        .find(|length| {
            let end = tail.get(tail.len() - length..).unwrap_or_default();
            end.first().is_some_and(|first| *first >= 0xc0)
                && std::str::from_utf8(end).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}

/// Where it is told, if the client wants to know.
pub struct Teller {
    pub peer: Peer<RoleServer>,
    pub token: Option<ProgressToken>,
}

impl Teller {
    pub async fn tell(&self, heard: &Heard) {
        let Some(token) = &self.token else { return };
        let Some((total, text)) = heard.take() else { return };
        let progress = ProgressNotificationParam::new(token.clone(), total as f64);
        let told = self.peer.notify_progress(progress.with_message(text));
        let _who_is_gone_or_slow_misses_it = tokio::time::timeout(PATIENCE, told).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stay_whole() {
        let heard = Heard::default();
        heard.hear("a\u{e4}".as_bytes());
        heard.hear(&"\u{20ac}".as_bytes()[..2]);
        assert_eq!(heard.take(), Some((3, "a\u{e4}".to_owned())));
        assert_eq!(heard.take(), None);
        heard.hear(&"\u{20ac}".as_bytes()[2..]);
        assert_eq!(heard.take(), Some((6, "\u{20ac}".to_owned())));
        assert_eq!(heard.take(), None);
    }

    #[test]
    fn of_much_the_end_is_told() {
        let heard = Heard::default();
        heard.hear(&vec![b'x'; 3 * MOST]);
        let (total, text) = heard.take().expect("news");
        assert_eq!(total, 3 * MOST as u64);
        assert!(text.starts_with("[… 16384 bytes left out …]"), "{text:.60}");
    }
}
