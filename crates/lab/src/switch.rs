//! Variables and counters of any server of the family, by the names its users know. A name that a server does
//! not have, or will not change, is an answer here and not an error: the experiment says "n/a" and goes on.

use crate::client::{Client, ClientError};
use crate::house;

/// A global variable under the laboratory's hand; its first value comes back with [`Switch::restore`].
pub struct Switch {
    name: &'static str,
    before: Option<String>,
}

impl Switch {
    /// Looks the variable up.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn find(client: &mut Client, name: &'static str) -> Result<Switch, ClientError> {
        Ok(Switch { name, before: global(client, name)? })
    }

    /// Sets it; false where the server does not have it, or refuses and has another value.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn set(&self, client: &mut Client, value: &str) -> Result<bool, ClientError> {
        if let Some(before) = &self.before {
            house::keep_variable(client.target(), self.name, before);
        }
        match client.query(&format!("SET GLOBAL {} = {value}", self.name)) {
            Ok(_) => Ok(true),
            Err(ClientError::Server { .. }) => {
                let current = global(client, self.name)?;
                Ok(current.is_some_and(|current| current.eq_ignore_ascii_case(value)))
            }
            Err(error) => Err(error),
        }
    }

    /// Puts back what it was.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn restore(&self, client: &mut Client) -> Result<(), ClientError> {
        if let Some(before) = &self.before {
            self.set(client, before)?;
            house::forget_variable(client.target(), self.name);
        }
        Ok(())
    }
}

/// A global variable's value; None where the server has none of that name.
///
/// # Errors
/// When the connection fails.
pub fn global(client: &mut Client, name: &str) -> Result<Option<String>, ClientError> {
    softly(client.value(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'"), 1))
}

/// A status counter; where there is none of that name, the same counter in INNODB_METRICS under `metric`.
///
/// # Errors
/// When the connection fails.
pub fn counter(client: &mut Client, status: &str, metric: &str) -> Result<Option<i64>, ClientError> {
    let value = softly(client.value(&format!("SHOW GLOBAL STATUS LIKE '{status}'"), 1))?;
    let value = match value {
        Some(value) => Some(value),
        None if metric.is_empty() => None,
        None => softly(client.value(
            &format!("SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '{metric}'"),
            0,
        ))?,
    };
    Ok(value.and_then(|text| text.parse().ok()))
}

/// Undo log entries that purge has not taken away yet.
///
/// # Errors
/// When the connection fails.
pub fn history_length(client: &mut Client) -> Result<Option<i64>, ClientError> {
    counter(client, "Innodb_history_list_length", "trx_rseg_history_len")
}

fn softly(answer: Result<Option<String>, ClientError>) -> Result<Option<String>, ClientError> {
    match answer {
        Err(ClientError::Server { .. }) => Ok(None),
        other => other,
    }
}
