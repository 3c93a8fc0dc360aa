//! Ctrl-C, and the signal by which schedulers end a job.

/// Requests to stop. From when it is made on, none of the signals ends the program by itself, and none is lost: one that
/// comes before anybody waits is found by the first who does.
#[derive(Debug, Default)]
pub struct Interrupts {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(not(unix))]
    listens: bool,
}

impl Interrupts {
    /// No request ever comes: signals do what they do without us.
    pub fn none() -> Self {
        Self::default()
    }

    /// Ctrl-C, and on Unix also SIGTERM. Must be called inside a Tokio runtime.
    #[cfg(unix)]
    pub fn signals() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // A system that takes no handler leaves its own in place, which ends the program: nothing on disk is lost by it.
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    /// Ctrl-C. Must be called inside a Tokio runtime.
    #[cfg(not(unix))]
    pub fn signals() -> Self {
        Self { listens: true }
    }

    #[cfg(unix)]
    pub(super) async fn next(&mut self) {
        let Self { interrupt, terminate } = self;
        let wait = async |signal: &mut Option<tokio::signal::unix::Signal>| {
            let Some(signal) = signal else { return std::future::pending().await };
            if signal.recv().await.is_none() {
                // Without signals there is nothing to wait for.
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = wait(interrupt) => {}
            () = wait(terminate) => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) {
        if !self.listens || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
