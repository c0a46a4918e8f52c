//! Cursors of prepared statements: COM_STMT_EXECUTE that asks for one is answered with the columns alone, and
//! COM_STMT_FETCH hands out the rows.
//!
//! As in MySQL a cursor is for reading forward, and the statement runs to its end when the cursor is opened:
//! what is fetched later is what was true then, and no lock or snapshot is kept for it. The rows lie here as
//! packets, charged to the session's memory, until they have been fetched, the statement is executed again,
//! reset or closed, or the session begins anew.

use turnstile_session::charset::Charset;
use turnstile_session::collation::Collation;
use turnstile_session::error::SqlError;
use turnstile_session::memory::Charge;
use turnstile_session::sink::{ColumnMeta, ResultSink};
use turnstile_session::types::ColumnType;
use turnstile_session::value::Value;

use crate::stream::Stream;
use turnstile_wire::capability::status;
use turnstile_wire::result::{convert_row, converted_set, put_binary_row, put_column};
use turnstile_wire::write::{put_eof, put_lenenc, put_ok};

/// The flag of COM_STMT_EXECUTE for a cursor that reads.
const READ_ONLY: u8 = 1;

/// Whether a client that sends these flags asks for a cursor.
pub fn is_asked_for(flags: u8) -> bool {
    flags & READ_ONLY != 0
}

/// Rows that wait to be fetched.
#[derive(Debug)]
pub struct OpenCursor {
    /// Their packets, one behind the other.
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// How many have been sent.
    sent: usize,
    _charge: Charge,
}

impl OpenCursor {
    /// Writes the next rows, `count` at most. Ready says that there were fewer: the cursor is through.
    ///
    /// # Errors
    /// 4081 and 4082: the answer is more than the session's memory has room for.
    pub fn send(&mut self, count: u32, stream: &mut Stream) -> Result<bool, SqlError> {
        for _ in 0..count {
            let Some(end) = self.ends.get(self.sent) else { return Ok(true) };
            let begin = if self.sent == 0 { 0 } else { self.ends[self.sent - 1] };
            let row = &self.bytes[begin..*end];
            stream.make_room(row.len())?;
            stream.writer.begin().extend_from_slice(row);
            stream.writer.end();
            stream.note_output()?;
            self.sent += 1;
        }
        Ok(false)
    }
}

/// Ends what was sent of a cursor.
pub fn end(stream: &mut Stream, deprecate_eof: bool, warnings: u16, flags: u16) {
    let out = stream.writer.begin();
    if deprecate_eof {
        put_ok(out, 0xfe, 0, 0, flags, warnings, "");
    } else {
        put_eof(out, flags, warnings);
    }
    stream.writer.end();
}

/// Keeps the rows of a statement for a cursor. Nothing is written before the statement is through, so that
/// its error is the whole answer.
pub struct CursorSink<'a> {
    stream: &'a mut Stream,
    deprecate_eof: bool,
    results: Option<Collation>,
    set: Option<Charset>,
    columns: Vec<ColumnMeta>,
    types: Vec<ColumnType>,
    scratch: Vec<u8>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    charge: Charge,
    opened: Option<OpenCursor>,
}

impl<'a> CursorSink<'a> {
    /// A sink for one execution; see [`WireSink`](crate::sink::WireSink).
    pub fn new(
        stream: &'a mut Stream,
        deprecate_eof: bool,
        results: Option<Collation>,
        charge: Charge,
    ) -> Self {
        CursorSink {
            stream,
            deprecate_eof,
            results,
            set: converted_set(results),
            columns: Vec::new(),
            types: Vec::new(),
            scratch: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            charge,
            opened: None,
        }
    }

    /// The cursor, if the statement had a result.
    pub fn opened(self) -> Option<OpenCursor> {
        self.opened
    }
}

impl ResultSink for CursorSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        self.columns = columns.to_vec();
        self.types = columns.iter().map(|column| column.column_type.clone()).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let converted;
        let row = match self.set {
            Some(set) => {
                converted = convert_row(row, &self.types, set);
                &converted
            }
            None => row,
        };
        let before = self.bytes.len();
        put_binary_row(&mut self.bytes, row, &self.types, &mut self.scratch);
        self.ends.push(self.bytes.len());
        self.charge.add(self.bytes.len() - before + size_of::<usize>())
    }

    fn end(&mut self, warnings: u16, flags: u16) {
        let writer = &mut self.stream.writer;
        put_lenenc(writer.begin(), self.columns.len() as u64);
        writer.end();
        for column in &self.columns {
            put_column(writer.begin(), column, self.results);
            writer.end();
        }
        end(self.stream, self.deprecate_eof, warnings, flags | status::CURSOR_EXISTS);
        self.opened = Some(OpenCursor {
            bytes: std::mem::take(&mut self.bytes),
            ends: std::mem::take(&mut self.ends),
            sent: 0,
            _charge: std::mem::take(&mut self.charge),
        });
    }

    fn ok(&mut self, affected: u64, last_insert_id: u64, warnings: u16, info: &str, flags: u16) {
        put_ok(self.stream.writer.begin(), 0, affected, last_insert_id, flags, warnings, info);
        self.stream.writer.end();
    }
}
