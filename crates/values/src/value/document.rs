//! Documents on their way into columns. A document in memory takes many times its text; that is charged while
//! it is there.

use super::Value;
use super::store::StoreContext;
use crate::context::EvalContext;
use crate::datetime::{self, Date, DateRules};
use crate::error::{SqlError, SqlResult};
use crate::json::{self, Json, Malformed};

/// What marked text says without marks and quotes: what is read as a date or a time.
pub(super) fn unquoted(marked: &str, context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut held = context.held();
    let document = json::parse_kept(marked, &mut held).or_else(Malformed::or_null)?;
    Ok(Value::text(&*json::write::unquoted(&document, &mut held)?))
}

/// The day that a document says that is a text of a day and no more.
pub(super) fn day_of_text(marked: &str, context: &EvalContext<'_>) -> SqlResult<Option<Date>> {
    let document = json::parse_kept(marked, &mut context.held()).or_else(Malformed::or_null)?;
    let Json::String(text) = document else { return Ok(None) };
    let found = datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT);
    Ok(found.filter(|found| !found.has_time).map(|found| found.moment.date()))
}

/// The normal form of a document. What is none is an error in every mode: there is no nearest document.
pub(super) fn store(value: &Value, context: &StoreContext<'_>) -> SqlResult<Value> {
    let mut held = context.eval.held();
    let text = match value {
        Value::Bytes(_) => return Err(SqlError::json_of_binary()),
        Value::Json(marked) if marked.len() <= json::NAME_MAX_BYTES => return Ok(value.clone()),
        Value::Json(marked) => {
            let document =
                json::parse_kept(marked, &mut held).map_err(|error| error.of_column(context.column))?;
            json::check_names(&document)?;
            return Ok(value.clone());
        }
        Value::Str(text) => text,
        Value::Enum(_) => &super::to_text(value),
        _ => {
            let why = "not a JSON text, may need CAST";
            return Err(SqlError::invalid_json_text(why, 0, context.column));
        }
    };
    let document = json::parse(text, &mut held).map_err(|error| error.of_column(context.column))?;
    if text.len() > json::NAME_MAX_BYTES {
        json::check_names(&document)?;
    }
    Ok(Value::from(json::write(&document, &mut held)?))
}
