//! What the errors of the engine are to a client.

use turnstile_engine::Error as EngineError;

use super::SqlError;

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> SqlError {
        match error {
            EngineError::Deadlock => SqlError::deadlock(),
            EngineError::GroupRolledBack => SqlError::group_rolled_back(),
            EngineError::LockWaitTimeout => SqlError::lock_wait_timeout(),
            EngineError::LockQueueFull => SqlError::lock_queue_full(),
            EngineError::NoWait => SqlError::skip_or_nowait_conflict(),
            EngineError::Killed => SqlError::query_interrupted(),
            EngineError::OverMemory { of_all: true, limit, used } => {
                SqlError::server_memory_limit(limit, used)
            }
            EngineError::OverMemory { of_all: false, limit, used } => {
                SqlError::connection_memory_limit(limit, used)
            }
            EngineError::KeyTooLong { .. } => SqlError::key_too_long(3072),
            EngineError::RowTooLarge { .. } => SqlError::row_too_large(65535),
            EngineError::ReadOnly => SqlError::read_only_transaction(),
            // Whoever knows which table grows says so: `SqlError::of_table`.
            EngineError::DiskFull => SqlError::disk_full("data.ts"),
            EngineError::Stopped(why) => {
                SqlError::unknown_error(format!("The storage engine has stopped: {why}"))
            }
            EngineError::Corrupt { .. } => SqlError::unknown_error(error.to_string()),
            other => SqlError::unknown_error(other.to_string()),
        }
    }
}
