//! IP addresses of both families, random bytes, and values told in the units people read.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ring::rand::{SecureRandom, SystemRandom};

use super::result_bytes::build_text;
use super::{Entry, NEVER_NULL, VOLATILE, bigint, bytes_long, entry, text_short};
use crate::error::{SqlError, SqlResult};
use crate::expr::{Call, EvalContext};
use crate::value::{Value, to_double, to_i64, to_text, to_u64_bits};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("inet6_aton", (1, 1), inet6_aton, bytes_long, 0),
    entry("inet6_ntoa", (1, 1), inet6_ntoa, text_short, 0),
    entry("is_ipv4", (1, 1), is_ipv4, bigint, NEVER_NULL),
    entry("is_ipv6", (1, 1), is_ipv6, bigint, NEVER_NULL),
    entry("is_ipv4_compat", (1, 1), is_ipv4_compat, bigint, NEVER_NULL),
    entry("is_ipv4_mapped", (1, 1), is_ipv4_mapped, bigint, NEVER_NULL),
    entry("random_bytes", (1, 1), random_bytes, bytes_long, VOLATILE),
    entry("export_set", (3, 5), export_set, super::export_set_type, 0),
    entry("format_bytes", (1, 1), format_bytes, text_short, 0),
];

/// INET6_ATON: 4 or 16 bytes; NULL for what is no address.
fn inet6_aton(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match to_text(&arguments[0]).parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Value::bytes(address.octets()),
        Ok(IpAddr::V6(address)) => Value::bytes(address.octets()),
        Err(_) => Value::Null,
    })
}

fn inet6_ntoa(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Value::Bytes(bytes) = &arguments[0] else { return Ok(Value::Null) };
    if let Ok(octets) = <[u8; 4]>::try_from(&bytes[..]) {
        return Ok(Value::from(Ipv4Addr::from(octets).to_string()));
    }
    let address = <[u8; 16]>::try_from(&bytes[..]).map(Ipv6Addr::from);
    Ok(address.map_or(Value::Null, |address| Value::from(address.to_string())))
}

fn is_ipv4(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::boolean(!arguments[0].is_null() && to_text(&arguments[0]).parse::<Ipv4Addr>().is_ok()))
}

fn is_ipv6(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::boolean(!arguments[0].is_null() && to_text(&arguments[0]).parse::<Ipv6Addr>().is_ok()))
}

/// The octets of an IPv6 address in the form of INET6_ATON.
fn ipv6_octets(value: &Value) -> Option<[u8; 16]> {
    let Value::Bytes(bytes) = value else { return None };
    <[u8; 16]>::try_from(&bytes[..]).ok()
}

/// `::a.b.c.d`, other than `::` and `::1`.
fn is_ipv4_compat(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let octets = ipv6_octets(&arguments[0]);
    let compat = |octets: [u8; 16]| octets[..12] == [0; 12] && octets[12..14] != [0; 2];
    Ok(Value::boolean(octets.is_some_and(compat)))
}

/// `::ffff:a.b.c.d`
fn is_ipv4_mapped(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let octets = ipv6_octets(&arguments[0]);
    Ok(Value::boolean(octets.is_some_and(|octets| Ipv6Addr::from(octets).to_ipv4_mapped().is_some())))
}

/// Most that RANDOM_BYTES gives.
const RANDOM_BYTES_MAX: usize = 1024;

/// RANDOM_BYTES(1 to 1024), fit for keys.
fn random_bytes(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let wanted = to_i64(&arguments[0], context)?;
    if !(1..=RANDOM_BYTES_MAX as i64).contains(&wanted) {
        return Err(SqlError::value_out_of_range("length", call.name));
    }
    let mut bytes = [0; RANDOM_BYTES_MAX];
    let bytes = &mut bytes[..wanted as usize];
    SystemRandom::new().fill(bytes).map_err(|_| SqlError::wrong_arguments(call.name))?;
    Ok(Value::bytes(&*bytes))
}

/// EXPORT_SET(bits, on, off, separator, number of bits): the lowest bit first.
fn export_set(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bits = to_u64_bits(&arguments[0], context)?;
    let (on, off) = (to_text(&arguments[1]), to_text(&arguments[2]));
    let separator = arguments.get(3).map_or_else(|| ",".into(), to_text);
    let asked = arguments.get(4).map_or(Ok(64), |count| to_i64(count, context))?;
    let count = if (0..=64).contains(&asked) { asked } else { 64 };
    build_text(call.name, context, |out| {
        for bit in 0..count {
            out.push(if bit > 0 { separator.as_bytes() } else { b"" })?;
            out.push(if bits >> bit & 1 == 1 { on.as_bytes() } else { off.as_bytes() })?;
        }
        Ok(())
    })
}

/// FORMAT_BYTES: `1000 bytes`, `1.50 KiB`.
fn format_bytes(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_double(&arguments[0], context)?;
    let mut text = String::new();
    let units = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"];
    let sizes = (1..=6).rev().map(|power| 1024f64.powi(power));
    let written = match units.iter().zip(sizes).find(|(_, size)| bytes.abs() >= *size) {
        Some((unit, size)) => write!(text, "{:.2} {unit}", bytes / size),
        None => write!(text, "{:>4.0} bytes", bytes.trunc()),
    };
    debug_assert!(written.is_ok());
    Ok(Value::from(text))
}
