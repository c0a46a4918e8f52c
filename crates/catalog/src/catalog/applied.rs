//! Global variables that somebody else keeps a copy of: the engine, the latches, the accounts.

use std::sync::atomic::Ordering;

use turnstile_engine::lock::set_blind_wait;
use turnstile_sys::latch;

use super::Catalog;
use crate::accounts::roles_named;
use crate::variables::{VARIABLES, find, set_memory_limits};
use turnstile_values::value::{Value, to_text};

impl Catalog {
    /// Passes a global variable on.
    pub fn apply_global(&self, name: &str, value: &Value) {
        if name == "mandatory_roles" {
            self.accounts.set_mandatory(roles_named(&to_text(value)).unwrap_or_default());
        }
        let settings = self.engine.settings();
        if name == "turnstile_hot_row" {
            let text = to_text(value);
            settings.hot_row.hint_only.store(&*text == "HINT_ONLY", Ordering::Relaxed);
            settings.hot_row.on.store(&*text != "OFF", Ordering::Relaxed);
        }
        let number = match value {
            Value::Int(number) => *number as u64,
            Value::UInt(number) => *number,
            _ => return,
        };
        match name {
            "innodb_flush_log_at_trx_commit" => {
                settings.flush_log_at_trx_commit.store(number as u8, Ordering::Relaxed)
            }
            "innodb_adaptive_hash_index" => self.engine.adaptive_hash().set_enabled(number != 0),
            "innodb_deadlock_detect" => self.engine.locks().set_detection(number != 0),
            "turnstile_hot_row_group_cap" => settings.hot_row.group_cap.store(number, Ordering::Relaxed),
            "turnstile_hot_row_min_waiters" => settings.hot_row.min_waiters.store(number, Ordering::Relaxed),
            "turnstile_hot_row_patience_ms" => settings.hot_row.patience_ms.store(number, Ordering::Relaxed),
            "turnstile_hot_row_queue_cap" => settings.queues.cap.store(number, Ordering::Relaxed),
            "turnstile_lock_queue_skips" => settings.queues.skips.store(number, Ordering::Relaxed),
            "turnstile_blind_wait_ms" => set_blind_wait(self.engine.locks(), number),
            "innodb_print_all_deadlocks" => {
                settings.print_all_deadlocks.store(number != 0, Ordering::Relaxed)
            }
            "innodb_purge_batch_size" => settings.purge_batch_size.store(number, Ordering::Relaxed),
            "innodb_max_purge_lag" => settings.max_purge_lag.store(number, Ordering::Relaxed),
            "innodb_max_purge_lag_delay" => settings.max_purge_lag_delay.store(number, Ordering::Relaxed),
            "innodb_max_purge_size" => settings.max_purge_size.store(number, Ordering::Relaxed),
            "histogram_generation_max_mem_size" => self.statistics.set_histogram_bytes(number),
            "innodb_stats_auto_recalc" => self.statistics.set_automatic(number != 0),
            "innodb_stats_persistent_sample_pages" => self.statistics.set_sample_pages(number),
            "innodb_thread_concurrency" => {
                settings.thread_concurrency.store(number, Ordering::Relaxed);
                self.engine.gate().limit_changed();
            }
            "innodb_concurrency_tickets" => settings.concurrency_tickets.store(number, Ordering::Relaxed),
            "innodb_sync_spin_loops" => latch::set_spin_rounds(number as u32),
            "innodb_spin_wait_delay" => latch::set_spin_delay(number as u32),
            "innodb_spin_wait_pause_multiplier" => latch::set_pause_multiplier(number as u32),
            "global_connection_memory_limit" => self.memory.set_limit(number),
            "innodb_thread_sleep_delay" => {
                settings.thread_sleep_delay_us.store(number, Ordering::Relaxed);
                self.engine.gate().sleep_delay_changed();
            }
            "innodb_adaptive_max_sleep_delay" => {
                settings.adaptive_max_sleep_delay_us.store(number, Ordering::Relaxed);
            }
            "innodb_commit_concurrency" => {
                settings.commit_concurrency.store(number, Ordering::Relaxed);
                self.engine.commit_gate().limit_changed();
            }
            _ => {}
        }
    }

    /// Passes all of them on.
    pub fn apply_globals(&self) {
        set_memory_limits(&self.globals);
        for (at, definition) in VARIABLES.iter().enumerate() {
            self.apply_global(definition.name, &self.globals.get(at));
        }
        if let (Some(at), Value::Int(1)) = (find("read_only"), self.globals.named("super_read_only")) {
            self.globals.set(at, Value::Int(1));
        }
        self.read_only_changed();
    }
}
