//! One open database server, without its sockets: what sessions share, what is observed, and the plans that
//! are kept.

use std::ops::Deref;
use std::sync::Arc;

use turnstile_engine::Engine;

use crate::catalog::Catalog;
use crate::error::SqlError;
use crate::statement_cache::StatementCache;
use crate::status::Observed;
use crate::variables::Globals;

/// One open database server. Whatever is [`Observed`], and with it the [`Catalog`], is reached through it.
pub struct Database {
    observed: Arc<Observed>,
    statements: StatementCache,
}

impl Deref for Database {
    type Target = Observed;

    fn deref(&self) -> &Observed {
        &self.observed
    }
}

impl Database {
    /// Opens what the engine holds, with default settings.
    pub async fn open(engine: Arc<Engine>) -> Result<Arc<Database>, SqlError> {
        Database::open_with(engine, Globals::default()).await
    }

    /// Opens what the engine holds, as [`Catalog::open`] says.
    pub async fn open_with(engine: Arc<Engine>, globals: Globals) -> Result<Arc<Database>, SqlError> {
        let catalog = Catalog::open(engine, globals).await?;
        let observed = Observed::new(catalog)?;
        Ok(Arc::new(Database { observed, statements: StatementCache::default() }))
    }

    /// What is observed, and all that is below.
    pub fn observed(&self) -> &Arc<Observed> {
        &self.observed
    }

    /// Statements that come again.
    pub fn statements(&self) -> &StatementCache {
        &self.statements
    }
}
