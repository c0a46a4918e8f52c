//! What all requests share, and how somebody gets from a password to an account.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use turnstile_observe::status::Observed;
use turnstile_values::error::SqlError;

use crate::account::{Owner, prove};
use crate::address::Settings;
use crate::connections::Connections;
use crate::guesses::Guesses;
use crate::host::Host;
use crate::logins::{Login, Logins};
use crate::request::Request;
use crate::response::{Response, status};
use crate::sampler::Sampler;
use crate::visitor::in_words;

/// Longest name that is looked up, in bytes; accounts' are shorter.
const USER_BYTES_MAX: usize = 128;

/// What all requests share.
pub struct Site {
    /// The server that is shown.
    pub database: Arc<Observed>,
    /// Who runs statements for visitors.
    pub host: Arc<dyn Host>,
    /// Where the console listens, and its names.
    pub settings: Settings,
    /// Who is connected.
    pub connections: Arc<Connections>,
    /// What is watched.
    pub sampler: Arc<Sampler>,
    /// Who is logged in.
    pub logins: Logins,
    guesses: Guesses,
}

impl Site {
    /// A site for nobody yet.
    pub fn new(database: Arc<Observed>, host: Arc<dyn Host>, settings: Settings) -> Arc<Site> {
        Arc::new(Site {
            database,
            host,
            settings,
            connections: Arc::default(),
            sampler: Arc::default(),
            logins: Logins::default(),
            guesses: Guesses::default(),
        })
    }

    /// The name of the cookie. Cookies do not tell ports apart: two servers of one machine have one each.
    pub fn cookie_name(&self) -> String {
        format!("turnstile_console_{}", self.settings.address.port)
    }

    /// Who a request is from, if somebody is logged in.
    pub fn login(&self, request: &Request) -> Option<Login> {
        self.logins.find(request.cookie(&self.cookie_name())?, &self.database, Instant::now())
    }

    /// Checks who somebody is, unless too many wrong passwords came before.
    ///
    /// # Errors
    /// The answer for who is not let in.
    pub fn prove(&self, peer: IpAddr, user: &str, password: &str) -> Result<Owner, Response> {
        if user.len() > USER_BYTES_MAX {
            return Err(Response::because(status::FORBIDDEN, "no such user"));
        }
        if let Some(wait) = self.guesses.wait(peer, user, Instant::now()) {
            let seconds = (wait.as_secs() + 1).to_string();
            let told =
                Response::because(status::TOO_MANY, &format!("too many wrong passwords: wait {seconds} s"));
            return Err(told.with("Retry-After", &seconds));
        }
        let proved = prove(&self.database, peer, user, password);
        self.guesses.tried(peer, user, proved.is_err(), Instant::now());
        proved.map_err(|error| {
            self.database.status().refused();
            refused(&error)
        })
    }
}

/// The answer for an error of the SQL port's.
pub fn refused(error: &SqlError) -> Response {
    Response::because(status::FORBIDDEN, &in_words(error))
}
