//! Where results go. A statement's execution writes into a [`ResultSink`], which buffers; the server's sink
//! encodes rows straight into the connection's send buffer, in text or binary form. The sink never blocks:
//! when it says [`ResultSink::should_flush`], the session awaits [`flush`] between two batches of rows, which
//! is how a slow client holds back a fast scan.
//!
//! Order of calls for one result: `columns`, `row`*, `end`; or `ok` alone. An error is not written into the
//! sink: the session returns it and the server writes it.

use std::future::poll_fn;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use crate::collation::Collation;
use crate::error::SqlError;
use crate::field::FieldRef;
use crate::mixing::Traits;
use crate::types::{ColumnType, column_flag};
use crate::value::Value;

/// Server status bits as the protocol sends them.
pub mod status_flag {
    /// A transaction is open.
    pub const IN_TRANSACTION: u16 = 0x0001;
    /// `autocommit` is on.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// Another result follows this one.
    pub const MORE_RESULTS: u16 = 0x0008;
    /// The statement used no index.
    pub const NO_INDEX_USED: u16 = 0x0020;
    /// `NO_BACKSLASH_ESCAPES` is in effect.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
    /// The open transaction is read only.
    pub const IN_TRANSACTION_READ_ONLY: u16 = 0x2000;
}

/// Where a result column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A column of a table, stored or derived, or of what is kept in one (UNION).
    Column,
    /// An expression. Members of ENUM and SET are texts here.
    Expression,
}

/// Decimals of a text that an expression makes: as many as it takes.
const ANY_DECIMALS: u8 = 31;

/// Describes one column of a result. Type code, collation, length and decimals of the protocol's column
/// definition follow from [`ColumnType`] and from where it comes; its flags are [`ColumnMeta::wire_flags`].
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMeta {
    /// Database of the column's table, empty for an expression.
    pub schema: Box<str>,
    /// Alias of its table.
    pub table: Box<str>,
    /// Its table.
    pub org_table: Box<str>,
    /// Name or alias in the result.
    pub name: Box<str>,
    /// Name in the table.
    pub org_name: Box<str>,
    /// Where it comes from.
    pub origin: Origin,
    /// Its type.
    pub column_type: ColumnType,
    /// [`crate::types::column_flag`] bits that come from the table definition: NOT_NULL, PRIMARY_KEY and so
    /// on.
    pub flags: u16,
    /// What it has besides its collation where it meets other texts.
    pub traits: Traits,
    /// Its description as it was sent, for plans that run again.
    pub packet: KeptPacket,
}

/// The bytes that describe a column to clients, kept from the second time on that they are made: most plans
/// that run twice run often, and what runs once shall not pay for keeping. They depend on the collation that
/// a client's results have, of which one is kept.
#[derive(Default)]
pub struct KeptPacket {
    made_before: AtomicBool,
    bytes: OnceLock<(Option<Collation>, Box<[u8]>)>,
}

impl KeptPacket {
    /// The bytes for clients whose results have this collation, if they are kept.
    pub fn get(&self, results: Option<Collation>) -> Option<&[u8]> {
        self.bytes.get().filter(|(whose, _)| *whose == results).map(|(_, bytes)| &**bytes)
    }

    /// Says what the bytes are; they never change while the column does not.
    pub fn made(&self, results: Option<Collation>, bytes: &[u8]) {
        if self.made_before.load(Ordering::Relaxed) {
            self.bytes.get_or_init(|| (results, bytes.into()));
        } else {
            self.made_before.store(true, Ordering::Relaxed);
        }
    }
}

/// Another column's bytes may differ, so a clone keeps none.
impl Clone for KeptPacket {
    fn clone(&self) -> KeptPacket {
        KeptPacket::default()
    }
}

impl std::fmt::Debug for KeptPacket {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("KeptPacket")
    }
}

/// What is kept says nothing about the column.
impl PartialEq for KeptPacket {
    fn eq(&self, _: &KeptPacket) -> bool {
        true
    }
}

impl ColumnMeta {
    /// A column that belongs to no table.
    pub fn computed(name: &str, column_type: ColumnType, nullable: bool) -> ColumnMeta {
        let traits = Traits::of(&column_type);
        ColumnMeta {
            traits,
            schema: "".into(),
            table: "".into(),
            org_table: "".into(),
            name: name.into(),
            org_name: "".into(),
            origin: Origin::Expression,
            column_type,
            flags: if nullable { 0 } else { column_flag::NOT_NULL },
            packet: KeptPacket::default(),
        }
    }
}

impl ColumnMeta {
    /// The flags of its definition on the wire.
    pub fn wire_flags(&self) -> u16 {
        let own = self.column_type.wire_flags();
        let hidden = match self.origin {
            Origin::Expression => column_flag::ENUM | column_flag::SET | column_flag::BLOB,
            Origin::Column if self.column_type.is_numeric() => column_flag::BINARY,
            Origin::Column if self.flags & column_flag::ON_UPDATE_NOW > 0 => 0,
            Origin::Column => column_flag::TIMESTAMP,
        };
        self.flags | own & !hidden
    }

    /// The decimals of its definition on the wire.
    pub fn wire_decimals(&self) -> u8 {
        match self.origin {
            Origin::Expression if self.column_type.is_string() => ANY_DECIMALS,
            _ => self.column_type.wire_decimals(),
        }
    }

    /// The same as a column of a table that keeps such values.
    pub fn kept(self) -> ColumnMeta {
        ColumnMeta { origin: Origin::Column, ..self }
    }

    /// The same with other traits.
    pub fn with_traits(self, traits: Traits) -> ColumnMeta {
        ColumnMeta { traits, ..self }
    }
}

/// Takes the results of statements. Synchronous and buffering.
pub trait ResultSink: Send {
    /// Begins a result set.
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError>;
    /// One row, as many values as columns.
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError>;
    /// One row of borrowed fields. Who can take them as they are, without a value each, should.
    fn fields(&mut self, row: &[FieldRef<'_>]) -> Result<(), SqlError> {
        self.row(&row.iter().map(|field| field.to_value()).collect::<Vec<_>>())
    }
    /// About so many bytes of rows are to come.
    fn reserve(&mut self, bytes: usize) {
        let _ = bytes;
    }
    /// Ends a result set. `status` holds [`status_flag`] bits.
    fn end(&mut self, warnings: u16, status: u16);
    /// A statement without a result set succeeded.
    fn ok(&mut self, affected: u64, last_insert_id: u64, warnings: u16, info: &str, status: u16);
    /// The buffer is full enough that the session should wait for the client.
    fn should_flush(&self) -> bool {
        false
    }
    /// Sends what is buffered; ready when there is room again.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SqlError>> {
        let _ = context;
        Poll::Ready(Ok(()))
    }
}

/// Takes a result that nobody asked to see.
pub struct Unseen;

impl ResultSink for Unseen {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), SqlError> {
        Ok(())
    }
    fn row(&mut self, _: &[Value]) -> Result<(), SqlError> {
        Ok(())
    }
    fn end(&mut self, _: u16, _: u16) {}
    fn ok(&mut self, _: u64, _: u64, _: u16, _: &str, _: u16) {}
}

/// Waits until the sink has room, if it asked for that.
pub async fn flush(sink: &mut dyn ResultSink) -> Result<(), SqlError> {
    if sink.should_flush() { poll_fn(|context| sink.poll_flush(context)).await } else { Ok(()) }
}
