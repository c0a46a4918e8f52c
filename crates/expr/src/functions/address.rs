//! IP addresses of both families, random bytes, and values told in the units people read.

use std::borrow::Cow;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ring::rand::{SecureRandom, SystemRandom};

use super::string::build_of;
use super::written::refused;
use super::{Entry, VOLATILE, bytes_of, entry, text_of, truth};
use crate::expr::{Call, EvalContext};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, to_bytes, to_double, to_i64, to_text, to_u64_bits};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("inet6_aton", (1, 1), inet6_aton, bytes_of::<16>, 0),
    entry("inet6_ntoa", (1, 1), inet6_ntoa, text_of::<39>, 0),
    entry("is_ipv4", (1, 1), is_ipv4, truth, 0),
    entry("is_ipv6", (1, 1), is_ipv6, truth, 0),
    entry("is_ipv4_compat", (1, 1), is_ipv4_compat, truth, 0),
    entry("is_ipv4_mapped", (1, 1), is_ipv4_mapped, truth, 0),
    entry("random_bytes", (1, 1), random_bytes, bytes_of::<1024>, VOLATILE),
    entry("export_set", (3, 5), export_set, super::export_set_type, 0),
    entry("format_bytes", (1, 1), format_bytes, text_of::<11>, 0),
];

/// INET6_ATON: 4 or 16 bytes; NULL for what is no address.
fn inet6_aton(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    match address(&to_text(&arguments[0])) {
        Some(IpAddr::V4(address)) => Ok(Value::bytes(address.octets())),
        Some(IpAddr::V6(address)) => Ok(Value::bytes(address.octets())),
        None => refused(call, "string", 0, &arguments[0], context),
    }
}

/// An address; numbers of the fourth version may have zeros before them, and `::` may stand for one group of
/// zeros or for none.
fn address(text: &str) -> Option<IpAddr> {
    if let Some(address) = dotted(text) {
        return Some(IpAddr::V4(address));
    }
    let Some((groups, tail)) = text.rsplit_once(':').filter(|(_, tail)| tail.contains('.')) else {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    };
    let tail = dotted(tail)?;
    format!("{groups}:{tail}").parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

/// Four numbers of at most three digits.
fn dotted(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next().filter(|part| (1..=3).contains(&part.len()))?;
        *octet = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

fn inet6_ntoa(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Value::Bytes(bytes) = &arguments[0] else {
        return refused(call, "string", 0, &arguments[0], context);
    };
    if let Ok(octets) = <[u8; 4]>::try_from(&bytes[..]) {
        return Ok(Value::from(Ipv4Addr::from(octets).to_string()));
    }
    match <[u8; 16]>::try_from(&bytes[..]) {
        Ok(octets) => Ok(Value::from(ipv6_text(Ipv6Addr::from(octets)))),
        Err(_) => refused(call, "string", 0, &arguments[0], context),
    }
}

/// The longest run of zeros is `::`, one alone too; an address of the fourth version in it is written as
/// such.
fn ipv6_text(address: Ipv6Addr) -> String {
    let groups = address.segments();
    let (mut begin, mut length) = (0, 0);
    for from in 0..groups.len() {
        let run = groups[from..].iter().take_while(|group| **group == 0).count();
        if run > length {
            (begin, length) = (from, run);
        }
    }
    let holds_ipv4 = begin == 0 && (length == 6 || length == 5 && groups[5] == 0xFFFF);
    let mut text = String::new();
    let mut at = 0;
    while at < groups.len() {
        if length > 0 && at == begin {
            text.push_str(if begin == 0 { "::" } else { ":" });
            at += length;
        } else if holds_ipv4 && at == 6 {
            let [.., a, b, c, d] = address.octets();
            return text + &Ipv4Addr::new(a, b, c, d).to_string();
        } else {
            let written = write!(text, "{:x}{}", groups[at], if at < 7 { ":" } else { "" });
            debug_assert!(written.is_ok());
            at += 1;
        }
    }
    text
}

fn is_ipv4(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::boolean(dotted(&to_text(&arguments[0])).is_some()))
}

fn is_ipv6(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::boolean(matches!(address(&to_text(&arguments[0])), Some(IpAddr::V6(_)))))
}

/// The octets of an IPv6 address in the form of INET6_ATON.
fn ipv6_octets(value: &Value) -> Option<[u8; 16]> {
    let Value::Bytes(bytes) = value else { return None };
    <[u8; 16]>::try_from(&bytes[..]).ok()
}

/// `::a.b.c.d`, other than `::` and `::1`.
fn is_ipv4_compat(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let octets = ipv6_octets(&arguments[0]);
    let compat = |octets: [u8; 16]| octets[..12] == [0; 12] && octets[12..14] != [0; 2];
    Ok(Value::boolean(octets.is_some_and(compat)))
}

/// `::ffff:a.b.c.d`
fn is_ipv4_mapped(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
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
    let (on, off) = (to_bytes(&arguments[1]), to_bytes(&arguments[2]));
    let separator = arguments.get(3).map_or(Cow::Borrowed(&b","[..]), to_bytes);
    let texts = &arguments[1..arguments.len().min(4)];
    let asked = arguments.get(4).map_or(Ok(64), |count| to_i64(count, context))?;
    let count = if (0..=64).contains(&asked) { asked } else { 64 };
    build_of(texts, call, context, |out| {
        for bit in 0..count {
            out.push(if bit > 0 { &separator } else { b"" })?;
            out.push(if bits >> bit & 1 == 1 { &on } else { &off })?;
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
        Some((unit, size)) if (bytes / size).abs() >= 1e5 => {
            write!(text, "{} {unit}", super::server::exponent(bytes / size))
        }
        Some((unit, size)) => write!(text, "{:.2} {unit}", bytes / size),
        None => write!(text, "{:>4.0} bytes", bytes.trunc()),
    };
    debug_assert!(written.is_ok());
    Ok(Value::from(text))
}
