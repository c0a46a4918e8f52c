//! Which request gets which answer, and what it has to show for it.

use std::net::IpAddr;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use turnstile_catalog::accounts::hash::equal;
use turnstile_catalog::version::VERSION;

use crate::account::Owner;
use crate::guard;
use crate::logins::{AGE_MAX, Login};
use crate::metrics;
use crate::metrics::Told;
use crate::page;
use crate::request::{Method, Request};
use crate::response::{Response, kind, status};
use crate::sampler::Watch;
use crate::site::{Site, refused};
use crate::switches;
use crate::visitor::Visitor;

/// What balancers ask for.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// What a request is answered with.
pub enum Answer {
    /// All at once.
    Whole(Response),
    /// Sample after sample, for as long as the login lasts that it is for.
    Samples(Watch, Option<Login>),
}

/// Answers a request.
pub fn answer(site: &Site, request: &Request, peer: IpAddr) -> Answer {
    let host = match guard::host(request, &site.settings) {
        Ok(host) => host,
        // Balancers that speak HTTP/1.0 name no host, and no browser leaves it out.
        Err(_) if !request.has_header("host") && HEALTH.contains(&request.path.as_str()) => "",
        Err(refusal) => return Answer::Whole(refusal),
    };
    let is_local = guard::is_local(request, host, peer);
    let whole = match request.path.as_str() {
        "/healthz" | "/readyz" | "/metrics" => plain(site, request, peer, is_local),
        "/events" => match samples(site, request, is_local) {
            Ok((watch, login)) => return Answer::Samples(watch, login),
            Err(refusal) => Err(refusal),
        },
        _ => guard::origin(request).and_then(|()| of_page(site, request, peer, is_local)),
    };
    Answer::Whole(whole.unwrap_or_else(|refusal| refusal))
}

/// Metrics and health, which programs ask for.
fn plain(site: &Site, request: &Request, peer: IpAddr, is_local: bool) -> Result<Response, Response> {
    looks_only(request)?;
    match request.path.as_str() {
        "/healthz" => Ok(Response::new(status::OK, kind::TEXT, "ok\n")),
        "/readyz" => Ok(readiness(site)),
        _ => {
            let told = match is_local {
                true => Told { hot_rows: true, digests: true },
                false => may_watch(site, &named(site, request, peer)?)?,
            };
            let text = metrics::text(&site.database, site.connections.counts(), told);
            Ok(Response::new(status::OK, kind::OPEN_METRICS, text))
        }
    }
}

/// The page, and what it asks for.
fn of_page(site: &Site, request: &Request, peer: IpAddr, is_local: bool) -> Result<Response, Response> {
    match request.path.as_str() {
        "/session" => {
            looks_only(request)?;
            Ok(told_of_session(site.login(request).as_ref(), is_local))
        }
        "/login" => {
            changes(request)?;
            log_in(site, request, peer, is_local)
        }
        "/logout" => {
            changes(request)?;
            log_out(site, request, is_local)
        }
        "/switch" => {
            changes(request)?;
            turn_switch(site, request)
        }
        path => {
            let file = page::file(path).ok_or_else(|| Response::refusal(status::NOT_FOUND))?;
            looks_only(request)?;
            Ok(file)
        }
    }
}

/// The samples that somebody may watch.
fn samples(site: &Site, request: &Request, is_local: bool) -> Result<(Watch, Option<Login>), Response> {
    guard::origin(request)?;
    if request.method != Method::Get {
        return Err(Response::not_allowed("GET"));
    }
    let login = site.login(request);
    if login.is_none() && !is_local {
        return Err(Response::because(status::UNAUTHORIZED, "needs an account"));
    }
    Ok((site.sampler.watch(login.as_ref().map(|login| login.owner.clone())), login))
}

/// What the page has to know of who is logged in; without a login, whether it may watch at all.
fn told_of_session(login: Option<&Login>, is_local: bool) -> Response {
    let told = json!({
        "user": login.map(|login| &login.owner.user),
        "page_token": login.map(|login| &login.page_token),
        "may_watch": is_local || login.is_some(),
        "version": VERSION,
    });
    Response::new(status::OK, kind::JSON, told.to_string())
}

/// A user and a password, as JSON, for a cookie.
fn log_in(site: &Site, request: &Request, peer: IpAddr, is_local: bool) -> Result<Response, Response> {
    let given = json_of(request)?;
    let member = |name: &str| given[name].as_str().ok_or_else(|| Response::refusal(status::BAD_REQUEST));
    let owner = site.prove(peer, member("user")?, member("password")?)?;
    let now = Instant::now();
    let begun = site.logins.begin(owner, now).ok_or_else(|| Response::refusal(status::UNAVAILABLE))?;
    let login = site.logins.find(&begun, &site.database, now);
    // Behind a proxy that speaks TLS the cookie stays within TLS.
    let is_https = request.header("origin").is_some_and(|origin| origin.starts_with("https:"));
    let cookie = format!(
        "{}={begun}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{}",
        site.cookie_name(),
        AGE_MAX.as_secs(),
        if is_https { "; Secure" } else { "" }
    );
    Ok(told_of_session(login.as_ref(), is_local).with("Set-Cookie", &cookie))
}

fn log_out(site: &Site, request: &Request, is_local: bool) -> Result<Response, Response> {
    of_own_page(site, request)?;
    let name = site.cookie_name();
    request.cookie(&name).into_iter().for_each(|cookie| site.logins.end(cookie));
    let gone = format!("{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    Ok(told_of_session(None, is_local).with("Set-Cookie", &gone))
}

/// Turns a switch: SET GLOBAL in a session of the account.
fn turn_switch(site: &Site, request: &Request) -> Result<Response, Response> {
    let login = of_own_page(site, request)?;
    let given = json_of(request)?;
    let statement = given["name"].as_str().zip(given["value"].as_str());
    let statement = statement.and_then(|(name, value)| switches::statement(name, value));
    let statement =
        statement.ok_or_else(|| Response::because(status::BAD_REQUEST, "no such switch, or value"))?;
    let mut visitor = Visitor::enter(&*site.host, &login.owner).map_err(|error| refused(&error))?;
    visitor.rows(&statement).map_err(|error| refused(&error))?;
    Ok(Response::new(status::OK, kind::JSON, "{}"))
}

/// Who is logged in, by the cookie and by the token that only the console's page has.
fn of_own_page(site: &Site, request: &Request) -> Result<Login, Response> {
    let login =
        site.login(request).ok_or_else(|| Response::because(status::UNAUTHORIZED, "not logged in"))?;
    let token = request.header("x-page-token").unwrap_or_default();
    match equal(token.as_bytes(), login.page_token.as_bytes()) {
        true => Ok(login),
        false => Err(Response::because(status::FORBIDDEN, "the page's token is missing")),
    }
}

/// The body of a request that changes something.
fn json_of(request: &Request) -> Result<Json, Response> {
    // A form of another page cannot have this type.
    let kind = request.header("content-type").and_then(|kind| kind.split(';').next());
    if kind.map(str::trim) != Some(kind::JSON) {
        return Err(Response::refusal(status::WRONG_KIND));
    }
    serde_json::from_slice(&request.body).map_err(|_| Response::refusal(status::BAD_REQUEST))
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
fn may_watch(site: &Site, owner: &Owner) -> Result<Told, Response> {
    let mut visitor = Visitor::enter(&*site.host, owner).map_err(|error| refused(&error))?;
    let mut may = |text| visitor.rows(text).is_ok();
    Ok(Told {
        hot_rows: may("SELECT WAITING FROM information_schema.TURNSTILE_HOT_ROWS LIMIT 1"),
        digests: may("SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest LIMIT 1"),
    })
}

/// That nothing is to be changed.
fn looks_only(request: &Request) -> Result<(), Response> {
    if request.method == Method::Post { Err(Response::not_allowed("GET, HEAD")) } else { Ok(()) }
}

/// That something is to be changed.
fn changes(request: &Request) -> Result<(), Response> {
    if request.method == Method::Post { Ok(()) } else { Err(Response::not_allowed("POST")) }
}

/// Whether the engine runs: without it every statement is refused.
fn readiness(site: &Site) -> Response {
    match site.database.engine().check_running() {
        Ok(()) => Response::new(status::OK, kind::TEXT, "ready\n"),
        Err(error) => Response::because(status::UNAVAILABLE, &error.to_string()),
    }
}
