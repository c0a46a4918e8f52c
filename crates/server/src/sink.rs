//! The server's result sink: rows become packets in the connection's output buffer as they are produced.

use std::task::{Context, Poll};

use smallvec::SmallVec;
use turnstile_session::charset::Charset;
use turnstile_session::collation::Collation;
use turnstile_session::error::SqlError;
use turnstile_session::field::FieldRef;
use turnstile_session::sink::{ColumnMeta, ResultSink};
use turnstile_session::types::ColumnType;
use turnstile_session::value::Value;

use crate::stream::Stream;
use turnstile_wire::result::{
    convert_row, converted_set, put_binary_row, put_column, put_text_fields, put_text_row,
};
use turnstile_wire::write::{put_eof, put_lenenc, put_ok};

/// Columns of a result whose types need no memory of their own.
const TYPES_IN_PLACE: usize = 2;

/// Writes the results of one command.
pub struct WireSink<'a> {
    stream: &'a mut Stream,
    binary: bool,
    deprecate_eof: bool,
    status: u16,
    results: Option<Collation>,
    /// What texts are converted to.
    set: Option<Charset>,
    types: SmallVec<[ColumnType; TYPES_IN_PLACE]>,
    scratch: Vec<u8>,
}

impl<'a> WireSink<'a> {
    /// A sink for one command; `binary` rows for prepared statements; `status` as the session stands before
    /// it. `results` is what text is announced with.
    pub fn new(
        stream: &'a mut Stream,
        binary: bool,
        deprecate_eof: bool,
        status: u16,
        results: Option<Collation>,
    ) -> Self {
        let set = converted_set(results);
        WireSink {
            stream,
            binary,
            deprecate_eof,
            status,
            results,
            set,
            types: SmallVec::new(),
            scratch: Vec::new(),
        }
    }
}

impl ResultSink for WireSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        let writer = &mut self.stream.writer;
        put_lenenc(writer.begin(), columns.len() as u64);
        writer.end();
        for column in columns {
            put_column(writer.begin(), column, self.results);
            writer.end();
        }
        if !self.deprecate_eof {
            put_eof(writer.begin(), self.status, 0);
            writer.end();
        }
        self.types.clear();
        self.types.extend(columns.iter().map(|column| column.column_type.clone()));
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.stream.make_room(row.iter().map(Value::stored_len).sum())?;
        let converted;
        let row = match self.set {
            Some(set) => {
                converted = convert_row(row, &self.types, set);
                &converted
            }
            None => row,
        };
        let out = self.stream.writer.begin();
        if self.binary {
            put_binary_row(out, row, &self.types, &mut self.scratch);
        } else {
            put_text_row(out, row, &self.types, &mut self.scratch);
        }
        self.stream.writer.end();
        self.stream.note_output()
    }

    fn reserve(&mut self, bytes: usize) {
        self.stream.writer.output.reserve(bytes);
    }

    fn fields(&mut self, row: &[FieldRef<'_>]) -> Result<(), SqlError> {
        if self.binary || self.set.is_some() {
            return self.row(&row.iter().map(|field| field.to_value()).collect::<Vec<_>>());
        }
        put_text_fields(self.stream.writer.begin(), row, &self.types, &mut self.scratch);
        self.stream.writer.end();
        self.stream.note_output()
    }

    fn end(&mut self, warnings: u16, status: u16) {
        let writer = &mut self.stream.writer;
        if self.deprecate_eof {
            put_ok(writer.begin(), 0xfe, 0, 0, status, warnings, "");
        } else {
            put_eof(writer.begin(), status, warnings);
        }
        writer.end();
    }

    fn ok(&mut self, affected: u64, last_insert_id: u64, warnings: u16, info: &str, status: u16) {
        let writer = &mut self.stream.writer;
        put_ok(writer.begin(), 0, affected, last_insert_id, status, warnings, info);
        writer.end();
    }

    fn should_flush(&self) -> bool {
        self.stream.should_flush()
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SqlError>> {
        self.stream.poll_flush(context).map(|sent| sent.map_err(|_| SqlError::net_write_error()))
    }
}
