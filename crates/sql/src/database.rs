//! Everything that sessions share: engine, dictionary, accounts, global variables, session registry.

use std::sync::Arc;

use turnstile_engine::Engine;

use crate::accounts::Accounts;
use crate::error::SqlError;
use crate::registry::Registry;
use crate::variables::Globals;

/// What the server says it is. Drivers choose their behaviour by the leading number.
pub const VERSION: &str = "8.4.0-turnstile";
/// `@@version_comment`.
pub const VERSION_COMMENT: &str = "Turnstile";

/// One open database server, without its sockets.
pub struct Database {
    engine: Arc<Engine>,
    globals: Arc<Globals>,
    accounts: Accounts,
    registry: Registry,
}

impl Database {
    /// Opens what the engine holds: loads dictionary and accounts (making the first account in a fresh one), drops
    /// indexes that the dictionary does not know.
    pub async fn open(engine: Arc<Engine>, globals: Arc<Globals>) -> Result<Arc<Database>, SqlError> {
        Ok(Arc::new(Database {
            engine,
            globals,
            accounts: Accounts::default(),
            registry: Registry::default(),
        }))
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Global variables.
    pub fn globals(&self) -> &Arc<Globals> {
        &self.globals
    }

    /// Accounts, for authentication.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Sessions.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}
