//! CREATE and DROP of databases, tables and indexes.

use super::name::upper;
use super::view::{drop_view, view_statement};
use super::{Parse, Parser};
use crate::ast::{
    Clause, CreateDatabase, CreateTable, DatabaseOptions, DropTable, Name, OnDuplicate, Online, Statement,
    TableOption,
};
use crate::lexer::{Keyword, TokenKind};

pub(super) use super::key::foreign_key_of;

impl Parser<'_> {
    /// CREATE ...
    pub(super) fn create(&mut self) -> Parse<Statement> {
        self.advance();
        match self.keyword() {
            Some(Keyword::Database | Keyword::Schema) => self.create_database(),
            Some(Keyword::Temporary) => {
                self.advance();
                self.create_table(true)
            }
            Some(Keyword::Table) => self.create_table(false),
            Some(Keyword::Spatial) if !self.peek_is(Keyword::Index) => Err(self.unsupported_object(false)),
            Some(Keyword::Unique | Keyword::Index | Keyword::Fulltext | Keyword::Spatial) => {
                self.create_index()
            }
            Some(Keyword::User) => self.user_statement(false),
            Some(Keyword::View | Keyword::Algorithm | Keyword::Or | Keyword::Sql) => {
                view_statement(self, false)
            }
            _ if self.at_word(b"definer") => view_statement(self, false),
            Some(Keyword::Procedure | Keyword::Function) => Err(self.not_supported("stored routines")),
            Some(Keyword::Trigger) => Err(self.not_supported("triggers")),
            Some(Keyword::Event) => Err(self.not_supported("events")),
            Some(Keyword::Role) => self.create_role(),
            Some(Keyword::Tablespace) => Err(self.not_supported("tablespaces")),
            _ => Err(self.unsupported_object(false)),
        }
    }

    /// DROP ...
    pub(super) fn drop_statement(&mut self) -> Parse<Statement> {
        self.advance();
        match self.keyword() {
            Some(Keyword::Database | Keyword::Schema) => {
                self.advance();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropDatabase { name: self.name()?, if_exists })
            }
            Some(Keyword::Temporary | Keyword::Table | Keyword::Tables) => self.drop_table(),
            Some(Keyword::Index) => {
                self.advance();
                let name = self.index_name()?;
                self.expect(Keyword::On)?;
                let table = self.table_name()?;
                let mut online = Online::default();
                while self.online_option(&mut online)? {}
                Ok(Statement::DropIndex { name, table, online })
            }
            Some(Keyword::View) => drop_view(self),
            Some(Keyword::User) => {
                self.advance();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropUser { users: self.comma_list(Self::user_name)?, if_exists })
            }
            Some(Keyword::Prepare) => {
                self.advance();
                Ok(Statement::Deallocate(self.name()?))
            }
            Some(kind @ (Keyword::Procedure | Keyword::Function | Keyword::Trigger | Keyword::Event)) => {
                self.advance();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropProgram { kind: kind.text(), name: self.table_name()?, if_exists })
            }
            Some(Keyword::Role) => self.drop_role(),
            Some(Keyword::Tablespace) => Err(self.not_supported("tablespaces")),
            _ => Err(self.unsupported_object(false)),
        }
    }

    fn drop_table(&mut self) -> Parse<Statement> {
        let temporary = self.eat(Keyword::Temporary);
        if self.eat_any(&[Keyword::Table, Keyword::Tables]).is_none() {
            return Err(self.unexpected());
        }
        let if_exists = self.if_exists()?;
        let names = self.comma_list(Self::table_name)?;
        self.note_any(&[Keyword::Restrict, Keyword::Cascade], Clause::RestrictOrCascade);
        Ok(Statement::DropTable(DropTable { names, if_exists, temporary }))
    }

    fn create_database(&mut self) -> Parse<Statement> {
        self.advance();
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        let options = self.database_options()?;
        Ok(Statement::CreateDatabase(CreateDatabase { name, if_not_exists, options }))
    }

    pub(super) fn database_options(&mut self) -> Parse<DatabaseOptions> {
        let mut options = DatabaseOptions::default();
        loop {
            let default = self.eat(Keyword::Default);
            if self.eat_charset()? {
                self.eat_kind(TokenKind::Equal);
                options.charset = Some(self.warned_charset()?);
            } else if self.eat(Keyword::Collate) {
                self.eat_kind(TokenKind::Equal);
                options.collation = Some(self.warned_collation()?);
            } else if self.eat(Keyword::Encryption) {
                self.eat_kind(TokenKind::Equal);
                options.encryption = Some(self.utf8_text()?);
            } else if self.at(Keyword::Read) && !default {
                return Err(self.not_supported("READ ONLY databases"));
            } else if default {
                return Err(self.unexpected());
            } else {
                return Ok(options);
            }
        }
    }

    fn create_table(&mut self, temporary: bool) -> Parse<Statement> {
        self.expect(Keyword::Table)?;
        let if_not_exists = self.if_not_exists()?;
        let mut table = CreateTable {
            name: self.table_name()?,
            if_not_exists,
            temporary,
            like: None,
            columns: Vec::new(),
            keys: Vec::new(),
            checks: Vec::new(),
            options: Vec::new(),
            partitioned: false,
            query: None,
            on_duplicate: OnDuplicate::Refuse,
        };
        if self.eat(Keyword::Like) {
            table.like = Some(self.table_name()?);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        let query_follows = matches!(
            self.peek(),
            TokenKind::LeftParen
                | TokenKind::Keyword(Keyword::Select | Keyword::With | Keyword::Table | Keyword::Values)
        );
        if self.is(TokenKind::LeftParen) && !query_follows {
            self.advance();
            if self.eat(Keyword::Like) {
                table.like = Some(self.table_name()?);
                self.expect_kind(TokenKind::RightParen)?;
                return Ok(Statement::CreateTable(Box::new(table)));
            }
            self.table_element(&mut table)?;
            while self.eat_kind(TokenKind::Comma) {
                self.table_element(&mut table)?;
            }
            self.expect_kind(TokenKind::RightParen)?;
        }
        while let Some(option) = self.table_option()? {
            table.options.push(option);
            self.eat_kind(TokenKind::Comma);
        }
        if self.at(Keyword::Partition) {
            return Err(self.not_supported("PARTITION BY"));
        }
        table.on_duplicate = match self.eat_any(&[Keyword::Ignore, Keyword::Replace]) {
            Some(Keyword::Ignore) => OnDuplicate::Ignore,
            Some(_) => OnDuplicate::Replace,
            None => OnDuplicate::Refuse,
        };
        if self.eat(Keyword::As) || self.at_query() || self.is(TokenKind::LeftParen) {
            table.query = Some(Box::new(self.nested(Self::query)?));
        }
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// A column, key or constraint.
    fn table_element(&mut self, table: &mut CreateTable) -> Parse<()> {
        if self.at(Keyword::Check) || self.at(Keyword::Constraint) || self.at_key() {
            match self.key_or_check()? {
                Ok(key) => table.keys.push(key),
                Err(check) => table.checks.push(check),
            }
            return Ok(());
        }
        let column = self.column_definition(&mut table.checks)?;
        table.keys.extend(foreign_key_of(&column));
        table.columns.push(column);
        Ok(())
    }

    /// `ALGORITHM [=] x`, `LOCK [=] x`
    pub(super) fn online_option(&mut self, online: &mut Online) -> Parse<bool> {
        let Some(word) = self.eat_any(&[Keyword::Algorithm, Keyword::Lock]) else { return Ok(false) };
        self.eat_kind(TokenKind::Equal);
        let value = if self.eat(Keyword::Default) { None } else { Some(self.name()?) };
        if word == Keyword::Algorithm {
            online.algorithm = value
        } else {
            online.lock = value
        }
        Ok(true)
    }

    /// One table option, if one is there.
    pub(super) fn table_option(&mut self) -> Parse<Option<TableOption>> {
        let has_default = self.at(Keyword::Default);
        if has_default {
            self.advance();
        }
        if self.eat_charset()? {
            self.eat_kind(TokenKind::Equal);
            return Ok(Some(TableOption::Charset(self.warned_charset()?)));
        }
        if self.eat(Keyword::Collate) {
            self.eat_kind(TokenKind::Equal);
            return Ok(Some(TableOption::Collation(self.warned_collation()?)));
        }
        if has_default {
            return Err(self.unexpected());
        }
        let Some(keyword) = self.keyword() else { return Ok(None) };
        let option = match keyword {
            Keyword::Engine => TableOption::Engine(self.option_value()?),
            Keyword::AutoIncrement => {
                self.advance();
                self.eat_kind(TokenKind::Equal);
                TableOption::AutoIncrement(self.option_number()?)
            }
            Keyword::RowFormat => self.row_format()?,
            Keyword::Comment => {
                self.advance();
                self.eat_kind(TokenKind::Equal);
                TableOption::Comment(self.text()?)
            }
            Keyword::Data | Keyword::Index => {
                self.advance();
                if !self.at(Keyword::Directory) {
                    return Err(self.unexpected());
                }
                TableOption::Other(format!("{} DIRECTORY", keyword.text()).into(), self.option_value()?)
            }
            other => return self.written_option(other),
        };
        Ok(Some(option))
    }

    /// After an option's last word: `[=] value`, a word, number or string.
    fn row_format(&mut self) -> Parse<TableOption> {
        self.advance();
        self.eat_kind(TokenKind::Equal);
        let place = self.unexpected();
        let format = if self.at(Keyword::Default) { self.any_name()? } else { self.name()? };
        let format = upper(format);
        let known = ["DEFAULT", "DYNAMIC", "FIXED", "COMPRESSED", "REDUNDANT", "COMPACT"];
        if known.contains(&&*format) { Ok(TableOption::RowFormat(format)) } else { Err(place) }
    }

    /// A number of which what no BIGINT UNSIGNED holds is the greatest of these, and what begins a fraction
    /// is enough.
    pub(super) fn option_number(&mut self) -> Parse<u64> {
        if !matches!(self.token.kind, TokenKind::Integer | TokenKind::Decimal | TokenKind::Float) {
            return self.integer();
        }
        let token = self.advance();
        let digits = self.span(token).iter().take_while(|digit| digit.is_ascii_digit());
        let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        Ok(digits.fold(0, add))
    }

    fn option_value(&mut self) -> Parse<Name> {
        self.advance();
        self.eat_kind(TokenKind::Equal);
        match self.token.kind {
            TokenKind::String => self.utf8_text(),
            TokenKind::Integer | TokenKind::Keyword(Keyword::Default | Keyword::Null) => {
                let token = self.advance();
                self.name_of(token)
            }
            _ => self.name(),
        }
    }
}
