//! Pieces of an input read on several threads.

use super::{ImportError, Imported};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What is said where a library panicked.
pub(super) const READER_FAILED: &str = "its reader failed inside; is it damaged?";

/// What one piece of work finds.
pub(super) type Batch = Vec<Result<Imported, ImportError>>;

/// Does pieces of work on as many threads as there are processors.
pub(super) fn on_all_processors<J: Send + 'static>(
    jobs: Receiver<J>,
    work: impl Fn(J) -> Batch + Send + Sync + 'static,
) -> Receiver<Batch> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (send, found) = sync_channel(threads);
    let shared = Arc::new((Mutex::new(jobs), work));
    for _ in 0..threads {
        let (shared, send) = (Arc::clone(&shared), send.clone());
        thread::spawn(move || {
            let (jobs, work) = &*shared;
            let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok(job) = next() {
                // A job must not be lost without a word, whatever a library does on damaged bytes.
                let found = catch_unwind(AssertUnwindSafe(|| work(job)));
                let found =
                    found.unwrap_or_else(|_| vec![Err(ImportError::Broken { reason: READER_FAILED.to_owned() })]);
                // Nobody listens after an error.
                if send.send(found).is_err() {
                    return;
                }
            }
        });
    }
    found
}
