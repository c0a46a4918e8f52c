//! Windows: the rows that a window function sees.

use super::{Expr, IntervalUnit, Name, OrderItem};

/// `OVER ...`
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Over {
    /// `OVER w`: a window of the WINDOW clause as it is.
    Named(Name),
    /// `OVER (...)`
    Window(Window),
}

/// `([base] [PARTITION BY ...] [ORDER BY ...] [frame])`
#[derive(Debug, Clone, Default, PartialEq, Hash)]
pub struct Window {
    /// The window of the WINDOW clause that it adds to.
    pub base: Option<Name>,
    /// PARTITION BY; empty when absent.
    pub partition: Vec<Expr>,
    /// ORDER BY; empty when absent.
    pub order: Vec<OrderItem>,
    /// The frame, when written.
    pub frame: Option<Frame>,
}

/// `ROWS | RANGE BETWEEN start AND end`
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Frame {
    /// RANGE: bounds are values of the key of ORDER BY, and CURRENT ROW is all rows with the same one.
    pub by_value: bool,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
}

/// An end of a frame.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING
    First,
    /// `n PRECEDING`, `INTERVAL n unit PRECEDING`
    Before(Expr, Option<IntervalUnit>),
    /// CURRENT ROW
    Current,
    /// `n FOLLOWING`, `INTERVAL n unit FOLLOWING`
    After(Expr, Option<IntervalUnit>),
    /// UNBOUNDED FOLLOWING
    Last,
}

impl Window {
    /// Calls `visit` for the expressions in it.
    pub fn each<'w>(&'w self, visit: &mut dyn FnMut(&'w Expr)) {
        self.partition.iter().for_each(&mut *visit);
        self.order.iter().for_each(|item| visit(&item.expr));
        for bound in self.frame.iter().flat_map(|frame| [&frame.start, &frame.end]) {
            if let FrameBound::Before(amount, _) | FrameBound::After(amount, _) = bound {
                visit(amount);
            }
        }
    }

    /// The same, to change them.
    pub fn each_mut<E>(&mut self, visit: &mut dyn FnMut(&mut Expr) -> Result<(), E>) -> Result<(), E> {
        self.partition.iter_mut().try_for_each(&mut *visit)?;
        self.order.iter_mut().try_for_each(|item| visit(&mut item.expr))?;
        for bound in self.frame.iter_mut().flat_map(|frame| [&mut frame.start, &mut frame.end]) {
            if let FrameBound::Before(amount, _) | FrameBound::After(amount, _) = bound {
                visit(amount)?;
            }
        }
        Ok(())
    }
}
