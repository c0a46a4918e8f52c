//! Password hashes: `mysql_native_password` (double SHA-1) and `caching_sha2_password` (SHA-256 crypt with
//! 5,000 rounds for storage, a double SHA-256 in memory for the fast exchange). The crypt follows Ulrich
//! Drepper's public description "Unix crypt using SHA-256 and SHA-512", with a salt of 20 bytes as MySQL
//! uses.

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of a salt, and of the nonce a server sends.
pub const SALT_LEN: usize = 20;
const PREFIX: &[u8] = b"$A$005$";
const ROUNDS: usize = 5000;
const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut out = [0; 20];
    out.copy_from_slice(digest(&SHA1_FOR_LEGACY_USE_ONLY, &parts.concat()).as_ref());
    out
}

/// SHA-256 of the parts one after another.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, &parts.concat()).as_ref());
    out
}

/// Equal, in a time that does not depend on where they differ.
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

fn xor<const N: usize>(a: &[u8; N], b: &[u8; N]) -> [u8; N] {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The stored form of `mysql_native_password`: a star and 40 hexadecimal digits; empty for an empty password.
pub fn native_hash(password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let twice = sha1(&[&sha1(&[password])]);
    let mut text = String::from("*");
    twice.iter().for_each(|byte| text.push_str(&format!("{byte:02X}")));
    text.into_bytes()
}

fn native_bytes(stored: &[u8]) -> Option<[u8; 20]> {
    let digits = stored.strip_prefix(b"*").filter(|digits| digits.len() == 40)?;
    let mut out = [0; 20];
    for (byte, pair) in out.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(out)
}

/// Checks the client's answer to `nonce` against the stored form.
pub fn check_native(stored: &[u8], nonce: &[u8], response: &[u8]) -> bool {
    if stored.is_empty() {
        return response.is_empty();
    }
    let (Some(twice), Ok(response)) = (native_bytes(stored), <&[u8; 20]>::try_from(response)) else {
        return false;
    };
    let once = xor(response, &sha1(&[nonce, &twice]));
    equal(&sha1(&[&once]), &twice)
}

/// The stored form of `caching_sha2_password`; empty for an empty password.
pub fn sha2_hash(password: &[u8], salt: &[u8; SALT_LEN]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    [PREFIX, salt, &crypt(password, salt)].concat()
}

/// Random salt without the bytes 0 and `$`.
pub fn salt() -> [u8; SALT_LEN] {
    let mut salt = [0u8; SALT_LEN];
    // The system's generator fails only where there is none; a constant salt weakens the hash but keeps it
    // right.
    let _ = SystemRandom::new().fill(&mut salt);
    salt.map(|byte| {
        let byte = byte & 0x7f;
        if byte == 0 || byte == b'$' { byte + 1 } else { byte }
    })
}

/// Checks a password in clear against the stored form of `caching_sha2_password`.
pub fn check_sha2(stored: &[u8], password: &[u8]) -> bool {
    if stored.is_empty() || password.is_empty() {
        return stored.is_empty() && password.is_empty();
    }
    let Some((salt, hash)) =
        stored.strip_prefix(PREFIX).filter(|rest| rest.len() > SALT_LEN).map(|r| r.split_at(SALT_LEN))
    else {
        return false;
    };
    equal(&crypt(password, salt), hash)
}

/// What the fast exchange remembers of a password.
pub fn sha2_fast(password: &[u8]) -> [u8; 32] {
    sha256(&[&sha256(&[password])])
}

/// Checks the fast exchange: `response` is SHA256(password) xor SHA256(fast, nonce).
pub fn check_sha2_fast(fast: &[u8; 32], nonce: &[u8], response: &[u8]) -> bool {
    let Ok(response) = <&[u8; 32]>::try_from(response) else { return false };
    let once = xor(response, &sha256(&[fast, nonce]));
    equal(&sha256(&[&once]), fast)
}

fn repeat(block: &[u8; 32], len: usize) -> Vec<u8> {
    block.iter().copied().cycle().take(len).collect()
}

fn crypt(password: &[u8], salt: &[u8]) -> Vec<u8> {
    let inner = sha256(&[password, salt, password]);
    let mut start = [password, salt, &repeat(&inner, password.len())].concat();
    let mut bits = password.len();
    while bits > 0 {
        start.extend_from_slice(if bits & 1 == 1 { &inner[..] } else { password });
        bits >>= 1;
    }
    let mut sum = sha256(&[&start]);
    let p = repeat(&sha256(&[&password.repeat(password.len())]), password.len());
    let s = repeat(&sha256(&[&salt.repeat(16 + usize::from(sum[0]))]), salt.len());
    let none: &[u8] = &[];
    for round in 0..ROUNDS {
        let odd = round % 2 == 1;
        sum = sha256(&[
            if odd { &p } else { &sum[..] },
            if round % 3 != 0 { &s } else { none },
            if round % 7 != 0 { &p } else { none },
            if odd { &sum[..] } else { &p },
        ]);
    }
    encode(&sum)
}

fn encode(sum: &[u8; 32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(43);
    let mut put = |high: u8, middle: u8, low: u8, count: usize| {
        let mut bits = u32::from(high) << 16 | u32::from(middle) << 8 | u32::from(low);
        for _ in 0..count {
            out.push(ALPHABET[(bits & 63) as usize]);
            bits >>= 6;
        }
    };
    let mut at = (0, 10, 20);
    for _ in 0..10 {
        put(sum[at.0], sum[at.1], sum[at.2], 4);
        // The published order 0,10,20 / 21,1,11 / 12,22,2 / ...: each index grows by one and they rotate.
        at = (at.2 + 1, at.0 + 1, at.1 + 1);
    }
    put(0, sum[31], sum[30], 3);
    out
}

#[cfg(test)]
mod tests;
