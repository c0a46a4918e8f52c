//! What the server says it is.

/// What the server says it is. Drivers choose their behaviour by the leading number.
pub const VERSION: &str = "8.4.0-turnstile";
/// `@@version_comment`.
pub const VERSION_COMMENT: &str = "Turnstile";
