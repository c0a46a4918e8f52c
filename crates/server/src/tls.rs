//! TLS: certificate and key from the files the operator names, or a self-signed pair made at first start and kept in the
//! data directory, so that clients which ask for TLS by default get it.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Loads (or first makes) the certificate. `certificate` and `key` are relative to `datadir` unless absolute.
///
/// # Errors
/// When a file cannot be read or written, or does not hold what it should.
pub fn load(datadir: &Path, certificate: &str, key: &str) -> io::Result<Arc<ServerConfig>> {
    let (certificate, key) = (datadir.join(certificate), datadir.join(key));
    if !certificate.exists() && !key.exists() {
        make(&certificate, &key)?;
    }
    let chain = CertificateDer::pem_file_iter(&certificate)
        .and_then(|found| found.collect::<Result<Vec<_>, _>>())
        .map_err(|error| io::Error::other(format!("{}: {error}", certificate.display())))?;
    let private = PrivateKeyDer::from_pem_file(&key)
        .map_err(|error| io::Error::other(format!("{}: {error}", key.display())))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(io::Error::other)?;
    Ok(Arc::new(config))
}

fn make(certificate: &Path, key: &Path) -> io::Result<()> {
    let names = vec!["localhost".to_string(), "127.0.0.1".to_string(), "turnstile".to_string()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(key)?;
    io::Write::write_all(&mut file, made.signing_key.serialize_pem().as_bytes())?;
    fs::write(certificate, made.cert.pem())
}
