//! COMPRESS and its kin: the length of the text as four bytes, least significant first, then a zlib stream;
//! an empty text is empty.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::result_bytes::{Stop, build};
use super::{Entry, bytes_type, entry, text_bytes, unsigned_length};
use crate::expr::{Call, EvalContext, Typed};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{BlobSize, ColumnType};
use turnstile_values::value::{Value, to_bytes};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("compress", (1, 1), compress, compressed_type, 0),
    entry("uncompress", (1, 1), uncompress, long_bytes, 0),
    entry("uncompressed_length", (1, 1), uncompressed_length, unsigned_length, 0),
];

/// Bytes before the stream.
const LENGTH_BYTES: usize = 4;
/// Bits of the length; the two above it have no meaning.
const LENGTH_MASK: u32 = 0x3FFF_FFFF;
/// Bytes that are worked through between two looks for KILL.
const STEP_BYTES: usize = 64 << 10;

/// What zlib says that its result takes at most, and the length before it.
fn compressed_type(arguments: &[Typed]) -> ColumnType {
    let bytes = text_bytes(arguments);
    let stream = bytes.saturating_add(bytes >> 12).saturating_add(bytes >> 14).saturating_add(bytes >> 25);
    bytes_type(stream.saturating_add(18))
}

pub(super) fn long_bytes(_: &[Typed]) -> ColumnType {
    ColumnType::Blob { size: BlobSize::Long }
}

/// Room for one step, whatever the statement's lengths are.
fn step() -> Box<[u8]> {
    std::iter::repeat_n(0, STEP_BYTES).collect()
}

fn compress(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let text = to_bytes(&arguments[0]);
    if text.is_empty() {
        return Ok(Value::bytes(*b""));
    }
    let built = build(call.name, context, |out| {
        out.push(&(text.len() as u32 & LENGTH_MASK).to_le_bytes())?;
        let mut stream = Compress::new(Compression::default(), true);
        let mut piece = step();
        loop {
            let read = stream.total_in() as usize;
            let input = &text[read..text.len().min(read + STEP_BYTES)];
            let last = read + input.len() == text.len();
            let flush = if last { FlushCompress::Finish } else { FlushCompress::None };
            let before = stream.total_out();
            let status = stream.compress(input, &mut piece, flush);
            let status = status.map_err(|_| Stop::Failed(SqlError::wrong_arguments(call.name)))?;
            context.work(input.len())?;
            out.push(&piece[..(stream.total_out() - before) as usize])?;
            if status == Status::StreamEnd {
                // A space at the end would be lost in a CHAR column.
                return if out.ends_with(b' ') { out.push(b".") } else { Ok(()) };
            }
        }
    })?;
    Ok(built.map_or(Value::Null, Value::bytes))
}

/// Length of the text that a compressed value says it holds.
fn announced(bytes: &[u8]) -> Option<usize> {
    let (length, stream) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    (!stream.is_empty()).then_some((u32::from_le_bytes(*length) & LENGTH_MASK) as usize)
}

fn uncompress(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    if bytes.is_empty() {
        return Ok(Value::bytes(*b""));
    }
    let Some(length) = announced(&bytes) else {
        context.note(SqlError::compressed_data_damaged());
        return Ok(Value::Null);
    };
    if length as u64 > context.settings.result_bytes_max {
        context.note(SqlError::uncompressed_too_large(context.settings.result_bytes_max));
        return Ok(Value::Null);
    }
    let mut complaint = None;
    let built = build(call.name, context, |out| {
        let mut stream = Decompress::new(true);
        // One byte more than announced shows that there is more.
        let mut piece = step();
        loop {
            let (read, written) = (stream.total_in() as usize, stream.total_out() as usize);
            let room = piece.len().min(length + 1 - written);
            let input = &bytes[LENGTH_BYTES + read..];
            let input = &input[..input.len().min(STEP_BYTES)];
            let status = stream.decompress(input, &mut piece[..room], FlushDecompress::None);
            let more = stream.total_out() as usize - written;
            context.work(more)?;
            out.push(&piece[..more])?;
            let stuck = more == 0 && stream.total_in() as usize == read;
            complaint = match status {
                _ if written + more > length => Some(SqlError::no_room_to_uncompress()),
                Ok(Status::StreamEnd) => return Ok(()),
                Ok(_) if !stuck => continue,
                _ => Some(SqlError::compressed_data_damaged()),
            };
            return Ok(());
        }
    })?;
    if let Some(complaint) = complaint {
        context.note(complaint);
        return Ok(Value::Null);
    }
    Ok(built.map_or(Value::Null, Value::bytes))
}

fn uncompressed_length(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    if bytes.is_empty() {
        return Ok(Value::Int(0));
    }
    match announced(&bytes) {
        Some(length) => Ok(Value::Int(length as i64)),
        None => {
            context.note(SqlError::compressed_data_damaged());
            Ok(Value::Int(0))
        }
    }
}
