//! A client's side of the exchange against ours, and keys in files.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};

use super::*;

const SCRAMBLE: [u8; SCRAMBLE_BYTES] = *b"abcdefghijklmnopqrst";

/// What a client sends: the password and a zero byte, masked and encrypted with the key it was given.
fn message(public: &str, password: &[u8]) -> Vec<u8> {
    let der = pem::parse(public).unwrap();
    let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(der.contents()).unwrap()).unwrap();
    let plain = [password, &[0]].concat();
    let masked: Vec<u8> = plain.iter().zip(SCRAMBLE.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    let mut out = vec![0; key.ciphertext_size()];
    key.encrypt(&OAEP_SHA1_MGF1SHA1, &masked, &mut out, None).unwrap().to_vec()
}

#[test]
fn the_pair_is_made_once_and_its_password_comes_through() {
    let folder = std::env::temp_dir().join(format!("turnstile-password-key-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let load = |generate| PasswordKey::load(&folder, "private_key.pem", "public_key.pem", generate).unwrap();
    assert!(load(false).is_none());
    let made = load(true).unwrap();
    let again = load(true).unwrap();
    assert_eq!(made.public(), again.public());
    assert_eq!(fs::read_to_string(folder.join("public_key.pem")).unwrap(), made.public());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(folder.join("private_key.pem")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    for password in [&b"secret"[..], b"", b"a password that is longer than the scramble is"] {
        assert_eq!(again.password(&message(made.public(), password), &SCRAMBLE).as_deref(), Some(password));
    }
    let mut broken = message(made.public(), b"secret");
    broken[7] ^= 1;
    assert_eq!(again.password(&broken, &SCRAMBLE), None);
    assert_eq!(again.password(b"", &SCRAMBLE), None);
    // The file as older tools write it.
    let pkcs8 = pem::parse(fs::read_to_string(folder.join("private_key.pem")).unwrap()).unwrap();
    let pkcs1 = &pkcs8.contents()[26..];
    assert_eq!(pkcs8_of(pkcs1), pkcs8.contents());
    fs::write(folder.join("private_key.pem"), pem_of("RSA PRIVATE KEY", pkcs1)).unwrap();
    let old = load(true).unwrap();
    assert_eq!(old.public(), made.public());
    fs::write(folder.join("private_key.pem"), "nothing").unwrap();
    assert!(PasswordKey::load(&folder, "private_key.pem", "public_key.pem", true).is_err());
    fs::remove_dir_all(&folder).unwrap();
}
