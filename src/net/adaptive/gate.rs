//! Where requests wait until a controller lets them begin.

use super::controller::{Controller, Outcome, Ticket, Wait};
use super::history::History;
use super::pause::HeldOff;
use super::settings::Settings;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep};

/// Lets requests through one after the other, in the order in which they came.
///
/// Only the first of them watches the controller; the others wait for it to be gone. One that needs many tokens is
/// therefore not overtaken by small ones for ever, and no wake-up concerns more than one task.
#[derive(Debug)]
pub struct Gate {
    /// Lets one waiter at a time ask the controller, in order of arrival.
    turnstile: Semaphore,
    /// Wakes the one that asks.
    freed: Notify,
    start: Instant,
    controller: Mutex<Controller>,
}

/// A request that has begun. Dropping it ends it as [`Outcome::Other`].
#[derive(Debug)]
#[must_use = "a pass that is dropped ends its request"]
pub struct Pass<'a> {
    gate: &'a Gate,
    ticket: Option<Ticket>,
}

impl Gate {
    /// A gate whose time begins now.
    pub fn new(settings: Settings) -> Self {
        Self {
            turnstile: Semaphore::new(1),
            freed: Notify::new(),
            start: Instant::now(),
            controller: Mutex::new(Controller::new(settings)),
        }
    }

    /// Waits until a request that may cost so many `tokens` may begin. Whoever stops waiting leaves no trace.
    pub async fn enter(&self, tokens: u64) -> Result<Pass<'_>, HeldOff> {
        // The semaphore is never closed; were it so, order alone would be lost.
        let _turn = self.turnstile.acquire().await.ok();
        loop {
            // A wake-up that comes between this question and the wait below is kept for the wait.
            let (asked, now) = self.with(|controller, now| (controller.try_begin(now, tokens), now));
            match asked {
                Ok(ticket) => return Ok(Pass { gate: self, ticket: Some(ticket) }),
                Err(Wait::HeldOff(held)) => return Err(held),
                Err(Wait::Full) => self.freed.notified().await,
                Err(Wait::Until(at)) => {
                    tokio::select! {
                        () = sleep(at.saturating_sub(now)) => {}
                        () = self.freed.notified() => {}
                    }
                }
            }
        }
    }

    /// How many requests may be under way at once, for now.
    pub fn limit(&self) -> usize {
        self.with(|controller, _| controller.limit())
    }

    /// How many requests are under way.
    pub fn in_flight(&self) -> usize {
        self.with(|controller, _| controller.in_flight())
    }

    /// Lets nothing begin for `wait`, because the server asked for it with this status, in other ways than by status and
    /// header.
    pub fn hold(&self, wait: Duration, status: u16) {
        self.with(|controller, now| controller.hold(now, wait, status));
        // Whoever waits for a place asks again, and learns of it.
        self.freed.notify_one();
    }

    /// The decisions so far.
    pub fn history(&self) -> History {
        self.with(|controller, _| controller.history().clone())
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Controller, Duration) -> T) -> T {
        // Nothing can panic while it is changed.
        let mut controller: MutexGuard<'_, Controller> = self.controller.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&mut controller, self.start.elapsed())
    }
}

impl Pass<'_> {
    /// The request ended like this.
    pub fn end(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(ticket) = self.ticket.take() {
            self.gate.with(|controller, now| controller.ended(now, ticket, outcome));
            self.gate.freed.notify_one();
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.finish(Outcome::Other);
    }
}

#[cfg(test)]
mod tests;
