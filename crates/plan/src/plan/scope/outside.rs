//! Names that a block finds in the blocks around it.

use turnstile_syntax::ast::{self, ColumnName, FunctionCall};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

use super::{AggregateUse, Reach, Resolved, Scope, Wanted};

/// A block around another one.
#[derive(Clone, Copy)]
pub struct Outside<'p> {
    /// Its names.
    pub scope: &'p Scope<'p>,
    /// Which of them are seen.
    pub reach: Reach,
}

impl Outside<'_> {
    /// The level of the innermost block that is seen.
    pub fn level(&self) -> usize {
        match self.reach {
            Reach::Inside => self.scope.level,
            Reach::Beyond => self.scope.level.saturating_sub(1),
            Reach::From(level) => level,
            // Nobody asks what a block looks for that has nothing to look at.
            Reach::Nothing => 0,
        }
    }
}

impl<'p> Scope<'p> {
    /// What a column name means in the blocks around; `reach`: if it is not this block's own to say.
    pub(super) fn resolve_outside(&self, name: &ColumnName, reach: Option<Reach>) -> SqlResult<Resolved> {
        let seen = self.parent.filter(|outside| outside.reach != Reach::Nothing);
        let Some(outside) = seen else { return Err(self.unknown(name)) };
        let found =
            outside.scope.resolve_for_inner(name, reach.unwrap_or(outside.reach)).map_err(|error| {
                if error.kind() == ErrorKind::UnknownColumn { self.unknown(name) } else { error }
            })?;
        Ok(self.import(found))
    }

    pub(super) fn resolve_for_inner(&self, name: &ColumnName, reach: Reach) -> SqlResult<Resolved> {
        if self.is_within(reach) {
            if let Some(found) = self.read_here(name)? {
                return Ok(found);
            }
            if let Some(found) = self.find_alias(name)? {
                return Ok(found);
            }
            return self.resolve_outside(name, None);
        }
        self.resolve_outside(name, matches!(reach, Reach::From(_)).then_some(reach))
    }

    /// The name of the column that a name means, here or in a block around, with all that a definition keeps
    /// of it.
    pub fn written(&self, name: &ColumnName) -> Option<ColumnName> {
        self.written_within(name, Reach::Inside)
    }

    fn written_within(&self, name: &ColumnName, reach: Reach) -> Option<ColumnName> {
        let within = self.is_within(reach);
        if within && let Ok(Some((nth, at))) = self.look_here(name) {
            return Some(self.tables[nth].written(at));
        }
        let outside = self.parent.filter(|outside| outside.reach != Reach::Nothing)?;
        let passed = if !within && matches!(reach, Reach::From(_)) { reach } else { outside.reach };
        outside.scope.written_within(name, passed)
    }

    pub(super) fn is_within(&self, reach: Reach) -> bool {
        match reach {
            Reach::Inside => true,
            Reach::Beyond | Reach::Nothing => false,
            Reach::From(level) => self.level <= level,
        }
    }

    /// A place here for what has one in the block around.
    pub(super) fn import(&self, outside: Resolved) -> Resolved {
        if self.is_spliced {
            return outside;
        }
        let known = self.outer.borrow().iter().find(|(there, _)| *there == outside.position).copied();
        let position = known.map_or_else(
            || {
                let here = self.reserve(1);
                self.outer.borrow_mut().push((outside.position, here));
                here
            },
            |(_, here)| here,
        );
        Resolved { position, ..outside }
    }

    /// How many blocks out an aggregate's rows are found: those of the innermost block whose columns it
    /// reads. None if it reads no column.
    pub fn aggregate_level(&self, call: &FunctionCall) -> Option<usize> {
        let mut level = None;
        let mut visit = |one: &ast::Expr| {
            let found = match one {
                ast::Expr::Column(name) => self.level_of(name, Reach::Inside),
                one if one.is_query() => Some(0),
                _ => None,
            };
            if let Some(found) = found {
                level = Some(level.map_or(found, |least: usize| least.min(found)));
            }
        };
        for argument in call.arguments.iter().chain(call.order_by.iter().map(|item| &item.expr)) {
            turnstile_syntax::walk::each(argument, &mut visit);
        }
        level
    }

    pub(super) fn level_of(&self, name: &ColumnName, reach: Reach) -> Option<usize> {
        let within = self.is_within(reach);
        if within && !matches!(self.find_here(name), Ok(None)) {
            return Some(0);
        }
        let outside = self.parent.filter(|outside| outside.reach != Reach::Nothing)?;
        let passed = if !within && matches!(reach, Reach::From(_)) { reach } else { outside.reach };
        outside.scope.level_of(name, passed).map(|level| level + 1)
    }

    /// How many blocks out the column is that a place of the tuple holds.
    pub fn level_of_place(&self, position: usize) -> Option<usize> {
        if self.column_at(position).is_some() {
            return Some(0);
        }
        if self.is_spliced {
            return self.parent?.scope.level_of_place(position).map(|level| level + 1);
        }
        let (there, _) = self.outer.borrow().iter().find(|(_, here)| *here == position).copied()?;
        self.parent?.scope.level_of_place(there).map(|level| level + 1)
    }

    /// The place of an aggregate over the rows of the block that is `level` blocks out; None if none may
    /// stand there now.
    pub fn outer_aggregate(&self, call: &FunctionCall, level: usize) -> SqlResult<Option<Resolved>> {
        if let Some(further) = level.checked_sub(1) {
            let Some(outside) = self.parent else { return Ok(None) };
            return Ok(outside.scope.outer_aggregate(call, further)?.map(|found| self.import(found)));
        }
        match self.aggregates.get() {
            AggregateUse::Refused => Ok(None),
            AggregateUse::Nested => Err(SqlError::invalid_group_function_use()),
            AggregateUse::Allowed => {
                let known = self.known_aggregates.borrow();
                if let Some((_, place)) = known.iter().find(|(seen, _)| seen == call) {
                    return Ok(Some(place.clone()));
                }
                *self.wanted.borrow_mut() = Some(Wanted::Aggregate(call.clone()));
                Err(SqlError::invalid_group_function_use())
            }
        }
    }
}
