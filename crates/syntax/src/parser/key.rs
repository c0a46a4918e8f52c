//! Keys, CHECK and foreign keys of CREATE and ALTER TABLE; CREATE INDEX.

use super::name::upper;
use super::{Parse, Parser};
use crate::ast::{
    CheckDef, Clause, CreateIndex, KeyDef, KeyKind, KeyOptions, KeyPart, KeyTarget, Name, Online,
    ReferenceAction, References, Statement,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn at_key(&self) -> bool {
        matches!(
            self.keyword(),
            Some(
                Keyword::Primary
                    | Keyword::Unique
                    | Keyword::Index
                    | Keyword::Key
                    | Keyword::Fulltext
                    | Keyword::Spatial
                    | Keyword::Foreign
            )
        )
    }

    /// `[CONSTRAINT [name]]`
    pub(super) fn constraint_name(&mut self) -> Parse<Option<Name>> {
        if self.eat(Keyword::Constraint) && self.at_name() { self.name().map(Some) } else { Ok(None) }
    }

    /// A key, or (as the error) a CHECK.
    pub(super) fn key_or_check(&mut self) -> Parse<Result<KeyDef, CheckDef>> {
        let constraint = self.constraint_name()?;
        if self.at(Keyword::Check) {
            return Ok(Err(self.check(constraint, None)?));
        }
        Ok(Ok(self.key_definition(constraint)?))
    }

    pub(super) fn check(&mut self, name: Option<Name>, column: Option<Name>) -> Parse<CheckDef> {
        self.expect(Keyword::Check)?;
        self.expect_kind(TokenKind::LeftParen)?;
        let expr = self.expression()?;
        self.expect_kind(TokenKind::RightParen)?;
        // `NOT` may also begin a column's `NOT NULL`.
        let negated = self.at(Keyword::Not) && self.peek_is(Keyword::Enforced);
        if negated {
            self.advance();
        }
        self.eat(Keyword::Enforced);
        Ok(CheckDef { name, expr, enforced: !negated, column })
    }

    pub(super) fn key_definition(&mut self, constraint: Option<Name>) -> Parse<KeyDef> {
        let Some(first) = self.keyword() else { return Err(self.unexpected()) };
        self.advance();
        let mut kind = match first {
            Keyword::Primary | Keyword::Foreign => {
                self.expect(Keyword::Key)?;
                KeyKind::Primary
            }
            Keyword::Unique => KeyKind::Unique,
            Keyword::Fulltext => KeyKind::FullText,
            Keyword::Spatial => KeyKind::Spatial,
            Keyword::Index | Keyword::Key => KeyKind::Index,
            _ => return Err(self.unexpected()),
        };
        if matches!(first, Keyword::Unique | Keyword::Fulltext | Keyword::Spatial) {
            let _ = self.eat_any(&[Keyword::Index, Keyword::Key]);
        }
        let own_name = if self.at_name() { Some(self.name()?) } else { None };
        let mut options = KeyOptions::default();
        self.key_type(&mut options)?;
        let parts = self.parenthesized_list(|parser| match parser.token.kind {
            TokenKind::LeftParen if first == Keyword::Foreign => Err(parser.unexpected()),
            _ => parser.key_part(),
        })?;
        if first != Keyword::Foreign && first != Keyword::Fulltext {
            self.key_options(&mut options)?;
            if options.parser.is_some() {
                return Err(self.unexpected());
            }
        } else if first == Keyword::Foreign {
            let references = References { constraint: constraint.clone(), ..self.references()? };
            kind = KeyKind::Foreign(Box::new(references));
        } else {
            self.key_options(&mut options)?;
        }
        let name = if first == Keyword::Foreign { constraint.or(own_name) } else { own_name.or(constraint) };
        Ok(KeyDef { kind, name, parts, options })
    }

    pub(super) fn key_part(&mut self) -> Parse<KeyPart> {
        let (target, length) = if self.eat_kind(TokenKind::LeftParen) {
            let expr = self.expression()?;
            self.expect_kind(TokenKind::RightParen)?;
            (KeyTarget::Expr(Box::new(expr)), None)
        } else {
            (KeyTarget::Column(self.name()?), self.optional_length()?)
        };
        let descending = self.eat_any(&[Keyword::Asc, Keyword::Desc]) == Some(Keyword::Desc);
        Ok(KeyPart { target, length, descending })
    }

    /// `[USING BTREE]`
    pub(super) fn key_type(&mut self, options: &mut KeyOptions) -> Parse<bool> {
        if !self.eat(Keyword::Using) {
            return Ok(false);
        }
        let place = self.unexpected();
        let using = upper(self.name()?);
        if !matches!(&*using, "BTREE" | "HASH" | "RTREE") {
            return Err(place);
        }
        if &*using == "HASH" {
            self.note(Clause::HashKey);
        }
        options.using = Some(using);
        Ok(true)
    }

    pub(super) fn key_options(&mut self, options: &mut KeyOptions) -> Parse<()> {
        loop {
            match self.keyword() {
                Some(Keyword::Using) => {
                    self.key_type(options)?;
                }
                Some(Keyword::Comment) => {
                    self.advance();
                    options.comment = Some(self.text()?);
                }
                Some(Keyword::KeyBlockSize) => {
                    self.advance();
                    self.eat_kind(TokenKind::Equal);
                    options.key_block_size = Some(self.integer()?);
                    self.note(Clause::KeyBlockSize);
                }
                Some(word @ (Keyword::Visible | Keyword::Invisible)) => {
                    self.advance();
                    options.invisible = word == Keyword::Invisible;
                }
                Some(Keyword::With) => {
                    self.expect_all(&[Keyword::With, Keyword::Parser])?;
                    options.parser = Some(self.name()?);
                }
                Some(Keyword::EngineAttribute) => {
                    self.attribute()?;
                    options.engine_attribute = true;
                }
                Some(Keyword::SecondaryEngineAttribute) => {
                    self.attribute()?;
                    self.note(Clause::SecondaryAttribute);
                }
                _ => return Ok(()),
            }
        }
    }

    /// `REFERENCES table (columns) \[MATCH ...\] \[ON DELETE ...\] [ON UPDATE ...]`
    pub(super) fn references(&mut self) -> Parse<References> {
        self.expect(Keyword::References)?;
        let table = self.table_name()?;
        let columns = if self.is(TokenKind::LeftParen) { self.name_list()? } else { Vec::new() };
        if self.eat(Keyword::Match)
            && !self.note_any(&[Keyword::Full, Keyword::Partial, Keyword::Simple], Clause::Match)
        {
            return Err(self.unexpected());
        }
        let mut references =
            References { constraint: None, table, columns, on_delete: None, on_update: None };
        while self.at(Keyword::On) && (self.peek_is(Keyword::Delete) || self.peek_is(Keyword::Update)) {
            self.advance();
            let is_delete = self.eat(Keyword::Delete);
            if !is_delete {
                self.expect(Keyword::Update)?;
                // At a column, `ON UPDATE CURRENT_TIMESTAMP` may not follow REFERENCES in MySQL either.
            }
            let action = Some(self.reference_action()?);
            if is_delete { references.on_delete = action } else { references.on_update = action }
        }
        Ok(references)
    }

    pub(super) fn reference_action(&mut self) -> Parse<ReferenceAction> {
        Ok(match self.eat_any(&[Keyword::Restrict, Keyword::Cascade, Keyword::Set, Keyword::No]) {
            Some(Keyword::Restrict) => ReferenceAction::Restrict,
            Some(Keyword::Cascade) => ReferenceAction::Cascade,
            Some(Keyword::No) => self.expect(Keyword::Action).map(|()| ReferenceAction::NoAction)?,
            Some(_) if self.eat(Keyword::Null) => ReferenceAction::SetNull,
            Some(_) => self.expect(Keyword::Default).map(|()| ReferenceAction::SetDefault)?,
            None => return Err(self.unexpected()),
        })
    }

    pub(super) fn create_index(&mut self) -> Parse<Statement> {
        let kind = match self.eat_any(&[Keyword::Unique, Keyword::Fulltext, Keyword::Spatial]) {
            Some(Keyword::Unique) => KeyKind::Unique,
            Some(Keyword::Fulltext) => KeyKind::FullText,
            Some(_) => KeyKind::Spatial,
            None => KeyKind::Index,
        };
        self.expect(Keyword::Index)?;
        let name = Some(self.name()?);
        let mut options = KeyOptions::default();
        self.key_type(&mut options)?;
        self.expect(Keyword::On)?;
        let table = self.table_name()?;
        let parts = self.parenthesized_list(Self::key_part)?;
        self.key_options(&mut options)?;
        if options.parser.is_some() && kind != KeyKind::FullText {
            return Err(self.unexpected());
        }
        let mut online = Online::default();
        while self.online_option(&mut online)? {}
        let key = KeyDef { kind, name, parts, options };
        Ok(Statement::CreateIndex(Box::new(CreateIndex { table, key, online })))
    }
}

/// The foreign key that REFERENCES at a column makes.
pub(super) fn foreign_key_of(column: &crate::ast::ColumnDef) -> Option<KeyDef> {
    let references = column.references.clone()?;
    let part = KeyPart { target: KeyTarget::Column(column.name.clone()), length: None, descending: false };
    let (kind, options) = (KeyKind::Foreign(references), KeyOptions::default());
    Some(KeyDef { kind, name: None, parts: vec![part], options })
}
