//! For fuzzing: everything that decodes what a client sent.

use super::{command, handshake, result};

/// Decodes the rest of `data` as the message its first byte chooses: a handshake response, a change of user,
/// a command, or the parameters of an execution.
pub fn fuzz_packet(data: &[u8]) {
    let Some((&choice, message)) = data.split_first() else { return };
    match choice % 4 {
        0 => {
            let _ = handshake::parse_first(message);
        }
        1 => {
            if let Some((capabilities, rest)) = message.split_first_chunk::<4>() {
                let _ = handshake::parse_change_user(rest, u32::from_le_bytes(*capabilities));
            }
        }
        2 => fuzz_command(message),
        _ => fuzz_parameters(message, usize::from(choice >> 2)),
    }
}

fn fuzz_command(message: &[u8]) {
    match command::parse(message) {
        Ok(command::Command::Execute { parameters, .. }) => fuzz_parameters(parameters, 3),
        Ok(command::Command::ChangeUser(payload)) => {
            let _ = handshake::parse_change_user(payload, handshake::OFFERED);
        }
        _ => {}
    }
}

/// Twice, as a client may leave out the types the second time. The first parameter came as long data.
fn fuzz_parameters(message: &[u8], count: usize) {
    let long_data = [Some(message[..message.len().min(3)].to_vec())];
    let mut types = Vec::new();
    for _ in 0..2 {
        if let Ok(values) = result::parse_parameters(message, count, &mut types, &long_data) {
            assert_eq!(values.len(), count, "a value for each parameter");
        }
    }
}
