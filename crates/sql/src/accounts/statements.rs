//! Statements about accounts.
