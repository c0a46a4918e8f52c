//! Password exchanges, and the crypt against a published example.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
use super::*;

#[test]
fn native_exchange() {
    let stored = native_hash(b"secret");
    assert_eq!(stored, b"*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
    let nonce = [7u8; 20];
    let once = sha1(&[b"secret"]);
    let response = xor(&once, &sha1(&[&nonce, &sha1(&[&once])]));
    assert!(check_native(&stored, &nonce, &response));
    assert!(!check_native(&stored, &[8u8; 20], &response));
    assert!(!check_native(&stored, &nonce, b""));
    assert!(check_native(b"", &nonce, b""));
}

#[test]
fn sha2_exchange() {
    let salt = salt();
    let stored = sha2_hash(b"secret", &salt);
    assert_eq!(stored.len(), PREFIX.len() + SALT_LEN + 43);
    assert!(check_sha2(&stored, b"secret"));
    assert!(!check_sha2(&stored, b"Secret"));
    let fast = sha2_fast(b"secret");
    let response = xor(&sha256(&[b"secret"]), &sha256(&[&fast, &[1u8; 20]]));
    assert!(check_sha2_fast(&fast, &[1u8; 20], &response));
    assert!(!check_sha2_fast(&fast, &[2u8; 20], &response));
}

#[test]
fn crypt_matches_the_published_example() {
    // "saltstring" and "Hello world!" at 5,000 rounds, from the description of the scheme.
    assert_eq!(crypt(b"Hello world!", b"saltstring"), b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5");
}
