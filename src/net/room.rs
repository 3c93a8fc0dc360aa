//! Memory for large answers: those that do not fit wait until others were used.

use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long answers may be that reserve no memory, in bytes.
pub(super) const MAX_UNRESERVED: usize = 1 << 20;

/// How much memory the large answers of some clients may take together.
#[derive(Debug)]
pub struct MemoryBudget {
    free: Semaphore,
    mib: u32,
}

/// A part of the budget, free again when its last copy is dropped. All are equal, so that answers are compared without it.
#[derive(Debug, Clone, Default)]
pub struct MemoryPermit(Option<Arc<SemaphorePermit<'static>>>);

impl MemoryBudget {
    pub const fn new(mib: u32) -> Self {
        Self { free: Semaphore::const_new(mib as usize), mib }
    }

    /// Waits for this much memory. All of it is reserved at once, as partial reservations could deadlock.
    pub(super) async fn reserve(&'static self, bytes: usize) -> MemoryPermit {
        let mib = u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u32::MAX);
        // Nobody closes the semaphore; were it closed, large answers would merely be unlimited.
        MemoryPermit(self.free.acquire_many(mib.min(self.mib)).await.ok().map(Arc::new))
    }
}

impl MemoryPermit {
    pub(super) fn is_reserved(&self) -> bool {
        self.0.is_some()
    }
}

impl PartialEq for MemoryPermit {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for MemoryPermit {}
