//! What the wrappers of models and of sources have in common.

use std::sync::Arc;

/// Something that answers requests, with a recorder or a cache (`T`) in front; `identity` says who answers.
pub struct Wrapped<S: ?Sized, I, T> {
    pub(crate) inner: Arc<S>,
    pub(crate) identity: I,
    pub(crate) tape: Arc<T>,
}

impl<S: ?Sized, I, T> Wrapped<S, I, T> {
    pub fn new(inner: Arc<S>, identity: I, tape: Arc<T>) -> Self {
        Self { inner, identity, tape }
    }
}
