//! SHOW. Most of it is a projection of an information_schema table; LIKE tests the name that it is about,
//! WHERE any column. What monitoring tools ask for all the time is in `show_live.rs`.

use std::sync::Arc;

use turnstile_sys::aside;

use super::Session;
use super::show_absent::shown_empty;
use super::show_live::{columns_of, is_live};
use super::statement::Outcome;
use crate::accounts::AccountName;
use crate::ast::quote_name;
use crate::ast::{self, Show, ShowFilter, ShowWhat, TableName};
use crate::collation::Collation;
use crate::definition::{create_table_text, default_text};
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::information_schema::{self, catalog};
use crate::session::accounts::role_statements;
use crate::session::{show_absent, show_live, statement};
use crate::sink::{ColumnMeta, ResultSink};
use crate::types::{BlobSize, ColumnType, IntWidth};
use crate::value::{Value, to_text};
use crate::virtual_table::VirtualTable;

/// Keeps a result in memory.
#[derive(Default)]
pub struct Collected {
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// The types of their columns.
    pub types: Vec<ColumnType>,
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.types = columns.iter().map(|column| column.column_type.clone()).collect();
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> SqlResult<()> {
        self.rows.push(row.to_vec());
        Ok(())
    }
    fn end(&mut self, _: u16, _: u16) {}
    fn ok(&mut self, _: u64, _: u64, _: u16, _: &str, _: u16) {}
}

/// Columns and rows of a SHOW.
pub struct Table {
    columns: Vec<ColumnMeta>,
    rows: Vec<Vec<Value>>,
}

/// The type of SHOW COLUMNS' Key.
fn kind_of_key() -> ColumnType {
    let names = ["", "PRI", "UNI", "MUL"].map(String::from).to_vec();
    let names = std::sync::Arc::new(crate::value::EnumNames { multiple: false, names });
    ColumnType::Enum { names, collation: Collation::DEFAULT }
}

impl Table {
    /// Columns by name: `n` a number, `u` one without a sign, `t` a long text, `v` one that is no TEXT, `k`
    /// how a column is indexed, anything else a short text.
    pub fn new(columns: &[(&str, char)]) -> Table {
        let column = |(name, kind): &(&str, char)| {
            let kind = match kind {
                'n' => ColumnType::BIGINT,
                'u' => ColumnType::int(IntWidth::Int, true),
                'p' => ColumnType::int(IntWidth::Big, true),
                'v' => ColumnType::varchar(1024),
                'd' => ColumnType::DateTime { fsp: 0 },
                't' => ColumnType::Text { size: BlobSize::Normal, collation: Collation::DEFAULT },
                'k' => kind_of_key(),
                _ => ColumnType::varchar(64),
            };
            ColumnMeta::computed(name, kind, true).kept()
        };
        Table { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    pub(super) fn texts(columns: &[&str]) -> Table {
        Table::new(&columns.iter().map(|name| (*name, 's')).collect::<Vec<_>>())
    }

    /// Its columns.
    pub fn columns(&self) -> &[ColumnMeta] {
        &self.columns
    }

    /// Its rows.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Value>) {
        self.rows.push(row);
    }
}

/// SHOW TABLES and SHOW DATABASES have the pattern of their LIKE in the heading.
fn head_with_pattern(table: &mut Table, what: &ShowWhat, pattern: &[u8]) {
    if !matches!(what, ShowWhat::Tables { .. } | ShowWhat::Databases) {
        return;
    }
    let shown = String::from_utf8_lossy(pattern);
    let own = table.columns[0].name.ends_with("_information_schema");
    let shown = if own { shown.to_uppercase() } else { shown.into_owned() };
    let heading = format!("{} ({shown})", table.columns[0].name);
    table.columns[0].name = heading.into();
}

/// Whether a SHOW is a query of information_schema in MySQL.
fn is_query(what: &ShowWhat) -> bool {
    matches!(
        what,
        ShowWhat::Databases
            | ShowWhat::Tables { .. }
            | ShowWhat::TableStatus(_)
            | ShowWhat::Columns { .. }
            | ShowWhat::Index(_)
            | ShowWhat::Variables { .. }
            | ShowWhat::Status { .. }
            | ShowWhat::CharacterSets
            | ShowWhat::Collations
            | ShowWhat::OpenTables(_)
            | ShowWhat::Triggers(_)
            | ShowWhat::Events(_)
            | ShowWhat::ProcedureStatus
            | ShowWhat::FunctionStatus
    )
}

/// Whether `sql_select_limit` cuts a SHOW: it is a query, or a list that MySQL makes in the same way.
fn is_limited(what: &ShowWhat) -> bool {
    is_query(what) || matches!(what, ShowWhat::Engines | ShowWhat::Plugins)
}

/// A text.
fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

/// SHOW
pub(super) async fn show(
    session: &mut Session,
    show: &Show,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if is_live(&show.what) {
        // Long for a worker, and only its own client waits for it.
        aside::step().await;
    }
    let most = if is_limited(&show.what) { session.settings.sql_select_limit } else { u64::MAX };
    if show.filter.is_none()
        && most == u64::MAX
        && let Some(outcome) = show_live::show_live(session, &show.what, out)?
    {
        return Ok(outcome);
    }
    let mut table = shown(session, &show.what, params)?;
    match &show.filter {
        None => {}
        Some(ShowFilter::Like(pattern)) => {
            let folded = String::from_utf8_lossy(pattern).to_lowercase();
            // The name that it is about; of tables of several databases the table's.
            let at = usize::from(matches!(show.what, ShowWhat::OpenTables(_)));
            let fits = |row: &Vec<Value>| crate::accounts::like(&folded, &to_text(&row[at]).to_lowercase());
            table.rows.retain(fits);
            head_with_pattern(&mut table, &show.what, pattern);
        }
        Some(ShowFilter::Where(condition)) => filter_rows(session, &mut table, condition, params)?,
    }
    table.rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    write_table(&table, out)
}

/// The columns that preparing a SHOW tells: those of a SHOW that is a query of information_schema in
/// MySQL. Of what does not exist none are known; running it is refused.
pub(super) fn show_columns(session: &mut Session, show: &Show, params: usize) -> SqlResult<Vec<ColumnMeta>> {
    if !is_query(&show.what) {
        return Ok(Vec::new());
    }
    let mut table = match columns_of(&show.what) {
        Some(columns) => Table::new(columns),
        None => match shown(session, &show.what, &[]) {
            Ok(table) => table,
            Err(error) if error.code == SqlError::no_database_selected().code => return Err(error),
            Err(_) => return Ok(Vec::new()),
        },
    };
    table.rows.clear();
    match &show.filter {
        Some(ShowFilter::Like(pattern)) => head_with_pattern(&mut table, &show.what, pattern),
        Some(ShowFilter::Where(condition)) if params == 0 => {
            filter_rows(session, &mut table, condition, &[])?
        }
        _ => {}
    }
    Ok(table.columns)
}

/// Writes a whole result.
pub(super) fn write_table(table: &Table, out: &mut dyn ResultSink) -> SqlResult<Outcome> {
    out.columns(&table.columns)?;
    for row in &table.rows {
        out.row(row)?;
    }
    Ok(Outcome { rows: true, ..Outcome::default() })
}

fn filter_rows(
    session: &Session,
    table: &mut Table,
    condition: &ast::Expr,
    params: &[Value],
) -> SqlResult<()> {
    let columns = table.columns.clone();
    statement::with_eval(session, params, |eval| {
        // It reads the rows that are shown, and no table.
        let uses = crate::plan::uses::Uses::default();
        let parameters = crate::plan::parameters::Parameters::literals();
        let context = statement::plan_context(session, None, eval, &uses, &parameters, false);
        let mut block = crate::plan::block::Block::new(&context, None);
        block.scope.add_columns(&columns);
        let filter = block.filter(condition, "where clause")?;
        if !block.subqueries.is_empty() {
            return Err(SqlError::not_supported_yet("a sub-query in this place"));
        }
        let mut kept = Vec::new();
        for row in std::mem::take(&mut table.rows) {
            if filter.expr.eval_truth(&row, eval)? == Some(true) {
                kept.push(row);
            }
        }
        table.rows = kept;
        Ok(())
    })
}

fn shown(session: &mut Session, what: &ShowWhat, params: &[Value]) -> SqlResult<Table> {
    if let Some(table) = show_live::live_table(session, what)? {
        return Ok(table);
    }
    match what {
        ShowWhat::Databases => {
            let mut table = Table::texts(&["Database"]);
            table.rows = catalog::schema_names(&session.db, &session.state)
                .iter()
                .map(|name| vec![text(name)])
                .collect();
            Ok(table)
        }
        ShowWhat::Tables { full, schema } => tables(session, *full, schema.as_deref()),
        ShowWhat::TableStatus(schema) => table_status(session, schema.as_deref()),
        ShowWhat::OpenTables(schema) => Ok(open_tables(session, schema.as_deref())),
        ShowWhat::Columns { full, table } => columns(session, *full, table),
        ShowWhat::Index(name) => indexes(session, name),
        ShowWhat::CreateTable(name) => {
            let schema = schema_or_current(session, name.schema.as_deref())?;
            if VirtualTable::find(&schema, &name.table)?.is_some() {
                return Err(SqlError::not_supported_yet("SHOW CREATE TABLE of a computed table"));
            }
            let found = find_table(session, name)?;
            let mut table = Table::new(&[("Table", 's'), ("Create Table", 'v')]);
            table.push(vec![text(found.name()), text(create_table_text(&found))]);
            Ok(table)
        }
        ShowWhat::CreateDatabase { name, if_not_exists } => {
            create_database_text(session, name, *if_not_exists)
        }
        ShowWhat::Variables { global } => {
            let mut table = Table::texts(&["Variable_name", "Value"]);
            let which = if *global { VirtualTable::GlobalVariables } else { VirtualTable::SessionVariables };
            table.rows = information_schema::rows(which, &session.db, &session.state, &mut session.charge())?;
            Ok(table)
        }
        ShowWhat::Warnings(limit) => warnings(session, limit.as_ref(), params, false),
        ShowWhat::Errors(limit) => warnings(session, limit.as_ref(), params, true),
        ShowWhat::WarningCount => {
            Ok(one("@@session.warning_count", u64::from(session.state.warnings.count())))
        }
        ShowWhat::ErrorCount => Ok(one("@@session.error_count", session.state.warnings.errors())),
        ShowWhat::Grants { user, roles } => grants(session, user.as_ref(), roles),
        ShowWhat::CreateUser(user) => create_user_text(session, user),
        other => shown_by_server(session, other),
    }
}

/// What the server says about itself, and what it does not have.
fn shown_by_server(session: &Session, what: &ShowWhat) -> SqlResult<Table> {
    let from = |which: VirtualTable, mut table: Table, columns: &[usize]| {
        let rows = information_schema::rows(which, &session.db, &session.state, &mut session.charge())?;
        table.rows =
            rows.into_iter().map(|row| columns.iter().map(|at| row[*at].clone()).collect()).collect();
        Ok(table)
    };
    match what {
        ShowWhat::Engines => {
            let names = ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"];
            from(VirtualTable::Engines, Table::texts(&names), &[0, 1, 2, 3, 4, 5])
        }
        ShowWhat::CharacterSets => {
            let columns =
                [("Charset", 's'), ("Description", 's'), ("Default collation", 's'), ("Maxlen", 'n')];
            from(VirtualTable::CharacterSets, Table::new(&columns), &[0, 2, 1, 3])
        }
        ShowWhat::Collations => {
            let columns = [
                ("Collation", 's'),
                ("Charset", 's'),
                ("Id", 'n'),
                ("Default", 's'),
                ("Compiled", 's'),
                ("Sortlen", 'n'),
                ("Pad_attribute", 's'),
            ];
            let mut table = from(VirtualTable::Collations, Table::new(&columns), &[0, 1, 2, 3, 4, 5, 6])?;
            // As without case, so that `_` stands behind the letters.
            table.rows.sort_by_cached_key(|row| to_text(&row[0]).to_ascii_uppercase());
            Ok(table)
        }
        ShowWhat::Plugins => {
            let names = ["Name", "Status", "Type", "Library", "License"];
            from(VirtualTable::Plugins, Table::texts(&names), &[0, 2, 3, 5, 9])
        }
        ShowWhat::CreateOther { kind, name } => show_absent::no_such_program(session, kind, name),
        ShowWhat::Triggers(Some(schema)) => {
            schema_or_current(session, Some(schema))?;
            shown_empty(what)
        }
        ShowWhat::Profiles | ShowWhat::Profile(_) => {
            let named = if matches!(what, ShowWhat::Profiles) { "SHOW PROFILES" } else { "SHOW PROFILE" };
            let error = SqlError::deprecated_syntax(named, "Performance Schema");
            session.state.warnings.push(WarningLevel::Warning, error);
            shown_empty(what)
        }
        other => shown_empty(other),
    }
}

fn schema_or_current(session: &Session, schema: Option<&str>) -> SqlResult<Box<str>> {
    let current = || session.state.schema().map(|schema| (&*schema).into());
    let schema: Box<str> =
        schema.map(Into::into).or_else(current).ok_or_else(SqlError::no_database_selected)?;
    if !VirtualTable::is_schema(&schema) && session.db.dictionary().schema_collation(&schema).is_none() {
        return Err(SqlError::unknown_database(&schema));
    }
    Ok(schema)
}

fn find_table(session: &Session, name: &TableName) -> SqlResult<Arc<crate::dictionary::Table>> {
    let schema = schema_or_current(session, name.schema.as_deref())?;
    session.db.dictionary().table(&schema, &name.table)
}

fn tables(session: &Session, full: bool, schema: Option<&str>) -> SqlResult<Table> {
    let schema = schema_or_current(session, schema)?;
    // MySQL looks information_schema up by the name that it has in lower case.
    let schema: Box<str> = match VirtualTable::is_schema(&schema) {
        true => schema.to_ascii_lowercase().into(),
        false => schema,
    };
    let name = format!("Tables_in_{schema}");
    let mut table = Table::texts(&[&*name, "Table_type"][..1 + usize::from(full)]);
    let mut push = |name: &str, kind: &str| {
        table.rows.push(if full { vec![text(name), text(kind)] } else { vec![text(name)] });
    };
    let own = |one: &VirtualTable| one.schema().eq_ignore_ascii_case(&schema);
    let mut computed: Vec<VirtualTable> =
        VirtualTable::all_visible(session.state.rights()).filter(own).collect();
    computed.sort_by_cached_key(|one| one.name().to_ascii_lowercase());
    computed.into_iter().for_each(|one| push(one.name(), one.table_type()));
    let rights = session.state.rights();
    let tables = session.db.dictionary().tables(&schema);
    let seen = tables.iter().filter(|one| rights.may_see_table(&schema, one.name()));
    seen.for_each(|one| push(one.name(), "BASE TABLE"));
    Ok(table)
}

/// SHOW OPEN TABLES: the dictionary keeps all tables open. `In_use`: the transactions and sessions that
/// hold a table.
fn open_tables(session: &Session, schema: Option<&str>) -> Table {
    let mut table = Table::new(&[("Database", 's'), ("Table", 's'), ("In_use", 'n'), ("Name_locked", 'n')]);
    let here =
        |one: &Arc<crate::dictionary::Table>| schema.is_none_or(|schema| *schema == *one.definition.schema);
    for one in catalog::all_tables(&session.db, &session.state).iter().filter(|one| here(one)) {
        let in_use = i64::try_from(one.gate.users()).unwrap_or(i64::MAX);
        let names = [text(&one.definition.schema), text(one.name())];
        table.rows.push(names.into_iter().chain([Value::Int(in_use), Value::Int(0)]).collect());
    }
    table
}

fn table_status(session: &Session, schema: Option<&str>) -> SqlResult<Table> {
    let schema = schema_or_current(session, schema)?;
    let columns = [
        ("Name", 's'),
        ("Engine", 's'),
        ("Version", 'n'),
        ("Row_format", 's'),
        ("Rows", 'n'),
        ("Avg_row_length", 'n'),
        ("Data_length", 'n'),
        ("Max_data_length", 'n'),
        ("Index_length", 'n'),
        ("Data_free", 'n'),
        ("Auto_increment", 'n'),
        ("Create_time", 'd'),
        ("Update_time", 'd'),
        ("Check_time", 'd'),
        ("Collation", 's'),
        ("Checksum", 'n'),
        ("Create_options", 's'),
        ("Comment", 's'),
    ];
    let mut table = Table::new(&columns);
    let wanted = text(&schema);
    let rows =
        information_schema::rows(VirtualTable::Tables, &session.db, &session.state, &mut session.charge())?;
    let shown = [2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
    let own = rows.into_iter().filter(|row| row[1] == wanted);
    table.rows = own.map(|row| shown.iter().map(|at| row[*at].clone()).collect()).collect();
    Ok(table)
}

fn columns(session: &Session, full: bool, name: &TableName) -> SqlResult<Table> {
    let columns: &[(&str, char)] = if full {
        &[
            ("Field", 's'),
            ("Type", 't'),
            ("Collation", 's'),
            ("Null", 's'),
            ("Key", 'k'),
            ("Default", 't'),
            ("Extra", 's'),
            ("Privileges", 's'),
            ("Comment", 't'),
        ]
    } else {
        &[("Field", 's'), ("Type", 't'), ("Null", 's'), ("Key", 'k'), ("Default", 't'), ("Extra", 's')]
    };
    let mut table = Table::new(columns);
    let schema = schema_or_current(session, name.schema.as_deref())?;
    if let Some(found) = VirtualTable::find(&schema, &name.table)? {
        for (name, kind, nullable) in found.columns() {
            let null = text(if nullable { "YES" } else { "NO" });
            table.push(column_row(
                full,
                [text(name), text(kind.to_string()), null, text(""), Value::Null, text("")],
                &kind,
                ("select", ""),
            ));
        }
        return Ok(table);
    }
    let found = find_table(session, name)?;
    let rights = session.state.rights();
    for (at, column) in found.columns().iter().enumerate() {
        let Some(privileges) = catalog::column_privileges(&rights, &found, column) else { continue };
        let line = [
            text(&column.name),
            text(column.kind.to_string()),
            text(if column.nullable { "YES" } else { "NO" }),
            text(catalog::key_mark(&found, at)),
            default_text(column).map_or(Value::Null, text),
            text(catalog::extra(column)),
        ];
        table.push(column_row(full, line, &column.kind, (&privileges, &column.comment)));
    }
    Ok(table)
}

/// SHOW INDEX. What is computed has none.
fn indexes(session: &Session, name: &TableName) -> SqlResult<Table> {
    let schema = schema_or_current(session, name.schema.as_deref())?;
    let found = match VirtualTable::find(&schema, &name.table)? {
        Some(_) => None,
        None => Some(find_table(session, name)?),
    };
    let columns = [
        ("Table", 's'),
        ("Non_unique", 'n'),
        ("Key_name", 's'),
        ("Seq_in_index", 'n'),
        ("Column_name", 's'),
        ("Collation", 's'),
        ("Cardinality", 'n'),
        ("Sub_part", 'n'),
        ("Packed", 's'),
        ("Null", 's'),
        ("Index_type", 's'),
        ("Comment", 's'),
        ("Index_comment", 's'),
        ("Visible", 's'),
        ("Expression", 's'),
    ];
    let mut table = Table::new(&columns);
    let Some(found) = found else { return Ok(table) };
    let rows = catalog::statistics_of(&session.db, &[found]);
    let shown = [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
    table.rows = rows.into_iter().map(|row| shown.iter().map(|at| row[*at].clone()).collect()).collect();
    Ok(table)
}

fn create_database_text(session: &Session, name: &str, if_not_exists: bool) -> SqlResult<Table> {
    let schema = schema_or_current(session, Some(name))?;
    let collation = session.db.collation_of(&schema);
    let clause = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let named = match collation.is_default() && collation != Collation::DEFAULT {
        true => String::new(),
        false => format!(" COLLATE {}", collation.name()),
    };
    let statement = format!(
        "CREATE DATABASE {clause}{} /*!40100 DEFAULT CHARACTER SET {}{named} */ /*!80016 DEFAULT ENCRYPTION='N' */",
        quote_name(&schema),
        collation.charset(),
    );
    let mut table = Table::texts(&["Database", "Create Database"]);
    table.push(vec![text(&schema), text(statement)]);
    Ok(table)
}

fn warnings(
    session: &Session,
    limit: Option<&ast::Limit>,
    params: &[Value],
    errors_only: bool,
) -> SqlResult<Table> {
    let mut table = Table::new(&[("Level", 's'), ("Code", 'u'), ("Message", 'v')]);
    let number = |expr: &ast::Expr| match statement::evaluate(session, expr, params)? {
        Value::Int(number) => Ok(number.max(0) as usize),
        Value::UInt(number) => Ok(number as usize),
        _ => Err(SqlError::wrong_arguments("LIMIT")),
    };
    let most = limit.map(|limit| number(&limit.count)).transpose()?.unwrap_or(usize::MAX);
    let skipped = limit.and_then(|limit| limit.offset.as_ref()).map(number).transpose()?.unwrap_or(0);
    let list = session.state.warnings.list();
    let wanted = list.iter().filter(|one| !errors_only || one.level == WarningLevel::Error);
    for one in wanted.skip(skipped).take(most) {
        let level = match one.level {
            WarningLevel::Note => "Note",
            WarningLevel::Warning => "Warning",
            WarningLevel::Error => "Error",
        };
        table.push(vec![text(level), Value::Int(one.error.code.into()), text(&one.error.message)]);
    }
    Ok(table)
}

fn account_of(session: &Session, user: Option<&ast::UserName>) -> SqlResult<Arc<crate::accounts::Account>> {
    let name = match user {
        Some(user) if !user.is_current() => crate::accounts::AccountName::new(&user.user, &user.host),
        _ => session.own_account(),
    };
    let missing = || SqlError::nonexisting_grant(&name.user, &name.host);
    session.db.accounts().find(&name).ok_or_else(missing)
}

fn grants(session: &Session, user: Option<&ast::UserName>, roles: &[ast::UserName]) -> SqlResult<Table> {
    let account = account_of(session, user)?;
    let mut table = Table::new(&[(&*format!("Grants for {}", account.name.text()), 't')]);
    let own = user.is_none_or(ast::UserName::is_current) && roles.is_empty();
    let lines = if own {
        role_statements::own_grants(session, &account)
    } else {
        role_statements::grants_using(session, &account, roles)?
    };
    lines.into_iter().for_each(|line| table.push(vec![text(line)]));
    Ok(table)
}

/// AS and a stored hash: its text, or, if `print_identified_with_as_hex` says so and it has unprintable
/// bytes, its digits.
fn secret_text(session: &Session, secret: &[u8]) -> SqlResult<String> {
    use crate::expr::SessionView;
    if secret.is_empty() {
        return Ok(String::new());
    }
    let hexadecimal =
        session.state.system_variable(ast::VariableScope::Default, "print_identified_with_as_hex")?;
    if hexadecimal == Value::Int(1) && secret.iter().any(|byte| !(b' '..=b'~').contains(byte)) {
        let digits: String = secret.iter().map(|byte| format!("{byte:02X}")).collect();
        return Ok(format!(" AS 0x{digits}"));
    }
    Ok(format!(" AS '{}'", String::from_utf8_lossy(secret).replace('\'', "''")))
}

fn create_user_text(session: &Session, user: &ast::UserName) -> SqlResult<Table> {
    let account = account_of(session, Some(user)).map_err(|_| {
        SqlError::operation_failed("SHOW CREATE USER", format!("'{}'@'{}'", user.user, user.host))
    })?;
    let default_roles: Vec<String> = account.default_roles.iter().map(AccountName::quoted).collect();
    let default_roles = match default_roles.is_empty() {
        true => String::new(),
        false => format!(" DEFAULT ROLE {}", default_roles.join(",")),
    };
    let name = account.name.quoted();
    let limits = match account.user_connections_max {
        0 => String::new(),
        most => format!(" WITH MAX_USER_CONNECTIONS {most}"),
    };
    let line = format!(
        "CREATE USER {name} IDENTIFIED WITH '{}'{}{default_roles} REQUIRE {}{limits} PASSWORD EXPIRE{} ACCOUNT {} PASSWORD HISTORY DEFAULT \
         PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT",
        account.plugin.name(),
        secret_text(session, &account.secret)?,
        if account.require_tls { "SSL" } else { "NONE" },
        if account.expired { "" } else { " DEFAULT" },
        if account.locked { "LOCK" } else { "UNLOCK" },
    );
    let mut table = Table::new(&[(&*format!("CREATE USER for {}", account.name.text()), 't')]);
    table.push(vec![text(line)]);
    Ok(table)
}

fn one(name: &str, number: u64) -> Table {
    let mut table = Table::new(&[(name, 'p')]);
    table.push(vec![Value::UInt(number)]);
    table
}

fn column_row(
    full: bool,
    line: [Value; 6],
    kind: &ColumnType,
    (privileges, comment): (&str, &str),
) -> Vec<Value> {
    let [field, written, null, key, default, extra] = line;
    if !full {
        return vec![field, written, null, key, default, extra];
    }
    let collation = kind.shown_collation().map_or(Value::Null, |one| text(one.name()));
    vec![field, written, collation, null, key, default, extra, text(privileges), text(comment)]
}
