//! Prepared statements over the wire: their parameters, the long ones piece by piece, and their cursors.

use turnstile_session::error::SqlError;
use turnstile_session::memory::Charge;
use turnstile_session::sink::ColumnMeta;
use turnstile_session::value::Value;
use turnstile_wire::capability::{client, status};
use turnstile_wire::result::{
    ParameterType, WrongParameter, decode_parameters, parse_parameters, put_column,
};
use turnstile_wire::write::put_eof;

use super::Connection;
use crate::cursor::{self, CursorSink, OpenCursor};
use crate::sink::WireSink;

/// What the connection remembers of a prepared statement.
#[derive(Default)]
pub(super) struct StatementState {
    types: Vec<ParameterType>,
    long_data: Vec<Option<Vec<u8>>>,
    long_bytes: usize,
    /// What the long data holds of the session's memory.
    charge: Charge,
    /// Long data that could not be kept: told at the next execution, since COM_STMT_SEND_LONG_DATA has no
    /// answer.
    failed: Option<SqlError>,
    cursor: Option<OpenCursor>,
}

impl StatementState {
    /// Forgets what was sent ahead of an execution, and closes the cursor.
    pub(super) fn reset(&mut self) {
        self.long_data.clear();
        self.long_bytes = 0;
        self.charge.clear();
        self.failed = None;
        self.cursor = None;
    }
}

impl Connection {
    pub(super) async fn prepare(&mut self, text: &[u8]) -> Result<(), SqlError> {
        let decoded = self.session.settings().client_set.map(|set| set.decode_statement(text));
        let text = decoded.as_ref().map_or(text, |text| text.as_bytes());
        let prepared = self.session.prepare(text).await?;
        let state = StatementState { charge: self.session.charge(), ..StatementState::default() };
        self.statements.insert(prepared.id, state);
        let out = self.stream.writer.begin();
        out.push(0);
        out.extend_from_slice(&prepared.id.to_le_bytes());
        out.extend_from_slice(&(prepared.columns.len() as u16).to_le_bytes());
        out.extend_from_slice(&(prepared.params.len() as u16).to_le_bytes());
        out.push(0);
        out.extend_from_slice(&prepared.warnings.to_le_bytes());
        self.stream.writer.end();
        self.definitions(&prepared.params);
        self.definitions(&prepared.columns);
        Ok(())
    }

    /// Column definitions and, for clients that expect it, the EOF behind them.
    fn definitions(&mut self, columns: &[ColumnMeta]) {
        if columns.is_empty() {
            return;
        }
        for column in columns {
            put_column(self.stream.writer.begin(), column, self.session.settings().results);
            self.stream.writer.end();
        }
        if self.capabilities & client::DEPRECATE_EOF == 0 {
            put_eof(self.stream.writer.begin(), self.session.status_flags(), 0);
            self.stream.writer.end();
        }
    }

    pub(super) async fn execute(&mut self, id: u32, flags: u8, parameters: &[u8]) -> Result<(), SqlError> {
        let count = self.session.param_count(id);
        let (Some(count), Some(state)) = (count, self.statements.get_mut(&id)) else {
            return Err(unknown_statement(id));
        };
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        let mut values =
            parse_parameters(parameters, count, &mut state.types, &state.long_data).map_err(|wrong| {
                match wrong {
                    WrongParameter::Malformed => SqlError::malformed_packet(),
                    WrongParameter::OutOfRange(kind) => {
                        SqlError::value_out_of_range(kind, "set_parameter_value")
                    }
                }
            })?;
        if let Some(set) = self.session.settings().client_set {
            decode_parameters(&mut values, &state.types, set);
        }
        state.reset();
        if cursor::is_asked_for(flags) {
            return Box::pin(self.execute_for_cursor(id, &values)).await;
        }
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        let mut sink = WireSink::new(
            &mut self.stream,
            true,
            deprecate_eof,
            self.session.status_flags(),
            self.session.settings().results,
        );
        self.session.execute(id, &values, &mut sink).await
    }

    async fn execute_for_cursor(&mut self, id: u32, values: &[Value]) -> Result<(), SqlError> {
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        let results = self.session.settings().results;
        let mut sink = CursorSink::new(&mut self.stream, deprecate_eof, results, self.session.charge());
        self.session.execute(id, values, &mut sink).await?;
        let opened = sink.opened();
        if let Some(state) = self.statements.get_mut(&id) {
            state.cursor = opened;
        }
        Ok(())
    }

    /// COM_STMT_FETCH. A cursor that has no more rows is closed.
    pub(super) fn fetch(&mut self, id: u32, rows: u32) -> Result<(), SqlError> {
        self.session.begin_fetch(id, rows)?;
        let state = self.statements.get_mut(&id);
        let state = state.ok_or_else(|| unknown_statement(id))?;
        let no_cursor = || SqlError::no_open_cursor(id);
        let through = state.cursor.as_mut().ok_or_else(no_cursor)?.send(rows, &mut self.stream)?;
        let of_cursor = if through { status::LAST_ROW_SENT } else { status::CURSOR_EXISTS };
        if through {
            state.cursor = None;
        }
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        cursor::end(&mut self.stream, deprecate_eof, 0, self.session.status_flags() | of_cursor);
        Ok(())
    }

    pub(super) fn keep_long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        let (Some(count), Some(state)) = (self.session.param_count(id), self.statements.get_mut(&id)) else {
            return;
        };
        let nth = usize::from(parameter);
        if nth >= count {
            state.failed = Some(SqlError::malformed_packet());
        } else if state.long_bytes + data.len() > self.packet_bytes_max {
            state.failed = Some(SqlError::long_data_too_long());
        } else if let Err(error) = state.charge.add(data.len()) {
            state.failed = Some(error);
        } else {
            state.long_data.resize(state.long_data.len().max(nth + 1), None);
            state.long_data[nth].get_or_insert_with(Vec::new).extend_from_slice(data);
            state.long_bytes += data.len();
        }
    }
}

pub(super) fn unknown_statement(id: u32) -> SqlError {
    SqlError::unknown_statement_handler(id, "mysql_stmt_precheck")
}
