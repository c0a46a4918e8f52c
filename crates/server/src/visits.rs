//! Sessions for who looks at the console: the host that it asks for them.

use std::sync::Arc;

use turnstile_console::{Host, Owner, Visit};
use turnstile_engine::interrupt::Interrupt;
use turnstile_session::database::Database;
use turnstile_session::error::{SqlError, SqlResult};
use turnstile_session::session::{Session, SessionInit};
use turnstile_session::sink::ResultSink;
use turnstile_sys::block_on::block_on;

/// utf8mb4_0900_ai_ci.
const COLLATION: u16 = 255;

/// The database whose sessions these are.
pub struct Visits(pub Arc<Database>);

struct Visited(Session);

impl Host for Visits {
    fn enter(&self, owner: &Owner) -> SqlResult<Box<dyn Visit>> {
        let init = SessionInit {
            connection_id: self.0.registry().next_id(),
            user: owner.user.clone(),
            host: owner.peer.to_string(),
            account: owner.account.clone(),
            database: None,
            collation: COLLATION,
            found_rows: false,
            multi_statements: false,
        };
        let visited = Visited(Session::new(self.0.clone(), init)?);
        let own = visited.0.own_connections_max();
        if own > 0 && visited.0.sessions_of_account() > own {
            return Err(SqlError::user_limit_reached(&owner.user, "max_user_connections", own));
        }
        Ok(Box::new(visited))
    }
}

impl Visit for Visited {
    fn run(&mut self, text: &str, out: &mut dyn ResultSink) -> SqlResult<()> {
        self.0.query_and_wait(text.as_bytes(), out)
    }

    fn interrupt(&self) -> Arc<Interrupt> {
        self.0.interrupt().clone()
    }

    fn is_killed(&self) -> bool {
        self.0.is_killed()
    }
}

impl Drop for Visited {
    fn drop(&mut self) {
        block_on(self.0.finish());
    }
}
