//! What is observed of a server: its counters and reports, the logs of its statements.

use std::ops::Deref;
use std::sync::Arc;

use crate::query_log::QueryLog;
use crate::status::Status;
use crate::status::deadlock::Deadlocks;
use crate::status::foreign_key::ForeignKeyErrors;
use crate::status::metrics::Meters;
use crate::status::monitor::Monitor;
use turnstile_catalog::catalog::Catalog;
use turnstile_values::error::{SqlError, SqlResult};

/// A server's [`Catalog`], and what is observed of it.
pub struct Observed {
    catalog: Arc<Catalog>,
    status: Status,
    deadlocks: Deadlocks,
    foreign_key_errors: ForeignKeyErrors,
    meters: Meters,
    monitor: Monitor,
    query_log: QueryLog,
}

impl Deref for Observed {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.catalog
    }
}

impl Observed {
    /// Begins to observe.
    pub fn new(catalog: Arc<Catalog>) -> SqlResult<Arc<Observed>> {
        let registry = catalog.registry();
        let meters = Meters::new(registry.unix_us(registry.now_us()));
        let monitor = Monitor::new(catalog.engine());
        let observed = Arc::new(Observed {
            catalog,
            status: Status::default(),
            deadlocks: Deadlocks::default(),
            foreign_key_errors: ForeignKeyErrors::default(),
            meters,
            monitor,
            query_log: QueryLog::default(),
        });
        Deadlocks::watch(&observed);
        let followed = observed.query_log.follow(observed.globals());
        followed.map_err(|error| SqlError::unknown_error(error.to_string()))?;
        Ok(observed)
    }

    /// What is observed.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What is known of deadlocks.
    pub fn deadlocks(&self) -> &Deadlocks {
        &self.deadlocks
    }

    /// The body of LATEST DETECTED DEADLOCK; None if there was none.
    pub fn latest_deadlock_text(&self) -> Option<String> {
        self.deadlocks.latest().map(|report| report.text(self))
    }

    /// The last foreign key that stood against a change.
    pub fn foreign_key_errors(&self) -> &ForeignKeyErrors {
        &self.foreign_key_errors
    }

    /// The general log and the slow query log.
    pub fn query_log(&self) -> &QueryLog {
        &self.query_log
    }

    /// Counters.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Switches of the counters in INNODB_METRICS.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// The writer of SHOW ENGINE INNODB STATUS.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }
}
