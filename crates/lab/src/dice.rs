//! Chance that repeats: numbers that depend on nothing but where they are asked for.

/// A number that depends on connection, turn and `salt` only, spread like chance: runs repeat.
pub fn dice(connection: usize, turn: u64, salt: u64) -> u64 {
    // The finaliser of splitmix64 over the three inputs.
    let mut x = (connection as u64) << 40 ^ turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt << 56;
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
