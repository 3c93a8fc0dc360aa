//! The threads that commands run on.

use super::failure::Failure;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Threads for work that blocks, such as writing and reading pages, that are started at once and stay. More are started when
/// there is more to do. Where that fails, for lack of memory or by a limit, work waits for one of these; without them it would
/// wait for ever.
const BLOCKING: usize = 4;
/// Memory of a thread's stack, in bytes.
const STACK: usize = 2 << 20;
const STAYS: Duration = Duration::from_hours(24 * 365);
/// How long a thread may take to start.
const START: Duration = Duration::from_secs(30);

/// The runtime, with as many threads for waiting tasks.
pub(super) fn runtime(loops: usize) -> anyhow::Result<Runtime> {
    // It panics where one of its own cannot be started.
    let started = rehearse(loops + BLOCKING).and_then(|()| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(loops).thread_stack_size(STACK).thread_keep_alive(STAYS).enable_all().build()
    });
    started.and_then(|runtime| warm(&runtime).map(|()| runtime)).map_err(|error| {
        Failure::unexpected(
            format!("cannot start {} threads: {error}", loops + BLOCKING),
            "allow more memory or processes: see `ulimit -v` and `ulimit -u`",
        )
    })
}

fn rehearse(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock();
        let wait = || drop(gate.lock());
        (0..count).try_for_each(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, wait).map(drop))
    })
}

/// Has the runtime start its threads for work that blocks.
fn warm(runtime: &Runtime) -> io::Result<()> {
    let gate = Arc::new(Mutex::new(()));
    let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let (started, all) = mpsc::channel();
    for _ in 0..BLOCKING {
        let (gate, started) = (Arc::clone(&gate), started.clone());
        runtime.spawn_blocking(move || {
            // Nobody waits any more if another one did not start.
            let _ = started.send(());
            drop(gate.lock());
        });
    }
    (0..BLOCKING).try_for_each(|_| all.recv_timeout(START).map_err(io::Error::other))
}
