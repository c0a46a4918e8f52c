//! When a row asks for a wait. SLEEP and GET_LOCK have places in the tuple that are filled before the
//! expression around them is evaluated, as those of sub-queries are; but a lock that nobody asked for must
//! not be taken. So each wait has guards: what must hold of the values before it in the same expression for
//! the evaluation to come to its place.
//!
//! | in | the wait is asked for if |
//! |---|---|
//! | a part of AND | no part before it is false |
//! | a part of OR | no part before it is true |
//! | a condition of IF or CASE | none before it is true |
//! | a value of IF or CASE | its own condition is true, and none before that |
//! | a candidate of IN | the operand is not NULL and equal to none before it |
//! | an argument of COALESCE or IFNULL | those before it are NULL |
//! | a candidate of FIELD | as one of IN |
//! | an argument of ELT | the first one is its number |
//! | any other place | always |
//!
//! A guard is evaluated besides the expression that it was taken from. Where that would show (an assignment,
//! RELEASE_LOCK, RAND), the wait has none and always happens, and so does one that stands in two places.
//! Behind more than `GUARDS_MAX` conditions none may stand: each is worked out again for each wait.

use std::sync::Arc;

use turnstile_expr::expr::{EvalContext, Expr, Row};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::block::Block;
use super::query::{QueryPlan, Subquery, SubqueryKind, placed_at};

/// What is asked of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    True,
    NotTrue,
    NotFalse,
    Null,
    NotNull,
}

/// What must hold of a value before a wait is asked for.
#[derive(Clone, Debug)]
pub struct Guard {
    expr: Arc<Expr>,
    test: Test,
}

impl Guard {
    /// Whether it lets the wait happen.
    ///
    /// # Errors
    /// Those of the value.
    pub fn holds(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<bool> {
        Ok(match self.test {
            Test::Null => self.expr.eval(row, context)?.is_null(),
            Test::NotNull => !self.expr.eval(row, context)?.is_null(),
            Test::True => self.expr.eval_truth(row, context)? == Some(true),
            Test::NotTrue => self.expr.eval_truth(row, context)? != Some(true),
            Test::NotFalse => self.expr.eval_truth(row, context)? != Some(false),
        })
    }
}

/// Most guards of one wait.
const GUARDS_MAX: usize = 100;

/// Functions that may not be called once more than they are written.
const CALLED_ONCE: &[&str] =
    &["last_insert_id", "rand", "random_bytes", "release_all_locks", "release_lock", "uuid", "uuid_short"];

fn may_be_repeated(expr: &Expr) -> bool {
    let mut may = true;
    expr.walk(&mut |one| match one {
        Expr::AssignVariable { .. } | Expr::Benchmark(_) => may = false,
        Expr::Call(call) => may &= !CALLED_ONCE.contains(&call.name),
        _ => {}
    });
    may
}

/// Whether it waits: itself, or what a query in its place works out.
fn is_wait(subquery: &Subquery) -> bool {
    let inside =
        |plan: &QueryPlan| matches!(plan, QueryPlan::Select(plan) if plan.subqueries.iter().any(is_wait));
    matches!(subquery.kind, SubqueryKind::Sleep(_) | SubqueryKind::GetLock { .. }) || inside(&subquery.plan)
}

/// The way from an expression's root to the waits in it.
struct Walk<'s> {
    subqueries: &'s [Subquery],
    /// What must hold for the evaluation to come here.
    guards: Vec<Guard>,
    /// Operands that vary of the CASEs around, which guards compare.
    operands: Vec<Expr>,
    /// The waits that were met, by number, with what must hold for each.
    found: Vec<(usize, Vec<Guard>)>,
}

impl Walk<'_> {
    fn visit(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(position) => self.place(*position),
            Expr::And(parts) => self.in_turn(parts, Test::NotFalse),
            Expr::Or(parts) => self.in_turn(parts, Test::NotTrue),
            Expr::Coalesce { arguments, .. } => self.in_turn(arguments, Test::Null),
            Expr::InList { operand, list, collation, .. } => self.candidates(operand, list, *collation),
            Expr::Call(call) => match (call.name, &call.arguments[..]) {
                ("field", [operand, list @ ..]) => self.candidates(operand, list, call.collation),
                ("elt", [number, list @ ..]) => self.numbered(number, list),
                (_, arguments) => arguments.iter().for_each(|argument| self.visit(argument)),
            },
            Expr::WithOperand { operand, of } => {
                self.visit(operand);
                self.operands.push((**operand).clone());
                self.visit(of);
                self.operands.pop();
            }
            Expr::Case { branches, otherwise, .. } => {
                let outside = self.guards.len();
                for (when, then) in branches {
                    self.visit(when);
                    let own = self.guarding(when.clone());
                    self.guards.push(Guard { expr: own.clone(), test: Test::True });
                    self.visit(then);
                    self.guards.pop();
                    self.guards.push(Guard { expr: own, test: Test::NotTrue });
                }
                if let Some(otherwise) = otherwise {
                    self.visit(otherwise);
                }
                self.guards.truncate(outside);
            }
            other => other.children().into_iter().for_each(|child| self.visit(child)),
        }
    }

    /// An operand, and values each of which is asked for if it is equal to none before.
    fn candidates(&mut self, operand: &Expr, list: &[Expr], collation: Collation) {
        self.visit(operand);
        let outside = self.guards.len();
        self.guards.push(Guard { expr: self.guarding(operand.clone()), test: Test::NotNull });
        for candidate in list {
            self.visit(candidate);
            let (operand, list) = (Box::new(operand.clone()), vec![candidate.clone()]);
            let equal = Expr::InList { operand, list, collation, negated: false };
            self.guards.push(Guard { expr: self.guarding(equal), test: Test::NotTrue });
        }
        self.guards.truncate(outside);
    }

    /// A number, and values of which the one with this number is asked for.
    fn numbered(&mut self, number: &Expr, list: &[Expr]) {
        self.visit(number);
        for (nth, value) in (1i64..).zip(list) {
            let operand =
                Box::new(Expr::Coerce { operand: Box::new(number.clone()), to: ColumnType::BIGINT });
            let list = vec![Expr::int(nth)];
            let asked = Expr::InList { operand, list, collation: Collation::Binary, negated: false };
            self.guards.push(Guard { expr: self.guarding(asked), test: Test::True });
            self.visit(value);
            self.guards.pop();
        }
    }

    /// What a guard evaluates: an expression with the operands that it compares.
    fn guarding(&self, expr: Expr) -> Arc<Expr> {
        let with =
            |of, operand: &Expr| Expr::WithOperand { operand: Box::new(operand.clone()), of: Box::new(of) };
        Arc::new(self.operands.iter().rev().fold(expr, with))
    }

    /// Parts each of which is evaluated if those before it pass a test.
    fn in_turn(&mut self, parts: &[Expr], test: Test) {
        let outside = self.guards.len();
        for part in parts {
            self.visit(part);
            self.guards.push(Guard { expr: self.guarding(part.clone()), test });
        }
        self.guards.truncate(outside);
    }

    fn place(&mut self, position: usize) {
        let Some(nth) = placed_at(self.subqueries, position) else { return };
        if is_wait(&self.subqueries[nth]) {
            let kept = self.guards.len().min(GUARDS_MAX + 1);
            self.found.push((nth, self.guards[..kept].to_vec()));
        } else if let SubqueryKind::Value(value) = &self.subqueries[nth].kind {
            self.visit(value);
        }
    }
}

impl Block<'_, '_> {
    /// Notes when the waits that have been placed since there were `before` sub-queries are asked for by an
    /// expression that was just bound.
    pub(super) fn guard_waits(&mut self, before: usize, root: &Expr) -> SqlResult<()> {
        if !self.subqueries[before..].iter().any(is_wait) {
            return Ok(());
        }
        let mut walk = Walk {
            subqueries: &self.subqueries,
            guards: Vec::new(),
            operands: Vec::new(),
            found: Vec::new(),
        };
        walk.visit(root);
        let mut found = walk.found;
        found.sort_by_key(|(nth, _)| *nth);
        for alike in found.chunk_by(|one, other| one.0 == other.0) {
            let [(nth, guards)] = alike else { continue };
            if guards.len() > GUARDS_MAX {
                return Err(SqlError::not_supported_yet("SLEEP or GET_LOCK behind so many conditions"));
            }
            if *nth >= before && guards.iter().all(|guard| may_be_repeated(&guard.expr)) {
                self.guard(*nth, guards.clone());
            }
        }
        Ok(())
    }

    fn guard(&mut self, nth: usize, guards: Vec<Guard>) {
        let inputs: Vec<usize> = guards.iter().flat_map(|guard| guard.expr.columns()).collect();
        let reads = self.reads_of(inputs.clone());
        let wait = &mut self.subqueries[nth];
        for (all, more) in [(&mut wait.inputs, inputs), (&mut wait.reads, reads)] {
            all.extend(more);
            all.sort_unstable();
            all.dedup();
        }
        wait.guards = guards;
        wait.correlated = true;
    }
}
