//! Where the last lines of a file begin, found from its end without reading the rest.

use std::io::{self, SeekFrom};
use std::sync::Arc;

use memchr::memrchr_iter;

use crate::control::Control;
use crate::errno;
use crate::filesystem::{Metadata, OpenFile};

/// How much is looked at in one step.
const STEP: u64 = 64 << 10;

/// Offset and size of a regular file that can seek and has more to read.
pub fn extent(file: &Arc<dyn OpenFile>) -> Option<(u64, u64)> {
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    let position = file.seek(SeekFrom::Current(0)).ok()?;
    (position < metadata.size).then_some((position, metadata.size))
}

/// Where the last `count` lines between `first` and `size` begin. The file's offset is anywhere afterwards.
pub fn start_of_lines(
    control: &Control,
    file: &Arc<dyn OpenFile>,
    first: u64,
    size: u64,
    count: u64,
    separator: u8,
) -> io::Result<u64> {
    if count == 0 {
        return Ok(size);
    }
    let mut buffer = vec![0; STEP.min(size - first) as usize];
    let mut end = size;
    let mut left = count;
    while end > first {
        // Steps begin at multiples of their size, so that pages are read once.
        let start = ((end - 1) / STEP * STEP).max(first);
        let length = ((end - start) as usize).min(buffer.len());
        let start = end - length as u64;
        let block = buffer.get_mut(..length).unwrap_or_default();
        read_at(control, file, start, block)?;
        let mut text: &[u8] = block;
        // The separator of the last line ends it; it does not begin another.
        if end == size {
            text = text.strip_suffix(&[separator]).unwrap_or(text);
        }
        for at in memrchr_iter(separator, text) {
            left -= 1;
            if left == 0 {
                return Ok(start + at as u64 + 1);
            }
        }
        end = start;
    }
    Ok(first)
}

/// Fills the whole block; a file that became shorter meanwhile gives zeros.
fn read_at(
    control: &Control,
    file: &Arc<dyn OpenFile>,
    position: u64,
    mut block: &mut [u8],
) -> io::Result<()> {
    control.check().map_err(|_| errno::error(errno::EINTR))?;
    file.seek(SeekFrom::Start(position))?;
    while !block.is_empty() {
        match file.read(block) {
            Ok(0) => {
                block.fill(0);
                break;
            }
            Ok(count) => block = block.get_mut(count..).unwrap_or_default(),
            Err(error) if errno::is(&error, errno::EINTR) => {
                control.check().map_err(|_| error)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
