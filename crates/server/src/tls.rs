//! TLS: certificate and key from the files the operator names, or a self-signed pair made at first start and
//! kept in the data directory, so that clients which ask for TLS by default get it.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};

/// Which protocols `tls_version` names.
///
/// # Errors
/// A text about a name that is none of those that are spoken.
pub fn versions(names: &str) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let named = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    named
        .map(|name| match name.to_ascii_lowercase().as_str() {
            "tlsv1.2" => Ok(&rustls::version::TLS12),
            "tlsv1.3" => Ok(&rustls::version::TLS13),
            _ => Err(format!("option 'tls_version': '{name}' is none of TLSv1.2 and TLSv1.3")),
        })
        .collect()
}

/// Loads the certificate; if there is none yet, makes it first if `may_make`. `certificate` and `key` are
/// relative to `datadir` unless absolute.
///
/// # Errors
/// When a file cannot be read or written, or does not hold what it should.
pub fn load(
    datadir: &Path,
    (certificate, key): (&str, &str),
    may_make: bool,
    versions: &[&'static SupportedProtocolVersion],
) -> io::Result<Arc<ServerConfig>> {
    let (certificate, key) = (datadir.join(certificate), datadir.join(key));
    if may_make && !certificate.exists() && !key.exists() {
        make(&certificate, &key)?;
    }
    let chain = CertificateDer::pem_file_iter(&certificate)
        .and_then(|found| found.collect::<Result<Vec<_>, _>>())
        .map_err(|error| io::Error::other(format!("{}: {error}", certificate.display())))?;
    let private = PrivateKeyDer::from_pem_file(&key)
        .map_err(|error| io::Error::other(format!("{}: {error}", key.display())))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_version_names_the_protocols_that_are_spoken() {
        let spoken =
            |names: &str| versions(names).map(|all| all.iter().map(|one| one.version).collect::<Vec<_>>());
        use rustls::ProtocolVersion as V;
        assert_eq!(spoken("TLSv1.2,TLSv1.3"), Ok(vec![V::TLSv1_2, V::TLSv1_3]));
        assert_eq!(spoken(" tlsv1.3 "), Ok(vec![V::TLSv1_3]));
        assert_eq!(spoken(""), Ok(Vec::new()));
        assert!(spoken("TLSv1.1,TLSv1.2").is_err());
    }
}
