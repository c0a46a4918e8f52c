//! Expressions. Precedence is already resolved by the parser; parentheses leave no trace except around rows.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

pub use turnstile_values::context::VariableScope;
pub use turnstile_values::datetime::IntervalUnit;

use super::{CastType, ColumnName, Name, OrderItem, Over, Query, Text};

/// A literal value, typed as MySQL types it before any context is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// NULL.
    Null,
    /// TRUE, FALSE.
    Bool(bool),
    /// A whole number that fits 64 bits; the sign is a separate [`UnaryOp::Negate`].
    Int(u64),
    /// A number with a point, or a whole one too large for 64 bits: digits as written.
    Decimal(Box<str>),
    /// A number with an exponent.
    Double(f64),
    /// A character string.
    String(StringLiteral),
    /// `x'4D'` and `0x4D`: a binary string that acts as a number in numeric context.
    Hex(Text),
    /// `b'101'` and `0b101`: big endian, padded on the left to whole bytes.
    Bit(Text),
    /// `DATE '2026-01-31'`: the text, unchecked.
    Date(Text),
    /// `TIME '10:11:12'`.
    Time(Text),
    /// `TIMESTAMP '2026-01-31 10:11:12'`.
    Timestamp(Text),
}

impl Hash for Literal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Literal::Null => {}
            Literal::Bool(value) => value.hash(state),
            Literal::Int(value) => value.hash(state),
            Literal::Decimal(digits) => digits.hash(state),
            // The two zeros are equal.
            Literal::Double(value) => (value + 0.0).to_bits().hash(state),
            Literal::String(literal) => literal.hash(state),
            Literal::Hex(text)
            | Literal::Bit(text)
            | Literal::Date(text)
            | Literal::Time(text)
            | Literal::Timestamp(text) => text.hash(state),
        }
    }
}

/// A string literal; neighbours are already concatenated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StringLiteral {
    /// The bytes, escapes resolved.
    pub bytes: Text,
    /// `_utf8mb4` (without the underscore, lower case), or `utf8mb3` for `N'...'`. None: the connection's.
    pub introducer: Option<Name>,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`
    Negate,
    /// `~a`
    BitNot,
    /// `NOT a` and `!a`
    Not,
    /// `BINARY a`
    Binary,
}

/// Operators with two operands. AND and OR are [`Expr::And`] and [`Expr::Or`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `XOR`
    Xor,
    /// `=`
    Equal,
    /// `<=>`
    NullSafeEqual,
    /// `<>`, `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `DIV`
    IntegerDivide,
    /// `%`, `MOD`, `MOD(a, b)`
    Modulo,
    /// `||` under PIPES_AS_CONCAT
    Concat,
}

impl BinaryOp {
    /// Whether it tells how two values compare.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, NullSafeEqual};
        matches!(self, Equal | NullSafeEqual | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
    }
}

/// What IS compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsTest {
    /// IS NULL
    Null,
    /// IS TRUE
    True,
    /// IS FALSE
    False,
    /// IS UNKNOWN
    Unknown,
}

/// Which end TRIM trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrimSide {
    /// Both ends (the default).
    Both,
    /// The start.
    Leading,
    /// The end.
    Trailing,
}

/// `= ANY (...)`, `= ALL (...)`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// ANY, SOME
    Any,
    /// ALL
    All,
}

/// How a name was written, where that is not in lower case. It means nothing: calls that differ in it are the
/// same.
#[derive(Debug, Clone, Default)]
pub struct Spelling(Option<Name>);

impl Spelling {
    /// Of this name.
    pub fn of(written: &Name) -> Spelling {
        Spelling(written.bytes().any(|byte| byte.is_ascii_uppercase()).then(|| written.clone()))
    }
}

impl Spelling {
    /// This spelling, whatever the name is.
    pub fn exactly(written: Name) -> Spelling {
        Spelling(Some(written))
    }
}

impl PartialEq for Spelling {
    fn eq(&self, _: &Spelling) -> bool {
        true
    }
}

impl Hash for Spelling {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl FunctionCall {
    /// The name as it was written.
    pub fn written(&self) -> &str {
        self.spelling.0.as_deref().unwrap_or(&self.name)
    }
}

/// A function call in ordinary syntax.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct FunctionCall {
    /// The database of a stored function, when written.
    pub schema: Option<Name>,
    /// The name in lower case (ASCII); synonyms are not merged except where the documentation of [`Expr`]
    /// says so.
    pub name: Name,
    /// The name as messages show it.
    pub spelling: Spelling,
    /// `COUNT(*)`: no arguments then.
    pub star: bool,
    /// `COUNT(DISTINCT ...)`, `SUM(DISTINCT ...)`, `GROUP_CONCAT(DISTINCT ...)`.
    pub distinct: bool,
    /// The arguments.
    pub arguments: Vec<Expr>,
    /// GROUP_CONCAT only.
    pub order_by: Vec<OrderItem>,
    /// GROUP_CONCAT only; None means a comma.
    pub separator: Option<Text>,
    /// The window of a window function.
    pub over: Option<Box<Over>>,
}

impl FunctionCall {
    /// A call without arguments.
    pub fn named(name: &str) -> FunctionCall {
        FunctionCall {
            schema: None,
            name: name.into(),
            spelling: Spelling::default(),
            star: false,
            distinct: false,
            arguments: Vec::new(),
            order_by: Vec::new(),
            separator: None,
            over: None,
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Expr {
    /// A literal.
    Literal(Literal),
    /// A column, or an alias where aliases are allowed.
    Column(ColumnName),
    /// The n-th `?` of the statement, from 0.
    Parameter(u32),
    /// `@name` (case-insensitive to MySQL; kept as written)
    UserVariable(Name),
    /// `@@[scope.]name`
    SystemVariable {
        /// Which value is meant.
        scope: VariableScope,
        /// The variable, possibly with a component prefix (`component.name`).
        name: Name,
    },
    /// One operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// Two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `a AND b AND c`: at least two.
    And(Vec<Expr>),
    /// `a OR b OR c`, also `||`: at least two.
    Or(Vec<Expr>),
    /// `a IS \[NOT\] test`
    Is {
        /// The tested value.
        operand: Box<Expr>,
        /// The test.
        test: IsTest,
        /// NOT.
        negated: bool,
    },
    /// `a \[NOT\] BETWEEN low AND high`
    Between {
        /// The tested value.
        operand: Box<Expr>,
        /// Lower bound, inclusive.
        low: Box<Expr>,
        /// Upper bound, inclusive.
        high: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `a \[NOT\] IN (x, y)`: at least one.
    InList {
        /// The tested value, maybe a row.
        operand: Box<Expr>,
        /// The candidates.
        list: Vec<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `a \[NOT\] IN (SELECT ...)`
    InSubquery {
        /// The tested value, maybe a row.
        operand: Box<Expr>,
        /// The candidates.
        query: Box<Query>,
        /// NOT.
        negated: bool,
    },
    /// `a \[NOT\] LIKE pattern [ESCAPE e]`
    Like {
        /// The tested value.
        operand: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character; None means backslash (none at all under NO_BACKSLASH_ESCAPES).
        escape: Option<Box<Expr>>,
        /// NOT.
        negated: bool,
    },
    /// `a \[NOT\] REGEXP pattern`, RLIKE
    Regexp {
        /// The tested value.
        operand: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `a = ANY (SELECT ...)`
    Quantified {
        /// The tested value.
        operand: Box<Expr>,
        /// A comparison operator.
        op: BinaryOp,
        /// ANY or ALL.
        quantifier: Quantifier,
        /// The candidates.
        query: Box<Query>,
    },
    /// CASE, with or without an operand.
    Case {
        /// `CASE operand WHEN`.
        operand: Option<Box<Expr>>,
        /// WHEN and THEN, at least one.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(a AS type)`, `CONVERT(a, type)`
    Cast {
        /// The value.
        operand: Box<Expr>,
        /// The target.
        target: CastType,
    },
    /// `CONVERT(a USING charset)`; also wraps `CHAR(65 USING charset)`
    ConvertUsing {
        /// The value.
        operand: Box<Expr>,
        /// The character set, lower case.
        charset: Name,
    },
    /// A function. NOW, CURRENT_TIMESTAMP, LOCALTIME and LOCALTIMESTAMP are all `now`; CURDATE and
    /// CURRENT_DATE `curdate`; CURTIME and CURRENT_TIME `curtime`; SUBSTR, MID and SUBSTRING `substring`;
    /// SCHEMA `database`; POSITION(a IN b) `locate`; `a->b` `json_extract`; `a SOUNDS LIKE b` compares two
    /// `soundex`.
    Function(Box<FunctionCall>),
    /// `date + INTERVAL amount unit`, DATE_ADD, DATE_SUB, ADDDATE, SUBDATE, TIMESTAMPADD
    DateArithmetic {
        /// The date.
        date: Box<Expr>,
        /// How many.
        amount: Box<Expr>,
        /// Of what.
        unit: IntervalUnit,
        /// Backwards.
        subtract: bool,
    },
    /// `TIMESTAMPDIFF(unit, from, to)`
    TimestampDiff {
        /// The unit of the result.
        unit: IntervalUnit,
        /// The earlier.
        from: Box<Expr>,
        /// The later.
        to: Box<Expr>,
    },
    /// `EXTRACT(unit FROM date)`
    Extract {
        /// The part.
        unit: IntervalUnit,
        /// The date.
        operand: Box<Expr>,
    },
    /// `TRIM([side] [remove FROM] operand)`
    Trim {
        /// Which end.
        side: TrimSide,
        /// What to remove; None means spaces.
        remove: Option<Box<Expr>>,
        /// From what.
        operand: Box<Expr>,
    },
    /// `(SELECT ...)` as a value or row.
    Subquery(Box<Query>),
    /// `EXISTS (SELECT ...)`
    Exists(Box<Query>),
    /// `(a, b)`, `ROW(a, b)`: at least two.
    Row(Vec<Expr>),
    /// `a COLLATE name`
    Collate {
        /// The value.
        operand: Box<Expr>,
        /// The collation, lower case.
        collation: Name,
    },
    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    InsertedValue(ColumnName),
    /// `@name := value`
    Assign {
        /// The user variable.
        variable: Name,
        /// Its new value, and the value of the expression.
        value: Box<Expr>,
    },
    /// DEFAULT in VALUES and SET, or `DEFAULT(column)`.
    Default(Option<Box<ColumnName>>),
}

impl Expr {
    /// Whether it asks a query: `(SELECT ..)`, EXISTS, IN (SELECT ..), ANY and ALL.
    pub fn is_query(&self) -> bool {
        matches!(
            self,
            Expr::Subquery(_) | Expr::Exists(_) | Expr::InSubquery { .. } | Expr::Quantified { .. }
        )
    }
}
