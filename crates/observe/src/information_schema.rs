//! Tables of information_schema, performance_schema and sys, and some of `mysql`: computed from memory
//! whenever they are read. No table takes a latch that a statement needs for longer than it takes to copy a
//! few hundred entries.
//!
//! What monitoring tools ask for again and again (sessions, transactions, locks, counters, the thread pool)
//! is written line by line from where it lies ([`write()`], [`turnstile_values::field`]); catalogs and the
//! like are lists of values.

use crate::status::Observed;
pub use sought::Sought;
use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::session_state::SessionState;
use turnstile_catalog::virtual_table::VirtualTable;
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};
use turnstile_values::memory::Charge;
use turnstile_values::memory::Metered;
use turnstile_values::value::Value;

mod accounts;
pub mod catalog;
mod digests;
mod estimates;
mod extensions;
mod foreign_keys;
mod hot_rows;
mod locks;
mod privileges;
mod roles;
mod server;
mod sought;
mod thread_pool;
pub mod views;
mod zones;

pub use server::processlist;

/// A row under construction.
pub fn row<const N: usize>(values: [Value; N]) -> Vec<Value> {
    values.into()
}

/// A text.
pub fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

/// A number.
pub fn count(number: usize) -> Value {
    Value::UInt(number as u64)
}

/// All rows of a table, as the session may see them.
pub fn rows(
    table: VirtualTable,
    db: &Observed,
    session: &SessionState,
    charge: &mut Charge,
) -> SqlResult<Vec<Vec<Value>>> {
    rows_sought(table, db, session, &Sought::ALL, charge)
}

/// The same; rows about what is not sought may be missing.
pub fn rows_sought(
    table: VirtualTable,
    db: &Observed,
    session: &SessionState,
    sought: &Sought,
    charge: &mut Charge,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    write_sought(table, db, session, sought, &mut |line| {
        let row: Vec<Value> = line.iter().map(|field| field.to_value()).collect();
        charge.add_row(&row)?;
        session.work(ROW_BYTES)?;
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

/// Making a row is as much work as going through so many bytes.
const ROW_BYTES: usize = 2 << 10;

/// Hands on all rows of a table, one at a time, as the session may see them.
pub fn write(
    table: VirtualTable,
    db: &Observed,
    session: &SessionState,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    write_sought(table, db, session, &Sought::ALL, out)
}

/// The same; rows about what is not sought may be missing.
fn write_sought(
    table: VirtualTable,
    db: &Observed,
    session: &SessionState,
    sought: &Sought,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    use VirtualTable as V;
    table.check_access(&session.rights())?;
    match table {
        V::Processlist | V::PerformanceProcesslist => server::processlist(db, session, usize::MAX, out),
        V::GlobalStatus => server::status(db, None, true, out),
        V::SessionStatus => server::status(db, Some(session.counted()), true, out),
        // In MySQL they do not have the statements' counters.
        V::PerformanceGlobalStatus => server::status(db, None, false, out),
        V::PerformanceSessionStatus => server::status(db, Some(session.counted()), false, out),
        V::InnodbTrx => crate::picture::activity::transactions(db, session, out),
        V::InnodbLocks => locks::old_locks(db, out),
        V::InnodbLockWaits => locks::old_waits(db, out),
        V::InnodbMetrics => crate::status::metrics::write(db, session, out),
        V::DataLocks => locks::data_locks(db, out),
        V::DataLockWaits => locks::data_lock_waits(db, out),
        V::SysLockWaits => locks::lock_waits(db, session, true, out),
        V::SysLockWaitsRaw => locks::lock_waits(db, session, false, out),
        V::HotRows => hot_rows::counted(db, out),
        V::SysHotRows => hot_rows::readable(db, out),
        V::DigestSummary => digests::summary(db, session, out),
        V::DigestHistogram => digests::histograms(db, out),
        V::StatementHistogram => digests::histogram(db, out),
        V::SysStatementAnalysis => digests::analysis(db, session, true, out),
        V::SysStatementAnalysisRaw => digests::analysis(db, session, false, out),
        V::ThreadPoolGroups => thread_pool::groups(db, out),
        V::ThreadPoolQueues => thread_pool::queues(db, out),
        V::ThreadPoolStats => thread_pool::stats(db, out),
        V::ThreadPoolWaits => thread_pool::waits(db, out),
        other => {
            for row in listed(other, db, session, sought)? {
                out(&row.iter().map(FieldRef::Value).collect::<Vec<_>>())?;
            }
            Ok(())
        }
    }
}

/// Rows of the tables that are made as lists of values.
fn listed(
    table: VirtualTable,
    db: &Catalog,
    session: &SessionState,
    sought: &Sought,
) -> SqlResult<Vec<Vec<Value>>> {
    use VirtualTable as V;
    Ok(match table {
        V::Schemata => catalog::schemata(db, session),
        V::Tables => catalog::tables(db, session, sought),
        V::Columns => catalog::columns(db, session, sought),
        V::Statistics => catalog::statistics(db, session, sought),
        V::SchemataExtensions => extensions::schemata(db, session),
        V::TablesExtensions => extensions::tables(db, session),
        V::ColumnsExtensions => extensions::columns(db, session),
        V::ConstraintsExtensions => extensions::constraints(db, session),
        V::Partitions => catalog::partitions(db, session, sought),
        V::UserAttributes => extensions::users(db, session),
        V::KeyColumnUsage => catalog::key_column_usage(db, session, sought),
        V::TableConstraints => catalog::table_constraints(db, session, sought),
        V::CheckConstraints => catalog::check_constraints(db, session),
        V::ReferentialConstraints => {
            foreign_keys::referential_constraints(db, &catalog::all_tables(db, session, sought))
        }
        V::InnodbForeign => foreign_keys::innodb_foreign(&catalog::all_tables(db, session, &Sought::ALL)),
        V::InnodbForeignCols => {
            foreign_keys::innodb_foreign_columns(&catalog::all_tables(db, session, &Sought::ALL))
        }
        V::Engines => server::engines(),
        V::CharacterSets => server::character_sets(),
        V::Collations => server::collations(),
        V::PersistedVariables => server::persisted_variables(db),
        V::GlobalVariables | V::PerformanceGlobalVariables => server::variables(session, true)?,
        V::SessionVariables | V::PerformanceSessionVariables => server::variables(session, false)?,
        V::Threads => server::threads(db),
        V::EventsWaitsByName => server::latch_waits(),
        V::UserPrivileges => server::user_privileges(db, session),
        V::SchemaPrivileges => server::schema_privileges(db, session),
        V::Plugins => server::plugins(),
        V::CollationApplicability => server::collation_applicability(),
        V::Keywords => server::keywords(),
        V::MysqlUser => accounts::users(db),
        V::MysqlDb => accounts::databases(db),
        V::MysqlTablesPriv => privileges::of_tables(db),
        V::MysqlColumnsPriv => privileges::of_columns(db),
        V::TablePrivileges => privileges::table_privileges(db, session),
        V::ColumnPrivileges => privileges::column_privileges(db, session),
        V::MysqlGlobalGrants => accounts::global_grants(db),
        V::MysqlTableStats => estimates::of_tables(db, session),
        V::MysqlIndexStats => estimates::of_keys(db, session),
        V::ColumnStatistics => estimates::of_columns(db, session),
        V::OptimizerTrace => estimates::of_plans(session),
        V::MysqlRoleEdges => roles::edges(db),
        V::MysqlDefaultRoles => roles::defaults(db),
        V::ApplicableRoles => roles::applicable(db, session),
        V::AdministrableRoles => roles::administrable(db, session),
        V::EnabledRoles => roles::enabled(db, session),
        V::RoleTableGrants => roles::table_grants(db, session),
        V::RoleColumnGrants => roles::column_grants(db, session),
        V::Views => views::views(db, session, sought),
        V::ViewTableUsage => views::table_usage(db, session),
        V::MysqlEmpty(nth) => zones::rows(V::MysqlEmpty(nth).name()),
        _ => Vec::new(),
    })
}

/// Whether the session's account may see what a database holds.
pub fn visible(session: &SessionState, schema: &str) -> bool {
    session.rights().may_see(schema)
}

/// Whether the session's account may know that a database exists.
pub fn known(session: &SessionState, schema: &str) -> bool {
    visible(session, schema) || session.rights().may(Privileges::SHOW_DATABASES, None)
}
