//! Turnstile, the laboratory: workloads, drivers and reports; it speaks only the wire.
