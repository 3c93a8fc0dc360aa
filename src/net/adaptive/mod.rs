//! How many requests a server is sent at once, learned from its answers.
//!
//! A [`Controller`] decides, without clock and without I/O; a [`Gate`] makes requests wait for its decisions. There is one
//! for each provider and key, since that is what providers count by ([`Gates`]), and one of its own for Wikipedia
//! ([`Settings::wikipedia`]): a refusal by the one says nothing about the other.
//!
//! | what happens | what the controller does |
//! |---|---|
//! | a round of answers came, and all places were in use | doubles the limit (slow start), or adds a twentieth once a server has refused |
//! | status 429 | takes a fifth off the limit, once an episode, and lets no growth happen until the cooldown is over |
//! | `Retry-After` | leaves the place of the refused request empty for that long; from a site ([`Settings::hold_all`]), starts nothing before that time, and a wish that is too long turns requests away |
//! | many places come free at once | fills them one by one |
//! | a minute's share is spent | starts nothing until there is room for it in the last 60 s |
//! | 5xx, a timeout, a broken connection | does not grow for one round |
//! | an answer out of a cache | nothing |
//!
//! A round is as many good answers as the limit, at least [`SHORTEST_ROUND`], to requests that began after the round
//! did. An episode is a cooldown; refusals of requests that began before the limit was lowered belong to it, however late
//! they come.
//!
//! One [`Pass`] is one attempt, not one logical request: whoever waits to try again holds no place. A cache is asked before
//! the gate. The run keeps as many questions under way as [`Gate::limit`] allows, a few more so that none waits for the
//! next, and writes [`Gate::history`] into its record as `limit_history`.

mod budget;
mod controller;
mod gate;
mod gates;
mod history;
mod pause;
#[cfg(test)]
mod properties;
mod refill;
mod settings;
#[cfg(test)]
mod simulated;

pub use controller::{Controller, Outcome, SHORTEST_ROUND, Ticket, Wait};
pub use gate::{Gate, Pass};
pub use gates::Gates;
pub use history::{Change, History, LONGEST_HISTORY, Reason};
pub use pause::HeldOff;
pub use settings::Settings;
