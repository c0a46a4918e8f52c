//! Which rows of its partition a row's frame has.

use std::cmp::Ordering;
use std::ops::Range;

use turnstile_expr::expr::{EvalContext, Expr, NoRow};
use turnstile_plan::plan::windows::{Bound, WindowFunction};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, to_i64};

use super::Sorted;
use crate::exec::order::compare_values;

/// A frame with its distances worked out.
pub(super) struct Frame<'w> {
    start: &'w Bound,
    end: &'w Bound,
    /// Rows from the row to the start, and to the end, where they are counted.
    rows: (usize, usize),
    /// The key that bounds by value are of.
    key: usize,
}

impl Frame<'_> {
    /// The frame of a function; `key`: the first key of ORDER BY. Error 3586 if a distance is negative or
    /// NULL.
    pub(super) fn of<'w>(
        function: &'w WindowFunction,
        key: usize,
        context: &EvalContext<'_>,
    ) -> SqlResult<Frame<'w>> {
        let (start, end) = (&function.frame.0, &function.frame.1);
        let distance = |bound: &Bound| distance(bound, &function.window, context);
        Ok(Frame { start, end, rows: (distance(start)?, distance(end)?), key })
    }

    /// The rows of a row's frame; `peers`: those with its keys.
    pub(super) fn rows(
        &self,
        sorted: &Sorted,
        row: usize,
        peers: &Range<usize>,
        context: &EvalContext<'_>,
    ) -> SqlResult<Range<usize>> {
        let part = &sorted.part;
        let start = match self.start {
            Bound::Edge => part.start,
            Bound::Row => row,
            Bound::Peers => peers.start,
            Bound::Rows { after: false, .. } => row.saturating_sub(self.rows.0).max(part.start),
            Bound::Rows { .. } => row.saturating_add(self.rows.0).min(part.end),
            Bound::Value { bound, .. } => match self.search(sorted, row, bound, false, context)? {
                Some(start) => start,
                None => peers.start,
            },
        };
        let end = match self.end {
            Bound::Edge => part.end,
            Bound::Row => row + 1,
            Bound::Peers => peers.end,
            Bound::Rows { after: false, .. } => (row + 1).saturating_sub(self.rows.1).max(part.start),
            Bound::Rows { .. } => (row + 1).saturating_add(self.rows.1).min(part.end),
            Bound::Value { bound, .. } => match self.search(sorted, row, bound, true, context)? {
                Some(end) => end,
                None => peers.end,
            },
        };
        Ok(if start < end { start..end } else { start..start })
    }

    /// The first row whose key is not before the one at a distance, or, `behind`, is behind it. None for a
    /// row whose key is NULL, which is at no distance from any other.
    fn search(
        &self,
        sorted: &Sorted,
        row: usize,
        bound: &Expr,
        behind: bool,
        context: &EvalContext<'_>,
    ) -> SqlResult<Option<usize>> {
        let key = |row: usize| &sorted.rows[row].0[self.key];
        if key(row).is_null() {
            return Ok(None);
        }
        let bound = sorted.value(bound, row, context)?;
        let (descending, collation) = sorted.directions[self.key];
        let is_before = |row: usize| {
            let order = compare_values(key(row), &bound, collation);
            let order = if descending { order.reverse() } else { order };
            order == Ordering::Less || behind && order == Ordering::Equal
        };
        let (mut low, mut high) = (sorted.part.start, sorted.part.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        Ok(Some(low))
    }
}

fn distance(bound: &Bound, window: &str, context: &EvalContext<'_>) -> SqlResult<usize> {
    let (amount, counts) = match bound {
        Bound::Rows { amount, .. } => (amount, true),
        Bound::Value { amount, .. } => (amount, false),
        Bound::Edge | Bound::Row | Bound::Peers => return Ok(0),
    };
    let wrong = || SqlError::window_frame_illegal(window);
    let value = amount.eval(&NoRow, context)?;
    let is_negative = match &value {
        Value::Null => true,
        Value::Int(number) => *number < 0,
        Value::Double(number) => *number < 0.0,
        Value::Decimal(number) => number.is_negative(),
        _ => false,
    };
    match (is_negative, &value) {
        (true, _) => Err(wrong()),
        (false, Value::Int(_) | Value::UInt(_)) if counts => {
            Ok(usize::try_from(to_i64(&value, context)?).unwrap_or(usize::MAX))
        }
        (false, _) if counts => Err(wrong()),
        (false, _) => Ok(0),
    }
}
