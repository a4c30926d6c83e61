//! Texts and lists that may be very long. Copying or walking one takes tens of milliseconds, and a request that is
//! stopped must end within ten: here it is asked on the way.

use bstr::BString;

use crate::control;
use crate::release::{self, Heavy};
use crate::status::Stop;

/// Bytes copied between two looks at the control.
pub const STRETCH: usize = 1 << 20;
/// Words copied between two looks.
const WORDS: usize = 1 << 10;

/// Makes room. An allocator may have to copy what is there already, and it cannot be asked to stop: so that is done here.
pub fn reserve(into: &mut Vec<u8>, more: usize) -> Result<(), Stop> {
    let wanted = into.len().saturating_add(more);
    if wanted <= into.capacity() || into.len() <= STRETCH {
        into.reserve(more);
        return Ok(());
    }
    let mut grown = Heavy::new(Vec::with_capacity(wanted.max(into.capacity().saturating_mul(2))));
    for part in into.chunks(STRETCH) {
        control::check_here()?;
        grown.extend_from_slice(part);
    }
    release::discard(std::mem::replace(into, grown.into_inner()));
    Ok(())
}

/// All of it or, if the request is stopped, nothing.
pub fn extend(into: &mut Vec<u8>, text: &[u8]) -> Result<(), Stop> {
    // A little more may be all that what is there had no room for.
    reserve(into, text.len())?;
    if text.len() <= STRETCH {
        into.extend_from_slice(text);
        return Ok(());
    }
    let before = into.len();
    for part in text.chunks(STRETCH) {
        if let Err(stop) = control::check_here() {
            into.truncate(before);
            return Err(stop);
        }
        into.extend_from_slice(part);
    }
    Ok(())
}

pub fn copy(text: &[u8]) -> Result<BString, Stop> {
    let mut copied = Heavy::new(Vec::new());
    extend(&mut copied, text)?;
    Ok(copied.into_inner().into())
}

/// A list of copies.
pub fn collect<'a>(
    words: impl IntoIterator<Item = &'a BString>,
) -> Result<Heavy<Vec<BString>>, Stop> {
    let words = words.into_iter();
    let mut copied = Heavy::new(Vec::with_capacity(words.size_hint().0));
    for word in words {
        if copied.len().is_multiple_of(WORDS) && !copied.is_empty() {
            control::check_here()?;
        }
        copied.push(if word.len() <= STRETCH { word.clone() } else { copy(word)? });
    }
    Ok(copied)
}

/// Counts work that is done in small steps.
#[derive(Debug, Default)]
pub struct Pace {
    done: usize,
}

impl Pace {
    const STRETCH: usize = 1 << 16;

    /// So many bytes were walked.
    pub fn walked(&mut self, bytes: usize) -> Result<(), Stop> {
        // A step costs something whatever it gives.
        self.done += bytes + 8;
        if self.done < Self::STRETCH {
            return Ok(());
        }
        self.done = 0;
        control::check_here()
    }
}
