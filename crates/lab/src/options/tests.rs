//! The command line of an experiment: both spellings, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::path::PathBuf;

use super::Options;

fn read(words: &str) -> Result<Options, String> {
    let words: Vec<String> = words.split('|').filter(|w| !w.is_empty()).map(str::to_string).collect();
    Options::read(PathBuf::from("turnstile"), &words)
}

#[test]
fn options_are_read_in_both_spellings() {
    let options = read("--target=peer@42@mysql://u:p@h:3307|--seconds|1.5|--connections|8,64|--floor");
    let options = options.unwrap();
    let (label, target, pid) = &options.targets[0];
    assert_eq!((label.as_str(), target.port, *pid), ("peer", 3307, Some(42)));
    assert_eq!(options.connections(&[1], &[2]), [8, 64]);
    assert_eq!(options.duration(3.0, 1.0).as_millis(), 1500);
    assert!(options.floor && !options.quick);
    assert_eq!(options.own, [("turnstile".to_string(), vec![])]);
    let options = read("--own=threads --thread-handling=one-thread-per-connection|--quick").unwrap();
    assert_eq!(options.own[0].1, ["--thread-handling=one-thread-per-connection"]);
    assert_eq!((options.rows(100, 10), options.rate), (10, None));
    let options = read("--rtt=1ms|--rollbacks=10").unwrap();
    assert_eq!((options.rtt.as_micros(), options.rollbacks), (1000, 10.0));
    for (text, us) in
        [("0", 0), ("250us", 250), ("1.5ms", 1500), ("0ms", 0), ("0.02s", 20_000), ("1s", 1_000_000)]
    {
        assert_eq!(read(&format!("--rtt={text}")).unwrap().rtt.as_micros(), us, "{text}");
    }
    assert_eq!(read("--rollbacks=2.5%").unwrap().rollbacks, 2.5);
    assert_eq!(read("").map(|options| (options.rtt.is_zero(), options.rollbacks)), Ok((true, 0.0)));
    assert_eq!(read("--rate=2.5e4").unwrap().rate, Some(25_000.0));
    assert!(read("--no-own|--target|mysql://127.0.0.1:1").unwrap().own.is_empty());
}

#[test]
fn what_makes_no_sense_is_refused() {
    for words in
        ["--no-own", "--seconds=0", "--rows", "--connections=8,x", "--connections=0", "--rate=0", "--what=1"]
    {
        assert!(read(words).is_err(), "{words}");
    }
    for time in [
        "", "1", "ms", "1 ms", "1m", "-1ms", "+1ms", "1e2us", ".ms", "1ms1", "NaNms", "infs", "1.1s", "9999s",
    ] {
        assert!(read(&format!("--rtt={time}")).is_err(), "{time:?}");
    }
    for share in ["", "-1", "100", "x", "NaN", "%"] {
        assert!(read(&format!("--rollbacks={share}")).is_err(), "{share:?}");
    }
}
