//! The RSA key pair of `caching_sha2_password`: a client without TLS encrypts its password for it.
//!
//! The exchange: the client asks for the public key with a single byte, unless it has the key in a file; it
//! sends its password with a zero byte behind it, XORed with the scramble over and over, encrypted with
//! RSA-OAEP (SHA-1, as MySQL's clients do). Decryption takes the same time whatever is wrong with a message
//! ([why this library](../../../docs/decisions/0006-rsa-of-passwords.md)).

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use pem::{EncodeConfig, LineEnding, Pem};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;

use turnstile_wire::handshake::SCRAMBLE_BYTES;

/// A key pair.
pub struct PasswordKey {
    private: OaepPrivateDecryptingKey,
    public: String,
}

impl PasswordKey {
    /// Loads the pair; None if there is none. `generate`: makes one if neither file is there. The names are
    /// relative to `datadir` unless absolute.
    ///
    /// # Errors
    /// When a file cannot be read or written, or does not hold an RSA key.
    pub fn load(
        datadir: &Path,
        private: &str,
        public: &str,
        generate: bool,
    ) -> io::Result<Option<PasswordKey>> {
        let (private, public) = (datadir.join(private), datadir.join(public));
        if !private.exists() {
            if !generate || public.exists() {
                return Ok(None);
            }
            make(&private, &public)?;
        }
        let bad = |why: &dyn std::fmt::Display| io::Error::other(format!("{}: {why}", private.display()));
        let key = match PrivateKeyDer::from_pem_file(&private).map_err(|error| bad(&error))? {
            PrivateKeyDer::Pkcs8(der) => PrivateDecryptingKey::from_pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(der) => PrivateDecryptingKey::from_pkcs8(&pkcs8_of(der.secret_pkcs1_der())),
            _ => return Err(bad(&"not an RSA key")),
        };
        let key = key.map_err(|error| bad(&error))?;
        PasswordKey::new(key).map(Some).map_err(|error| bad(&error))
    }

    fn new(key: PrivateDecryptingKey) -> Result<PasswordKey, aws_lc_rs::error::Unspecified> {
        let public = public_text(&key)?;
        Ok(PasswordKey { private: OaepPrivateDecryptingKey::new(key)?, public })
    }

    /// The public key as clients get it.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The password in a client's message; None if it cannot be decrypted.
    pub fn password(&self, message: &[u8], scramble: &[u8; SCRAMBLE_BYTES]) -> Option<Vec<u8>> {
        let mut plain = vec![0; self.private.min_output_size()];
        let plain = self.private.decrypt(&OAEP_SHA1_MGF1SHA1, message, &mut plain, None).ok()?;
        let mut password: Vec<u8> =
            plain.iter().zip(scramble.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        (password.pop() == Some(0)).then_some(password)
    }
}

fn public_text(key: &PrivateDecryptingKey) -> Result<String, aws_lc_rs::error::Unspecified> {
    let der: PublicKeyX509Der<'_> = key.public_key().as_der()?;
    Ok(pem_of("PUBLIC KEY", der.as_ref()))
}

fn pem_of(label: &str, der: &[u8]) -> String {
    let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
    pem::encode_config(&Pem::new(label, der), lines)
}

fn make(private: &Path, public: &Path) -> io::Result<()> {
    let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(io::Error::other)?;
    let der: Pkcs8V1Der<'_> = key.as_der().map_err(io::Error::other)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(private)?;
    file.write_all(pem_of("PRIVATE KEY", der.as_ref()).as_bytes())?;
    fs::write(public, public_text(&key).map_err(io::Error::other)?)
}

/// An RSA key as PKCS #1 has it, which older tools write, in the envelope of PKCS #8.
fn pkcs8_of(pkcs1: &[u8]) -> Vec<u8> {
    // Version 0, then the algorithm rsaEncryption.
    const HEAD: [u8; 18] = [
        0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
        0x00,
    ];
    tagged(0x30, &[&HEAD, &*tagged(0x04, pkcs1)].concat())
}

/// A value of DER.
fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut out = vec![tag];
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
        out.push(0x80 | bytes.len() as u8);
        out.extend(bytes);
    }
    out.extend_from_slice(content);
    out
}

#[cfg(test)]
mod tests;
