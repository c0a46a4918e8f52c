//! Turnstile, the server: sockets, the MySQL protocol, sessions and their scheduler.
