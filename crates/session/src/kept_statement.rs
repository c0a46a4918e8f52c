//! A statement that is kept to run again: prepared, or in the statement cache; with its plans.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;
use turnstile_sys::known::Known;

use crate::ast;
use crate::expr::VariableKind;
use crate::memory::Announced;
use crate::parser::Aside;
use crate::plan::derived::{AllDerived, Kinds};
use crate::plan::parameters::Parameters;
use crate::reads_lock::ReadsLock;
use crate::row_plan::RowPlan;
use crate::used_tables::{Used, of_statement};

/// A prepared statement.
pub struct Statement {
    /// What its text, its tree and its plan hold of the session's memory; dropped before them.
    pub(crate) _charge: Announced,
    /// Its tree.
    pub statement: ast::Statement,
    /// Its `?`, or the literals of a template.
    pub params: usize,
    /// Its parameters have the types of their values: they stand for literals.
    pub(crate) literals: bool,
    /// When its plain reads lock.
    pub(crate) reads: ReadsLock,
    /// The tables it uses, if it reads or changes rows.
    pub(crate) tables: Box<[Used]>,
    /// Its text, for SHOW PROCESSLIST; nothing if the statement cache keeps it.
    pub(crate) text: Option<Arc<[u8]>>,
    /// What it says beside its tree.
    pub(crate) aside: Option<Box<Aside>>,
    /// What it counts by among the prepared statements of all sessions.
    pub(crate) _place: Option<Arc<()>>,
    /// Its plans, and what its parameters are by where they stand.
    pub(crate) plans: Mutex<Plans>,
    /// What its literals say decides what is compared: each text is planned with its own.
    pub(crate) by_value: AtomicBool,
    /// Of a prepared statement: the stamp of the digest it is counted under.
    pub(crate) stamp: AtomicU64,
}

impl Statement {
    /// A statement without a plan yet.
    pub fn new(statement: ast::Statement, params: usize) -> Statement {
        let tables = of_statement(&statement).into();
        Statement {
            reads: ReadsLock::of(&statement),
            statement,
            params,
            literals: false,
            tables,
            text: None,
            aside: None,
            _place: None,
            _charge: Announced::default(),
            plans: Mutex::default(),
            by_value: AtomicBool::new(false),
            stamp: AtomicU64::new(0),
        }
    }

    pub(crate) fn parameters(&self, kinds: &Kinds) -> Parameters {
        match self.literals {
            true if self.by_value.load(Ordering::Relaxed) => Parameters::values(),
            true => Parameters::literals(),
            false => Parameters::of_kinds(kinds.clone()),
        }
    }

    /// The same of a text that says this beside its tree.
    pub fn with_aside(self, aside: Option<&Aside>) -> Statement {
        Statement { aside: aside.map(|aside| Box::new(aside.clone())), ..self }
    }

    /// The statement of a template: its parameters stand for literals.
    pub fn of_template(tree: ast::Statement, literals: usize, aside: Option<Box<Aside>>) -> Statement {
        Statement { literals: true, aside, ..Statement::new(tree, literals) }
    }
}

/// The dictionary's version, and the number of the session's temporary tables: what the names of tables mean.
pub(crate) type Version = (u64, u64);

/// What a plan depends on besides the statement.
#[derive(PartialEq)]
pub(crate) struct PlanKey {
    pub(crate) version: Version,
    pub(crate) schema: Option<Arc<str>>,
    pub(crate) mode: crate::expr::SqlMode,
    pub(crate) collation: crate::collation::Collation,
    /// For TIMESTAMP literals with an offset.
    pub(crate) time_zone: crate::datetime::TimeZone,
    pub(crate) locks_reads: bool,
}

pub(crate) struct Kept {
    pub(crate) key: PlanKey,
    /// Of the parameters it was made for.
    pub(crate) kinds: Kinds,
    /// User variables that it reads, and the kinds it was made for.
    pub(crate) variables: Box<[(Box<str>, VariableKind)]>,
    pub(crate) plan: Known<RowPlan>,
}

/// What is known of a statement that comes again.
#[derive(Default)]
pub(crate) struct Plans {
    /// The dictionary's version that its parameters were looked at with, if they were.
    pub(crate) version: Option<Version>,
    /// What its parameters are by where they stand.
    pub(crate) derived: AllDerived,
    /// Its plans for the kinds of parameters it was run with, the youngest last.
    pub(crate) kept: SmallVec<[Arc<Kept>; 1]>,
}
