//! Constants that a strict change compares with columns. MySQL stores such a constant into a field of the
//! column's type while it resolves the statement, so that a change whose condition says no date, no time or
//! no number is refused before any row is looked at, wherever the comparison stands and however many rows
//! there are.
//!
//! | column | constant that is refused | told as |
//! |---|---|---|
//! | DATE, DATETIME, TIMESTAMP | what says no date, beside one value or between numbers | value of the column
//! |
//! | DATETIME, TIMESTAMP | one of several numbers | value of the type |
//! | DATE, TIME | one of several texts (and numbers beside a TIME) | truncated |
//! | TIME | a text or a number that says no time | value of the column |
//! | YEAR, whole numbers, FLOAT, DOUBLE | a literal text that spells no number | truncated DOUBLE |
//! | DECIMAL | a literal text that spells no number, an empty one too | truncated DECIMAL |
//!
//! Other misfits (one of several texts beside a number, a text between dates, a variable) are found when a
//! row is compared.

use super::beside_column::{MOMENT_MIN, whole_number};
use super::class::{is_column, is_document, is_moment, is_settled, is_time};
use super::{EvalContext, Expr, NoRow, SqlMode, Typed, WarningLevel, Warnings};
use turnstile_values::datetime;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{StoreContext, Value, parse_double_prefix, shown_value, store, to_text};

/// How operands meet in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// One beside the other.
    Pair,
    /// The first between the others.
    Between,
    /// The first among the others.
    List,
}

/// What a refused constant is told as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// A value for the column.
    OfColumn,
    /// A value of the column's type.
    OfType,
    /// Truncated, of the column's type.
    Truncated,
}

/// A constant beside a column.
#[derive(Debug)]
pub struct ComparedConstant {
    constant: Expr,
    column: ColumnType,
    name: Box<str>,
    told: Told,
    /// It holds the value of a statement's parameter.
    given: bool,
    /// An operator compares the two alone.
    pair: bool,
}

/// The constants among the operands of a comparison that are stored into the type of the column beside them.
/// `name` gives the name of the column at a place of the row, and none for what is no column of a table;
/// `given` says whether parameters are values of a prepared statement.
pub fn compared_constants(
    meeting: Meeting,
    operands: &[&Typed],
    given: bool,
    name: &dyn Fn(usize) -> Option<Box<str>>,
) -> Vec<ComparedConstant> {
    let mut found = Vec::new();
    let mut beside = |column: &Typed, others: &[&Typed]| {
        let (Expr::Column(at) | Expr::TimestampColumn(at)) = column.expr else { return };
        let list = List::of(meeting, &column.kind.column, others, given);
        let told = others.iter().map(|one| Some((*one, told(meeting, column, one, list, given)?)));
        let mut told = told.flatten().peekable();
        let Some(name) = told.peek().and_then(|_| name(at)) else { return };
        found.extend(told.map(|(one, told)| ComparedConstant {
            constant: one.expr.clone(),
            column: column.kind.column.clone(),
            name: name.clone(),
            told,
            given: given && holds_parameter(&one.expr),
            pair: meeting == Meeting::Pair,
        }));
    };
    match operands {
        [left, right] if meeting == Meeting::Pair => {
            beside(left, &[right]);
            beside(right, &[left]);
        }
        [first, others @ ..] => beside(first, others),
        [] => {}
    }
    found
}

fn holds_parameter(expr: &Expr) -> bool {
    let mut holds = false;
    expr.walk(&mut |one| holds |= matches!(one, Expr::Parameter(_)));
    holds
}

fn is_literal(typed: &Typed, given: bool) -> bool {
    match typed.expr {
        Expr::Literal(_) => true,
        Expr::Parameter(_) => !given,
        _ => false,
    }
}

/// What the values of a list are.
#[derive(Clone, Copy, Default)]
struct List {
    known: bool,
    texts: bool,
    numbers: bool,
    /// One is a parameter of a prepared statement, which is a moment beside dates.
    prepared: bool,
}

impl List {
    /// Of values beside a column of this type; nothing where it does not matter.
    fn of(meeting: Meeting, kind: &ColumnType, others: &[&Typed], given: bool) -> List {
        if meeting != Meeting::List || !(is_moment(kind) || is_time(kind)) {
            return List::default();
        }
        let all = |test: fn(&ColumnType) -> bool| {
            others.iter().map(|other| &other.kind.column).all(|kind| test(kind) || *kind == ColumnType::Null)
        };
        List {
            known: others.iter().all(|other| is_settled(&other.expr)),
            texts: all(ColumnType::is_character),
            numbers: all(ColumnType::is_numeric),
            prepared: given && others.iter().any(|other| matches!(other.expr, Expr::Parameter(_))),
        }
    }
}

/// How a constant beside a column would be told of; None if it is not stored into the column's type.
fn told(meeting: Meeting, column: &Typed, one: &Typed, list: List, given: bool) -> Option<Told> {
    let (kind, own) = (&column.kind.column, &one.kind.column);
    let text = own.is_string() && !is_document(own);
    let number = own.is_numeric();
    let variable = matches!(one.expr, Expr::UserVariable(_));
    if !is_column(column) || !(text || number) || variable || !is_settled(&one.expr) {
        return None;
    }
    let prepared = given && matches!(one.expr, Expr::Parameter(_));
    let of_column = if prepared { Told::OfType } else { Told::OfColumn };
    match (meeting, kind) {
        // A variable's place is filled when rows are compared.
        _ if prepared && is_time(kind) => None,
        (Meeting::Pair, _) if is_moment(kind) || is_time(kind) => Some(of_column),
        (Meeting::Pair, ColumnType::Int { .. } | ColumnType::Year | ColumnType::Decimal { .. }) => {
            (text && is_literal(one, given)).then_some(Told::Truncated)
        }
        (Meeting::Pair, ColumnType::Float { .. } | ColumnType::Double { .. }) => {
            (text && is_literal(one, given)).then_some(Told::Truncated)
        }
        (Meeting::Between, _) if is_moment(kind) => number.then_some(of_column),
        (Meeting::Between, _) if is_time(kind) => Some(of_column),
        _ if own == &ColumnType::Null => None,
        (Meeting::List, _) if !list.known => None,
        (Meeting::List, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }) => match number {
            true => list.numbers.then_some(Told::OfType),
            false => list.texts.then_some(of_column),
        },
        (Meeting::List, ColumnType::Date) => {
            (text && list.texts && !list.prepared).then_some(Told::Truncated)
        }
        (Meeting::List, ColumnType::Time { .. }) => (list.texts || list.numbers).then_some(Told::Truncated),
        _ => None,
    }
}

impl ComparedConstant {
    /// Fails if the constant is no value of the column's type.
    pub fn check(&self, context: &EvalContext<'_>) -> SqlResult<()> {
        self.misfit(context).map_or(Ok(()), Err)
    }

    /// Tells of a constant that is no value of the column's type, unless that is told when a row is compared.
    /// A text that says no date and stands alone beside a column of dates fails the statement, unless it is a
    /// parameter.
    pub fn tell(&self, context: &EvalContext<'_>) -> SqlResult<()> {
        if self.told == Told::Truncated {
            return Ok(());
        }
        let Some(misfit) = self.misfit(context) else {
            self.note_day(context);
            return Ok(());
        };
        let value = self.constant.eval(&NoRow, context)?;
        let refused = self.pair && is_moment(&self.column) && value.is_string();
        if refused && self.told == Told::OfType {
            return Ok(());
        }
        context.note(misfit);
        let says_none = |text| datetime::parse_date_time(text, context.compared_date_rules()).is_none();
        if !refused || !value.as_raw_bytes().is_some_and(says_none) {
            return Ok(());
        }
        let kind = match self.column {
            ColumnType::Date => "DATE",
            ColumnType::Timestamp { .. } => "TIMESTAMP",
            _ => "DATETIME",
        };
        Err(SqlError::wrong_value(kind, to_text(&value)))
    }

    /// Tells in strict mode of a constant beside a column of times that says a day, too, which is left out.
    pub fn note_day(&self, context: &EvalContext<'_>) {
        let time = matches!(self.column, ColumnType::Time { .. }) && self.told == Told::OfColumn;
        if !time || self.given || !context.settings.sql_mode.is_strict() {
            return;
        }
        let Ok(value) = self.constant.eval(&NoRow, context) else { return };
        let says_day = match value.as_raw_bytes() {
            Some(text) => datetime::says_moment(text),
            None => whole_number(&value).is_some_and(|number| number >= MOMENT_MIN),
        };
        if says_day {
            let note = SqlError::incorrect_value_for_column("time", shown_value(&value), &self.name, 1);
            context.warnings.push(WarningLevel::Note, note);
        }
    }

    fn misfit(&self, context: &EvalContext<'_>) -> Option<SqlError> {
        // What cannot be worked out is told when a row is compared.
        let value = self.constant.eval(&NoRow, context).ok()?;
        if value.is_null() || self.fits(&value, context) {
            return None;
        }
        let kind = match &self.column {
            ColumnType::Date => "date",
            ColumnType::Time { .. } => "time",
            ColumnType::Decimal { .. } => "DECIMAL",
            kind if is_moment(kind) => "datetime",
            _ => "DOUBLE",
        };
        let shown = shown_value(&value);
        Some(match self.told {
            Told::OfColumn => SqlError::incorrect_value_for_column(kind, shown, &self.name, 1),
            Told::OfType => SqlError::incorrect_value(kind, shown),
            Told::Truncated => SqlError::truncated_wrong_value(kind, shown),
        })
    }

    fn fits(&self, value: &Value, context: &EvalContext<'_>) -> bool {
        let text = value.as_raw_bytes();
        match (&self.column, text) {
            // Among several a DATE is read as no more than a day.
            (ColumnType::Date, Some(text)) if self.told == Told::Truncated => {
                let read = datetime::parse_date_time(text, context.compared_date_rules());
                read.is_some_and(|read| {
                    let day = read.moment == read.moment.date().at_midnight();
                    day && !read.truncated && read.offset_seconds.is_none()
                })
            }
            (kind, Some(text)) if is_moment(kind) => {
                let read = datetime::parse_date_time(text, context.compared_date_rules());
                read.is_some_and(|read| !read.truncated)
            }
            (kind, None) if is_moment(kind) => self.is_stored(value, context),
            (ColumnType::Time { .. }, Some(text)) if matches!(text.trim_ascii(), b"" | b"-") => true,
            (ColumnType::Time { .. }, _) => self.is_stored(value, context),
            (ColumnType::Decimal { .. }, Some(text)) => {
                parse_double_prefix(text).1 && !text.trim_ascii().is_empty()
            }
            (ColumnType::Year, Some(text)) => {
                let text = text.trim_ascii();
                text.first().is_none_or(u8::is_ascii_digit) || parse_double_prefix(text).1
            }
            (_, Some(text)) => parse_double_prefix(text).1 || text.trim_ascii().is_empty(),
            (_, None) => true,
        }
    }

    /// Whether a column of the type would take it, days that no month has among them.
    fn is_stored(&self, value: &Value, context: &EvalContext<'_>) -> bool {
        // No day at all is smaller than every day.
        let zero = match value {
            Value::Int(number) => *number == 0,
            Value::UInt(number) => *number == 0,
            Value::Decimal(number) => number.is_zero(),
            Value::Double(number) => *number == 0.0,
            _ => false,
        };
        if zero || value.is_temporal() {
            return true;
        }
        let warnings = Warnings::new();
        let mut settings = context.settings;
        settings.sql_mode = match settings.sql_mode.has(SqlMode::NO_ZERO_IN_DATE) {
            true => SqlMode::NO_ZERO_IN_DATE | SqlMode::ALLOW_INVALID_DATES,
            false => SqlMode::ALLOW_INVALID_DATES,
        };
        let eval = EvalContext { settings, warnings: &warnings, ..*context };
        let place = StoreContext { column: &self.name, row: 1, nullable: true, strict: true, eval: &eval };
        store(value, &self.column, &place).is_ok()
    }
}
