//! Values as statements convert and store them: with warnings, modes and a clock. What a value is by itself
//! is a [`datum`](crate::datum), whose names are found here too.

mod amount;
mod convert;
mod document;
mod moment;
pub mod scalar;
mod store;
#[cfg(test)]
mod tests;

pub use amount::interval_from_value;
pub use convert::{
    Numeric, apply_offset, to_bool, to_date_time, to_decimal, to_double, to_i64, to_numeric, to_time,
    to_u64_bits,
};
pub use moment::{
    MomentOrTime, ReadFor, delimiter_warning, read_clock, read_date, read_moment, read_moment_or_time,
    tell_delimiter,
};
pub use store::shown_misfit;
pub use store::{StoreContext, rounded_to_scale, store, zero_of};

pub use crate::datum::*;
pub use crate::number_text::{
    fitted_double, format_double, format_float, parse_double_prefix, parse_integer_prefix,
};
