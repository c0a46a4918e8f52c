//! Clauses that are read and have no node in the tree, because they change nothing here. The parser hands
//! over each of them, and what becomes of it is decided in one list: nothing is skipped without a decision.

use turnstile_values::context::WarningLevel;
use turnstile_values::error::SqlError;

/// A clause without a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clause {
    /// LOW_PRIORITY, HIGH_PRIORITY
    Priority,
    /// DELAYED of INSERT, and of REPLACE (true).
    Delayed(bool),
    /// QUICK of DELETE
    Quick,
    /// SQL_SMALL_RESULT, SQL_BIG_RESULT, SQL_BUFFER_RESULT
    ResultSize,
    /// LOCAL, NO_WRITE_TO_BINLOG of FLUSH and table maintenance
    NoBinlog,
    /// RESTRICT, CASCADE of DROP
    RestrictOrCascade,
    /// QUICK, FAST, MEDIUM, EXTENDED, CHANGED, FOR UPGRADE, USE_FRM of table maintenance
    Thoroughness,
    /// LOCAL of LOCK TABLES ... READ
    ReadLocal,
    /// MATCH of a foreign key
    Match,
    /// ENABLE KEYS, DISABLE KEYS
    Keys,
    /// ORDER BY of ALTER TABLE
    TableOrder,
    /// COLUMN_FORMAT of a column
    ColumnFormat,
    /// STORAGE of a column
    ColumnStorage,
    /// SECONDARY_ENGINE_ATTRIBUTE of a column or key
    SecondaryAttribute,
    /// KEY_BLOCK_SIZE of a key
    KeyBlockSize,
    /// USING HASH of a key
    HashKey,
    /// FOR JOIN, FOR ORDER BY, FOR GROUP BY of an index hint
    IndexHintScope,
}

/// What becomes of a clause.
pub enum Decision {
    /// Nothing, and nobody is told: for this reason.
    Silent(&'static str),
    /// Nothing, and SHOW WARNINGS says so.
    Told(WarningLevel, SqlError),
}

impl Clause {
    /// What becomes of it in a statement about a table of this name.
    pub fn decision(self, table: &str) -> Decision {
        use Decision::{Silent, Told};
        let option = |name| Told(WarningLevel::Warning, SqlError::create_option_without_effect(name));
        match self {
            Clause::Priority => Silent("as with InnoDB: only engines that lock whole tables heed it"),
            Clause::Delayed(replace) => {
                let word = if replace { "REPLACE" } else { "INSERT" };
                Told(WarningLevel::Warning, SqlError::legacy_delayed(word))
            }
            Clause::Quick => Silent("as with InnoDB: it says how MyISAM is to merge leaves"),
            Clause::ResultSize => Silent("advice about where to keep a result, which stays the same"),
            Clause::NoBinlog => Silent("there is no binary log, so nothing is written to it"),
            Clause::RestrictOrCascade => Silent("as in MySQL: it does nothing there either"),
            Clause::Thoroughness => Silent("all of the table is always checked"),
            Clause::ReadLocal => Silent("as with InnoDB: the same as READ"),
            Clause::Match => Silent("as in MySQL: every foreign key is MATCH SIMPLE"),
            Clause::Keys => Told(WarningLevel::Note, SqlError::illegal_engine_option(table)),
            Clause::TableOrder => Told(WarningLevel::Warning, SqlError::table_order_ignored(table)),
            Clause::ColumnFormat => option("COLUMN_FORMAT"),
            Clause::ColumnStorage => option("STORAGE"),
            Clause::SecondaryAttribute => option("SECONDARY_ENGINE_ATTRIBUTE"),
            Clause::KeyBlockSize => option("KEY_BLOCK_SIZE"),
            Clause::HashKey => Told(WarningLevel::Note, SqlError::hash_index_replaced()),
            Clause::IndexHintScope => Silent("advice about which key to use, which does not change a result"),
        }
    }
}
