//! Which request gets which answer, and what it has to show for it.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::account::Owner;
use crate::guard;
use crate::metrics;
use crate::request::{Method, Request};
use crate::response::{Response, kind, status};
use crate::site::{Site, refused};
use crate::visitor::Visitor;

/// Answers a request.
pub fn answer(site: &Site, request: &Request, peer: IpAddr) -> Response {
    whole(site, request, peer).unwrap_or_else(|refusal| refusal)
}

fn whole(site: &Site, request: &Request, peer: IpAddr) -> Result<Response, Response> {
    let host = guard::host(request, &site.settings)?;
    let is_local = guard::is_local(request, host, peer);
    match request.path.as_str() {
        "/healthz" => {
            looks_only(request)?;
            Ok(Response::new(status::OK, kind::TEXT, "ok\n"))
        }
        "/readyz" => {
            looks_only(request)?;
            Ok(readiness(site))
        }
        "/metrics" => {
            looks_only(request)?;
            let with_hot_rows = is_local || may_watch(site, &named(site, request, peer)?)?;
            let text = metrics::text(&site.database, site.connections.count(), with_hot_rows);
            Ok(Response::new(status::OK, kind::OPEN_METRICS, text))
        }
        _ => {
            guard::origin(request)?;
            Err(Response::refusal(status::NOT_FOUND))
        }
    }
}

/// Who asks, by the user and password that come with the request (HTTP's Basic).
fn named(site: &Site, request: &Request, peer: IpAddr) -> Result<Owner, Response> {
    let challenge = || {
        let how = "Basic realm=\"turnstile\", charset=\"UTF-8\"";
        Response::because(status::UNAUTHORIZED, "needs an account").with("WWW-Authenticate", how)
    };
    let given = request.header("authorization").and_then(|value| value.split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let given = given.and_then(|(_, code)| STANDARD.decode(code.trim()).ok());
    let given = given.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(challenge)?;
    let (user, password) = given.split_once(':').ok_or_else(challenge)?;
    site.prove(peer, user, password)
}

/// Whether an account may know of hot rows: the table of them says.
fn may_watch(site: &Site, owner: &Owner) -> Result<bool, Response> {
    let mut visitor = Visitor::enter(&site.database, owner).map_err(|error| refused(&error))?;
    Ok(visitor.rows("SELECT WAITING FROM information_schema.TURNSTILE_HOT_ROWS LIMIT 1").is_ok())
}

/// That nothing is to be changed.
fn looks_only(request: &Request) -> Result<(), Response> {
    if request.method == Method::Post { Err(Response::not_allowed("GET, HEAD")) } else { Ok(()) }
}

/// Whether the engine runs: without it every statement is refused.
fn readiness(site: &Site) -> Response {
    match site.database.engine().check_running() {
        Ok(()) => Response::new(status::OK, kind::TEXT, "ready\n"),
        Err(error) => Response::because(status::UNAVAILABLE, &error.to_string()),
    }
}
