//! Why a change is not made: what a command says when it could not be recorded.

use std::io;

use exacta_store::UndoError;
use rustix::io::Errno;

/// What the kernel says of the path itself is what a command says without a journal too. All else is the journal's, and
/// has its own words: the reader could do nothing about a bare "Permission denied" for a file that he may write.
pub(crate) fn refusal(error: UndoError, place: &[u8]) -> io::Error {
    match error {
        // The request was stopped while the content was being copied.
        UndoError::CannotKeep { errno: Errno::INTR, .. } => Errno::INTR.into(),
        // The project and its journal are on one file system: it would be the same answer.
        UndoError::System { errno: Errno::ROFS, .. } => Errno::ROFS.into(),
        UndoError::System { path, errno, .. } if path == place && errno != Errno::XDEV => {
            errno.into()
        }
        UndoError::System { path, errno: Errno::XDEV, .. } if path == place => io::Error::other(
            "it cannot be recorded for undo: another file system is mounted in the project here",
        ),
        error => {
            let next = error.next().map(|next| format!(" ({next})")).unwrap_or_default();
            io::Error::other(format!("it cannot be recorded for undo: {error}{next}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(error: UndoError) -> String {
        exacta_shell::errno::text(&refusal(error, b"a/b"))
    }

    #[test]
    fn only_the_journals_own_troubles_have_their_own_words() {
        let system =
            |path: &str, errno| UndoError::System { doing: "look at it", path: path.into(), errno };
        assert_eq!(said(system("a/b", Errno::ACCESS)), "Permission denied");
        assert_eq!(
            said(system("undo", Errno::ACCESS)),
            "it cannot be recorded for undo: undo: cannot look at it: Permission denied"
        );
        assert!(said(system("a/b", Errno::XDEV)).contains("another file system"));
        assert_eq!(
            said(UndoError::NotPrivate),
            "it cannot be recorded for undo: .clada/undo is not private to you \
             (if it is yours, set its mode to 0700; else delete .clada/undo)"
        );
    }
}
