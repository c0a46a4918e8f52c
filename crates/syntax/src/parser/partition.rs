//! Partitions: no table has any. What asks for those of a table is refused as MySQL refuses it for a table
//! without.

use super::{Parse, Parser};
use crate::lexer::Keyword;
use turnstile_values::error::SqlError;

/// Actions of ALTER TABLE that begin with one of these and PARTITION.
const ACTIONS: &[&str] = &[
    "ADD",
    "ANALYZE",
    "CHECK",
    "COALESCE",
    "DISCARD",
    "DROP",
    "EXCHANGE",
    "IMPORT",
    "OPTIMIZE",
    "REBUILD",
    "REORGANIZE",
    "REPAIR",
    "TRUNCATE",
];

impl Parser<'_> {
    /// `PARTITION (p0, p1)` behind the name of a table: error 1747.
    pub(super) fn refuse_partitions_of_table(&mut self) -> Parse<()> {
        if !self.eat(Keyword::Partition) {
            return Ok(());
        }
        self.name_list()?;
        Err(self.refused(SqlError::no_partitions_to_select()))
    }

    /// An action of ALTER TABLE on partitions: error 1505.
    pub(super) fn refuse_partition_action(&mut self) -> Parse<()> {
        if self.peek_is(Keyword::Partition) {
            let word = self.span(self.token);
            if !ACTIONS.iter().any(|action| word.eq_ignore_ascii_case(action.as_bytes())) {
                return Ok(());
            }
            let drops = self.at(Keyword::Drop);
            self.advance();
            self.advance();
            if drops {
                self.name()?;
            }
        } else if self.at(Keyword::Remove) {
            self.advance();
            self.expect_word(b"partitioning")?;
        } else {
            return Ok(());
        }
        Err(self.refused(SqlError::no_partitions_to_manage()))
    }
}
