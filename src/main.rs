//! The `turnstile` binary: picks a subcommand and hands over to the crate that does the work.
fn main() {
    eprintln!("usage: turnstile serve|bench|demo");
    std::process::exit(2);
}
