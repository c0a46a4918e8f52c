//! Turnstile, the outside world: disk, clock, latches, parking and randomness, each replaceable in tests.
