//! Where the console listens and by which names it may be asked for: the values of `turnstile_console` and
//! `turnstile_console_host`.

use std::fmt;
use std::net::IpAddr;

/// The address of who names none: nobody but programs of this machine.
const LOOPBACK: &str = "127.0.0.1";

/// Where the console listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A host as the resolver takes it: an address without brackets, or a name.
    pub host: String,
    /// TCP port, never 0.
    pub port: u16,
}

impl Address {
    /// Reads `[ADDRESS:]PORT`; an IPv6 address stands in brackets.
    ///
    /// # Errors
    /// A text for the person who typed it.
    pub fn parse(text: &str) -> Result<Address, String> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (bare(host).ok_or_else(|| refusal(text))?, port),
            None => (LOOPBACK, text),
        };
        match port.parse() {
            Ok(port) if port > 0 && !host.is_empty() => Ok(Address { host: host.to_string(), port }),
            _ => Err(refusal(text)),
        }
    }

    /// Whether only programs of this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        is_loopback_name(&self.host)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(to, "http://{open}{}{close}:{}/", self.host, self.port)
    }
}

fn refusal(text: &str) -> String {
    format!("turnstile_console '{text}' is not [ADDRESS:]PORT, an IPv6 address in brackets")
}

/// A host without its brackets; None if it needs them and has none.
fn bare(host: &str) -> Option<&str> {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']'),
        None => (!host.contains(':')).then_some(host),
    }
}

/// Whether a host, without brackets and port, is this machine by name or number.
pub fn is_loopback_name(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// The console's two options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where it listens.
    pub address: Address,
    /// Names by which it may be asked for besides, in lower case.
    pub names: Vec<String>,
}

impl Settings {
    /// From `turnstile_console` and `turnstile_console_host`; None if there shall be no console.
    ///
    /// # Errors
    /// A text for the person who typed it.
    pub fn parse(address: &str, names: &str) -> Result<Option<Settings>, String> {
        if address.is_empty() {
            return Ok(None);
        }
        let names = names.split(',').map(|name| name.trim().to_ascii_lowercase());
        let names = names.filter(|name| !name.is_empty()).collect();
        Ok(Some(Settings { address: Address::parse(address)?, names }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn a_port_alone_is_loopback() {
        let read = |text: &str| Address::parse(text).unwrap().to_string();
        assert_eq!(read("8090"), "http://127.0.0.1:8090/");
        assert_eq!(read("0.0.0.0:80"), "http://0.0.0.0:80/");
        assert_eq!(read("[::1]:8090"), "http://[::1]:8090/");
        assert_eq!(read("db.example:8090"), "http://db.example:8090/");
        assert!(Address::parse("8090").unwrap().is_loopback());
        assert!(Address::parse("[::1]:1").unwrap().is_loopback());
        assert!(!Address::parse("0.0.0.0:1").unwrap().is_loopback());
        for wrong in ["0", "", ":", ":80", "ON", "65536", "::1:80", "[::1:80", "127.0.0.1:", "-1"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_stand_between_commas() {
        assert_eq!(Settings::parse("", "a").unwrap(), None);
        assert_eq!(Settings::parse("1", " A.example ,,b").unwrap().unwrap().names, ["a.example", "b"]);
        assert!(Settings::parse("x", "").is_err());
    }
}
