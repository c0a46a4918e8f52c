//! The bytes of a function's result while they grow: never beyond `max_allowed_packet`.
//!
//! Every function whose result can be longer than its arguments, or that is told a length, builds it here: a
//! growth is compared with the limit before memory is taken for it. Beyond the limit the result is NULL with
//! warning 1301, or that error in a strict change. What is worked through counts, so that KILL ends a result
//! that takes long.

use std::fmt;

use crate::expr::{Call, EvalContext};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::Charge;
use turnstile_values::value::Value;

/// Bytes between two looks for KILL.
const CHECKED_BYTES: usize = 1 << 20;

/// Results up to this length are not worth charging.
const UNCHARGED_BYTES: usize = 64 << 10;
/// A result under way and the value that becomes of it.
const COPIES: usize = 2;

/// Why a result does not grow any more.
#[derive(Debug)]
pub enum Stop {
    /// It would be longer than `max_allowed_packet`.
    TooLong,
    /// The statement ends.
    Failed(SqlError),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Stop {
        Stop::Failed(error)
    }
}

/// Whether a result goes on growing.
pub(crate) type Grown<T = ()> = Result<T, Stop>;

/// A result under way.
pub struct ResultBytes<'c> {
    bytes: Vec<u8>,
    most: usize,
    /// Bytes appended since KILL was last looked for.
    unchecked: usize,
    /// How long the result may become before the session's memory is asked again.
    covered: usize,
    charge: Charge,
    context: &'c EvalContext<'c>,
    /// Why a writer was refused: `fmt` has an error of its own.
    stopped: Option<Stop>,
}

impl ResultBytes<'_> {
    fn admit(&mut self, more: u64) -> Grown {
        if more > (self.most - self.bytes.len()) as u64 {
            return Err(Stop::TooLong);
        }
        self.cover(self.bytes.len() + more as usize)?;
        self.unchecked += more as usize;
        if self.unchecked >= CHECKED_BYTES {
            self.context.work(std::mem::take(&mut self.unchecked))?;
        }
        Ok(())
    }

    /// Refuses what may take so many bytes.
    pub fn fits(&self, most: u64) -> Grown {
        if most > self.most as u64 { Err(Stop::TooLong) } else { Ok(()) }
    }

    /// The result is about to become so long: it, its room to grow and the value that is made of it are
    /// charged while it is built.
    #[inline]
    fn cover(&mut self, length: usize) -> Grown {
        if length > self.covered { self.charge_for(length) } else { Ok(()) }
    }

    fn charge_for(&mut self, length: usize) -> Grown {
        if self.covered == UNCHARGED_BYTES {
            self.charge = self.context.charge();
        }
        let length = length.next_multiple_of(CHECKED_BYTES).min(self.most.max(length));
        self.charge.add((length - self.covered) * COPIES)?;
        self.charge.settle()?;
        self.covered = length;
        Ok(())
    }

    /// Makes room for so many bytes at once.
    pub fn reserve(&mut self, more: usize) -> Grown {
        if more > self.most - self.bytes.len() {
            return Err(Stop::TooLong);
        }
        self.cover(self.bytes.len() + more)?;
        self.bytes.reserve_exact(more);
        Ok(())
    }

    /// Appends bytes.
    pub fn push(&mut self, more: &[u8]) -> Grown {
        self.admit(more.len() as u64)?;
        self.bytes.extend_from_slice(more);
        Ok(())
    }

    /// Appends a character.
    pub(crate) fn push_char(&mut self, character: char) -> Grown {
        self.push(character.encode_utf8(&mut [0; 4]).as_bytes())
    }

    /// Appends a piece so many times.
    pub(crate) fn push_repeated(&mut self, piece: &[u8], times: u64) -> Grown {
        let all = (piece.len() as u64).saturating_mul(times);
        if all > (self.most - self.bytes.len()) as u64 {
            return Err(Stop::TooLong);
        }
        let all = all as usize;
        self.cover(self.bytes.len() + all)?;
        self.bytes.reserve_exact(all);
        let (begin, end) = (self.bytes.len(), self.bytes.len() + all);
        self.push(if all > 0 { piece } else { b"" })?;
        // What is there is copied behind itself: a whole number of pieces each time.
        while self.bytes.len() < end {
            let more = (self.bytes.len() - begin).min(end - self.bytes.len());
            self.admit(more as u64)?;
            self.bytes.extend_from_within(begin..begin + more);
        }
        Ok(())
    }

    /// True if that is the last byte.
    pub fn ends_with(&self, byte: u8) -> bool {
        self.bytes.last() == Some(&byte)
    }

    /// Whether a writer was refused, and why.
    pub fn refused(&mut self) -> Grown {
        self.stopped.take().map_or(Ok(()), Err)
    }
}

impl fmt::Write for ResultBytes<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes()).map_err(|stop| {
            self.stopped = Some(stop);
            fmt::Error
        })
    }
}

/// Builds the bytes of a result; None if they would be too many, which is warned of.
pub fn build(
    name: &str,
    context: &EvalContext<'_>,
    fill: impl FnOnce(&mut ResultBytes<'_>) -> Grown,
) -> SqlResult<Option<Vec<u8>>> {
    let most = usize::try_from(context.settings.result_bytes_max).unwrap_or(usize::MAX);
    let mut result = ResultBytes {
        bytes: Vec::new(),
        most,
        unchecked: 0,
        covered: UNCHARGED_BYTES,
        charge: Charge::default(),
        context,
        stopped: None,
    };
    match fill(&mut result) {
        Ok(()) => Ok(Some(result.bytes)),
        Err(Stop::TooLong) => refused(name, context).map(|()| None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Builds a text.
pub fn build_text(
    name: &str,
    context: &EvalContext<'_>,
    fill: impl FnOnce(&mut ResultBytes<'_>) -> Grown,
) -> SqlResult<Value> {
    Ok(build(name, context, fill)?.map_or(Value::Null, text))
}

/// Text that has been put together from text.
pub fn text(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::Str(text.into()),
        Err(error) => Value::bytes(error.into_bytes()),
    }
}

fn refused(name: &str, context: &EvalContext<'_>) -> SqlResult<()> {
    context.warn(SqlError::warn_allowed_packet(name, context.settings.result_bytes_max))
}

/// The result of a call, unless it is longer than `max_allowed_packet`: the last look, for functions whose
/// results are longer than their arguments by a factor at most and that therefore need no builder.
#[inline]
pub fn bounded(value: Value, call: &Call, context: &EvalContext<'_>) -> SqlResult<Value> {
    let length = value.stored_len();
    if length as u64 <= context.settings.result_bytes_max {
        return Ok(value);
    }
    refused(call.name, context)?;
    Ok(Value::Null)
}
