//! Memory for large answers: those that do not fit wait until others were used.

use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long answers may be that need no room, in bytes.
pub(super) const SMALL: usize = 1 << 20;

/// How much memory the large answers of some clients may take together.
#[derive(Debug)]
pub struct Room {
    free: Semaphore,
    mib: u32,
}

/// A part of the room, free again when its last copy is dropped. All are alike: answers are compared without it.
#[derive(Debug, Clone, Default)]
pub struct Place(Option<Arc<SemaphorePermit<'static>>>);

impl Room {
    pub const fn new(mib: u32) -> Self {
        Self { free: Semaphore::const_new(mib as usize), mib }
    }

    /// Waits for a place of this length. All of it is taken at once: who held one and waited for more could wait for ever.
    pub(super) async fn place(&'static self, bytes: usize) -> Place {
        let mib = u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX);
        // Nobody closes the semaphore; were it closed, large answers would merely be unlimited.
        Place(self.free.acquire_many(mib.min(self.mib)).await.ok().map(Arc::new))
    }
}

impl Place {
    pub(super) fn is_taken(&self) -> bool {
        self.0.is_some()
    }
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}
