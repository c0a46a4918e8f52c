//! The `turnstile` binary: picks a subcommand and hands over to the crate that does the work.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use turnstile_lab::{bench, demo, floor, house, options, secret};

const USAGE: &str = "\
usage: turnstile serve [OPTIONS]     run the server; options as mysqld spells them, --help lists them
       turnstile demo [OPTIONS]      the flash sale on a server of its own, with a kill in the middle
           --buyers=N                buyers of the two sales (1024)
           --seconds=N               seconds for each line of the table, 0 for none (3)
           --output=FILE             where the figures go; without it they are printed only
       turnstile bench NAME [OPTIONS]   an experiment: flash-sale, deadlock-switch, purge-lag, adaptive-hash, tickets, update-key,
                                    stock-order, deadlock-prone, beside-scans, watching; all: one after the other;
                                    curve: the picture of a result
           --target=[LABEL@[PID@]]mysql://USER[:PASSWORD]@HOST:PORT   a server to measure beside ours, in turn; repeat for more
           --floor                   and a server that answers OK to everything
           --own='LABEL OPTION ...'  a server of ours with these options in place of the default one; repeat to compare
           --no-own                  only the targets
           --connections=N,N,...  --seconds=N  --rounds=N  --rows=N  --rate=N  --quick
           --rtt=TIME                of stock-order and deadlock-prone: statements go out so much later (250us, 1ms)
           --rollbacks=N             of stock-order: per cent of the orders that end in ROLLBACK (0)
           --from=FILE               of curve: the result to draw; --output is the picture
           --output=FILE             the figures as JSON; of all: a folder
";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|name| name == "bench") {
        arguments = secret::conceal(arguments);
    }
    match arguments.first().map(String::as_str) {
        Some("serve") => ExitCode::from(turnstile_server::serve::main(&arguments[1..]) as u8),
        Some("demo") => house::guarded(|| run_demo(&arguments[1..])),
        Some("bench") => house::guarded(|| run_bench(&arguments[1..])),
        Some("bench-floor") => run_floor(&arguments[1..]),
        Some("--version" | "-V") => {
            println!("turnstile {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Some("help" | "--help") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => usage_error("a subcommand is missing or unknown"),
    }
}

fn usage_error(what: &str) -> ExitCode {
    eprintln!("turnstile: {what}\n{USAGE}");
    ExitCode::from(2)
}

fn help_asked(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "--help" || argument == "-h")
}

fn run_bench(arguments: &[String]) -> ExitCode {
    let names = bench::EXPERIMENTS;
    if help_asked(arguments) {
        names.iter().for_each(|(name, what)| println!("  {name:<16} {what}"));
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some(name) = arguments.first().filter(|name| names.iter().any(|(known, _)| known == name)) else {
        let list: Vec<String> = names.iter().map(|(name, what)| format!("  {name:<16} {what}")).collect();
        return usage_error(&format!("which experiment? There are:\n{}", list.join("\n")));
    };
    let binary = std::env::current_exe().map_err(|error| error.to_string());
    let options = binary.and_then(|binary| options::Options::read(binary, &arguments[1..]));
    match options.map(|options| bench::run(name, &options)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("turnstile bench: {}", secret::mask(&error.to_string()));
            ExitCode::FAILURE
        }
        Err(text) => usage_error(&text),
    }
}

/// The floor, a process of its own: the experiments start it.
fn run_floor(arguments: &[String]) -> ExitCode {
    let port = arguments.first().and_then(|word| word.strip_prefix("--port=")?.parse().ok());
    let Some(port) = port else { return usage_error("bench-floor needs --port=N") };
    match floor::serve(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("turnstile bench-floor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_demo(arguments: &[String]) -> ExitCode {
    if help_asked(arguments) {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let binary = match std::env::current_exe() {
        Ok(path) => path,
        Err(error) => return usage_error(&format!("cannot find its own binary: {error}")),
    };
    let mut options = demo::Options { binary, clients: 1024, seconds: 3, output: None };
    for argument in arguments {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let understood = match name {
            "--buyers" => value.parse().map(|n| options.clients = n).is_ok(),
            "--seconds" => value.parse().map(|n| options.seconds = n).is_ok(),
            "--output" => {
                options.output = Some(PathBuf::from(value));
                !value.is_empty()
            }
            _ => false,
        };
        if !understood {
            return usage_error(&format!("cannot use {argument:?}"));
        }
    }
    match demo::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("turnstile demo: {error}");
            ExitCode::FAILURE
        }
    }
}
