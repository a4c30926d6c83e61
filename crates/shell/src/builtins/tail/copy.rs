//! Copying the end of a file: by seeking where that works, else with no more in memory than is wanted.

use std::collections::VecDeque;
use std::io::{self, SeekFrom};
use std::sync::Arc;

use memchr::memchr_iter;

use super::settings::Settings;
use crate::builtins::backwards::{extent, start_of_lines};
use crate::builtins::head::Unit;
use crate::builtins::{Context, ToolError, input};
use crate::filesystem::OpenFile;
use crate::lines::LineReader;

/// The outer error ends the tool, the inner one only this file.
type Copied = Result<io::Result<()>, ToolError>;

/// How much more than is wanted is kept before it is thrown away.
const SLACK: usize = 64 << 10;

pub fn end_of(context: &mut Context<'_>, file: &Arc<dyn OpenFile>, settings: &Settings) -> Copied {
    let Settings { unit, count, separator, .. } = *settings;
    if settings.from_start {
        return skip_and_copy(context, file, unit, count, separator);
    }
    if let Some((position, size)) = extent(file) {
        let control = context.control();
        let start = match unit {
            Unit::Bytes => Ok(size.saturating_sub(count).max(position)),
            Unit::Lines => start_of_lines(&control, file, position, size, count, separator),
        };
        return match start.and_then(|start| file.seek(SeekFrom::Start(start))) {
            Ok(_) => rest_of(context, file),
            Err(error) => Ok(Err(error)),
        };
    }
    let mut reader = input::reader(context, file).separated_by(separator);
    match unit {
        Unit::Bytes => last_bytes(context, &mut reader, count),
        Unit::Lines => last_lines(context, &mut reader, count, separator),
    }
}

/// Copies from where the file is to its end.
pub fn rest_of(context: &mut Context<'_>, file: &Arc<dyn OpenFile>) -> Copied {
    let mut reader = input::reader(context, file);
    rest_of_reader(context, &mut reader)
}

fn rest_of_reader(context: &mut Context<'_>, reader: &mut LineReader) -> Copied {
    loop {
        match reader.next_chunk() {
            Ok(None) => return Ok(Ok(())),
            Ok(Some(chunk)) => context.output.write(chunk)?,
            Err(error) => return Ok(Err(error)),
        }
    }
}

fn skip_and_copy(
    context: &mut Context<'_>,
    file: &Arc<dyn OpenFile>,
    unit: Unit,
    count: u64,
    separator: u8,
) -> Copied {
    let mut left = count;
    if unit == Unit::Bytes && extent(file).is_some() {
        let offset = i64::try_from(left).unwrap_or(i64::MAX);
        if file.seek(SeekFrom::Current(offset)).is_ok() {
            left = 0;
        }
    }
    let mut reader = input::reader(context, file);
    while left > 0 {
        let chunk = match reader.peek() {
            Ok(b"") => return Ok(Ok(())),
            Ok(chunk) => chunk,
            Err(error) => return Ok(Err(error)),
        };
        let skipped = match unit {
            Unit::Bytes => chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX)),
            Unit::Lines => end_of_line(chunk, left, separator),
        };
        left -= match unit {
            Unit::Bytes => skipped as u64,
            Unit::Lines => {
                memchr_iter(separator, chunk.get(..skipped).unwrap_or(chunk)).count() as u64
            }
        };
        reader.consume(skipped);
    }
    rest_of_reader(context, &mut reader)
}

/// Behind the end of the `count`th line, or of the whole chunk if it has fewer.
fn end_of_line(chunk: &[u8], count: u64, separator: u8) -> usize {
    let nth = usize::try_from(count - 1).unwrap_or(usize::MAX);
    memchr_iter(separator, chunk).nth(nth).map_or(chunk.len(), |at| at + 1)
}

/// Keeps whole blocks until enough lines are behind them.
fn last_lines(
    context: &mut Context<'_>,
    reader: &mut LineReader,
    count: u64,
    separator: u8,
) -> Copied {
    let mut kept: VecDeque<(Vec<u8>, u64)> = VecDeque::new();
    let mut total = 0;
    let (control, mut held) = (context.control(), 0);
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err(error) => return Ok(Err(error)),
        };
        let unfinished = u64::from(!block.ends_with(&[separator]));
        let lines = memchr_iter(separator, block).count() as u64 + unfinished;
        total += lines;
        let mut spare = Vec::new();
        while kept.front().is_some_and(|(_, first)| total - first >= count) {
            let Some((block, lines)) = kept.pop_front() else { break };
            total -= lines;
            held -= block.len();
            spare = block;
        }
        held += block.len();
        if let Err(error) = control.may_hold(held) {
            return Ok(Err(error));
        }
        // Small blocks are gathered: a slow writer's many short lines shall not cost a block each.
        match kept.back_mut() {
            Some((last, count)) if last.len() + block.len() <= last.capacity() => {
                last.extend_from_slice(block);
                *count += lines;
            }
            _ => {
                spare.clear();
                spare.reserve(block.len().max(16 << 10));
                spare.extend_from_slice(block);
                kept.push_back((spare, lines));
            }
        }
    }
    let mut excess = total.saturating_sub(count);
    for (block, _) in &kept {
        let start = if excess > 0 { end_of_line(block, excess, separator) } else { 0 };
        excess = 0;
        context.output.write(block.get(start..).unwrap_or_default())?;
    }
    Ok(Ok(()))
}

fn last_bytes(context: &mut Context<'_>, reader: &mut LineReader, count: u64) -> Copied {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut kept: Vec<u8> = Vec::new();
    let control = context.control();
    loop {
        match reader.next_chunk() {
            Ok(None) => break,
            Ok(Some(chunk)) => kept.extend_from_slice(chunk),
            Err(error) => return Ok(Err(error)),
        }
        // Only now and then, or each chunk would move all that is kept.
        if kept.len() / 2 > count.max(SLACK) {
            kept.drain(..kept.len() - count);
        }
        if let Err(error) = control.may_hold(kept.len()) {
            return Ok(Err(error));
        }
    }
    let start = kept.len().saturating_sub(count);
    context.output.write(kept.get(start..).unwrap_or_default())?;
    Ok(Ok(()))
}
