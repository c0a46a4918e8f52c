//! The gate, polled by hand and under threads: limit, order, budgets, slices, sleeps, kills.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![cfg_attr(shuttle, allow(dead_code, unused_imports, reason = "the models use a part of it"))]

use super::*;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::settings::Settings;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

#[cfg(not(shuttle))]
mod by_hand;
#[cfg(shuttle)]
mod races_shuttle;

fn settings(limit: u64, tickets: u64) -> Arc<Settings> {
    let settings = Settings::default();
    settings.thread_concurrency.store(limit, Ordering::Relaxed);
    settings.concurrency_tickets.store(tickets, Ordering::Relaxed);
    Arc::new(settings)
}

fn gate(limit: u64, tickets: u64) -> Arc<Gate> {
    Gate::new(settings(limit, tickets), Purpose::Statements)
}

/// A statement begins and comes in.
async fn enter(gate: &Arc<Gate>, admission: &Arc<AdmissionState>, interrupt: &Interrupt) -> Result<Ticket> {
    let mut ticket = gate.ticket(admission).expect("there is a limit");
    ticket.come_in(interrupt).await?;
    Ok(ticket)
}

fn poll<F: Future>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn now<F: Future>(future: F) -> F::Output {
    poll(&mut Box::pin(future)).expect("no wait expected")
}

fn counts(inside: u64, queued: u64) -> GateCounts {
    GateCounts { inside, queued, sleeping: 0 }
}
