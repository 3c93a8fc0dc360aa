//! Ctrl-C, and the signals by which schedulers end a job and terminals say that they are gone.

#[cfg(unix)]
use std::task::Poll;

/// Requests to stop. From when it is made on, none of the signals ends the program by itself, and none is lost: one that
/// comes before anybody waits is found by the first who does.
#[derive(Debug, Default)]
pub struct Interrupts {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
    /// Asks to stop once: shell and system both send it when a terminal goes away, and neither is in a hurry.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
    #[cfg(not(unix))]
    listens: bool,
}

impl Interrupts {
    /// No request ever comes: signals do what they do without us.
    pub fn none() -> Self {
        Self::default()
    }

    /// Ctrl-C, and on Unix also SIGTERM, and SIGHUP unless it is ignored (`nohup`). Must be called inside a Tokio runtime.
    #[cfg(unix)]
    pub fn signals() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // A system that takes no handler leaves its own in place, which ends the program: nothing on disk is lost by it.
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let hangup = if hangup_is_ignored() { None } else { signal(SignalKind::hangup()).ok() };
        Self { signals: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect(), hangup }
    }

    /// Ctrl-C. Must be called inside a Tokio runtime.
    #[cfg(not(unix))]
    pub fn signals() -> Self {
        Self { listens: true }
    }

    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            // A signal that ended (`Ready(None)`) never comes.
            let all = self.signals.iter_mut().chain(&mut self.hangup);
            let came = all.map(|signal| signal.poll_recv(context)).any(|came| matches!(came, Poll::Ready(Some(()))));
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.hangup = None;
    }

    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        if !self.listens || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Whether the program was started to outlive its terminal (`nohup`). Only Linux says so without a system call of our own.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit for each signal, from the lowest on; the hangup is signal 1.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
