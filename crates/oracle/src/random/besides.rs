//! What two servers say about an answer besides its rows: the types of its columns and the numbers of
//! warnings.

use turnstile_lab::client::{Client, ClientError};
use turnstile_lab::reply::Reply;

use super::compare::STEP;
use crate::answer::type_text;

/// Does all but the last step of a statement, and gives that one's reply.
fn reply(client: &mut Client, statement: &str) -> Result<Reply, ClientError> {
    let mut steps: Vec<&str> = statement.split(STEP).collect();
    let last = steps.pop().unwrap_or_default();
    for step in steps {
        client.ask(step)?;
    }
    client.ask(last)
}

/// The types of a query's columns.
///
/// # Errors
/// When the connection fails.
pub fn columns(client: &mut Client, statement: &str) -> Result<Vec<String>, ClientError> {
    Ok(match reply(client, statement)? {
        Reply::Rows { columns, .. } => columns.iter().map(type_text).collect(),
        _ => Vec::new(),
    })
}

/// The numbers of a statement's warnings, each once: how often a constant is computed is a matter of plans.
///
/// # Errors
/// When the connection fails.
pub fn warnings(client: &mut Client, statement: &str) -> Result<Vec<String>, ClientError> {
    reply(client, statement)?;
    let Reply::Rows { rows, .. } = client.ask("SHOW WARNINGS")? else { return Ok(Vec::new()) };
    let code = |row: Vec<Option<Vec<u8>>>| row.get(1).and_then(|code| code.clone()).unwrap_or_default();
    let mut codes: Vec<String> =
        rows.into_iter().map(|row| String::from_utf8_lossy(&code(row)).into_owned()).collect();
    codes.sort();
    codes.dedup();
    Ok(codes)
}
