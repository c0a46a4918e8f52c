//! The plan of a statement that reads or changes rows, with what is asked before it runs.

use turnstile_engine::session_status::Operation;

use crate::error::SqlResult;
use crate::expr::ComparedConstant;
use crate::plan::change::{ChangePlan, InsertPlan, InsertSource};
use crate::plan::estimate::Dives;
use crate::plan::fits;
use crate::plan::query::QueryPlan;
use crate::plan::uses::UseList;

/// A statement that reads or changes rows, planned, with the columns that it uses.
pub struct RowPlan {
    /// What is done.
    pub kind: PlanKind,
    /// Columns whose privileges are asked for besides those of the tables.
    pub uses: UseList,
    /// Constants that a strict change checks before it begins.
    pub constants: Box<[ComparedConstant]>,
    /// Steps that planning took, where each row goes through as many and they are more than
    /// [`ROW_STEPS_MIN`]; else 0.
    pub row_steps: u32,
    /// Values decided how tables are read: for others it may have to be made anew.
    pub weighed: bool,
}

/// An expression is walked some five times while it is planned; a thousand of them take longer than reading a
/// row.
const ROW_STEPS_MIN: u32 = 8 << 10;

/// What a planned statement does.
pub enum PlanKind {
    /// SELECT
    Query(QueryPlan),
    /// INSERT, REPLACE
    Insert(Box<InsertPlan>),
    /// UPDATE, DELETE; true for UPDATE
    Change(Box<ChangePlan>, bool),
}

impl RowPlan {
    /// A plan, and how much work its rows are.
    pub fn new(kind: PlanKind, uses: UseList, constants: Box<[ComparedConstant]>, steps: u32) -> RowPlan {
        let row_steps = match &kind {
            // The steps are those of many rows.
            PlanKind::Insert(plan) if !matches!(plan.source, InsertSource::Query(_)) => 0,
            _ if steps < ROW_STEPS_MIN => 0,
            _ => steps,
        };
        let weighed = match &kind {
            PlanKind::Query(plan) => fits::is_weighed(plan),
            PlanKind::Insert(plan) => {
                matches!(&plan.source, InsertSource::Query(query) if fits::is_weighed(query))
            }
            PlanKind::Change(plan, _) => fits::is_select_weighed(&plan.select),
        };
        RowPlan { kind, uses, constants, row_steps, weighed }
    }

    /// Whether it reads as few rows for these values as it did for those it was made for.
    #[cold]
    pub fn fits(&self, dives: Dives<'_>) -> bool {
        match &self.kind {
            PlanKind::Query(plan) => fits::fits(plan, dives),
            PlanKind::Insert(plan) => match &plan.source {
                InsertSource::Query(query) => fits::fits(query, dives),
                _ => true,
            },
            PlanKind::Change(plan, _) => fits::select_fits(&plan.select, dives),
        }
    }

    /// The table that it changes, or the first of them.
    pub fn changed_table(&self) -> Option<&str> {
        match &self.kind {
            PlanKind::Query(_) => None,
            PlanKind::Insert(insert) => Some(insert.table.name()),
            PlanKind::Change(change, _) => change.targets.first().map(|target| target.table.name()),
        }
    }

    /// Of a disk without room the table is told.
    pub fn naming_table<T>(&self, result: SqlResult<T>) -> SqlResult<T> {
        result.map_err(|error| match self.changed_table() {
            Some(table) => error.of_table(table),
            None => error,
        })
    }

    /// What the statement does, for monitoring.
    pub fn operation(&self) -> Operation {
        match &self.kind {
            PlanKind::Query(_) => Operation::FetchingRows,
            PlanKind::Insert(_) => Operation::Inserting,
            PlanKind::Change(..) => Operation::UpdatingOrDeleting,
        }
    }

    /// Whether a READ ONLY transaction refuses it: changes, and FOR UPDATE, which announces one. Temporary
    /// tables may be changed.
    pub fn changes_for_others(&self) -> bool {
        match &self.kind {
            PlanKind::Query(query) => query.locks_exclusively(),
            PlanKind::Insert(plan) => !plan.table.temporary,
            PlanKind::Change(plan, _) => plan.targets.iter().any(|target| !target.table.temporary),
        }
    }

    /// Whether `sql_safe_updates` refuses it.
    pub fn changes_without_key(&self) -> bool {
        matches!(&self.kind, PlanKind::Change(plan, _) if !plan.is_bounded())
    }

    /// Whether values that do not fit end the statement, as far as its own words go.
    pub fn changes_strictly(&self) -> bool {
        match &self.kind {
            PlanKind::Query(_) => false,
            PlanKind::Insert(plan) => !plan.ignore,
            PlanKind::Change(plan, _) => !plan.ignore,
        }
    }
}
