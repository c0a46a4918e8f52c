//! Bytes over the wire in other character sets than UTF-8: the text of an error in the set that the client
//! asked for, strings that become bytes as they were sent.

use std::io::{Read, Write};
use std::net::TcpStream;

use turnstile_lab::client::packet;

use super::{Scratch, connect, start};

/// The payload of the next packet.
fn next(socket: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    socket.read_exact(&mut header).unwrap();
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    socket.read_exact(&mut payload).unwrap();
    payload
}

/// A session of root, whose password is empty.
fn session(port: u16) -> TcpStream {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    next(&mut socket);
    // PROTOCOL_41, SECURE_CONNECTION and PLUGIN_AUTH.
    let mut hello = 0x0008_8200u32.to_le_bytes().to_vec();
    hello.extend([0, 0, 0, 1, 255]);
    hello.extend([0; 23]);
    hello.extend(b"root\0\0caching_sha2_password\0");
    socket.write_all(&packet(&hello, 1)).unwrap();
    assert_eq!(next(&mut socket)[0], 0, "the login");
    socket
}

/// What the server says to a statement, in one packet.
fn say(socket: &mut TcpStream, statement: &[u8]) -> Vec<u8> {
    socket.write_all(&packet(&[&[3], statement].concat(), 0)).unwrap();
    next(socket)
}

#[test]
fn an_error_is_in_the_set_that_results_are_in() {
    let scratch = Scratch::new("errors");
    let (server, target) = start(&scratch, &[]);
    let mut socket = session(target.port);
    let unknown = |name: &[u8]| {
        let text = [b"#42S02Table 'mysql.", name, b"' doesn't exist"].concat();
        [&[0xff][..], &1146u16.to_le_bytes(), &text].concat()
    };
    let text = "SELECT * FROM mysql.`é表`".as_bytes();
    // What a set lacks is spelled as its number.
    for (set, name) in [
        ("utf8mb4", "é表".as_bytes()),
        ("latin1", b"\xe9\\8868"),
        ("sjis", b"\\00E9\x95\\"),
        ("gbk", b"\xa8\xa6\xb1\xed"),
        ("koi8r", b"\\00E9\\8868"),
        ("binary", "é表".as_bytes()),
        ("NULL", "é表".as_bytes()),
    ] {
        assert_eq!(say(&mut socket, format!("SET character_set_results = {set}").as_bytes())[0], 0, "{set}");
        assert_eq!(say(&mut socket, text), unknown(name), "{set}");
    }
    // With SET NAMES the statement is read in that set, too.
    assert_eq!(say(&mut socket, b"SET NAMES latin1")[0], 0);
    assert_eq!(say(&mut socket, b"SELECT * FROM mysql.`\xe9`"), unknown(b"\xe9"));
    assert_eq!(say(&mut socket, b"SET NAMES sjis")[0], 0);
    assert_eq!(say(&mut socket, b"SELECT * FROM mysql.`\x95\\`"), unknown(b"\x95\\"));
    drop(socket);
    server.terminate().unwrap();
}

/// Every byte of every set, between two letters: a column of bytes takes it as it was sent, whether the set
/// has it or not.
#[test]
fn bytes_are_kept_as_they_were_sent() {
    const SETS: &[&str] = &[
        "latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852",
        "cp866", "koi8r", "koi8u", "greek", "hebrew", "tis620", "macroman", "macce", "keybcs2", "dec8",
        "hp8", "geostd8", "armscii8", "ascii", "gbk", "gb2312", "gb18030", "big5", "sjis", "cp932", "ujis",
        "eucjpms", "euckr", "utf8mb3", "utf8mb4", "binary",
    ];
    let scratch = Scratch::new("bytes-of-sets");
    let (server, target) = start(&scratch, &[]);
    let mut other = connect(&target);
    other.query("CREATE DATABASE d").unwrap();
    other.query("CREATE TABLE d.t (id INT PRIMARY KEY, b VARBINARY(9), c BLOB, x VARBINARY(9))").unwrap();
    other.query("CREATE TABLE d.g (t VARCHAR(9) CHARSET gbk)").unwrap();
    let mut socket = session(target.port);
    for set in SETS {
        assert_eq!(say(&mut socket, format!("SET NAMES {set}").as_bytes())[0], 0, "{set}");
        for byte in 0x80..=0xff_u8 {
            let id = format!("REPLACE INTO d.t VALUES ({byte}, 'x").into_bytes();
            let twice =
                [&id, &[byte][..], b" ', CONCAT('x", &[byte], b" '), _binary'x", &[byte], b" ')"].concat();
            let said = say(&mut socket, &twice);
            assert_eq!(said[0], 0, "{set} {byte:02x} {}", String::from_utf8_lossy(&said));
        }
        let damaged = "SELECT COUNT(*) FROM d.t WHERE b <> x OR c <> b OR b <> CONCAT('x', CHAR(id), ' ')";
        assert_eq!(other.number(damaged).unwrap(), 0, "{set}");
        assert_eq!(other.number("SELECT COUNT(*) FROM d.t").unwrap(), 128, "{set}");
        other.query("DELETE FROM d.t").unwrap();
    }
    assert_eq!(say(&mut socket, b"SET NAMES gbk")[0], 0);
    let refused = say(&mut socket, b"INSERT INTO d.g VALUES ('x\xbf')");
    assert_eq!(&refused[1..3], 1366_u16.to_le_bytes(), "bytes that are no text");
    assert_eq!(say(&mut socket, b"INSERT INTO d.g VALUES ('x\xc4\xe3')")[0], 0);
    assert_eq!(other.number("SELECT COUNT(*) FROM d.g WHERE HEX(t) = '78C4E3'").unwrap(), 1);
    drop(socket);
    server.terminate().unwrap();
}
