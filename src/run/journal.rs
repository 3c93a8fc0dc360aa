//! The journal of a run's folder as agents use it.

use crate::agent;
use crate::store::Journal;
use crate::types::Event;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

impl agent::Journal for Journal {
    fn take(&self, key: &str) -> Vec<(Option<u32>, Event)> {
        self.take(key)
    }

    fn keep<'a>(&'a self, key: &'a str, variant: &'a str, sample: Option<u32>, event: Event) -> BoxFuture<'a, ()> {
        async move { drop(self.keep(key, variant, sample, event).await) }.boxed()
    }
}
