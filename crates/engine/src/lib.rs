//! Turnstile, the storage engine: rooms by rank, page < wal < buffer < btree, admission < lock < txn < row < recovery.
