//! `turnstile serve`: options, engine, database, listeners; then waits for SIGTERM or SIGINT and shuts down
//! cleanly.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use turnstile_console::{Console, Settings};
use turnstile_engine::{Config, Engine};
use turnstile_session::accounts::AccountName;
use turnstile_session::database::Database;
use turnstile_session::session::{Session, SessionInit};
use turnstile_session::value::Value;
use turnstile_session::variables::{Globals, reference};
use turnstile_session::version::VERSION;
use turnstile_sys::block_on::block_on;
use turnstile_sys::disk::{RealDisk, make_directory};

use crate::hosts::ThreadHandling;
use crate::password_key::PasswordKey;
use crate::server::{Keys, Options, Server};
use crate::signals::{Asked, Signals};
use crate::visits::Visits;
use crate::{identity, log, options, signals, tls};

/// Why the server did not start or did not end well, for the log.
type Failure = Box<dyn std::error::Error>;

/// Runs the server until it is told to stop. Returns the process's exit code.
pub fn main(arguments: &[String]) -> i32 {
    let begin = Instant::now();
    turnstile_sys::memory::prepare();
    let globals = Globals::default();
    match options::read(arguments, &globals) {
        Ok(asked) if asked.help => {
            print_help();
            0
        }
        Ok(asked) if asked.print_defaults => {
            println!("turnstile serve would have been started with the following arguments:");
            println!("{}", asked.given.join(" "));
            0
        }
        Ok(asked) => {
            asked.warnings.iter().for_each(|text| log::warning(text));
            match run(globals, asked.initialize, begin) {
                Ok(()) => 0,
                Err(error) => {
                    log::error(&error.to_string());
                    1
                }
            }
        }
        Err(error) => {
            log::error(&error.to_string());
            2
        }
    }
}

fn print_help() {
    println!(
        "turnstile serve [--no-defaults | --defaults-file=FILE | --defaults-extra-file=FILE] [--option=value ...]\n"
    );
    print!("{}", reference::options());
}

fn run(globals: Globals, initialize_only: bool, begin: Instant) -> Result<(), Failure> {
    signals::outlive()?;
    let datadir = PathBuf::from(text(&globals, "datadir"));
    let spoken = tls::versions(&text(&globals, "tls_version"))?;
    open_log(&globals, &datadir)?;
    log::note(&format!("turnstile (server version {VERSION}) starting as process {}", std::process::id()));
    let disk =
        RealDisk::open(&datadir).map_err(|error| format!("data directory {}: {error}", datadir.display()))?;
    let disk = Arc::new(disk);
    for warning in globals.load_persisted(disk.clone())? {
        log::warning(&warning);
    }
    identity::adopt(&globals, &datadir);
    let config = Config {
        buffer_pool_bytes: number(&globals, "innodb_buffer_pool_size"),
        redo_capacity_bytes: number(&globals, "innodb_redo_log_capacity"),
        adaptive_hash_parts: number(&globals, "innodb_adaptive_hash_index_parts") as usize,
        purge_threads: number(&globals, "innodb_purge_threads") as usize,
        read_threads: number(&globals, "innodb_read_io_threads") as usize,
        ..Config::default()
    };
    let engine = Engine::open(disk, config)?;
    let database = block_on(Database::open_with(engine.clone(), globals))?;
    let temporary = database.temporary();
    temporary.check().map_err(|error| format!("tmpdir '{}': {error}", temporary.path().display()))?;
    database.deadlocks().set_log(Box::new(log::deadlock));
    let globals = database.globals();
    if initialize_only {
        engine.close()?;
        log::note("data directory initialized");
        return Ok(());
    }
    warn_about_open_accounts(&database);
    run_init_file(&database, &datadir)?;
    let tls = load_tls(globals, &datadir, &spoken);
    let password = load_password_key(&database, &datadir);
    let pid_file = PidFile::write(&text(globals, "pid_file"), &datadir)?;
    let signals = Signals::register()?;
    database.set_shutdown(signals.asker()?);
    let console =
        Settings::parse(&text(globals, "turnstile_console"), &text(globals, "turnstile_console_host"))?;
    let options = server_options(globals, &datadir);
    let places = places(&options);
    let server = Server::start(database.clone(), options, Keys { tls, password })
        .map_err(|error| format!("{places}: {error}"))?;
    let console = match console.map(|settings| open_console(&database, settings)).transpose() {
        Ok(console) => console,
        Err(error) => {
            server.stop();
            engine.close()?;
            return Err(error);
        }
    };
    log::note(&format!(
        "ready for connections. Version: '{VERSION}' {places} after {} ms",
        begin.elapsed().as_millis()
    ));
    while signals.wait()? == Asked::Logs {
        reopen_logs(&database);
    }
    log::note("received a signal to shut down");
    console.into_iter().for_each(Console::stop);
    server.stop();
    engine.close()?;
    drop(pid_file);
    log::note("shutdown complete");
    Ok(())
}

/// Sends the log where `log_error` says.
fn open_log(globals: &Globals, datadir: &Path) -> Result<(), Failure> {
    let name = text(globals, "log_error");
    if name.is_empty() || name == "stderr" {
        return Ok(());
    }
    // At the first start of all there is no data directory yet.
    let opened = make_directory(datadir).and_then(|()| log::open(&datadir.join(&name)));
    opened.map_err(|error| format!("log_error '{name}': {error}").into())
}

fn load_tls(
    globals: &Globals,
    datadir: &Path,
    spoken: &[&'static rustls::SupportedProtocolVersion],
) -> Option<Arc<rustls::ServerConfig>> {
    if spoken.is_empty() {
        log::warning("TLS is off: tls_version names no protocol");
        return None;
    }
    let (certificate, key) = (file_name(globals, "ssl_cert"), file_name(globals, "ssl_key"));
    let may_make = globals.named("auto_generate_certs") != Value::Int(0);
    match tls::load(datadir, (&certificate, &key), may_make, spoken) {
        Ok(config) => Some(config),
        Err(error) => {
            log::warning(&format!("TLS is off: {error}"));
            None
        }
    }
}

fn open_console(database: &Arc<Database>, settings: Settings) -> Result<Console, Failure> {
    let address = settings.address.clone();
    if !address.is_loopback() {
        log::warning(&format!(
            "the console at {address} speaks HTTP: passwords and what it shows can be read on the way. Put a proxy with TLS before it"
        ));
    }
    let host = Arc::new(Visits(database.clone()));
    let console = Console::start(database.observed().clone(), host, settings)
        .map_err(|error| format!("{address}: {error}"))?;
    log::note(&format!("console at {address}"));
    Ok(console)
}

/// Runs the statements of `init_file`, with all rights.
fn run_init_file(database: &Arc<Database>, datadir: &Path) -> Result<(), Failure> {
    let name = text(database.globals(), "init_file");
    if name.is_empty() {
        return Ok(());
    }
    let wrong = |what: String| Failure::from(format!("init_file '{name}': {what}"));
    let statements = fs::read(datadir.join(&name)).map_err(|error| wrong(error.to_string()))?;
    let statements = statements.trim_ascii();
    if statements.is_empty() {
        return Ok(());
    }
    log::note(&format!("execution of init_file '{name}' started"));
    let init = SessionInit {
        connection_id: database.registry().next_id(),
        user: "root".into(),
        host: "localhost".into(),
        account: AccountName::new("root", "localhost"),
        database: None,
        collation: 255,
        found_rows: false,
        multi_statements: true,
    };
    let mut session = Session::new(database.clone(), init)?;
    session.act_for_the_server();
    let outcome = block_on(session.run_script(statements));
    block_on(session.finish());
    outcome.map_err(|error| wrong(format!("{} {}", error.code, error.message)))?;
    log::note(&format!("execution of init_file '{name}' ended"));
    Ok(())
}

/// The file of `pid_file`, gone with the server.
struct PidFile(Option<PathBuf>);

impl PidFile {
    fn write(name: &str, datadir: &Path) -> Result<PidFile, Failure> {
        if name.is_empty() {
            return Ok(PidFile(None));
        }
        let path = datadir.join(name);
        fs::write(&path, format!("{}\n", std::process::id()))
            .map_err(|error| format!("pid_file '{}': {error}", path.display()))?;
        Ok(PidFile(Some(path)))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Somebody else may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}

/// What SIGHUP asks for, as FLUSH LOGS does.
fn reopen_logs(database: &Database) {
    for reopened in [log::reopen(), database.query_log().reopen()] {
        if let Err(error) = reopened {
            log::error(&format!("a log could not be opened again: {error}"));
        }
    }
    log::note("the logs have been opened again");
}

fn server_options(globals: &Globals, datadir: &std::path::Path) -> Options {
    let networking = !matches!(globals.named("skip_networking"), Value::Int(1));
    let socket = text(globals, "socket");
    Options {
        tcp: networking.then(|| (text(globals, "bind_address"), number(globals, "port") as u16)),
        socket: (!socket.is_empty()).then(|| datadir.join(socket)),
        extra_port: Some(number(globals, "extra_port") as u16).filter(|port| *port != 0),
        thread_handling: ThreadHandling::named(&text(globals, "thread_handling")),
        thread_pool_size: number(globals, "thread_pool_size") as usize,
    }
}

fn places(options: &Options) -> String {
    let socket = options.socket.as_ref().map_or(String::new(), |path| path.display().to_string());
    match &options.tcp {
        Some((host, port)) => format!("socket: '{socket}' address: '{host}' port: {port}"),
        None => format!("socket: '{socket}' port: 0"),
    }
}

fn warn_about_open_accounts(database: &Database) {
    // Nobody can log in to one that is locked, as a role is.
    for account in database.accounts().list().iter().filter(|account| account.is_open() && !account.locked) {
        log::warning(&format!(
            "account {} has no password! Set one with ALTER USER {} IDENTIFIED BY '...'",
            account.name.text(),
            account.name.text()
        ));
    }
}

fn text(globals: &Globals, name: &str) -> String {
    match globals.named(name) {
        Value::Str(text) => text.to_string(),
        _ => String::new(),
    }
}

/// The key pair for passwords without TLS; none if it cannot be had.
fn load_password_key(database: &Database, datadir: &Path) -> Option<PasswordKey> {
    let globals = database.globals();
    let generate = matches!(globals.named("caching_sha2_password_auto_generate_rsa_keys"), Value::Int(1));
    let private = text(globals, "caching_sha2_password_private_key_path");
    let public = text(globals, "caching_sha2_password_public_key_path");
    match PasswordKey::load(datadir, &private, &public, generate) {
        Ok(key) => {
            key.iter().for_each(|key| database.status().set_public_key(key.public()));
            key
        }
        Err(error) => {
            log::warning(&format!("caching_sha2_password works only over TLS and the socket: {error}"));
            None
        }
    }
}

/// A certificate's file, or the name under which the self-made one is kept.
fn file_name(globals: &Globals, variable: &str) -> String {
    let named = text(globals, variable);
    if !named.is_empty() {
        return named;
    }
    if variable == "ssl_key" { "server-key.pem".into() } else { "server-cert.pem".into() }
}

fn number(globals: &Globals, name: &str) -> u64 {
    match globals.named(name) {
        Value::Int(number) => number.max(0) as u64,
        Value::UInt(number) => number,
        _ => 0,
    }
}
