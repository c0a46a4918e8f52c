//! Which statement it is, by its first word.

use super::{Parse, Parser};
use crate::ast::Statement;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// A whole statement.
    pub(super) fn statement(&mut self) -> Parse<Statement> {
        if self.is(TokenKind::LeftParen) {
            return self.select_statement();
        }
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        match keyword {
            Keyword::Select | Keyword::Values | Keyword::Table => self.select_statement(),
            Keyword::With => self.with_statement(),
            Keyword::Insert | Keyword::Replace => self.insert(),
            Keyword::Update => self.update(),
            Keyword::Delete => self.delete(),
            Keyword::Set => self.set(),
            Keyword::Begin | Keyword::Start | Keyword::Commit | Keyword::Rollback => {
                self.transaction(keyword)
            }
            Keyword::Savepoint | Keyword::Release => self.savepoint(keyword),
            Keyword::Show => self.show(),
            Keyword::Desc | Keyword::Describe | Keyword::Explain => self.explain(),
            Keyword::Use => {
                self.advance();
                Ok(Statement::Use(self.name()?))
            }
            Keyword::Create => self.create(),
            Keyword::Drop => self.drop_statement(),
            Keyword::Alter => self.alter(),
            Keyword::Rename => self.rename(),
            Keyword::Truncate => {
                self.advance();
                self.eat(Keyword::Table);
                Ok(Statement::Truncate(self.table_name()?))
            }
            Keyword::Prepare | Keyword::Execute | Keyword::Deallocate => self.prepared(keyword),
            Keyword::Do => {
                self.advance();
                Ok(Statement::Do(self.comma_list(Self::expression)?))
            }
            Keyword::Grant => self.grant(),
            Keyword::Revoke => self.revoke(),
            Keyword::Kill => self.kill(),
            Keyword::Flush => self.flush(),
            Keyword::Lock | Keyword::Unlock => self.lock_tables(keyword),
            Keyword::Analyze | Keyword::Optimize | Keyword::Check | Keyword::Checksum | Keyword::Repair => {
                self.table_maintenance(keyword)
            }
            Keyword::Shutdown => {
                self.advance();
                Ok(Statement::Shutdown)
            }
            Keyword::Reset => self.reset(),
            _ => Err(self.unsupported_statement(keyword)),
        }
    }

    fn select_statement(&mut self) -> Parse<Statement> {
        Ok(Statement::Select(Box::new(self.nested(Self::query)?)))
    }

    /// WITH before SELECT, UPDATE or DELETE.
    fn with_statement(&mut self) -> Parse<Statement> {
        let with = self.with()?;
        let mut statement = match self.keyword() {
            Some(Keyword::Update) => self.update()?,
            Some(Keyword::Delete) => self.delete()?,
            _ => {
                let query = self.nested(|parser| parser.query_with(with))?;
                return Ok(Statement::Select(Box::new(query)));
            }
        };
        match &mut statement {
            Statement::Update(update) => update.with = Some(Box::new(with)),
            Statement::Delete(delete) => delete.with = Some(Box::new(with)),
            _ => {}
        }
        Ok(statement)
    }
}
