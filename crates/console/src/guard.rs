//! Who may ask at all, before anybody is asked for an account: by which name the console was asked for, by
//! whose page, and from where.
//!
//! A browser of this machine reaches loopback for every page that it shows. What it sends along tells such
//! requests from those of the console's own page: `Host` is the name in the address bar (a name of somebody
//! else that resolves to loopback is *DNS rebinding*), `Origin` and `Sec-Fetch-Site` name the page.

use std::net::IpAddr;

use crate::address::{Settings, is_loopback_name};
use crate::request::{Method, Request};
use crate::response::{Response, status};

/// Headers of who forwards requests for others: then the address at the other end of the socket is not the
/// client's.
const FORWARDED: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// The host of a `Host` header, without brackets and port; None if it is none.
fn host_of(value: &str) -> Option<&str> {
    let (host, rest) = match value.strip_prefix('[') {
        Some(inner) => {
            let (host, rest) = inner.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, rest)
        }
        None => value.split_at(value.find(':').unwrap_or(value.len())),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let is_port = rest.is_empty() || (rest.len() > 1 && port.bytes().all(|byte| byte.is_ascii_digit()));
    (is_port && !host.is_empty()).then_some(host)
}

/// The host that was asked for, if it is the console's: an address in digits, `localhost`, where the console
/// listens, or a name of `turnstile_console_host`. A name that somebody else's page may have is none of them.
///
/// # Errors
/// The answer for who asks for another, or for none, or for several.
pub fn host<'a>(request: &'a Request, settings: &Settings) -> Result<&'a str, Response> {
    let host =
        request.header("host").and_then(host_of).ok_or_else(|| Response::refusal(status::BAD_REQUEST))?;
    let is = |name: &String| name.eq_ignore_ascii_case(host);
    let known = host.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || is(&settings.address.host)
        || settings.names.iter().any(is);
    if known { Ok(host) } else { Err(Response::refusal(status::MISDIRECTED)) }
}

/// Whether a request is one of the console's own page, or of no page: then it may be answered.
///
/// # Errors
/// The answer for the page of somebody else.
pub fn origin(request: &Request) -> Result<(), Response> {
    let refused = || Err(Response::because(status::FORBIDDEN, "asked for by another page"));
    let own = request.header("host").unwrap_or_default();
    if request.has_header("origin") {
        let origin = request.header("origin").unwrap_or_default();
        // Behind a proxy that speaks TLS the page's scheme is https.
        let from = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if !from.is_some_and(|from| from.eq_ignore_ascii_case(own)) {
            return refused();
        }
    } else if request.method == Method::Post {
        // Every browser says where a POST comes from.
        return refused();
    }
    // A link that somebody follows shows the page in its own right.
    let is_followed = request.method == Method::Get && request.header("sec-fetch-dest") == Some("document");
    match request.header("sec-fetch-site") {
        Some("same-origin" | "none") => Ok(()),
        _ if is_followed => Ok(()),
        None if !request.has_header("sec-fetch-site") => Ok(()),
        _ => refused(),
    }
}

/// Whether a request comes from this machine and was asked for by a name of this machine: what is open to
/// everybody here is open to it. One that is passed on for somebody else is not.
pub fn is_local(request: &Request, host: &str, peer: IpAddr) -> bool {
    peer.to_canonical().is_loopback()
        && is_loopback_name(host)
        && !FORWARDED.iter().any(|name| request.has_header(name))
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn a_host_is_what_stands_before_the_port() {
        assert_eq!(host_of("localhost:8090"), Some("localhost"));
        assert_eq!(host_of("[::1]:80"), Some("::1"));
        assert_eq!(host_of("10.0.0.1"), Some("10.0.0.1"));
        for wrong in ["", ":80", "a:", "a:b", "[::1", "[a]:80", "a:80:80", "[::1]x"] {
            assert_eq!(host_of(wrong), None, "{wrong}");
        }
    }
}
