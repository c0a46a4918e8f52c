//! The host part of an account: a name, an address, a network (`10.1.0.0/16`, `10.1.0.0/255.255.0.0`), or a
//! pattern with `%` and `_`.

use std::net::Ipv4Addr;

use super::matches;

/// A network of IPv4 addresses.
struct Network {
    base: u32,
    /// Its leading bits are the same in all addresses of the network.
    bits: u32,
}

impl Network {
    /// None for what is no network: without a mask, with a mask that has gaps or is empty, or with an address
    /// that is not the network's first.
    fn parse(text: &str) -> Option<Network> {
        let (address, mask) = text.split_once('/')?;
        let base = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let bits = match mask.parse::<Ipv4Addr>() {
            Ok(mask) => {
                let mask = u32::from(mask);
                let bits = mask.leading_ones();
                (bits == mask.count_ones()).then_some(bits)?
            }
            Err(_) => mask.parse().ok()?,
        };
        let network = Network { base, bits };
        ((1..=32).contains(&bits) && network.holds(base) && base & !network.mask() == 0).then_some(network)
    }

    fn mask(&self) -> u32 {
        u32::MAX.checked_shl(32 - self.bits).unwrap_or(0)
    }

    fn holds(&self, address: u32) -> bool {
        address & self.mask() == self.base & self.mask()
    }
}

/// Whether a client that comes from `host`, an address or `localhost`, fits an account's host.
pub(super) fn fits(pattern: &str, host: &str) -> bool {
    let loopback = host == "localhost" || host == "::1" || host.starts_with("127.");
    if let Some(network) = Network::parse(pattern) {
        let address = host.parse::<Ipv4Addr>().ok().or(loopback.then_some(Ipv4Addr::LOCALHOST));
        return address.is_some_and(|address| network.holds(u32::from(address)));
    }
    matches(pattern, &host.to_ascii_lowercase())
        || loopback && (pattern == "localhost" || matches(pattern, "127.0.0.1"))
}

/// Of two hosts that fit, the greater is more specific: one without a wildcard, the smaller network, the
/// longer pattern.
pub(super) fn specificity(pattern: &str) -> (u8, usize) {
    match Network::parse(pattern) {
        Some(network) => (1, network.bits as usize),
        None if pattern.contains(['%', '_']) => (0, pattern.len()),
        None => (2, pattern.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As MySQL 9.7 lets clients in.
    #[test]
    fn networks_hold_their_addresses() {
        for pattern in ["127.0.0.0/255.255.255.0", "127.0.0.0/24", "127.0.0.0/8", "127.0.0.1/32"] {
            assert!(fits(pattern, "127.0.0.1") && fits(pattern, "localhost"), "{pattern}");
            assert!(!fits(pattern, "10.0.0.1") && !fits(pattern, "fe80::1"), "{pattern}");
        }
        for pattern in [
            "127.0.0.1/24",
            "127.0.0.0/33",
            "127.0.0.0/255.0.255.0",
            "127.0.0.0/0",
            "0.0.0.0/0",
            "::1/64",
            "%/24",
            "127.0.0.0/abc",
        ] {
            assert!(!fits(pattern, "127.0.0.1"), "{pattern}");
        }
    }

    #[test]
    fn the_smaller_network_is_more_specific() {
        let order = ["%", "127.0.0.%", "127.0.0.0/8", "127.0.0.0/255.255.0.0", "127.0.0.0/24", "127.0.0.1"];
        assert!(order.is_sorted_by_key(|host| specificity(host)));
    }
}
