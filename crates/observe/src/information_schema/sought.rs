//! Which tables a query of information_schema asks about, as far as its conditions say: the others are not
//! looked at. With thousands of tables that is the difference between one and all of them, for each of the
//! questions that a framework asks at its start.
//!
//! It only ever leaves out what the conditions, which are tested with each row all the same, would refuse.
//! The names are compared as loosely as any collation may: without case, and not at all where a character is
//! not a visible one of ASCII.

use turnstile_catalog::virtual_table::VirtualTable;

/// Names that are asked for; everything where none is known.
#[derive(Clone, Debug, Default)]
pub struct Sought {
    /// Of a database.
    pub schema: Option<Box<str>>,
    /// Of a table.
    pub table: Option<Box<str>>,
}

impl Sought {
    /// All tables of all databases.
    pub const ALL: Sought = Sought { schema: None, table: None };

    /// The columns of a computed table that hold a table's database and name, where only rows about this
    /// table have these values.
    pub fn columns_of(table: VirtualTable) -> Option<(usize, usize)> {
        use VirtualTable as V;
        let schema = match table {
            V::Tables | V::Columns | V::Statistics | V::Partitions => "TABLE_SCHEMA",
            V::KeyColumnUsage | V::TableConstraints | V::Views => "TABLE_SCHEMA",
            V::ReferentialConstraints => "CONSTRAINT_SCHEMA",
            _ => return None,
        };
        let columns = table.columns();
        let at = |wanted: &str| columns.iter().position(|(name, ..)| name.eq_ignore_ascii_case(wanted));
        Some((at(schema)?, at("TABLE_NAME")?))
    }

    /// Whether a database of this name may be asked for.
    pub fn takes_schema(&self, name: &str) -> bool {
        may_equal(self.schema.as_deref(), name)
    }

    /// Whether a table of this name may be.
    pub fn takes_table(&self, name: &str) -> bool {
        may_equal(self.table.as_deref(), name)
    }
}

/// Whether a name may equal what is asked for, under some collation.
fn may_equal(wanted: Option<&str>, name: &str) -> bool {
    let Some(wanted) = wanted else { return true };
    let wanted = wanted.trim_end_matches(' ');
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    !is_plain(wanted) || !is_plain(name) || wanted.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::may_equal;

    #[test]
    fn what_may_be_equal_is_looked_at() {
        for (wanted, name, may) in [
            ("orders", "orders", true),
            ("ORDERS", "orders", true),
            ("orders  ", "orders", true),
            ("order", "orders", false),
            ("orders", "order", false),
            ("é", "e", true),
            ("e", "é", true),
            ("a\u{0}", "a", true),
            ("", "a", false),
        ] {
            assert_eq!(may_equal(Some(wanted), name), may, "{wanted} {name}");
        }
        assert!(may_equal(None, "orders"));
    }
}
