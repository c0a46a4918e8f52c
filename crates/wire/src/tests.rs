//! Packets there and back, and what hostile bytes get: an error, never a panic.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use turnstile_sys::rng::Rng;

use super::capability::{client, com};
use super::command::{self, Command};
use super::handshake::{First, Greeting, OFFERED, parse_change_user, parse_first, put_greeting};
use super::read::{Cursor, Malformed};
use super::result::{WrongParameter, parse_parameters, put_text_fields, put_text_row};
use super::write::{PacketWriter, put_lenenc, put_lenenc_bytes};
use super::{HEADER_BYTES, PAYLOAD_BYTES_MAX};
use turnstile_values::datetime::DateTime;
use turnstile_values::field::FieldRef;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

#[test]
fn length_encoded_integers_return() {
    for number in [0, 1, 0xfa, 0xfb, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, u64::MAX] {
        let mut out = Vec::new();
        put_lenenc(&mut out, number);
        let mut cursor = Cursor::new(&out);
        assert_eq!(cursor.lenenc(), Ok(number));
        assert!(cursor.is_empty());
    }
}

#[test]
fn a_long_payload_continues_in_further_packets() {
    for len in [0, 1, PAYLOAD_BYTES_MAX - 1, PAYLOAD_BYTES_MAX, PAYLOAD_BYTES_MAX + 5, 2 * PAYLOAD_BYTES_MAX]
    {
        let mut writer = PacketWriter::default();
        writer.begin().resize(HEADER_BYTES + len, 7);
        writer.end();
        let (mut at, mut total, mut sequence) = (0, 0, 0u8);
        loop {
            let header = &writer.output[at..at + HEADER_BYTES];
            let piece = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            assert_eq!(header[3], sequence);
            assert!(writer.output[at + 4..at + 4 + piece].iter().all(|&byte| byte == 7));
            at += HEADER_BYTES + piece;
            total += piece;
            sequence += 1;
            if piece < PAYLOAD_BYTES_MAX {
                break;
            }
        }
        assert_eq!((at, total), (writer.output.len(), len));
        assert_eq!(writer.sequence, sequence);
    }
}

fn response(capabilities: u32) -> Vec<u8> {
    let mut packet = capabilities.to_le_bytes().to_vec();
    packet.extend_from_slice(&(1u32 << 24).to_le_bytes());
    packet.push(255);
    packet.extend_from_slice(&[0; 23]);
    packet
}

#[test]
fn the_handshake_response_is_read_in_full() {
    let capabilities = client::PROTOCOL_41
        | client::SECURE_CONNECTION
        | client::CONNECT_WITH_DB
        | client::PLUGIN_AUTH
        | client::CONNECT_ATTRS;
    let mut packet = response(capabilities);
    packet.extend_from_slice(b"ann\0\x03abcshop\0caching_sha2_password\0");
    let mut attributes = Vec::new();
    put_lenenc_bytes(&mut attributes, b"_client_name");
    put_lenenc_bytes(&mut attributes, b"test");
    put_lenenc_bytes(&mut packet, &attributes);
    let Ok(First::Response(read)) = parse_first(&packet) else { panic!("not a response") };
    assert_eq!((read.user.as_str(), read.auth.as_slice()), ("ann", &b"abc"[..]));
    assert_eq!(read.database.as_deref(), Some("shop"));
    assert_eq!(read.plugin.as_deref(), Some("caching_sha2_password"));
    assert_eq!(read.attributes, [("_client_name".to_string(), "test".to_string())]);
    for len in 0..packet.len() {
        // Every prefix is either refused or read as a client that says less.
        let _ = parse_first(&packet[..len]);
    }
    assert_eq!(parse_first(&response(client::PROTOCOL_41 | client::SSL)), Ok(First::Tls));
    assert_eq!(parse_first(&response(0)), Err(Malformed));
}

#[test]
fn the_greeting_keeps_to_the_layout() {
    let mut out = Vec::new();
    let scramble = &[9; 20];
    let greeting = Greeting {
        version: "8.4.0",
        connection_id: 7,
        scramble,
        capabilities: OFFERED,
        collation: 255,
        status: 2,
        plugin: "p",
    };
    put_greeting(&mut out, &greeting);
    assert_eq!(out[0], 10);
    assert_eq!(&out[1..7], b"8.4.0\0");
    assert_eq!(out.len(), 1 + 6 + 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10 + 12 + 1 + 2);
}

#[test]
fn commands_are_told_apart() {
    assert_eq!(command::parse(b"\x03SELECT 1"), Ok(Command::Query(b"SELECT 1")));
    assert_eq!(command::parse(&[com::PING]), Ok(Command::Ping));
    assert_eq!(command::parse(&[com::STMT_CLOSE, 1, 0, 0, 0]), Ok(Command::Close(1)));
    assert_eq!(command::parse(&[com::STMT_CLOSE, 1]), Err(Malformed));
    assert_eq!(command::parse(&[0x77]), Ok(Command::Unknown(0x77)));
    assert_eq!(command::parse(b""), Err(Malformed));
}

#[test]
fn parameters_of_every_kind_arrive() {
    let mut message = vec![0b0000_0100, 1];
    for (wire, sign) in [(8u8, 0x80u8), (1, 0), (253, 0), (5, 0), (12, 0), (11, 0)] {
        message.extend_from_slice(&[wire, sign]);
    }
    message.extend_from_slice(&u64::MAX.to_le_bytes());
    message.push(0xff);
    message.extend_from_slice(&2.5f64.to_le_bytes());
    message.extend_from_slice(&[7, 0xe8, 0x07, 2, 29, 1, 2, 3]);
    message.extend_from_slice(&[8, 1, 1, 0, 0, 0, 2, 3, 4]);
    let mut types = Vec::new();
    let values = parse_parameters(&message, 6, &mut types, &[]).unwrap();
    assert!(matches!(values[0], Value::UInt(u64::MAX)));
    assert!(matches!(values[1], Value::Int(-1)));
    assert!(matches!(values[2], Value::Null));
    assert!(matches!(values[3], Value::Double(number) if number == 2.5));
    assert!(matches!(values[4], Value::DateTime(moment) if moment.to_number() == 20_240_229_010_203));
    assert!(matches!(values[5], Value::Time(time) if time.us == -93_784_000_000 && time.fsp == 6));
    // The next execution may leave the types out.
    let again = [&[0b0011_1111u8, 0][..]].concat();
    assert_eq!(parse_parameters(&again, 6, &mut types, &[]).unwrap().len(), 6);
    assert!(parse_parameters(&again, 7, &mut types, &[]).is_err());
    for len in 0..message.len() {
        assert!(parse_parameters(&message[..len], 6, &mut Vec::new(), &[]).is_err());
    }
}

#[test]
fn what_is_no_date_is_refused() {
    let sent = |wire: u8, bytes: &[u8]| {
        let message = [&[0u8, 1, wire, 0, bytes.len() as u8][..], bytes].concat();
        parse_parameters(&message, 1, &mut Vec::new(), &[]).map(|mut values| values.remove(0))
    };
    let (malformed, moment) = (WrongParameter::Malformed, WrongParameter::OutOfRange("DATETIME"));
    assert!(matches!(sent(10, &[0xe8, 7, 2, 29]), Ok(Value::Date(date)) if date.to_number() == 20_240_229));
    assert!(matches!(sent(10, &[]), Ok(Value::Date(date)) if date.to_number() == 0));
    assert!(matches!(sent(11, &[]), Ok(Value::Time(time)) if time.us == 0));
    assert_eq!(sent(10, &[0xe8, 7, 13, 29]).unwrap_err(), moment);
    assert_eq!(sent(10, &[0xe8, 7, 2, 29, 0, 0, 0]).unwrap_err(), malformed);
    assert_eq!(sent(12, &[0xe8, 7, 2, 29, 24, 0, 0]).unwrap_err(), moment);
    assert_eq!(sent(12, &[0xff, 0xff, 2, 29]).unwrap_err(), moment);
    assert_eq!(sent(12, &[0xe8, 7, 2, 29, 1, 2, 3, 0x40, 0x42, 0x0f, 0]).unwrap_err(), moment);
    assert_eq!(sent(12, &[1; 32]).unwrap_err(), malformed);
    assert_eq!(sent(11, &[1, 0, 0, 0, 0, 1, 60, 3]).unwrap_err(), WrongParameter::OutOfRange("TIME"));
    assert_eq!(sent(11, &[0, 1]).unwrap_err(), malformed);
    assert_eq!(sent(6, &[]).unwrap_err(), malformed);
    assert_eq!(sent(14, &[1]).unwrap_err(), malformed);
    assert_eq!(
        sent(11, &[1, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]).unwrap_err(),
        WrongParameter::OutOfRange("TIME")
    );
    let longest = sent(11, &[1, 34, 0, 0, 0, 22, 59, 59]);
    assert!(matches!(longest, Ok(Value::Time(time)) if time.to_number() == -8_385_959));
}

#[test]
fn random_bytes_never_panic() {
    let mut rng = Rng::new(4);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..rng.below(80)).map(|_| rng.next_u64() as u8).collect();
        let _ = parse_first(&bytes);
        let _ = parse_change_user(&bytes, u32::MAX);
        let _ = command::parse(&bytes);
        let _ = parse_parameters(&bytes, rng.below(9) as usize, &mut Vec::new(), &[]);
    }
}

#[test]
fn borrowed_fields_are_written_as_values_are() {
    let (moment, half) =
        (DateTime::from_unix_us(1_700_000_000_000_000, 0).expect("a moment"), Value::Double(0.5));
    let moment = Value::DateTime(moment);
    let long = "x".repeat(300);
    let number = |field| (field, ColumnType::BIGINT);
    let text = |field| (field, ColumnType::varchar(64));
    let fields = [
        number(FieldRef::Null),
        number(FieldRef::UInt(0)),
        number(FieldRef::UInt(u64::MAX)),
        number(FieldRef::Int(7)),
        number(FieldRef::Int(i64::MIN)),
        text(FieldRef::Digits(4711)),
        text(FieldRef::Text("")),
        text(FieldRef::Text(&long)),
        text(FieldRef::Bytes(b"bytes")),
        (FieldRef::Value(&half), ColumnType::Double { unsigned: false, digits: None, zerofill: false }),
        (FieldRef::Value(&moment), ColumnType::DateTime { fsp: 0 }),
    ];
    let (fields, types): (Vec<FieldRef<'_>>, Vec<ColumnType>) = fields.into_iter().unzip();
    let values: Vec<Value> = fields.iter().map(|field| field.to_value()).collect();
    let (mut borrowed, mut owned) = (Vec::new(), Vec::new());
    put_text_fields(&mut borrowed, &fields, &types, &mut Vec::new());
    put_text_row(&mut owned, &values, &types, &mut Vec::new());
    assert_eq!(borrowed, owned);
}
