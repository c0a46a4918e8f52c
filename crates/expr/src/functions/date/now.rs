//! What the clock says: NOW and its family, here and in UTC.

use turnstile_values::datetime::DateTime;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, to_i64};

use crate::expr::{Call, EvalContext};

fn digits_argument(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<u8> {
    let digits = match arguments.first() {
        Some(digits) => to_i64(digits, context)?,
        None => 0,
    };
    if !(0..=6).contains(&digits) {
        return Err(SqlError::too_big_precision(digits, call.name, 6));
    }
    Ok(digits as u8)
}

pub(super) fn now(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::DateTime(context.now().truncate_to(digits)))
}

pub(super) fn sysdate(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let utc = DateTime::from_unix_us(since.as_micros() as i64, 6).unwrap_or(DateTime::ZERO);
    Ok(Value::DateTime(context.settings.time_zone.from_utc(utc).truncate_to(digits)))
}

pub(super) fn curdate(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Date(context.now().date()))
}

pub(super) fn curtime(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::Time(context.now().truncate_to(digits).time()))
}

pub(super) fn utc_timestamp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::DateTime(context.settings.statement_start_utc().truncate_to(digits)))
}

pub(super) fn utc_date(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Date(context.settings.statement_start_utc().date()))
}

pub(super) fn utc_time(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::Time(context.settings.statement_start_utc().truncate_to(digits).time()))
}
