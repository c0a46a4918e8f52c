//! Transactions, prepared statements, KILL, FLUSH, LOCK TABLES, EXPLAIN, table maintenance.

use super::name::upper;
use super::{Parse, Parser};
use crate::ast::{
    Begin, Clause, Completion, Explain, ExplainFormat, ExplainTarget, FlushTarget, HistogramChange, Kill,
    LockedTable, MaintenanceKind, PrepareSource, Show, ShowFilter, ShowWhat, Statement, TableMaintenance,
};
use crate::lexer::{Keyword, TokenKind};
use turnstile_values::error::SqlError;

impl Parser<'_> {
    /// BEGIN, START TRANSACTION, COMMIT, ROLLBACK
    pub(super) fn transaction(&mut self, keyword: Keyword) -> Parse<Statement> {
        self.advance();
        match keyword {
            Keyword::Begin => {
                self.eat(Keyword::Work);
                Ok(Statement::Begin(Begin::default()))
            }
            Keyword::Start => self.start_transaction(),
            Keyword::Commit => {
                self.eat(Keyword::Work);
                Ok(Statement::Commit(self.completion()?))
            }
            _ => {
                self.eat(Keyword::Work);
                if self.eat(Keyword::To) {
                    self.eat(Keyword::Savepoint);
                    return Ok(Statement::RollbackTo(self.name()?));
                }
                Ok(Statement::Rollback(self.completion()?))
            }
        }
    }

    fn start_transaction(&mut self) -> Parse<Statement> {
        if self.at(Keyword::Replica) || self.at_word(b"group_replication") {
            return Err(self.not_supported("replication"));
        }
        self.expect(Keyword::Transaction)?;
        let mut begin = Begin::default();
        loop {
            if self.eat_all(Keyword::With, &[Keyword::Consistent, Keyword::Snapshot])? {
                begin.consistent_snapshot = true;
            } else if self.eat(Keyword::Read) {
                match self.eat_any(&[Keyword::Only, Keyword::Write]) {
                    Some(word) if begin.read_only.is_none() => begin.read_only = Some(word == Keyword::Only),
                    _ => return Err(self.unexpected()),
                }
            } else {
                return Ok(Statement::Begin(begin));
            }
            if !self.eat_kind(TokenKind::Comma) {
                return Ok(Statement::Begin(begin));
            }
            if !self.at(Keyword::With) && !self.at(Keyword::Read) {
                return Err(self.unexpected());
            }
        }
    }

    /// `[AND \[NO\] CHAIN] [[NO] RELEASE]`
    fn completion(&mut self) -> Parse<Completion> {
        let mut completion = Completion::default();
        if self.eat(Keyword::And) {
            completion.chain = Some(!self.eat(Keyword::No));
            self.expect(Keyword::Chain)?;
        }
        if self.at(Keyword::No) || self.at(Keyword::Release) {
            let place = self.unexpected();
            completion.release = Some(!self.eat(Keyword::No));
            if completion.chain == Some(true) && completion.release == Some(true) {
                return Err(place);
            }
            self.expect(Keyword::Release)?;
        }
        Ok(completion)
    }

    /// SAVEPOINT, RELEASE SAVEPOINT
    pub(super) fn savepoint(&mut self, keyword: Keyword) -> Parse<Statement> {
        self.advance();
        if keyword == Keyword::Release {
            self.expect(Keyword::Savepoint)?;
            return Ok(Statement::ReleaseSavepoint(self.name()?));
        }
        Ok(Statement::Savepoint(self.name()?))
    }

    /// PREPARE, EXECUTE, DEALLOCATE PREPARE
    pub(super) fn prepared(&mut self, keyword: Keyword) -> Parse<Statement> {
        self.advance();
        if keyword == Keyword::Deallocate {
            self.expect(Keyword::Prepare)?;
            return Ok(Statement::Deallocate(self.name()?));
        }
        let name = self.name()?;
        if keyword == Keyword::Execute {
            let variables =
                if self.eat(Keyword::Using) { self.comma_list(Self::variable_name)? } else { Vec::new() };
            return Ok(Statement::Execute { name, variables });
        }
        self.expect(Keyword::From)?;
        let source = if self.is(TokenKind::UserVariable) {
            PrepareSource::Variable(self.variable_name()?)
        } else {
            PrepareSource::Text(self.text()?)
        };
        Ok(Statement::Prepare { name, source })
    }

    /// KILL \[CONNECTION | QUERY\] id
    pub(super) fn kill(&mut self) -> Parse<Statement> {
        self.advance();
        let query_only = self.eat_any(&[Keyword::Connection, Keyword::Query]) == Some(Keyword::Query);
        Ok(Statement::Kill(Kill { query_only, id: self.expression()? }))
    }

    /// FLUSH ...
    pub(super) fn flush(&mut self) -> Parse<Statement> {
        self.advance();
        self.note_any(&[Keyword::Local, Keyword::NoWriteToBinlog], Clause::NoBinlog);
        // Tables are flushed alone: what follows them is theirs.
        if self.eat_any(&[Keyword::Tables, Keyword::Table]).is_some() {
            return Ok(Statement::Flush(vec![self.flush_tables()?]));
        }
        Ok(Statement::Flush(self.comma_list(Self::flush_target)?))
    }

    fn flush_tables(&mut self) -> Parse<FlushTarget> {
        let names = if self.at_name() { self.comma_list(Self::table_name)? } else { Vec::new() };
        let read_lock = self.eat_all(Keyword::With, &[Keyword::Read, Keyword::Lock])?;
        let export = self.eat_all(Keyword::For, &[Keyword::Export])?;
        Ok(FlushTarget::Tables { names, read_lock, export })
    }

    fn flush_target(&mut self) -> Parse<FlushTarget> {
        let Some(keyword) = self.keyword() else {
            let place = self.unexpected();
            let name = upper(self.name()?);
            return if &*name == "USER_RESOURCES" { Ok(FlushTarget::Other(name)) } else { Err(place) };
        };
        let place = self.unexpected();
        self.advance();
        Ok(match keyword {
            Keyword::Privileges => FlushTarget::Privileges,
            Keyword::Status => FlushTarget::Status,
            Keyword::Logs => FlushTarget::Logs,
            Keyword::Binary
            | Keyword::Engine
            | Keyword::Error
            | Keyword::General
            | Keyword::Slow
            | Keyword::Relay => {
                self.expect(Keyword::Logs)?;
                FlushTarget::Logs
            }
            Keyword::OptimizerCosts => FlushTarget::Other(keyword.text().into()),
            _ => return Err(place),
        })
    }

    /// LOCK TABLES, UNLOCK TABLES
    pub(super) fn lock_tables(&mut self, keyword: Keyword) -> Parse<Statement> {
        self.advance();
        if self.span(self.token).eq_ignore_ascii_case(b"instance") {
            return Err(self.not_supported("LOCK INSTANCE"));
        }
        if self.eat_any(&[Keyword::Tables, Keyword::Table]).is_none() {
            return Err(self.unexpected());
        }
        if keyword == Keyword::Unlock {
            return Ok(Statement::UnlockTables);
        }
        let tables = self.comma_list(|parser| {
            let name = parser.table_name()?;
            let alias = parser.table_alias()?;
            let write = match parser.eat_any(&[Keyword::Read, Keyword::Write]) {
                Some(word) => word == Keyword::Write,
                None => return Err(parser.unexpected()),
            };
            if !write {
                parser.note_any(&[Keyword::Local], Clause::ReadLocal);
            }
            Ok(LockedTable { name, alias, write })
        })?;
        Ok(Statement::LockTables(tables))
    }

    /// ANALYZE, OPTIMIZE, CHECK, CHECKSUM, REPAIR TABLE
    pub(super) fn table_maintenance(&mut self, keyword: Keyword) -> Parse<Statement> {
        self.advance();
        let kind = match keyword {
            Keyword::Analyze => MaintenanceKind::Analyze,
            Keyword::Optimize => MaintenanceKind::Optimize,
            Keyword::Check => MaintenanceKind::Check,
            Keyword::Checksum => MaintenanceKind::Checksum,
            _ => MaintenanceKind::Repair,
        };
        self.note_any(&[Keyword::Local, Keyword::NoWriteToBinlog], Clause::NoBinlog);
        if self.eat_any(&[Keyword::Table, Keyword::Tables]).is_none() {
            return Err(self.unexpected());
        }
        let tables = self.comma_list(Self::table_name)?;
        let histogram = if kind == MaintenanceKind::Analyze { histogram_change(self)? } else { None };
        let quick = self.thoroughness(kind)?;
        Ok(Statement::TableMaintenance(TableMaintenance { kind, tables, quick, histogram }))
    }

    /// How thoroughly tables are looked after; whether CHECKSUM TABLE shows only what is known without
    /// reading rows.
    fn thoroughness(&mut self, kind: MaintenanceKind) -> Parse<bool> {
        const ALL: &[Keyword] =
            &[Keyword::Quick, Keyword::Extended, Keyword::Fast, Keyword::Medium, Keyword::Changed];
        match kind {
            MaintenanceKind::Analyze | MaintenanceKind::Optimize => {}
            MaintenanceKind::Checksum if self.eat(Keyword::Quick) => return Ok(true),
            MaintenanceKind::Checksum => {
                self.note_any(&[Keyword::Extended], Clause::Thoroughness);
            }
            MaintenanceKind::Repair => while self.note_any(&ALL[..2], Clause::Thoroughness) {},
            MaintenanceKind::Check => loop {
                if self.eat(Keyword::For) {
                    self.expect_word(b"upgrade")?;
                    self.note(Clause::Thoroughness);
                } else if !self.note_any(ALL, Clause::Thoroughness) {
                    break;
                }
            },
        }
        Ok(false)
    }

    /// RESET ...
    pub(super) fn reset(&mut self) -> Parse<Statement> {
        self.advance();
        if self.eat(Keyword::Persist) {
            let if_exists = self.if_exists()?;
            let ends = !if_exists && matches!(self.token.kind, TokenKind::End | TokenKind::Semicolon);
            let name = if ends { None } else { Some(self.any_name()?) };
            return Ok(Statement::ResetPersist { if_exists, name });
        }
        if self.at(Keyword::Replica) {
            self.advance();
            self.eat(Keyword::All);
            return Ok(Statement::Reset("REPLICA".into()));
        }
        self.expect_all(&[Keyword::Binary, Keyword::Logs, Keyword::And])?;
        if !self.at_word(b"gtids") {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(Statement::Reset("BINARY LOGS AND GTIDS".into()))
    }

    /// DESCRIBE table, EXPLAIN statement
    pub(super) fn explain(&mut self) -> Parse<Statement> {
        self.advance();
        let analyze = self.eat(Keyword::Analyze);
        let mut format = None;
        if self.at(Keyword::Format) && self.peek() == TokenKind::Equal {
            self.advance();
            self.advance();
            format = Some(self.explain_format()?);
        }
        let explainable = [Keyword::Select, Keyword::With, Keyword::Table, Keyword::Values];
        let target = match self.keyword() {
            Some(word) if explainable.contains(&word) => self.nested(Self::statement)?,
            Some(Keyword::Insert | Keyword::Replace | Keyword::Update | Keyword::Delete) => {
                self.nested(Self::statement)?
            }
            Some(Keyword::For) => {
                self.expect_all(&[Keyword::For, Keyword::Connection])?;
                let target = ExplainTarget::Connection(self.integer()?);
                return Ok(Statement::Explain(Box::new(Explain { format, analyze, target })));
            }
            _ if self.is(TokenKind::LeftParen) => self.nested(Self::statement)?,
            _ if analyze || format.is_some() => return Err(self.unexpected()),
            _ => return self.describe(),
        };
        let target = ExplainTarget::Statement(target);
        Ok(Statement::Explain(Box::new(Explain { format, analyze, target })))
    }

    fn explain_format(&mut self) -> Parse<ExplainFormat> {
        let name = self.name_or_text()?;
        match &*upper(name.clone()) {
            "TRADITIONAL" => Ok(ExplainFormat::Traditional),
            "TREE" => Ok(ExplainFormat::Tree),
            "JSON" => Ok(ExplainFormat::Json),
            _ => Err(self.refused(SqlError::unknown_explain_format(&name))),
        }
    }

    /// After DESCRIBE: `table [column | 'pattern']`
    fn describe(&mut self) -> Parse<Statement> {
        let table = self.table_name()?;
        let filter = if self.is(TokenKind::String) {
            Some(ShowFilter::Like(self.text()?))
        } else if self.at_name() {
            Some(ShowFilter::Like(self.name()?.as_bytes().into()))
        } else {
            None
        };
        let what = ShowWhat::Columns { full: false, extended: false, table };
        Ok(Statement::Show(Box::new(Show { what, filter })))
    }
}

/// UPDATE HISTOGRAM ON ... \[WITH n BUCKETS\] \[AUTO | MANUAL UPDATE\], DROP HISTOGRAM ON ...
fn histogram_change(parser: &mut Parser<'_>) -> Parse<Option<HistogramChange>> {
    let Some(word) = parser.eat_any(&[Keyword::Update, Keyword::Drop]) else { return Ok(None) };
    parser.expect_word(b"histogram")?;
    parser.expect(Keyword::On)?;
    let columns = parser.comma_list(Parser::name)?;
    if word == Keyword::Drop {
        return Ok(Some(HistogramChange::Drop(columns)));
    }
    if parser.at(Keyword::Using) {
        return Err(parser.not_supported("histograms USING DATA"));
    }
    let mut buckets = None;
    if parser.eat(Keyword::With) {
        // A number that is too large for any type is no number of buckets.
        let place = parser.unexpected();
        buckets = Some(parser.integer().map_err(|_| place)?);
        parser.expect_word(b"buckets")?;
    }
    let automatic = parser.at_word(b"auto");
    if automatic || parser.at_word(b"manual") {
        parser.advance();
        parser.expect(Keyword::Update)?;
    }
    Ok(Some(HistogramChange::Update { columns, buckets, automatic }))
}
