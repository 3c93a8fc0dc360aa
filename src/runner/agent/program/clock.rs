//! The time that a program takes itself: it stands still while a model or a tool answers.

use std::time::Duration;
use tokio::time::Instant;

/// How much time is left to a program.
#[derive(Debug)]
pub(super) struct Clock {
    left: Duration,
    running_since: Option<Instant>,
}

impl Clock {
    pub(super) fn new(limit: Duration) -> Self {
        Self { left: limit, running_since: Some(Instant::now()) }
    }

    /// Lets it run where nothing is asked, and stand still otherwise.
    pub(super) fn set_running(&mut self, running: bool) {
        match (self.running_since, running) {
            (Some(since), false) => {
                self.left = self.left.saturating_sub(since.elapsed());
                self.running_since = None;
            }
            (None, true) => self.running_since = Some(Instant::now()),
            _ => {}
        }
    }

    /// Leaves it at most this much time.
    pub(super) fn limit(&mut self, most: Duration) {
        self.set_running(false);
        self.left = self.left.min(most);
        self.set_running(true);
    }

    /// Waits until the time is over; for ever while it stands still.
    pub(super) async fn over(&self) {
        match self.running_since {
            Some(since) => tokio::time::sleep_until(since + self.left).await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    #[tokio::test(start_paused = true)]
    async fn it_counts_only_what_the_program_takes() {
        let began = Instant::now();
        let mut clock = Clock::new(Duration::from_secs(10));
        sleep(Duration::from_secs(4)).await;
        clock.set_running(false);
        sleep(Duration::from_secs(100)).await;
        clock.set_running(true);
        clock.over().await;
        assert_eq!(began.elapsed().as_secs(), 110);
    }
}
