//! The nodes of a bound expression, and ways through a tree of them.

use std::sync::Arc;

use turnstile_syntax::ast::{IntervalUnit, IsTest, VariableScope};
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::pulse;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::{EvalContext, LOOKED_UP_MIN, Source, VariableKind};
use crate::functions::demand::Demand;

/// `+ - * / DIV %` and the bit operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the operators")]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

impl ArithmeticOp {
    /// True for the bit operators.
    pub fn is_of_bits(self) -> bool {
        use ArithmeticOp as Op;
        matches!(self, Op::BitAnd | Op::BitOr | Op::BitXor | Op::ShiftLeft | Op::ShiftRight)
    }
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the operators")]
pub enum CompareOp {
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A call of a function of values.
pub struct Call {
    /// Name for error messages, lower case.
    pub name: &'static str,
    /// The code.
    pub function: ScalarFunction,
    /// Arguments.
    pub arguments: Vec<Expr>,
    /// Collation for comparisons inside (INSTR, REPLACE, FIELD, ...).
    pub collation: Collation,
    /// Result type.
    pub kind: ColumnType,
    /// True if the same arguments give the same result within one statement.
    pub deterministic: bool,
    /// Which arguments are evaluated; what is not counts as NULL.
    pub(crate) demand: Demand,
    /// The texts of the arguments, where messages show them.
    pub sources: Option<Box<[Source]>>,
}

/// Code of a scalar function: the call, its evaluated arguments, the context.
pub type ScalarFunction = fn(&Call, &[Value], &EvalContext<'_>) -> SqlResult<Value>;

impl Call {
    /// A call that says the same to the same arguments, compares no texts and shows none in messages.
    pub fn new(name: &'static str, function: ScalarFunction, arguments: Vec<Expr>, kind: ColumnType) -> Call {
        let collation = Collation::Binary;
        Call {
            name,
            function,
            arguments,
            collation,
            kind,
            deterministic: true,
            demand: Demand::All,
            sources: None,
        }
    }

    /// The same call, whose texts are of this collation.
    pub(crate) fn comparing_in(self, collation: Collation) -> Call {
        Call { collation, ..self }
    }

    /// The call as an expression.
    pub fn into_expr(self) -> Expr {
        Expr::Call(Arc::new(self))
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("name", &self.name).field("arguments", &self.arguments).finish()
    }
}

impl Clone for Call {
    fn clone(&self) -> Self {
        Call {
            name: self.name,
            function: self.function,
            arguments: self.arguments.clone(),
            collation: self.collation,
            kind: self.kind.clone(),
            deterministic: self.deterministic,
            demand: self.demand,
            sources: self.sources.clone(),
        }
    }
}

/// A bound expression.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are those of the operators")]
pub enum Expr {
    Literal(Value),
    /// Column of the input row.
    Column(usize),
    /// TIMESTAMP column of the input row: UTC there, the session's zone here.
    TimestampColumn(usize),
    /// `?`, from 0.
    Parameter(usize),
    UserVariable(Box<str>),
    AssignVariable {
        name: Box<str>,
        value: Box<Expr>,
        /// What the value makes of the variable.
        kind: Option<VariableKind>,
    },
    SystemVariable {
        scope: VariableScope,
        name: Box<str>,
    },
    Arithmetic {
        op: ArithmeticOp,
        left: Box<Expr>,
        right: Box<Expr>,
        /// What error 1690 shows.
        source: Option<Box<Source>>,
    },
    Negate {
        operand: Box<Expr>,
        /// What error 1690 shows.
        source: Option<Box<Source>>,
    },
    BitNot(Box<Expr>),
    Compare {
        op: CompareOp,
        left: Box<Expr>,
        right: Box<Expr>,
        collation: Collation,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Is {
        operand: Box<Expr>,
        test: IsTest,
        negated: bool,
    },
    Between {
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        collation: Collation,
        negated: bool,
    },
    InList {
        operand: Box<Expr>,
        list: Vec<Expr>,
        collation: Collation,
        negated: bool,
    },
    /// `(a, b) IN ((1, 2), (3, 4))`: each list entry is a row of the operand's width.
    InRows {
        operand: Vec<Expr>,
        list: Vec<Vec<Expr>>,
        collation: Collation,
        negated: bool,
    },
    Like {
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        collation: Collation,
        negated: bool,
    },
    Regexp {
        operand: Box<Expr>,
        pattern: Box<Expr>,
        collation: Collation,
        negated: bool,
    },
    /// `IF`, `CASE WHEN`; results are turned into `kind`.
    Case {
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
        kind: ColumnType,
    },
    /// A CASE whose operand varies: it is worked out once for all comparisons.
    WithOperand {
        operand: Box<Expr>,
        of: Box<Expr>,
    },
    /// That operand, in its comparisons.
    Operand,
    /// `COALESCE`, `IFNULL`.
    Coalesce {
        arguments: Vec<Expr>,
        kind: ColumnType,
    },
    NullIf {
        left: Box<Expr>,
        right: Box<Expr>,
        collation: Collation,
    },
    /// CAST and CONVERT.
    Cast {
        operand: Box<Expr>,
        to: ColumnType,
        /// The result column that it is.
        name: Option<Box<str>>,
    },
    /// Silent conversion to the type agreed on for a set of branches or a result column.
    Coerce {
        operand: Box<Expr>,
        to: ColumnType,
    },
    DateArithmetic {
        date: Box<Expr>,
        amount: Box<Expr>,
        unit: IntervalUnit,
        subtract: bool,
        /// Its text, where a result beyond its type's range is told of with it.
        source: Option<Box<Source>>,
    },
    TimestampDiff {
        unit: IntervalUnit,
        from: Box<Expr>,
        to: Box<Expr>,
    },
    Extract {
        unit: IntervalUnit,
        operand: Box<Expr>,
    },
    Call(Arc<Call>),
    /// BENCHMARK(count, expression), whose second argument is evaluated as often as the first one says.
    Benchmark(Vec<Expr>),
    /// SLEEP(seconds): evaluating it is the executor's job.
    Sleep(Box<Expr>),
    /// A row value; only legal below comparisons and IN, which the builder takes apart.
    Row(Vec<Expr>),
}

impl Expr {
    /// An integer literal.
    pub fn int(value: i64) -> Expr {
        Expr::Literal(Value::Int(value))
    }

    /// Direct children, left to right.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_)
            | Expr::Column(_)
            | Expr::TimestampColumn(_)
            | Expr::Parameter(_)
            | Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::Operand => vec![],
            Expr::AssignVariable { value: operand, .. }
            | Expr::Negate { operand, .. }
            | Expr::BitNot(operand)
            | Expr::Not(operand)
            | Expr::Is { operand, .. }
            | Expr::Cast { operand, .. }
            | Expr::Coerce { operand, .. }
            | Expr::Extract { operand, .. }
            | Expr::Sleep(operand) => vec![operand],
            Expr::Arithmetic { left, right, .. }
            | Expr::Compare { left, right, .. }
            | Expr::Xor(left, right)
            | Expr::NullIf { left, right, .. }
            | Expr::WithOperand { operand: left, of: right }
            | Expr::Regexp { operand: left, pattern: right, .. }
            | Expr::DateArithmetic { date: left, amount: right, .. }
            | Expr::TimestampDiff { from: left, to: right, .. } => vec![left, right],
            Expr::And(parts)
            | Expr::Or(parts)
            | Expr::Row(parts)
            | Expr::Benchmark(parts)
            | Expr::Coalesce { arguments: parts, .. } => parts.iter().collect(),
            Expr::Between { operand, low, high, .. } => vec![operand, low, high],
            Expr::InList { operand, list, .. } => std::iter::once(&**operand).chain(list).collect(),
            Expr::InRows { operand, list, .. } => operand.iter().chain(list.iter().flatten()).collect(),
            Expr::Like { operand, pattern, escape, .. } => {
                [operand, pattern].into_iter().chain(escape).map(|child| &**child).collect()
            }
            Expr::Case { branches, otherwise, .. } => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect()
            }
            Expr::Call(call) => call.arguments.iter().collect(),
        }
    }

    /// The same over columns at other positions. Recurses no deeper than the parser lets.
    pub fn moved(mut self, to: &dyn Fn(usize) -> usize) -> Expr {
        self.each_position(&mut |position| *position = to(*position));
        self
    }

    fn each_position(&mut self, visit: &mut dyn FnMut(&mut usize)) {
        if let Expr::Column(position) | Expr::TimestampColumn(position) = self {
            visit(position);
        }
        for child in self.children_mut() {
            child.each_position(visit);
        }
    }

    /// Direct children, left to right.
    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Literal(_)
            | Expr::Column(_)
            | Expr::TimestampColumn(_)
            | Expr::Parameter(_)
            | Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::Operand => vec![],
            Expr::AssignVariable { value: operand, .. }
            | Expr::Negate { operand, .. }
            | Expr::BitNot(operand)
            | Expr::Not(operand)
            | Expr::Is { operand, .. }
            | Expr::Cast { operand, .. }
            | Expr::Coerce { operand, .. }
            | Expr::Extract { operand, .. }
            | Expr::Sleep(operand) => vec![operand],
            Expr::Arithmetic { left, right, .. }
            | Expr::Compare { left, right, .. }
            | Expr::Xor(left, right)
            | Expr::NullIf { left, right, .. }
            | Expr::WithOperand { operand: left, of: right }
            | Expr::Regexp { operand: left, pattern: right, .. }
            | Expr::DateArithmetic { date: left, amount: right, .. }
            | Expr::TimestampDiff { from: left, to: right, .. } => vec![left, right],
            Expr::And(parts)
            | Expr::Or(parts)
            | Expr::Row(parts)
            | Expr::Benchmark(parts)
            | Expr::Coalesce { arguments: parts, .. } => parts.iter_mut().collect(),
            Expr::Between { operand, low, high, .. } => vec![operand, low, high],
            Expr::InList { operand, list, .. } => std::iter::once(&mut **operand).chain(list).collect(),
            Expr::InRows { operand, list, .. } => {
                operand.iter_mut().chain(list.iter_mut().flatten()).collect()
            }
            Expr::Like { operand, pattern, escape, .. } => {
                [operand, pattern].into_iter().chain(escape).map(|child| &mut **child).collect()
            }
            Expr::Case { branches, otherwise, .. } => {
                let branches = branches.iter_mut().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref_mut()).collect()
            }
            Expr::Call(call) => Arc::make_mut(call).arguments.iter_mut().collect(),
        }
    }

    /// Calls `visit` for this node and everything below.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        // Of a statement that is to end nobody looks at what was found.
        if pulse::step().is_err() {
            return;
        }
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    /// True if it costs no more than a small multiple of what it reads: such an expression may be worked out
    /// while a page is latched. Patterns, lists that are prepared for looking up, documents and functions
    /// whose results outgrow their arguments are none.
    pub fn is_light(&self) -> bool {
        let mut light = true;
        self.walk(&mut |expr| match expr {
            Expr::Like { .. } | Expr::Regexp { .. } => light = false,
            Expr::InList { list, .. } => light &= list.len() < LOOKED_UP_MIN,
            Expr::InRows { list, .. } => light &= list.len() < LOOKED_UP_MIN,
            Expr::Cast { to, .. } | Expr::Coerce { to, .. } => light &= *to != ColumnType::Json,
            Expr::Call(call) => light &= crate::functions::is_light(call.name),
            _ => {}
        });
        light
    }

    /// Positions of the columns read, ascending, each once.
    pub fn columns(&self) -> Vec<usize> {
        let mut positions = Vec::new();
        self.walk(&mut |expr| {
            if let Expr::Column(position) | Expr::TimestampColumn(position) = expr {
                positions.push(*position);
            }
        });
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// True if the value cannot change between the rows of one statement: no columns, no variables that the
    /// statement assigns, no RAND or UUID.
    pub fn is_constant(&self) -> bool {
        let mut constant = true;
        self.walk(&mut |expr| match expr {
            Expr::Column(_)
            | Expr::TimestampColumn(_)
            | Expr::UserVariable(_)
            | Expr::AssignVariable { .. }
            | Expr::Operand
            | Expr::Sleep(_) => constant = false,
            Expr::Call(call) if !call.deterministic => constant = false,
            _ => {}
        });
        constant
    }

    /// True if it can give another value, or do something, each time it is worked out for the same row.
    pub fn varies(&self) -> bool {
        let mut varies = false;
        self.walk(&mut |expr| match expr {
            Expr::AssignVariable { .. } | Expr::Benchmark(_) | Expr::Sleep(_) => varies = true,
            Expr::Call(call) => varies |= !call.deterministic,
            _ => {}
        });
        varies
    }
}
