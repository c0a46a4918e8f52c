//! Window functions: what `OVER` means, and a place in the tuple for what each function gives.
//!
//! They come behind grouping and HAVING and before DISTINCT and ORDER BY. Functions whose windows have the
//! same PARTITION BY and ORDER BY share one sort of the rows ([`WindowPlan`]).

mod shape;

use turnstile_expr::expr::{AggregateKind, Expr, ParameterKind, Typed};
use turnstile_expr::functions::any_whole;
use turnstile_syntax::ast::{self, BinaryOp, Frame, FrameBound, FunctionCall, Over, Window};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};

use super::aggregate;
use super::block::Block;
use super::inner::as_shown;
use super::query::OrderKey;
use super::scope::AggregateUse;
use super::seen::Seen;

pub use shape::{Bound, WindowFunction, WindowKind, WindowPlan};

/// The windows of a block.
#[derive(Default)]
pub struct Windows {
    /// WINDOW
    pub named: Vec<(ast::Name, Window)>,
    /// What is planned so far, with what it is sorted by as it is written.
    planned: Vec<(Vec<ast::Expr>, Vec<ast::OrderItem>, WindowPlan)>,
    /// Functions that have their places.
    seen: Seen<FunctionCall, Typed>,
    /// A part of a window function is bound, which has none in it.
    inside: Inside,
}

/// Where in a window function.
#[derive(Default, Clone, PartialEq)]
enum Inside {
    #[default]
    Nothing,
    Arguments,
    /// In the specification of a window.
    Window(Box<str>),
}

/// A window with what it adds to put together.
struct Whole {
    name: Box<str>,
    partition: Vec<ast::Expr>,
    order: Vec<ast::OrderItem>,
    frame: Option<Frame>,
}

const UNNAMED: &str = "<unnamed window>";

/// Whether an expression has a window function of its own.
pub fn has_window(expr: &ast::Expr) -> bool {
    walk::any(expr, &|one| matches!(one, ast::Expr::Function(call) if call.over.is_some()))
}

/// Windows that a block may have, MySQL's limit: those of WINDOW, and one for each `OVER (...)`.
const WINDOWS_MAX: usize = 127;

/// Error 4086 for a block with more windows than that. It goes before all else: a chain of windows is
/// followed to its end, and each is compared with the others.
pub fn check_count(select: &ast::Select, order_by: &[ast::OrderItem]) -> SqlResult<()> {
    let mut count = select.windows.len();
    let mut add = |one: &ast::Expr| {
        let own =
            matches!(one, ast::Expr::Function(call) if matches!(call.over.as_deref(), Some(Over::Window(_))));
        count += usize::from(own);
    };
    for item in &select.items {
        if let ast::SelectItem::Expr { expr, .. } = item {
            walk::each(expr, &mut add);
        }
    }
    order_by.iter().for_each(|item| walk::each(&item.expr, &mut add));
    if count > WINDOWS_MAX { Err(SqlError::too_many_windows(count, WINDOWS_MAX)) } else { Ok(()) }
}

/// Checks the WINDOW clause, what nobody uses of it too.
pub fn check_named(block: &mut Block<'_, '_>) -> SqlResult<()> {
    let windows = &block.windows;
    for (nth, (name, _)) in windows.named.iter().enumerate() {
        if windows.named[..nth].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            return Err(SqlError::duplicate_window(name));
        }
    }
    let all = windows.named.iter().map(|(name, _)| named(windows, name, 0));
    for whole in all.collect::<SqlResult<Vec<_>>>()? {
        block.windows.inside = Inside::Window(whole.name.clone());
        let checked = window(block, &whole);
        block.windows.inside = Inside::Nothing;
        checked?;
    }
    Ok(())
}

fn named(windows: &Windows, name: &str, depth: usize) -> SqlResult<Whole> {
    let found = windows.named.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    let (name, window) = found.ok_or_else(|| SqlError::no_such_window(name))?;
    if depth > windows.named.len() {
        return Err(SqlError::window_circularity());
    }
    whole(windows, window, name, depth + 1)
}

fn whole(windows: &Windows, window: &Window, name: &str, depth: usize) -> SqlResult<Whole> {
    let own = Whole {
        name: name.into(),
        partition: window.partition.clone(),
        order: window.order.clone(),
        frame: window.frame.clone(),
    };
    let Some(base) = &window.base else { return Ok(own) };
    let base = named(windows, base, depth)?;
    if !own.partition.is_empty() {
        return Err(SqlError::window_child_partitions());
    }
    if base.frame.is_some() {
        return Err(SqlError::window_base_has_frame(&base.name));
    }
    if !own.order.is_empty() && !base.order.is_empty() {
        return Err(SqlError::window_orders_twice(name, &base.name));
    }
    let order = if own.order.is_empty() { base.order } else { own.order };
    Ok(Whole { partition: base.partition, order, ..own })
}

impl Windows {
    /// The plans of windows that functions use.
    pub fn take_planned(&mut self) -> Vec<WindowPlan> {
        let planned = std::mem::take(&mut self.planned).into_iter().map(|(.., plan)| plan);
        planned.filter(|plan| !plan.functions.is_empty()).collect()
    }
}

/// Gives a window function its place.
pub fn place(block: &mut Block<'_, '_>, call: &FunctionCall) -> SqlResult<Typed> {
    let clause = block.scope.clause.get();
    if let Inside::Window(name) = &block.windows.inside {
        return Err(SqlError::window_nested_in_window(name));
    }
    let allowed = matches!(clause, "field list" | "order clause")
        && block.takes_windows
        && block.windows.inside == Inside::Nothing
        && block.scope.aggregates.get() != AggregateUse::Nested
        && block.scope.arguments.get().is_none();
    if !allowed {
        return Err(SqlError::window_function_here(&call.name));
    }
    if let Some(known) = block.windows.seen.alike(call).next() {
        return Ok(known.clone());
    }
    if call.distinct {
        return Err(SqlError::not_supported_yet("<window function>(DISTINCT ..)"));
    }
    if &*call.name == "group_concat" {
        return Err(SqlError::not_supported_yet("group_concat as window function"));
    }
    let whole = match call.over.as_deref() {
        Some(Over::Named(name)) => named(&block.windows, name, 0)?,
        Some(Over::Window(window)) => whole(&block.windows, window, UNNAMED, 0)?,
        None => return Err(SqlError::window_function_here(&call.name)),
    };
    block.windows.inside = Inside::Window(whole.name.clone());
    let planned = window(block, &whole);
    block.scope.clause.set(clause);
    block.windows.inside = Inside::Arguments;
    let bound = planned.and_then(|planned| Ok((planned, function(block, call)?)));
    block.windows.inside = Inside::Nothing;
    block.scope.clause.set(clause);
    let ((at, frame), (kind, typed)) = bound?;
    let position = block.scope.reserve(1);
    let place = Typed { expr: Expr::Column(position), kind: typed };
    let place = match &kind {
        WindowKind::Aggregate(one) if one.own_digits => as_shown(place, Some(one.kind)),
        _ => place,
    };
    let function = WindowFunction { position, kind, frame, window: whole.name };
    block.windows.planned[at].2.functions.push(function);
    block.windows.seen.push(call.clone(), place.clone());
    Ok(place)
}

/// The plan that sorts as a window asks, a new one if there is none, and the window's frame.
fn window(block: &mut Block<'_, '_>, whole: &Whole) -> SqlResult<(usize, (Bound, Bound))> {
    let by_position = |expr: &ast::Expr| matches!(expr, ast::Expr::Literal(ast::Literal::Int(_)));
    if whole.partition.iter().chain(whole.order.iter().map(|item| &item.expr)).any(by_position) {
        return Err(SqlError::window_by_position(&whole.name));
    }
    let same = |(partition, order, _): &(Vec<ast::Expr>, Vec<ast::OrderItem>, WindowPlan)| {
        *partition == whole.partition && *order == whole.order
    };
    let at = match block.windows.planned.iter().position(same) {
        Some(at) => at,
        None => {
            let mut keys = Vec::new();
            for expr in &whole.partition {
                keys.push(key(block, expr, false, "window partition by")?);
            }
            for item in &whole.order {
                keys.push(key(block, &item.expr, item.descending, "window order by")?);
            }
            let plan = WindowPlan { keys, partition: whole.partition.len(), functions: Vec::new() };
            block.windows.planned.push((whole.partition.clone(), whole.order.clone(), plan));
            block.windows.planned.len() - 1
        }
    };
    Ok((at, frame(block, whole)?))
}

fn key(
    block: &mut Block<'_, '_>,
    expr: &ast::Expr,
    descending: bool,
    clause: &'static str,
) -> SqlResult<OrderKey> {
    let typed = turnstile_expr::functions::in_order(block.bind(expr, clause)?);
    let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
    Ok(OrderKey { expr: typed.expr, descending, collation })
}

fn frame(block: &mut Block<'_, '_>, whole: &Whole) -> SqlResult<(Bound, Bound)> {
    let Some(frame) = &whole.frame else {
        return Ok((Bound::Edge, if whole.order.is_empty() { Bound::Edge } else { Bound::Peers }));
    };
    let Frame { by_value, start, end } = frame;
    match (start, end) {
        (FrameBound::Last, _) => return Err(SqlError::window_frame_start(&whole.name)),
        (_, FrameBound::First) => return Err(SqlError::window_frame_end(&whole.name)),
        (FrameBound::After(..), FrameBound::Before(..) | FrameBound::Current)
        | (FrameBound::Current, FrameBound::Before(..)) => {
            return Err(SqlError::window_frame_illegal(&whole.name));
        }
        _ => {}
    }
    Ok((bound(block, whole, start, *by_value)?, bound(block, whole, end, *by_value)?))
}

fn bound(block: &mut Block<'_, '_>, whole: &Whole, bound: &FrameBound, by_value: bool) -> SqlResult<Bound> {
    let (amount, unit, after) = match bound {
        FrameBound::First | FrameBound::Last => return Ok(Bound::Edge),
        FrameBound::Current => return Ok(if by_value { Bound::Peers } else { Bound::Row }),
        FrameBound::Before(amount, unit) => (amount, unit, false),
        FrameBound::After(amount, unit) => (amount, unit, true),
    };
    if !by_value && unit.is_some() {
        return Err(SqlError::window_rows_by_interval(&whole.name));
    }
    let whole_number =
        |expr: &ast::Expr| !matches!(expr, ast::Expr::Literal(one) if !matches!(one, ast::Literal::Int(_)));
    if !by_value && !whole_number(amount) {
        return Err(SqlError::window_frame_illegal(&whole.name));
    }
    block.settle(&[amount], ParameterKind::Int);
    let counted = block.bind(amount, "window frame")?.expr;
    if !by_value {
        return Ok(Bound::Rows { amount: counted, after });
    }
    let [item] = whole.order.as_slice() else { return Err(SqlError::window_range_key(&whole.name)) };
    let kind = block.bind(&item.expr, "window order by")?.kind.column;
    let moment = kind.is_temporal() && !matches!(kind, ColumnType::Year);
    match (moment, unit) {
        (true, None) => return Err(SqlError::window_range_of_moments(&whole.name)),
        (false, _) if !kind.is_numeric() => return Err(SqlError::window_range_key(&whole.name)),
        (false, Some(_)) => return Err(SqlError::window_range_of_numbers(&whole.name)),
        _ => {}
    }
    let further = after != item.descending;
    let (key, amount) = (Box::new(item.expr.clone()), Box::new(amount.clone()));
    let distant = match unit {
        Some(unit) => ast::Expr::DateArithmetic { date: key, amount, unit: *unit, subtract: !further },
        None => {
            // Whole numbers without sign have no room below zero; exact ones with a place have.
            let zero = Box::new(ast::Expr::Literal(ast::Literal::Decimal("0.0".into())));
            let exact = kind.is_integer() || matches!(kind, ColumnType::Decimal { .. });
            let left = match exact {
                true => Box::new(ast::Expr::Binary { op: BinaryOp::Add, left: key, right: zero }),
                false => key,
            };
            let op = if further { BinaryOp::Add } else { BinaryOp::Subtract };
            ast::Expr::Binary { op, left, right: amount }
        }
    };
    let bound = block.bind(&distant, "window frame")?.expr;
    Ok(Bound::Value { amount: counted, bound, after })
}

/// What a function is, and the type of what it gives.
fn function(block: &mut Block<'_, '_>, call: &FunctionCall) -> SqlResult<(WindowKind, ExprType)> {
    let number = || ExprType::not_null(any_whole(true));
    let share = || ExprType::not_null(ColumnType::DOUBLE);
    let plain = FunctionCall { over: None, ..call.clone() };
    if AggregateKind::of(&plain).is_some() {
        let (aggregate, kind) = aggregate::build(block, &plain)?;
        return Ok((WindowKind::Aggregate(Box::new(aggregate)), kind));
    }
    let mut arguments = call.arguments.iter();
    let missing = || SqlError::wrong_parameter_count(&call.name);
    let mut next = || arguments.next().ok_or_else(missing);
    Ok(match &*call.name {
        "row_number" => (WindowKind::RowNumber, number()),
        "rank" => (WindowKind::Rank, number()),
        "dense_rank" => (WindowKind::DenseRank, number()),
        "percent_rank" => (WindowKind::PercentRank, share()),
        "cume_dist" => (WindowKind::CumeDist, share()),
        "ntile" => (WindowKind::Ntile(count(block, next()?)?), number()),
        "first_value" | "last_value" => {
            let (value, kind) = value_of(block, next()?)?;
            let first = &*call.name == "first_value";
            (if first { WindowKind::First(value) } else { WindowKind::Last(value) }, kind)
        }
        "nth_value" => {
            let (value, kind) = value_of(block, next()?)?;
            (WindowKind::Nth(value, count(block, next()?)?), kind)
        }
        "lag" | "lead" => return shifted(block, call),
        _ => return Err(SqlError::window_function_here(&call.name)),
    })
}

fn shifted(block: &mut Block<'_, '_>, call: &FunctionCall) -> SqlResult<(WindowKind, ExprType)> {
    let back = &*call.name == "lag";
    let missing = || SqlError::wrong_parameter_count(&call.name);
    let value = call.arguments.first().ok_or_else(missing)?;
    let by = call.arguments.get(1).map(|by| count(block, by)).transpose()?;
    let Some(otherwise) = call.arguments.get(2) else {
        let (value, kind) = value_of(block, value)?;
        return Ok((WindowKind::Shifted { value, by, otherwise: None, back }, kind));
    };
    // Both become what one expression is that gives either.
    let either = |first: bool| {
        let truth = ast::Expr::Literal(ast::Literal::Bool(first));
        let arguments = vec![truth, value.clone(), otherwise.clone()];
        ast::Expr::Function(Box::new(FunctionCall { arguments, ..FunctionCall::named("if") }))
    };
    let (value, kind) = value_of(block, &either(true))?;
    let (otherwise, _) = value_of(block, &either(false))?;
    Ok((WindowKind::Shifted { value, by, otherwise: Some(otherwise), back }, kind))
}

/// A value of another row, which may be missing. Whole numbers are announced as the widest.
fn value_of(block: &mut Block<'_, '_>, expr: &ast::Expr) -> SqlResult<(Expr, ExprType)> {
    let clause = block.scope.clause.get();
    let typed = turnstile_expr::expr::with_all_digits(block.bind(expr, clause)?);
    let column = match &typed.kind.column {
        ColumnType::Int { unsigned: true, .. } => ColumnType::BIGINT_UNSIGNED,
        ColumnType::Int { .. } => ColumnType::BIGINT,
        other => super::block::settled(other),
    };
    let kind = ExprType { column, nullable: true, traits: typed.kind.traits };
    Ok((typed.expr, kind))
}

/// A whole number that is the same for all rows.
fn count(block: &mut Block<'_, '_>, expr: &ast::Expr) -> SqlResult<Expr> {
    let clause = block.scope.clause.get();
    block.settle(&[expr], ParameterKind::Int);
    Ok(block.bind(expr, clause)?.expr)
}
