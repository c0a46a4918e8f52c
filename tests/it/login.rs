//! Logins without TLS: the exchange of `caching_sha2_password`, which tells nobody which names there are.

use std::io::{Read, Write};
use std::net::TcpStream;

use turnstile_lab::client::{Client, ClientError, Target, packet};

use super::{Scratch, connect, start};

/// Number and payload of the next packet.
fn next(socket: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut header = [0; 4];
    socket.read_exact(&mut header).unwrap();
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    socket.read_exact(&mut payload).unwrap();
    (header[3], payload)
}

/// What the server says to a client of this name that guesses: first byte and length of each packet, and the
/// text of the error.
fn guess(port: u16, user: &str, plugin: &str, last: &[u8]) -> (Vec<(u8, usize)>, String) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut seen = Vec::new();
    next(&mut socket);
    // PROTOCOL_41, SECURE_CONNECTION and PLUGIN_AUTH.
    let mut hello = 0x0008_8200u32.to_le_bytes().to_vec();
    hello.extend([0, 0, 0, 1, 255]);
    hello.extend([0; 23]);
    hello.extend(user.as_bytes());
    hello.extend([0, 32]);
    hello.extend([7; 32]);
    hello.extend(plugin.as_bytes());
    hello.push(0);
    socket.write_all(&packet(&hello, 1)).unwrap();
    loop {
        let (nth, payload) = next(&mut socket);
        seen.push((payload[0], if payload[0] == 0xff { 0 } else { payload.len() }));
        match payload[0] {
            0xff => return (seen, String::from_utf8_lossy(&payload[3..]).replace(user, "NAME")),
            // Another plugin: its name, and an answer of its length.
            0xfe => {
                let native = payload[1..].starts_with(b"mysql_native_password");
                let answer = vec![9; if native { 20 } else { 32 }];
                socket.write_all(&packet(&answer, nth + 1)).unwrap();
            }
            0x01 if payload.len() == 2 => socket.write_all(&packet(&[2], nth + 1)).unwrap(),
            0x01 => socket.write_all(&packet(last, nth + 1)).unwrap(),
            other => panic!("the server said {other}"),
        }
    }
}

#[test]
fn a_guess_tells_nothing() {
    let scratch = Scratch::new("login");
    let (server, target) = start(&scratch, &[]);
    let mut root = connect(&target);
    root.query("CREATE USER known IDENTIFIED BY 'secret'").unwrap();
    root.query("CREATE USER open IDENTIFIED BY ''").unwrap();
    let key = root.query("SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'").unwrap();
    let key = key.rows[0][1].clone().unwrap();
    assert!(key.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{key}");
    let port = target.port;
    for last in [&[3; 256][..], b"secret\0", b"", b"\0"] {
        let (packets, text) = guess(port, "known", "caching_sha2_password", last);
        // The full exchange, the key, and the error.
        assert_eq!(packets, [(1, 2), (1, 1 + key.len()), (0xff, 0)]);
        assert_eq!(text, "#28000Access denied for user 'NAME'@'127.0.0.1' (using password: YES)");
        for other in ["open", "unknown"] {
            let given = guess(port, other, "caching_sha2_password", last);
            assert_eq!(given, (packets.clone(), text.clone()), "{other}");
        }
    }
    let switched = guess(port, "known", "mysql_native_password", &[3; 256]);
    assert_eq!(switched.0[0].0, 0xfe);
    assert_eq!(guess(port, "unknown", "mysql_native_password", &[3; 256]), switched);
    // Where there are accounts of both plugins a name keeps the one it has been given.
    root.query("CREATE USER old IDENTIFIED WITH mysql_native_password BY 'secret'").unwrap();
    let mut kinds = Vec::new();
    for nth in 0..24 {
        let name = format!("nobody{nth}");
        let given = guess(port, &name, "caching_sha2_password", &[3; 256]);
        assert_eq!(guess(port, &name, "caching_sha2_password", &[3; 256]), given);
        let native = guess(port, "old", "caching_sha2_password", &[3; 256]);
        let sha2 = guess(port, "known", "caching_sha2_password", &[3; 256]);
        assert!(given == native || given == sha2, "{given:?}");
        kinds.push(given == native);
    }
    assert!(kinds.contains(&true) && kinds.contains(&false));
    server.terminate().unwrap();
}

#[test]
fn the_directory_is_private_and_the_socket_is_not() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("modes");
    let socket = scratch.0.join("sock");
    let (server, _) = start(&scratch, &[&format!("--socket={}", socket.display())]);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&scratch.data()), 0o750);
    assert_eq!(mode(&socket), 0o777);
    assert_eq!(mode(&scratch.data().join("private_key.pem")), 0o600);
    server.terminate().unwrap();
}

/// Error number of a login of this name without a password.
fn refusal(target: &Target, user: &str) -> Option<u16> {
    let target = Target { user: user.into(), ..target.clone() };
    match Client::connect(&target) {
        Ok(_) => None,
        Err(ClientError::Server { code, .. }) => Some(code),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_an_account_says_of_its_logins_holds() {
    let scratch = Scratch::new("limits");
    let (server, target) = start(&scratch, &[]);
    let mut root = connect(&target);
    root.query("CREATE USER few WITH MAX_USER_CONNECTIONS 1").unwrap();
    root.query("CREATE USER old PASSWORD EXPIRE").unwrap();
    root.query("CREATE USER shut ACCOUNT LOCK").unwrap();
    root.query("CREATE USER safe REQUIRE SSL").unwrap();
    let first = Client::connect(&Target { user: "few".into(), ..target.clone() }).unwrap();
    assert_eq!(refusal(&target, "few"), Some(1226));
    drop(first);
    assert_eq!(refusal(&target, "old"), Some(1862));
    root.query("ALTER USER old IDENTIFIED BY ''").unwrap();
    assert_eq!(refusal(&target, "old"), None);
    assert_eq!(refusal(&target, "shut"), Some(3118));
    assert_eq!(refusal(&target, "safe"), Some(1045));
    root.query("SET GLOBAL require_secure_transport = ON").unwrap();
    assert_eq!(refusal(&target, "old"), Some(3159));
    root.query("SET GLOBAL require_secure_transport = OFF").unwrap();
    assert_eq!(refusal(&target, "old"), None);
    server.terminate().unwrap();
}
