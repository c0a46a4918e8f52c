//! What FROM names: tables, joins, derived tables.

use super::{Parse, ParseErrorKind, Parser};
use crate::ast::{
    Clause, IndexHint, IndexHintKind, Join, JoinCondition, JoinKind, Name, Query, TableFactor, TableName,
    TableRef,
};
use crate::lexer::{Keyword, TokenKind};

/// Tables of one FROM. Whoever plans or runs a join goes through them one inside the other.
pub(super) const TABLES_MAX: usize = 61;

/// What stood in parentheses.
enum Parenthesized {
    Query(Query),
    Tables(TableRef),
}

/// Tables that are joined to one, itself among them.
fn tables_of(one: &TableRef) -> usize {
    match one {
        TableRef::Join(join) => tables_of(&join.left) + tables_of(&join.right),
        TableRef::Table(_) | TableRef::Derived { .. } => 1,
    }
}

impl Parser<'_> {
    /// All of a FROM.
    pub(super) fn table_references(&mut self) -> Parse<Vec<TableRef>> {
        let tables = self.comma_list(Self::table_reference)?;
        self.has_too_many_tables |= tables.iter().map(tables_of).sum::<usize>() > TABLES_MAX;
        Ok(tables)
    }

    /// A table with everything joined to it.
    pub(super) fn table_reference(&mut self) -> Parse<TableRef> {
        self.nested(|parser| {
            let first = parser.table_factor()?;
            parser.joins(first)
        })
    }

    /// Joins wait on a stack for their condition, which is the next ON or USING after their right operand is
    /// complete: `a LEFT JOIN b JOIN c ON x ON y` is `a LEFT JOIN (b JOIN c ON x) ON y`.
    fn joins(&mut self, first: TableRef) -> Parse<TableRef> {
        let mut waiting: Vec<(Operand, JoinKind)> = Vec::new();
        let mut current = Operand { tables: first, joins: 0 };
        let mut join_count = 0;
        loop {
            if let Some((kind, natural)) = self.join_words()? {
                join_count += 1;
                if self.depth + join_count > super::DEPTH_MAX {
                    return Err(self.failure(ParseErrorKind::TooComplex));
                }
                let right = Operand { tables: self.table_factor()?, joins: 0 };
                if natural {
                    current = current.join(right, kind, JoinCondition::Natural);
                } else {
                    waiting.push((current, kind));
                    current = right;
                }
                continue;
            }
            let condition = if waiting.is_empty() { JoinCondition::None } else { self.join_condition()? };
            if condition == JoinCondition::None {
                break;
            }
            if let Some((left, kind)) = waiting.pop() {
                current = left.join(current, kind, condition);
            }
        }
        while let Some((left, kind)) = waiting.pop() {
            if matches!(kind, JoinKind::Left | JoinKind::Right) {
                return Err(self.unexpected());
            }
            current = cross_join(left, current, kind);
        }
        Ok(current.tables)
    }

    fn at_join(&self) -> bool {
        matches!(
            self.keyword(),
            Some(
                Keyword::Join
                    | Keyword::Inner
                    | Keyword::Cross
                    | Keyword::Left
                    | Keyword::Right
                    | Keyword::Natural
                    | Keyword::StraightJoin
            )
        )
    }

    /// The words of a join; true with NATURAL.
    fn join_words(&mut self) -> Parse<Option<(JoinKind, bool)>> {
        if !self.at_join() {
            return Ok(None);
        }
        if self.eat(Keyword::StraightJoin) {
            return Ok(Some((JoinKind::Straight, false)));
        }
        let natural = self.eat(Keyword::Natural);
        if natural && self.at(Keyword::Cross) {
            return Err(self.unexpected());
        }
        let kind = match self.eat_any(&[Keyword::Inner, Keyword::Cross, Keyword::Left, Keyword::Right]) {
            Some(Keyword::Left) => JoinKind::Left,
            Some(Keyword::Right) => JoinKind::Right,
            _ => JoinKind::Inner,
        };
        if kind != JoinKind::Inner {
            self.eat(Keyword::Outer);
        }
        self.expect(Keyword::Join)?;
        Ok(Some((kind, natural)))
    }

    fn join_condition(&mut self) -> Parse<JoinCondition> {
        // `INSERT ... SELECT ... FROM a JOIN b ON DUPLICATE KEY UPDATE`: that ON is not the join's.
        if self.at(Keyword::On) && !self.peek_is(Keyword::Duplicate) {
            self.advance();
            return Ok(JoinCondition::On(self.expression()?));
        }
        if self.eat(Keyword::Using) {
            return Ok(JoinCondition::Using(self.name_list()?));
        }
        Ok(JoinCondition::None)
    }

    fn table_factor(&mut self) -> Parse<TableRef> {
        let lateral = self.eat(Keyword::Lateral);
        if !lateral && self.at(Keyword::JsonTable) {
            return self.json_table();
        }
        if self.is(TokenKind::LeftParen) {
            return match self.nested(Self::parenthesized_tables)? {
                Parenthesized::Query(query) => self.derived(query, lateral),
                Parenthesized::Tables(tables) => Ok(tables),
            };
        }
        if lateral {
            return Err(self.unexpected());
        }
        if self.is(TokenKind::LeftBrace) {
            return self.odbc_join();
        }
        let name = self.table_name()?;
        self.refuse_partitions_of_table()?;
        let alias = self.table_alias()?;
        let hints = self.index_hints()?;
        Ok(TableRef::Table(TableFactor { name, alias, hints }))
    }

    /// `{oj a LEFT JOIN b ON ...}`
    fn odbc_join(&mut self) -> Parse<TableRef> {
        self.advance();
        self.name()?;
        let tables = self.table_reference()?;
        self.expect_kind(TokenKind::RightBrace)?;
        Ok(tables)
    }

    /// `(query)`, `(table references)`
    fn parenthesized_tables(&mut self) -> Parse<Parenthesized> {
        self.expect_kind(TokenKind::LeftParen)?;
        let first = if self.at_query() {
            Parenthesized::Query(self.query()?)
        } else if self.is(TokenKind::LeftParen) {
            match self.nested(Self::parenthesized_tables)? {
                Parenthesized::Query(query) => Parenthesized::Query(self.query_after(query)?),
                tables => tables,
            }
        } else {
            Parenthesized::Tables(self.table_factor()?)
        };
        let first = match first {
            Parenthesized::Query(query) if self.is(TokenKind::RightParen) => {
                self.advance();
                return Ok(Parenthesized::Query(query));
            }
            Parenthesized::Query(query) => self.derived(query, false)?,
            Parenthesized::Tables(tables) => tables,
        };
        let mut tables = self.joins(first)?;
        let mut listed = 0;
        while self.eat_kind(TokenKind::Comma) {
            listed += 1;
            if self.depth + listed > super::DEPTH_MAX {
                return Err(self.failure(ParseErrorKind::TooComplex));
            }
            let right = self.table_reference()?;
            tables = join(tables, right, JoinKind::Inner, JoinCondition::None);
        }
        self.expect_kind(TokenKind::RightParen)?;
        Ok(Parenthesized::Tables(tables))
    }

    fn derived(&mut self, query: Query, lateral: bool) -> Parse<TableRef> {
        let Some(alias) = self.table_alias()? else {
            return Err(self.failure(ParseErrorKind::DerivedWithoutAlias));
        };
        let columns = if self.is(TokenKind::LeftParen) { self.name_list()? } else { Vec::new() };
        Ok(TableRef::Derived { query: Box::new(query), alias, columns, lateral, json_table: None })
    }

    /// `[[AS] alias]`
    pub(super) fn table_alias(&mut self) -> Parse<Option<Name>> {
        if self.eat(Keyword::As) || self.at_name() { self.name().map(Some) } else { Ok(None) }
    }

    fn index_hints(&mut self) -> Parse<Vec<IndexHint>> {
        let mut hints = Vec::new();
        loop {
            let kind = match self.keyword() {
                Some(Keyword::Use) => IndexHintKind::Use,
                Some(Keyword::Force) => IndexHintKind::Force,
                Some(Keyword::Ignore) => IndexHintKind::Ignore,
                _ => return Ok(hints),
            };
            self.advance();
            if self.eat_any(&[Keyword::Index, Keyword::Key]).is_none() {
                return Err(self.unexpected());
            }
            if self.eat(Keyword::For) {
                self.note(Clause::IndexHintScope);
                match self.eat_any(&[Keyword::Join, Keyword::Order, Keyword::Group]) {
                    Some(Keyword::Join) => {}
                    Some(_) => self.expect(Keyword::By)?,
                    None => return Err(self.unexpected()),
                }
            }
            self.expect_kind(TokenKind::LeftParen)?;
            let indexes = if self.is(TokenKind::RightParen) && matches!(kind, IndexHintKind::Use) {
                Vec::new()
            } else {
                self.comma_list(Self::index_name)?
            };
            self.expect_kind(TokenKind::RightParen)?;
            hints.push(IndexHint { kind, indexes });
        }
    }

    /// An index's name; PRIMARY is one.
    pub(super) fn index_name(&mut self) -> Parse<Name> {
        if self.at(Keyword::Primary) { self.any_name() } else { self.name() }
    }

    /// `table[.*]` as a target of a multi-table DELETE.
    pub(super) fn delete_target(&mut self) -> Parse<TableName> {
        let first = self.name()?;
        if !self.eat_kind(TokenKind::Dot) {
            return Ok(TableName { schema: None, table: first });
        }
        if self.eat_kind(TokenKind::Star) {
            return Ok(TableName { schema: None, table: first });
        }
        let table = self.any_name()?;
        if self.eat_kind(TokenKind::Dot) {
            self.expect_kind(TokenKind::Star)?;
        }
        Ok(TableName { schema: Some(first), table })
    }
}

fn join(left: TableRef, right: TableRef, kind: JoinKind, condition: JoinCondition) -> TableRef {
    TableRef::Join(Box::new(Join { left, right, kind, condition }))
}

/// What a join reads, while joins are put together.
struct Operand {
    tables: TableRef,
    /// How many joins down its leftmost table is. Joins in parentheses do not count.
    joins: usize,
}

impl Operand {
    fn join(self, right: Operand, kind: JoinKind, condition: JoinCondition) -> Operand {
        Operand { joins: self.joins + 1, tables: join(self.tables, right.tables, kind, condition) }
    }
}

/// Joins without a condition group to the left, so that later conditions see all tables before them: `left`
/// joins the leftmost table of `right`.
fn cross_join(left: Operand, mut right: Operand, kind: JoinKind) -> Operand {
    right.tables = cross_join_at(left.tables, right.tables, kind, right.joins);
    right.joins += left.joins + 1;
    right
}

fn cross_join_at(left: TableRef, right: TableRef, kind: JoinKind, depth: usize) -> TableRef {
    match (right, depth.checked_sub(1)) {
        (TableRef::Join(mut inner), Some(depth)) => {
            inner.left = cross_join_at(left, inner.left, kind, depth);
            TableRef::Join(inner)
        }
        (leaf, _) => join(left, leaf, kind, JoinCondition::None),
    }
}
