//! What can be done about a model that failed: a record keeps the reason, not the hint.

use crate::llm::{Model, ModelError, OnEvent};
use crate::types::{Completion, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};

/// A model that keeps the hint of its last failure.
pub(super) struct Hints {
    model: Arc<dyn Model>,
    last: Mutex<Option<String>>,
}

impl Hints {
    pub(super) fn over(model: Arc<dyn Model>) -> Self {
        Self { model, last: Mutex::new(None) }
    }

    /// The hint of the last failure, once.
    pub(super) fn take(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, error: &ModelError) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = error.hint();
    }
}

impl Model for Hints {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        async move { self.model.complete(request).await.inspect_err(|error| self.note(error)) }.boxed()
    }

    fn stream<'a>(
        &'a self,
        request: &'a Request,
        on_event: OnEvent<'a>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        async move { self.model.stream(request, on_event).await.inspect_err(|error| self.note(error)) }.boxed()
    }
}
