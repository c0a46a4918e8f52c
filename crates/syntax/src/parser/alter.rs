//! ALTER of tables, databases and users; RENAME TABLE and RENAME USER.

use super::view::view_statement;
use super::{Parse, Parser};
use crate::ast::{AlterAction, AlterTable, Clause, ColumnPosition, Online, Statement};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// ALTER ...
    pub(super) fn alter(&mut self) -> Parse<Statement> {
        self.advance();
        match self.keyword() {
            Some(Keyword::Table) => self.alter_table(),
            Some(Keyword::Database | Keyword::Schema) => {
                self.advance();
                let name = if self.at_name() { Some(self.name()?) } else { None };
                Ok(Statement::AlterDatabase { name, options: self.database_options()? })
            }
            Some(Keyword::User) => self.user_statement(true),
            Some(Keyword::View | Keyword::Algorithm | Keyword::Sql) => view_statement(self, true),
            _ if self.at_word(b"definer") => view_statement(self, true),
            Some(Keyword::Procedure | Keyword::Function) => Err(self.not_supported("stored routines")),
            Some(Keyword::Event) => Err(self.not_supported("events")),
            Some(Keyword::Tablespace) => Err(self.not_supported("tablespaces")),
            _ => Err(self.unsupported_object(true)),
        }
    }

    fn alter_table(&mut self) -> Parse<Statement> {
        self.advance();
        let name = self.table_name()?;
        let mut actions = Vec::new();
        let mut online = Online::default();
        if !self.is(TokenKind::End) && !self.is(TokenKind::Semicolon) {
            self.alter_action(&mut actions, &mut online)?;
            loop {
                // Table options may follow each other without commas.
                if self.eat_kind(TokenKind::Comma) || matches!(actions.last(), Some(AlterAction::Option(_))) {
                    if self.is(TokenKind::End) || self.is(TokenKind::Semicolon) {
                        break;
                    }
                    self.alter_action(&mut actions, &mut online)?;
                } else {
                    break;
                }
            }
        }
        Ok(Statement::AlterTable(Box::new(AlterTable { name, actions, online })))
    }

    fn alter_action(&mut self, actions: &mut Vec<AlterAction>, online: &mut Online) -> Parse<()> {
        self.refuse_partition_action()?;
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        match keyword {
            Keyword::Add => return self.alter_add(actions),
            Keyword::Drop => actions.push(self.alter_drop()?),
            Keyword::Modify | Keyword::Change => return self.alter_change(keyword, actions),
            Keyword::Rename => actions.push(self.alter_rename()?),
            Keyword::Alter => actions.push(self.alter_alter()?),
            Keyword::Convert => {
                self.advance();
                self.expect(Keyword::To)?;
                if !self.eat_charset()? {
                    return Err(self.unexpected());
                }
                let charset = if self.eat(Keyword::Default) { None } else { Some(self.warned_charset()?) };
                let collation =
                    if self.eat(Keyword::Collate) { Some(self.warned_collation()?) } else { None };
                actions.push(AlterAction::ConvertCharset { charset, collation });
            }
            Keyword::Enable | Keyword::Disable => {
                self.advance();
                self.expect(Keyword::Keys)?;
                self.note(Clause::Keys);
                actions.push(AlterAction::EnableKeys(keyword == Keyword::Enable));
            }
            Keyword::Force => {
                self.advance();
                actions.push(AlterAction::Force);
            }
            Keyword::With | Keyword::Without => {
                self.advance();
                self.expect(Keyword::Validation)?;
                actions.push(AlterAction::Validation(keyword == Keyword::With));
            }
            Keyword::Algorithm | Keyword::Lock => {
                self.online_option(online)?;
            }
            Keyword::Order => {
                self.table_order()?;
                self.note(Clause::TableOrder);
                actions.push(AlterAction::Order);
            }
            Keyword::Discard | Keyword::Import => return Err(self.not_supported("tablespaces")),
            Keyword::Partition => return Err(self.not_supported("partitions")),
            _ => match self.table_option()? {
                Some(option) => actions.push(AlterAction::Option(option)),
                None => return Err(self.unexpected()),
            },
        }
        Ok(())
    }

    /// Names of columns and nothing else, to the statement's end.
    fn table_order(&mut self) -> Parse<()> {
        self.expect_all(&[Keyword::Order, Keyword::By])?;
        loop {
            self.name()?;
            if self.eat_kind(TokenKind::Dot) {
                self.name()?;
            }
            // Rows lie in the order of a key whatever is asked for, as the note tells.
            if self.at(Keyword::Asc) || self.at(Keyword::Desc) {
                self.advance();
            }
            if !self.eat_kind(TokenKind::Comma) {
                return Ok(());
            }
        }
    }

    fn column_position(&mut self) -> Parse<Option<ColumnPosition>> {
        if self.eat(Keyword::First) {
            return Ok(Some(ColumnPosition::First));
        }
        if self.eat(Keyword::After) { Ok(Some(ColumnPosition::After(self.name()?))) } else { Ok(None) }
    }

    fn alter_add(&mut self, actions: &mut Vec<AlterAction>) -> Parse<()> {
        self.advance();
        let is_column = self.eat(Keyword::Column);
        if !is_column && (self.at_key() || self.at(Keyword::Constraint) || self.at(Keyword::Check)) {
            actions.push(match self.key_or_check()? {
                Ok(key) => AlterAction::AddKey(key),
                Err(check) => AlterAction::AddCheck(check),
            });
            return Ok(());
        }
        let mut checks = Vec::new();
        if self.eat_kind(TokenKind::LeftParen) {
            loop {
                if self.at_key() || self.at(Keyword::Constraint) || self.at(Keyword::Check) {
                    actions.push(match self.key_or_check()? {
                        Ok(key) => AlterAction::AddKey(key),
                        Err(check) => AlterAction::AddCheck(check),
                    });
                } else {
                    let column = self.column_definition(&mut checks)?;
                    let key = super::definition::foreign_key_of(&column);
                    actions.push(AlterAction::AddColumn { column, position: None });
                    actions.extend(key.map(AlterAction::AddKey));
                }
                if !self.eat_kind(TokenKind::Comma) {
                    break;
                }
            }
            self.expect_kind(TokenKind::RightParen)?;
        } else {
            let column = self.column_definition(&mut checks)?;
            let position = self.column_position()?;
            let key = super::definition::foreign_key_of(&column);
            actions.push(AlterAction::AddColumn { column, position });
            actions.extend(key.map(AlterAction::AddKey));
        }
        actions.extend(checks.into_iter().map(AlterAction::AddCheck));
        Ok(())
    }

    fn alter_change(&mut self, keyword: Keyword, actions: &mut Vec<AlterAction>) -> Parse<()> {
        self.advance();
        self.eat(Keyword::Column);
        let old_name = self.name()?;
        let new_name = if keyword == Keyword::Change { self.name()? } else { old_name.clone() };
        let mut checks = Vec::new();
        let column = self.column_after_name(new_name, &mut checks, false)?;
        let position = self.column_position()?;
        actions.push(AlterAction::ChangeColumn { old_name, column, position });
        actions.extend(checks.into_iter().map(AlterAction::AddCheck));
        Ok(())
    }

    fn alter_drop(&mut self) -> Parse<AlterAction> {
        self.advance();
        match self.keyword() {
            Some(Keyword::Primary) => {
                self.expect_all(&[Keyword::Primary, Keyword::Key])?;
                Ok(AlterAction::DropPrimaryKey)
            }
            Some(Keyword::Index | Keyword::Key) => {
                self.advance();
                Ok(AlterAction::DropKey(self.index_name()?))
            }
            Some(Keyword::Foreign) => {
                self.expect_all(&[Keyword::Foreign, Keyword::Key])?;
                Ok(AlterAction::DropForeignKey(self.name()?))
            }
            Some(Keyword::Check) => {
                self.advance();
                Ok(AlterAction::DropCheck(self.name()?))
            }
            Some(Keyword::Constraint) => {
                self.advance();
                Ok(AlterAction::DropConstraint(self.index_name()?))
            }
            _ => {
                self.eat(Keyword::Column);
                let column = self.name()?;
                self.note_any(&[Keyword::Restrict, Keyword::Cascade], Clause::RestrictOrCascade);
                Ok(AlterAction::DropColumn(column))
            }
        }
    }

    fn alter_rename(&mut self) -> Parse<AlterAction> {
        self.advance();
        match self.eat_any(&[Keyword::Column, Keyword::Index, Keyword::Key]) {
            Some(word) => {
                let old_name = self.name()?;
                self.expect(Keyword::To)?;
                let new_name = self.name()?;
                Ok(if word == Keyword::Column {
                    AlterAction::RenameColumn { old_name, new_name }
                } else {
                    AlterAction::RenameKey { old_name, new_name }
                })
            }
            None => {
                if self.eat_any(&[Keyword::To, Keyword::As]).is_none() {
                    self.eat_kind(TokenKind::Equal);
                }
                Ok(AlterAction::Rename(self.table_name()?))
            }
        }
    }

    fn alter_alter(&mut self) -> Parse<AlterAction> {
        self.advance();
        if self.eat(Keyword::Index) {
            let name = self.name()?;
            return match self.eat_any(&[Keyword::Visible, Keyword::Invisible]) {
                Some(word) => Ok(AlterAction::SetKeyVisibility { name, visible: word == Keyword::Visible }),
                None => Err(self.unexpected()),
            };
        }
        if let Some(word) = self.eat_any(&[Keyword::Check, Keyword::Constraint]) {
            let name = self.index_name()?;
            let enforced = !self.eat(Keyword::Not);
            self.expect(Keyword::Enforced)?;
            return Ok(AlterAction::EnforceConstraint { name, enforced, check: word == Keyword::Check });
        }
        self.eat(Keyword::Column);
        let column = self.name()?;
        if self.eat_all(Keyword::Drop, &[Keyword::Default])? {
            return Ok(AlterAction::SetDefault { column, default: None });
        }
        self.expect(Keyword::Set)?;
        if self.at(Keyword::Visible) || self.at(Keyword::Invisible) {
            return Err(self.not_supported("ALTER COLUMN ... SET INVISIBLE"));
        }
        self.expect(Keyword::Default)?;
        // The time of the statement is no literal: MySQL has it in parentheses here.
        let clock = [Keyword::CurrentTimestamp, Keyword::Localtime, Keyword::Localtimestamp];
        if clock.into_iter().any(|word| self.at(word)) {
            return Err(self.unexpected());
        }
        Ok(AlterAction::SetDefault { column, default: Some(self.column_default()?) })
    }

    /// RENAME TABLE, RENAME USER
    pub(super) fn rename(&mut self) -> Parse<Statement> {
        self.advance();
        if self.eat(Keyword::User) {
            let pairs = self.comma_list(|parser| {
                let old_name = parser.user_name()?;
                parser.expect(Keyword::To)?;
                Ok((old_name, parser.user_name()?))
            })?;
            return Ok(Statement::RenameUser(pairs));
        }
        if self.eat_any(&[Keyword::Table, Keyword::Tables]).is_none() {
            return Err(self.unexpected());
        }
        let pairs = self.comma_list(|parser| {
            let old_name = parser.table_name()?;
            parser.expect(Keyword::To)?;
            Ok((old_name, parser.table_name()?))
        })?;
        Ok(Statement::RenameTable(pairs))
    }
}
