//! SHOW.

use super::{Failure, Parse, Parser};
use crate::ast::{EngineReport, Name, Show, ShowFilter, ShowWhat, Statement, TableName};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// SHOW ...
    pub(super) fn show(&mut self) -> Parse<Statement> {
        self.advance();
        let what = self.show_what()?;
        let filter = if what.takes_like() && self.eat(Keyword::Like) {
            Some(ShowFilter::Like(self.text()?))
        } else if what.takes_where() {
            self.where_condition()?.map(ShowFilter::Where)
        } else {
            None
        };
        Ok(Statement::Show(Box::new(Show { what, filter })))
    }

    fn show_what(&mut self) -> Parse<ShowWhat> {
        let extended = self.eat(Keyword::Extended);
        let full = self.eat(Keyword::Full);
        let Some(keyword) = self.keyword() else { return self.show_other() };
        if (extended || full)
            && !matches!(
                keyword,
                Keyword::Tables
                    | Keyword::Triggers
                    | Keyword::Columns
                    | Keyword::Fields
                    | Keyword::Processlist
                    | Keyword::Index
                    | Keyword::Indexes
                    | Keyword::Keys
            )
        {
            return Err(self.unexpected());
        }
        let place = self.unexpected();
        self.advance();
        Ok(match keyword {
            Keyword::Databases | Keyword::Schemas => ShowWhat::Databases,
            Keyword::Tables => ShowWhat::Tables { full, schema: self.schema_after_from()? },
            Keyword::Table => {
                self.expect(Keyword::Status)?;
                ShowWhat::TableStatus(self.schema_after_from()?)
            }
            Keyword::Open => {
                self.expect(Keyword::Tables)?;
                ShowWhat::OpenTables(self.schema_after_from()?)
            }
            Keyword::Triggers => ShowWhat::Triggers(self.schema_after_from()?),
            Keyword::Events => ShowWhat::Events(self.schema_after_from()?),
            Keyword::Columns | Keyword::Fields => {
                ShowWhat::Columns { full, extended, table: self.table_after_from()? }
            }
            Keyword::Index | Keyword::Indexes | Keyword::Keys => {
                ShowWhat::Index { extended, table: self.table_after_from()? }
            }
            Keyword::Create => self.show_create()?,
            Keyword::Global | Keyword::Session | Keyword::Local => {
                let global = keyword == Keyword::Global;
                match self.eat_any(&[Keyword::Variables, Keyword::Status]) {
                    Some(Keyword::Variables) => ShowWhat::Variables { global },
                    Some(_) => ShowWhat::Status { global },
                    None => return Err(self.unexpected()),
                }
            }
            Keyword::Variables => ShowWhat::Variables { global: false },
            Keyword::Status => ShowWhat::Status { global: false },
            Keyword::Warnings => ShowWhat::Warnings(self.limit()?),
            Keyword::Errors => ShowWhat::Errors(self.limit()?),
            Keyword::Processlist => ShowWhat::ProcessList { full },
            Keyword::Engine => self.show_engine()?,
            Keyword::Grants => {
                let user = if self.eat(Keyword::For) { Some(self.user_name()?) } else { None };
                let using = user.is_some() && self.eat(Keyword::Using);
                let roles = if using { self.comma_list(Self::user_name)? } else { Vec::new() };
                ShowWhat::Grants { user, roles }
            }
            _ => return self.show_list(keyword, place),
        })
    }

    /// The kinds that are named by fixed words alone.
    fn show_list(&mut self, keyword: Keyword, place: Failure) -> Parse<ShowWhat> {
        Ok(match keyword {
            Keyword::Engines => ShowWhat::Engines,
            Keyword::Storage => self.expect(Keyword::Engines).map(|()| ShowWhat::Engines)?,
            Keyword::Charset => ShowWhat::CharacterSets,
            Keyword::Character | Keyword::Char => {
                self.expect(Keyword::Set).map(|()| ShowWhat::CharacterSets)?
            }
            Keyword::Collation => ShowWhat::Collations,
            Keyword::Plugins => ShowWhat::Plugins,
            Keyword::Privileges => ShowWhat::Privileges,
            Keyword::Profiles => ShowWhat::Profiles,
            Keyword::Binary => {
                if self.eat(Keyword::Logs) {
                    return Ok(ShowWhat::BinaryLogs);
                }
                let is_log = self.span(self.token).eq_ignore_ascii_case(b"log");
                if !is_log {
                    return Err(self.unexpected());
                }
                self.advance();
                self.expect(Keyword::Status).map(|()| ShowWhat::BinaryLogStatus)?
            }
            Keyword::Replica => {
                self.expect(Keyword::Status)?;
                match self.channel()? {
                    Some(channel) => ShowWhat::ReplicaStatusOf(channel),
                    None => ShowWhat::ReplicaStatus,
                }
            }
            Keyword::Replicas => ShowWhat::Replicas,
            Keyword::Procedure | Keyword::Function if self.at_word(b"code") => {
                self.advance();
                self.table_name().map(|_| ShowWhat::ProgramCode)?
            }
            Keyword::Procedure => self.expect(Keyword::Status).map(|()| ShowWhat::ProcedureStatus)?,
            Keyword::Function => self.expect(Keyword::Status).map(|()| ShowWhat::FunctionStatus)?,
            Keyword::Profile => self.profile()?,
            Keyword::Binlog if self.at_word(b"events") => self.binlog_events()?,
            _ => return Err(place),
        })
    }

    /// `[FOR CHANNEL 'name']`
    fn channel(&mut self) -> Parse<Option<Name>> {
        if !self.eat(Keyword::For) {
            return Ok(None);
        }
        if !self.at_word(b"channel") {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(Some(String::from_utf8_lossy(&self.text()?).into()))
    }

    /// `PROFILE [what, ...] [FOR QUERY n] [LIMIT ...]`
    fn profile(&mut self) -> Parse<ShowWhat> {
        const KINDS: &[(&str, &str, &[&str])] = &[
            ("cpu", "", &["CPU_user", "CPU_system"]),
            ("context", "switches", &["Context_voluntary", "Context_involuntary"]),
            ("block", "io", &["Block_ops_in", "Block_ops_out"]),
            ("ipc", "", &["Messages_sent", "Messages_received"]),
            ("page", "faults", &["Page_faults_major", "Page_faults_minor"]),
            ("swaps", "", &["Swaps"]),
            ("source", "", &["Source_function", "Source_file", "Source_line"]),
            ("memory", "", &[]),
        ];
        let mut wanted = [false; KINDS.len()];
        loop {
            if self.eat(Keyword::All) {
                wanted = [true; KINDS.len()];
            } else if let Some(at) = KINDS.iter().position(|(first, ..)| self.at_word(first.as_bytes())) {
                self.advance();
                wanted[at] = true;
                let second = KINDS[at].1;
                if !second.is_empty() && !self.at_word(second.as_bytes()) {
                    return Err(self.unexpected());
                }
                if !second.is_empty() {
                    self.advance();
                }
            } else if wanted.contains(&true) {
                return Err(self.unexpected());
            } else {
                break;
            }
            if !self.eat_kind(TokenKind::Comma) {
                break;
            }
        }
        if self.eat(Keyword::For) {
            self.expect(Keyword::Query)?;
            self.integer()?;
        }
        self.limit()?;
        let chosen = KINDS.iter().zip(wanted).filter(|(_, wanted)| *wanted);
        Ok(ShowWhat::Profile(chosen.flat_map(|((_, _, columns), _)| columns.iter().copied()).collect()))
    }

    /// `RELAYLOG EVENTS [IN 'log'] [FROM position] [LIMIT ...] [FOR CHANNEL 'name']`
    fn relaylog_events(&mut self) -> Parse<ShowWhat> {
        self.advance();
        if !self.at_word(b"events") {
            return Err(self.unexpected());
        }
        self.binlog_events()?;
        self.channel().map(ShowWhat::RelaylogEvents)
    }

    /// `EVENTS [IN 'log'] [FROM position] [LIMIT ...]`
    fn binlog_events(&mut self) -> Parse<ShowWhat> {
        self.advance();
        if self.eat(Keyword::In) {
            self.text()?;
        }
        if self.eat(Keyword::From) {
            self.integer()?;
        }
        self.limit()?;
        Ok(ShowWhat::BinlogEvents)
    }

    /// `COUNT(*) WARNINGS`, `COUNT(*) ERRORS`
    fn show_other(&mut self) -> Parse<ShowWhat> {
        if self.at_word(b"relaylog") {
            return self.relaylog_events();
        }
        if !self.at_word(b"count") {
            return Err(self.unexpected());
        }
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        self.expect_kind(TokenKind::Star)?;
        self.expect_kind(TokenKind::RightParen)?;
        match self.eat_any(&[Keyword::Warnings, Keyword::Errors]) {
            Some(Keyword::Warnings) => Ok(ShowWhat::WarningCount),
            Some(_) => Ok(ShowWhat::ErrorCount),
            None => Err(self.unexpected()),
        }
    }

    fn show_create(&mut self) -> Parse<ShowWhat> {
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        self.advance();
        Ok(match keyword {
            Keyword::Table => ShowWhat::CreateTable(self.table_name()?),
            Keyword::Database | Keyword::Schema => {
                let if_not_exists = self.if_not_exists()?;
                ShowWhat::CreateDatabase { name: self.name()?, if_not_exists }
            }
            Keyword::User => ShowWhat::CreateUser(self.user_name()?),
            Keyword::View => ShowWhat::CreateView(self.table_name()?),
            Keyword::Procedure | Keyword::Function | Keyword::Trigger | Keyword::Event => {
                ShowWhat::CreateOther { kind: keyword.text().into(), name: self.table_name()? }
            }
            _ => return Err(self.unexpected()),
        })
    }

    fn show_engine(&mut self) -> Parse<ShowWhat> {
        let name = if self.at(Keyword::All) { self.any_name()? } else { self.name_or_text()? };
        let report = match self.eat_any(&[Keyword::Status, Keyword::Mutex, Keyword::Logs]) {
            Some(Keyword::Status) => EngineReport::Status,
            Some(Keyword::Mutex) => EngineReport::Mutex,
            Some(_) => EngineReport::Logs,
            None => return Err(self.unexpected()),
        };
        Ok(ShowWhat::Engine { name, report })
    }

    /// `[FROM schema]`
    fn schema_after_from(&mut self) -> Parse<Option<Name>> {
        if self.eat_any(&[Keyword::From, Keyword::In]).is_some() { self.name().map(Some) } else { Ok(None) }
    }

    /// `FROM table [FROM schema]`
    fn table_after_from(&mut self) -> Parse<TableName> {
        if self.eat_any(&[Keyword::From, Keyword::In]).is_none() {
            return Err(self.unexpected());
        }
        let mut table = self.table_name()?;
        if let Some(schema) = self.schema_after_from()? {
            table.schema = Some(schema);
        }
        Ok(table)
    }
}
