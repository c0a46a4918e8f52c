//! Newtypes for every number that names something, so that a page number is never taken for a transaction.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

id! {
    /// Position of a page in the data file, counted in pages.
    PageNo(u32)
}
id! {
    /// Byte position in the redo stream. Grows for ever.
    Lsn(u64)
}
id! {
    /// A transaction that has written; 48 bits on disk. 0 is none.
    TxnId(u64)
}
id! {
    /// One B+tree.
    IndexId(u32)
}
id! {
    /// One table.
    TableId(u32)
}
id! {
    /// Where an undo record lies: page number shifted left by 16, plus the offset in the page; 48 bits. 0 is
    /// none.
    RollPtr(u64)
}
