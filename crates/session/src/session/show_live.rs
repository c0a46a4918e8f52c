//! The SHOW statements that monitoring tools send all the time: sessions, counters, and the engine's reports.
//! Their rows go into the answer line by line, without a value for each field; only a LIKE or WHERE needs the
//! whole table first.

use super::Session;
use super::show::Table;
use super::statement::Outcome;
use crate::ast::{EngineReport, ShowWhat};
use crate::error::{SqlError, SqlResult};
use crate::field::{FieldRef, RowWriter};
use crate::information_schema;
use crate::sink::ResultSink;
use crate::virtual_table::VirtualTable;

/// Of a statement's text SHOW PROCESSLIST shows so many characters unless it is FULL.
const INFO_CHARS: usize = 100;

/// What a session of SHOW PROCESSLIST takes on the wire, but for a long statement.
const LINE_BYTES_EXPECTED: usize = 128;

const PROCESSLIST: &[(&str, char)] = &[
    ("Id", 'n'),
    ("User", 's'),
    ("Host", 's'),
    ("db", 's'),
    ("Command", 's'),
    ("Time", 'n'),
    ("State", 's'),
    ("Info", 't'),
];
const STATUS: &[(&str, char)] = &[("Variable_name", 's'), ("Value", 's')];
const REPORT: &[(&str, char)] = &[("Type", 's'), ("Name", 's'), ("Status", 't')];
const MUTEXES: &[(&str, char)] = &[("Type", 's'), ("Name", 's'), ("Status", 's')];

/// The columns of a SHOW of these; none for the others.
pub fn columns_of(what: &ShowWhat) -> Option<&'static [(&'static str, char)]> {
    match what {
        ShowWhat::ProcessList { .. } => Some(PROCESSLIST),
        ShowWhat::Status { .. } => Some(STATUS),
        ShowWhat::Engine { report: EngineReport::Mutex, .. } => Some(MUTEXES),
        ShowWhat::Engine { .. } => Some(REPORT),
        _ => None,
    }
}

/// Whether it is one of these.
pub fn is_live(what: &ShowWhat) -> bool {
    columns_of(what).is_some()
}

/// Writes a SHOW of these; None: it is another.
pub(super) fn show_live(
    session: &Session,
    what: &ShowWhat,
    out: &mut dyn ResultSink,
) -> SqlResult<Option<Outcome>> {
    let Some(columns) = columns_of(what) else { return Ok(None) };
    may_show(what)?;
    out.columns(Table::new(columns).columns())?;
    if let ShowWhat::ProcessList { .. } = what {
        out.reserve(session.db.registry().len() * LINE_BYTES_EXPECTED);
    }
    live_lines(session, what, &mut |line| out.fields(line))?;
    Ok(Some(Outcome { rows: true, ..Outcome::default() }))
}

/// A SHOW of these as a table; None: it is another.
pub(super) fn live_table(session: &Session, what: &ShowWhat) -> SqlResult<Option<Table>> {
    let Some(columns) = columns_of(what) else { return Ok(None) };
    may_show(what)?;
    let mut table = Table::new(columns);
    live_lines(session, what, &mut |line| {
        table.push(line.iter().map(|field| field.to_value()).collect());
        Ok(())
    })?;
    Ok(Some(table))
}

fn may_show(what: &ShowWhat) -> SqlResult<()> {
    let ShowWhat::Engine { name, report } = what else { return Ok(()) };
    let known = name.eq_ignore_ascii_case("innodb") || name.eq_ignore_ascii_case("all");
    if *report != EngineReport::Mutex && !known {
        return Err(SqlError::unknown_storage_engine(name));
    }
    Ok(())
}

fn live_lines(session: &Session, what: &ShowWhat, out: &mut RowWriter<'_>) -> SqlResult<()> {
    match what {
        ShowWhat::ProcessList { full } => {
            let chars_max = if *full { usize::MAX } else { INFO_CHARS };
            information_schema::processlist(&session.db, &session.state, chars_max, out)
        }
        ShowWhat::Engine { report: EngineReport::Mutex, .. } => super::show_mutex::write(out),
        ShowWhat::Engine { report: EngineReport::Status, .. } => {
            session.db.monitor().with_report(&session.db, |text| {
                out(&[FieldRef::Text("InnoDB"), FieldRef::Text(""), FieldRef::Bytes(text)])
            })?
        }
        ShowWhat::Status { global } => {
            let table = if *global { VirtualTable::GlobalStatus } else { VirtualTable::SessionStatus };
            information_schema::write(table, &session.db, &session.state, out)
        }
        _ => Ok(()),
    }
}
