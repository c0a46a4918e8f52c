//! The laboratory keeps house: whatever ends a run, no server, no folder, no database and no changed variable
//! is left, and no password is shown.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{Scratch, binary, connect, start};

/// A folder that a run takes for the machine's temporary one.
struct House(Scratch);

impl House {
    fn new(name: &str) -> House {
        let scratch = Scratch::new(name);
        fs::create_dir(scratch.0.join("tmp")).unwrap();
        House(scratch)
    }

    fn temporary(&self) -> PathBuf {
        self.0.0.join("tmp")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // A shell without job control has its background jobs ignore SIGINT, and a run would respect that.
        let mut command = Command::new("env");
        command.arg("--default-signal=INT,HUP").arg(binary());
        command.args(arguments).env("TMPDIR", self.temporary()).current_dir(&self.0.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Processes that have the temporary folder in their environment: the run, its server, the floor.
    fn processes(&self) -> Vec<u32> {
        let folder = self.temporary().display().to_string();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| {
                fs::read_to_string(format!("/proc/{pid}/environ")).is_ok_and(|line| line.contains(&folder))
            })
            .collect()
    }

    fn wait_for_server(&self) {
        let begun = Instant::now();
        while self.processes().len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no server was started");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn assert_empty(&self, what: &str) {
        assert_eq!(self.processes(), Vec::<u32>::new(), "{what}: a server is left");
        let left: Vec<_> =
            fs::read_dir(self.temporary()).unwrap().flatten().map(|entry| entry.path()).collect();
        assert!(left.is_empty(), "{what}: {left:?} is left");
        let beside: Vec<_> =
            fs::read_dir(&self.0.0).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(beside, ["tmp"], "{what}: something was written where it was started");
    }
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_signal_leaves_nothing_behind() {
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        for arguments in [
            &["bench", "flash-sale", "--connections=8", "--seconds=60", "--floor"][..],
            &["demo", "--buyers=8"],
        ] {
            let house = House::new("tidy-signal");
            let child = house.command(arguments).spawn().unwrap();
            house.wait_for_server();
            // In the middle of the start, or of the load.
            thread::sleep(Duration::from_millis(if arguments.len() > 2 { 1500 } else { 10 }));
            signal(&child, name);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{name} {arguments:?}: {}", text(&output));
            house.assert_empty(name);
        }
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let house = House::new("tidy-pipe");
    let mut child = house.command(&["demo", "--buyers=8", "--seconds=0"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("starting a server"), "{line}");
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141), "{}", text(&output));
    assert!(!text(&output).contains("panicked"), "{}", text(&output));
    house.assert_empty("| head");
}

/// One that cannot start its server, one that is asked for nonsense.
#[test]
fn a_failure_leaves_nothing_behind() {
    let house = House::new("tidy-failure");
    let output =
        house.command(&["bench", "flash-sale", "--quick", "--own=x --no-such-option=1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    house.assert_empty("a failed start");
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_run() {
    let house = House::new("tidy-output");
    for arguments in [
        &["bench", "flash-sale", "--output=no/such/folder/x.json"][..],
        &["bench", "all", "--output=/proc/self/nowhere"],
        &["demo", "--output=no/such/folder/x.json"],
    ] {
        let output = house.command(arguments).output().unwrap();
        let shown = text(&output);
        assert!(!output.status.success() && shown.contains("--output="), "{arguments:?}: {shown}");
        assert!(!shown.contains("starting a server") && !shown.contains("E1"), "{arguments:?}: {shown}");
        house.assert_empty("an output");
    }
}

#[test]
fn a_target_with_too_few_connections_is_found_before_the_run() {
    let scratch = Scratch::new("tidy-room");
    let (server, target) = start(&scratch, &["--max-connections=40"]);
    let house = House::new("tidy-room-run");
    let url = format!("--target=peer@mysql://root@127.0.0.1:{}", target.port);
    let output = house
        .command(&["bench", "flash-sale", "--no-own", "--quick", "--connections=8,64", &url])
        .output()
        .unwrap();
    let shown = text(&output);
    assert!(!output.status.success(), "{shown}");
    assert!(shown.contains("peer: max_connections is 40, and the run needs 80"), "{shown}");
    assert!(connect(&target).query("SHOW DATABASES LIKE 'bench'").unwrap().rows.is_empty());
    house.assert_empty("no room");
    server.terminate().unwrap();
}

/// At a server of somebody else: the database goes, a variable is set back, the password is seen nowhere.
#[test]
fn a_target_is_left_as_it_was_found() {
    let scratch = Scratch::new("tidy-target");
    let (server, target) = start(&scratch, &["--innodb-deadlock-detect=ON"]);
    let mut admin = connect(&target);
    admin.query("CREATE USER b@'127.0.0.1' IDENTIFIED WITH mysql_native_password BY 'hush@hush'").unwrap();
    admin.query("GRANT ALL ON *.* TO b@'127.0.0.1'").unwrap();
    let house = House::new("tidy-target-run");
    let output_file = scratch.0.join("result.json");
    let url = format!("--target=peer@mysql://b:hush@hush@127.0.0.1:{}", target.port);
    let keep = format!("--output={}", output_file.display());
    // To its end.
    let arguments = ["bench", "flash-sale", "--no-own", "--quick", "--connections=8", &url, &keep];
    let output = house.command(&arguments).output().unwrap();
    let shown = text(&output) + &fs::read_to_string(&output_file).unwrap();
    assert!(output.status.success() && shown.contains("mysql://b:***@127.0.0.1"), "{shown}");
    assert!(!shown.contains("hush"), "{shown}");
    let databases = "SHOW DATABASES LIKE 'bench'";
    assert!(admin.query(databases).unwrap().rows.is_empty());
    // And ended while the variable is OFF.
    let arguments = ["bench", "deadlock-switch", "--no-own", "--connections=8", "--seconds=30", &url];
    let mut child = house.command(&arguments).spawn().unwrap();
    let begun = Instant::now();
    while admin.value("SELECT @@innodb_deadlock_detect", 0).unwrap().as_deref() != Some("0") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the switch was not touched");
        thread::sleep(Duration::from_millis(1));
    }
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
    assert!(arguments.contains("b:***@") && !arguments.contains("hush"), "{arguments}");
    signal(&child, "-INT");
    let mut shown = String::new();
    child.stderr.take().unwrap().read_to_string(&mut shown).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{shown}");
    assert!(!shown.contains("could not"), "{shown}");
    assert_eq!(admin.value("SELECT @@innodb_deadlock_detect", 0).unwrap().as_deref(), Some("1"));
    assert!(admin.query(databases).unwrap().rows.is_empty());
    // One that was there before stays.
    admin.query("CREATE DATABASE bench").unwrap();
    let output = house
        .command(&["bench", "flash-sale", "--no-own", "--quick", "--connections=8", &url])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(admin.query(databases).unwrap().rows.len(), 1);
    // What is not understood is not repeated either.
    let output = house.command(&["bench", "flash-sale", "--target=b:hush@127.0.0.1"]).output().unwrap();
    assert!(!output.status.success() && !text(&output).contains("hush"), "{}", text(&output));
    house.assert_empty("targets");
    drop(admin);
    server.terminate().unwrap();
}
