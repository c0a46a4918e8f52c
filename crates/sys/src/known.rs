//! Shared things behind a count of one's own.
//!
//! Who clones an `Arc` writes to the cache line of its count. Where every session clones the same one with
//! every statement, that line is never at home with any of them. So a session keeps what it has found as a
//! [`Known`]: the inner count has one more for as long as it is kept, and the statements of this session
//! clone the outer one, whose line is theirs.

use std::sync::Arc;

/// Something shared, behind a count that only its keeper changes. It reads as the thing itself.
pub type Known<T> = Arc<Arc<T>>;
