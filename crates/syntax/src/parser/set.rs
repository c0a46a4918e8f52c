//! SET in all its forms.

use super::{Parse, Parser};
use crate::ast::{
    Expr, IsolationLevel, Literal, SetItem, Statement, StringLiteral, TransactionScope, VariableScope,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// SET ...
    pub(super) fn set(&mut self) -> Parse<Statement> {
        self.advance();
        let is_transaction = match self.keyword() {
            Some(Keyword::Transaction) => true,
            Some(Keyword::Global | Keyword::Session | Keyword::Local) => self.peek_is(Keyword::Transaction),
            _ => false,
        };
        if is_transaction {
            return Ok(Statement::Set(vec![self.set_transaction()?]));
        }
        match self.keyword() {
            Some(Keyword::Password) if self.peek() == TokenKind::Equal || self.peek_is(Keyword::For) => {
                return Ok(Statement::Set(vec![self.set_password()?]));
            }
            Some(Keyword::Role) => return self.set_role(),
            Some(Keyword::Default) if self.peek_is(Keyword::Role) => return self.set_default_role(),
            _ => {}
        }
        if self.span(self.token).eq_ignore_ascii_case(b"resource") && self.peek_is(Keyword::Group) {
            return Err(self.not_supported("resource groups"));
        }
        Ok(Statement::Set(self.comma_list(Self::set_item)?))
    }

    fn set_item(&mut self) -> Parse<SetItem> {
        if self.is(TokenKind::UserVariable) {
            let name = self.variable_name()?;
            self.assign_sign()?;
            return Ok(SetItem::UserVariable { name, value: self.expression()? });
        }
        if self.is(TokenKind::AtAt) {
            let (scope, name) = self.system_variable()?;
            self.assign_sign()?;
            return Ok(SetItem::SystemVariable { scope, name, value: self.set_value()? });
        }
        match self.keyword() {
            Some(Keyword::Names) if self.peek() != TokenKind::Equal => return self.set_names(),
            Some(Keyword::Charset | Keyword::Character | Keyword::Char) if self.eat_charset()? => {
                let charset = if self.eat(Keyword::Default) { None } else { Some(self.charset_name()?) };
                return Ok(SetItem::CharacterSet(charset));
            }
            _ => {}
        }
        let scope = if matches!(self.peek(), TokenKind::Equal | TokenKind::Assign | TokenKind::Dot) {
            VariableScope::Default
        } else {
            let scopes =
                [Keyword::Global, Keyword::Session, Keyword::Local, Keyword::Persist, Keyword::PersistOnly];
            match self.eat_any(&scopes) {
                Some(Keyword::Global) => VariableScope::Global,
                Some(Keyword::Session | Keyword::Local) => VariableScope::Session,
                Some(Keyword::Persist) => VariableScope::Persist,
                Some(_) => VariableScope::PersistOnly,
                None => VariableScope::Default,
            }
        };
        let mut name = self.name()?;
        if self.eat_kind(TokenKind::Dot) {
            name = format!("{name}.{}", self.any_name()?).into();
        }
        self.assign_sign()?;
        Ok(SetItem::SystemVariable { scope, name, value: self.set_value()? })
    }

    /// `=` or `:=`
    fn assign_sign(&mut self) -> Parse<()> {
        if self.eat_kind(TokenKind::Equal) { Ok(()) } else { self.expect_kind(TokenKind::Assign).map(|_| ()) }
    }

    /// The value of a system variable: None for DEFAULT; a bare word is its own text.
    fn set_value(&mut self) -> Parse<Option<Expr>> {
        let text = |bytes: &[u8]| {
            Some(Expr::Literal(Literal::String(StringLiteral { bytes: bytes.into(), introducer: None })))
        };
        if self.at(Keyword::Default) && self.peek() != TokenKind::LeftParen {
            self.advance();
            return Ok(None);
        }
        let ends = |kind| matches!(kind, TokenKind::Comma | TokenKind::End | TokenKind::Semicolon);
        let words = [Keyword::On, Keyword::All, Keyword::Binary, Keyword::Row, Keyword::System];
        if self.keyword().is_some_and(|word| words.contains(&word)) && ends(self.peek()) {
            let token = self.advance();
            return Ok(text(&self.span(token).to_ascii_uppercase()));
        }
        match self.expression()? {
            Expr::Column(column) if column.table.is_none() => Ok(text(column.column.as_bytes())),
            value => Ok(Some(value)),
        }
    }

    fn set_names(&mut self) -> Parse<SetItem> {
        self.advance();
        if self.eat(Keyword::Default) {
            return Ok(SetItem::Names { charset: None, collation: None });
        }
        let charset = Some(self.warned_charset()?);
        let collation = if self.eat(Keyword::Collate) { Some(self.warned_collation()?) } else { None };
        Ok(SetItem::Names { charset, collation })
    }

    /// `[GLOBAL | SESSION] TRANSACTION characteristic, ...`
    fn set_transaction(&mut self) -> Parse<SetItem> {
        let scope = match self.eat_any(&[Keyword::Global, Keyword::Session, Keyword::Local]) {
            Some(Keyword::Global) => TransactionScope::Global,
            Some(_) => TransactionScope::Session,
            None => TransactionScope::Next,
        };
        self.expect(Keyword::Transaction)?;
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if self.at(Keyword::Isolation) && isolation.is_none() {
                self.expect_all(&[Keyword::Isolation, Keyword::Level])?;
                isolation = Some(self.isolation_level()?);
            } else if self.at(Keyword::Read) && read_only.is_none() {
                self.advance();
                match self.eat_any(&[Keyword::Only, Keyword::Write]) {
                    Some(word) => read_only = Some(word == Keyword::Only),
                    None => return Err(self.unexpected()),
                }
            } else {
                return Err(self.unexpected());
            }
            if !self.eat_kind(TokenKind::Comma) {
                return Ok(SetItem::Transaction { scope, isolation, read_only });
            }
        }
    }

    fn isolation_level(&mut self) -> Parse<IsolationLevel> {
        match self.eat_any(&[Keyword::Read, Keyword::Repeatable, Keyword::Serializable]) {
            Some(Keyword::Read) => match self.eat_any(&[Keyword::Committed, Keyword::Uncommitted]) {
                Some(Keyword::Committed) => Ok(IsolationLevel::ReadCommitted),
                Some(_) => Ok(IsolationLevel::ReadUncommitted),
                None => Err(self.unexpected()),
            },
            Some(Keyword::Repeatable) => self.expect(Keyword::Read).map(|()| IsolationLevel::RepeatableRead),
            Some(_) => Ok(IsolationLevel::Serializable),
            None => Err(self.unexpected()),
        }
    }

    fn set_password(&mut self) -> Parse<SetItem> {
        self.advance();
        let user = if self.eat(Keyword::For) { Some(self.user_name()?) } else { None };
        if self.at(Keyword::To) {
            return Err(self.not_supported("SET PASSWORD TO RANDOM"));
        }
        self.assign_sign()?;
        let password = self.text()?;
        let replaces = if self.eat(Keyword::Replace) { Some(self.text()?) } else { None };
        Ok(SetItem::Password { user, password, replaces })
    }
}
