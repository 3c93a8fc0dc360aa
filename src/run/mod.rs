//! Running a plan: which episodes there are, which are still to do, and doing them.

mod plan;
mod runner;

pub use plan::{Due, Plan, differences, twins};
pub use runner::{Answer, Room, run};

#[cfg(test)]
mod tests;
