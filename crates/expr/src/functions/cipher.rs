//! AES_ENCRYPT and AES_DECRYPT: AES of the key length and mode that `block_encryption_mode` names, with a key
//! that is folded to that length or derived by HKDF or PBKDF2 (SHA-512). The ciphers are the library's;
//! nothing of them is written here.

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, Algorithm, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext,
    PaddedBlockDecryptingKey, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::{hkdf, pbkdf2};

use super::{Entry, entry, text_bytes};
use crate::expr::{Call, EvalContext, Typed};
use turnstile_syntax::ast::VariableScope;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{BlobSize, ColumnType};
use turnstile_values::value::{Value, to_bytes, to_text};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("aes_encrypt", (2, 6), encrypt, encrypted_type, 0),
    entry("aes_decrypt", (2, 6), decrypt, decrypted_type, 0),
];

/// Bytes of a block, and of an initialization vector.
const BLOCK_BYTES: usize = 16;
/// Longest salt and information of a key derivation, and one more.
const OPTION_BYTES: usize = 256;
/// Longest number of iterations, and one more.
const COUNT_BYTES: usize = 6;
/// Iterations of PBKDF2 unless they are given.
const ITERATIONS: u32 = 1000;

/// Whole blocks, of which the last one is filled up.
fn encrypted_type(arguments: &[Typed]) -> ColumnType {
    let bytes = text_bytes(arguments);
    bytes_type((bytes / BLOCK_BYTES as u32 + 1).saturating_mul(BLOCK_BYTES as u32))
}

fn decrypted_type(arguments: &[Typed]) -> ColumnType {
    bytes_type(text_bytes(arguments))
}

fn bytes_type(length: u32) -> ColumnType {
    if length > 65_535 { ColumnType::Blob { size: BlobSize::Long } } else { ColumnType::Varbinary { length } }
}

/// How blocks are chained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

/// Of AES-256.
const KEY_BYTES_MAX: usize = 32;

/// What `block_encryption_mode` says: `aes-<bits of the key>-<mode>`.
fn settings(context: &EvalContext<'_>) -> SqlResult<(&'static Algorithm, usize, Mode)> {
    let text = to_text(&context.session.system_variable(VariableScope::Session, "block_encryption_mode")?);
    let mut parts = text.split('-').skip(1);
    let (algorithm, key_bytes) = match parts.next() {
        Some("192") => (&AES_192, 24),
        Some("256") => (&AES_256, KEY_BYTES_MAX),
        _ => (&AES_128, 16),
    };
    let mode = match parts.next() {
        Some("cbc") => Mode::Cbc,
        Some("cfb1") => Mode::Cfb1,
        Some("cfb8") => Mode::Cfb8,
        Some("cfb128") => Mode::Cfb128,
        Some("ofb") => Mode::Ofb,
        _ => Mode::Ecb,
    };
    Ok((algorithm, key_bytes, mode))
}

/// A salt or the like: none if it is not given, an error if it is NULL or too long.
fn derivation_option(arguments: &[Value], place: usize, most: usize) -> SqlResult<Vec<u8>> {
    match arguments.get(place) {
        None => Ok(Vec::new()),
        Some(Value::Null) => Err(SqlError::key_derivation_option_size(most)),
        Some(value) => {
            let bytes = to_bytes(value);
            if bytes.len() >= most {
                return Err(SqlError::key_derivation_option_size(most));
            }
            Ok(bytes.into_owned())
        }
    }
}

/// Iterations of PBKDF2: 1000 to 65535.
fn iterations(arguments: &[Value]) -> SqlResult<NonZeroU32> {
    let wanted = match derivation_option(arguments, 5, COUNT_BYTES)? {
        text if text.is_empty() && arguments.len() <= 5 => i128::from(ITERATIONS),
        text => turnstile_values::value::parse_integer_prefix(&text).0,
    };
    let held = u32::try_from(wanted).ok().filter(|count| (ITERATIONS..=65_535).contains(count));
    held.and_then(NonZeroU32::new).ok_or_else(SqlError::key_derivation_iterations)
}

/// The key that a call works with: the fourth argument names how it is derived; without it the given bytes
/// are folded.
fn cipher_key(arguments: &[Value], key_bytes: usize) -> SqlResult<Vec<u8>> {
    let given = to_bytes(&arguments[1]);
    let mut key = [0; KEY_BYTES_MAX][..key_bytes].to_vec();
    let Some(method) = arguments.get(3) else {
        for (at, byte) in given.iter().enumerate() {
            key[at % key_bytes] ^= byte;
        }
        return Ok(key);
    };
    if method.is_null() {
        return Err(SqlError::key_derivation_option_size(OPTION_BYTES));
    }
    match &*to_text(method) {
        "hkdf" => {
            let salt = derivation_option(arguments, 4, OPTION_BYTES)?;
            let info = derivation_option(arguments, 5, OPTION_BYTES)?;
            let extracted = hkdf::Salt::new(hkdf::HKDF_SHA512, &salt).extract(&given);
            let filled = extracted.expand(&[&info], KeyLength(key_bytes)).and_then(|okm| okm.fill(&mut key));
            filled.map_err(|_| SqlError::key_derivation_method())?;
        }
        "pbkdf2_hmac" => {
            let (salt, count) = (derivation_option(arguments, 4, OPTION_BYTES)?, iterations(arguments)?);
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA512, count, &salt, &given, &mut key);
        }
        _ => return Err(SqlError::key_derivation_method()),
    }
    Ok(key)
}

struct KeyLength(usize);

impl hkdf::KeyType for KeyLength {
    fn len(&self) -> usize {
        self.0
    }
}

/// The initialization vector; none in ECB, which ignores it and says so.
fn vector(
    call: &Call,
    arguments: &[Value],
    mode: Mode,
    context: &EvalContext<'_>,
) -> SqlResult<Option<[u8; BLOCK_BYTES]>> {
    let given = arguments.get(2);
    if mode == Mode::Ecb {
        if given.is_some() && arguments.len() == 3 {
            context.note(SqlError::option_ignored("IV"));
        }
        return Ok(None);
    }
    let Some(given) = given else { return Ok(None) };
    let bytes = to_bytes(given);
    let whole = bytes.get(..BLOCK_BYTES).filter(|_| !given.is_null());
    let short = || SqlError::vector_too_short(call.name, BLOCK_BYTES);
    whole.and_then(|bytes| bytes.try_into().ok()).map(Some).ok_or_else(short)
}

/// A cipher made ready for one call.
struct Cipher {
    key: UnboundCipherKey,
    mode: Mode,
    vector: Option<[u8; BLOCK_BYTES]>,
}

impl Cipher {
    /// None if text or key is NULL.
    fn of(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Option<Cipher>> {
        let (algorithm, key_bytes, mode) = settings(context)?;
        if mode != Mode::Ecb && arguments.len() < 3 {
            return Err(SqlError::wrong_parameter_count(call.name));
        }
        if arguments[0].is_null() || arguments[1].is_null() {
            return Ok(None);
        }
        let vector = vector(call, arguments, mode, context)?;
        let encrypts = call.name == "aes_encrypt";
        if encrypts && arguments.len() <= 3 && to_bytes(&arguments[1]).len() > key_bytes {
            context.note(SqlError::secret_too_long(key_bytes));
        }
        context.work(to_bytes(&arguments[0]).len())?;
        let key = cipher_key(arguments, key_bytes)?;
        let key = UnboundCipherKey::new(algorithm, &key).map_err(|_| SqlError::wrong_arguments(call.name))?;
        Ok(Some(Cipher { key, mode, vector }))
    }

    fn encrypt(self, bytes: &mut Vec<u8>) -> Result<(), Unspecified> {
        let begin = self
            .vector
            .map_or(EncryptionContext::None, |vector| EncryptionContext::Iv128(FixedLength::from(vector)));
        let key = match self.mode {
            Mode::Ecb => {
                return PaddedBlockEncryptingKey::ecb_pkcs7(self.key)?
                    .less_safe_encrypt(bytes, begin)
                    .map(drop);
            }
            Mode::Cbc => {
                return PaddedBlockEncryptingKey::cbc_pkcs7(self.key)?
                    .less_safe_encrypt(bytes, begin)
                    .map(drop);
            }
            Mode::Cfb1 => EncryptingKey::cfb1(self.key)?,
            Mode::Cfb8 => EncryptingKey::cfb8(self.key)?,
            Mode::Cfb128 => EncryptingKey::cfb128(self.key)?,
            Mode::Ofb => EncryptingKey::ofb(self.key)?,
        };
        key.less_safe_encrypt(bytes, begin).map(drop)
    }

    fn decrypt(self, bytes: &mut Vec<u8>) -> Result<(), Unspecified> {
        let begin = self
            .vector
            .map_or(DecryptionContext::None, |vector| DecryptionContext::Iv128(FixedLength::from(vector)));
        let unpad = |key: PaddedBlockDecryptingKey, bytes: &mut Vec<u8>, begin| {
            let length = key.decrypt(bytes, begin)?.len();
            bytes.truncate(length);
            Ok(())
        };
        let key = match self.mode {
            Mode::Ecb => return unpad(PaddedBlockDecryptingKey::ecb_pkcs7(self.key)?, bytes, begin),
            Mode::Cbc => return unpad(PaddedBlockDecryptingKey::cbc_pkcs7(self.key)?, bytes, begin),
            Mode::Cfb1 => DecryptingKey::cfb1(self.key)?,
            Mode::Cfb8 => DecryptingKey::cfb8(self.key)?,
            Mode::Cfb128 => DecryptingKey::cfb128(self.key)?,
            Mode::Ofb => DecryptingKey::ofb(self.key)?,
        };
        key.decrypt(bytes, begin).map(drop)
    }
}

fn encrypt(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(cipher) = Cipher::of(call, arguments, context)? else { return Ok(Value::Null) };
    let mut bytes = to_bytes(&arguments[0]).into_owned();
    Ok(cipher.encrypt(&mut bytes).map_or(Value::Null, |()| Value::bytes(bytes)))
}

/// What cannot be decrypted, or is not filled up as it should be, is NULL.
fn decrypt(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(cipher) = Cipher::of(call, arguments, context)? else { return Ok(Value::Null) };
    let mut bytes = to_bytes(&arguments[0]).into_owned();
    Ok(cipher.decrypt(&mut bytes).map_or(Value::Null, |()| Value::bytes(bytes)))
}
