//! A server that fails for a reason that lasts is not asked once for each question.
//!
//! The first request to a server goes alone: it proves address, key and model, and its answer is used like any other, so
//! that it costs nothing. Until a server has answered once, few requests are sent to it, and few episodes that need it
//! are begun, however many may be in flight later. After so many failures in a row for the same lasting reason nothing
//! more is sent, and the run stops.

use super::hints::{hint, server_of};
use crate::base::text::counted;
use crate::base::{Cause, Decoding, Failure, Manifest, Request, Service, Variant, locked};
use crate::models::{CompletionFuture, Model, ModelError, OnEvent, Unsupported};
use crate::net::NetError;
use crate::wikipedia::{Found, Retrieval, Source, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::Notify;

const DEFAULT_MAX_FAILURES: u64 = 10;
const LATER: &str = "--resume goes on once that time has passed; --max-wait allows longer waits";
/// Multiplier on the failures in a row, for failures across all servers that have never answered.
const TOGETHER: u64 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trip {
    pub(crate) reason: String,
    pub(crate) failure: Failure,
    /// Address of the server, as a record names it.
    pub(crate) server: String,
    /// Whether the server is merely to be asked later.
    pub(crate) later: bool,
}

impl Trip {
    pub(crate) fn hint(&self, manifest: &Manifest) -> Option<String> {
        if self.later {
            return Some(LATER.to_owned());
        }
        let is_its = |variant: &&Variant| server_of(self.failure.service, variant) == Some(&*self.server);
        let variant = manifest.variants.iter().find(is_its)?;
        Some(hint(Some(self.failure), &self.reason, variant, manifest))
    }
}

#[derive(Debug)]
pub(crate) struct Breakers {
    /// Failures in a row; nothing if a run is never given up.
    most: Option<u64>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    trip: OnceLock<Trip>,
    /// Lasting refusals of servers that never answered.
    refusals: AtomicU64,
}

#[derive(Debug)]
pub(crate) struct Breaker {
    service: Service,
    server: String,
    most: u64,
    shared: Arc<Shared>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    proven: bool,
    shut: bool,
    asking: u64,
    failed: u64,
    open: u64,
    closed: u64,
    row: u64,
    last: Option<(Cause, String)>,
}

impl State {
    fn room(&self, most: u64) -> u64 {
        match &self.last {
            _ if self.proven => u64::MAX,
            _ if self.failed == 0 => 1,
            // Nobody is troubled by requests that arrive nowhere, and each of them is tried for seconds.
            Some((Cause::ConnectionRefused | Cause::UnknownHost | Cause::Tls, _)) => most.saturating_sub(self.row),
            Some(_) => 1,
            None => most,
        }
    }

    /// How many episodes may be under way. One that ended without a request says that answers come from a cache.
    fn episodes(&self, most: u64) -> u64 {
        if self.failed == 0 && self.closed > 0 { u64::MAX } else { self.room(most) }
    }
}

impl Breakers {
    /// Gives a run up after so many failures in a row: 10 if nothing is said, never at 0.
    pub(crate) fn new(most: Option<u64>) -> Self {
        Self { most: Some(most.unwrap_or(DEFAULT_MAX_FAILURES)).filter(|most| *most > 0), shared: Arc::default() }
    }

    /// After how many failures in a row a run is given up; nothing if it never is.
    pub(crate) fn most(&self) -> Option<u64> {
        self.most
    }

    pub(crate) fn trip(&self) -> Option<&Trip> {
        self.shared.trip.get()
    }

    pub(super) fn breaker(&self, service: Service, server: Option<&str>) -> Arc<Breaker> {
        let (server, shared) = (server.unwrap_or_default().to_owned(), Arc::clone(&self.shared));
        // A server that is never given up has nothing to prove.
        let state = Mutex::new(State { proven: self.most.is_none(), ..State::default() });
        let most = self.most.unwrap_or(u64::MAX);
        Arc::new(Breaker { service, server, most, shared, state, changed: Notify::new() })
    }
}

impl Breaker {
    /// Waits until `take` takes what it wants from the state; nothing once the server is not asked any more.
    async fn wait(&self, mut take: impl FnMut(&mut State) -> bool) -> Option<()> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = locked(&self.state);
                if state.shut {
                    return None;
                }
                if take(&mut state) {
                    return Some(());
                }
            }
            changed.await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut locked(&self.state));
        self.changed.notify_waiters();
    }

    /// Waits until an episode that needs the server may begin; nothing once none may.
    pub(crate) async fn begin(self: &Arc<Self>) -> Option<EpisodePermit> {
        let most = self.most;
        self.wait(|state| {
            let room = state.open < state.episodes(most);
            state.open += u64::from(room);
            room
        })
        .await?;
        Some(EpisodePermit(Arc::clone(self)))
    }

    /// Waits until a request may be sent; nothing once none may.
    async fn pass(&self) -> Option<RequestPermit<'_>> {
        self.wait(|state| {
            let room = state.asking < state.room(self.most);
            state.asking += u64::from(room);
            room
        })
        .await?;
        Some(RequestPermit(self))
    }

    fn answered(&self) {
        self.change(|state| (state.proven, state.row, state.last) = (true, 0, None));
    }

    fn failed(&self, cause: Cause, detail: String) {
        self.change(|state| {
            state.failed += u64::from(!state.proven);
            if !cause.is_lasting() {
                (state.row, state.last) = (0, None);
                return;
            }
            // One reason for the refusal of a request is not another one.
            let is_same =
                |(last, words): &(Cause, String)| *last == cause && (cause != Cause::BadRequest || *words == detail);
            state.row = if state.last.as_ref().is_some_and(is_same) { state.row + 1 } else { 1 };
            let refusals = self.shared.refusals.fetch_add(u64::from(!state.proven), Ordering::Relaxed) + 1;
            let reason = if state.row >= self.most {
                format!("{} in a row failed for the same reason: {detail}", counted(state.row, "request"))
            } else if !state.proven && refusals >= TOGETHER.saturating_mul(self.most) {
                format!("{} failed, and none was answered: {detail}", counted(refusals, "request"))
            } else {
                state.last = Some((cause, detail));
                return;
            };
            state.shut = true;
            self.trip(reason, cause, false);
        });
    }

    fn held_off(&self, reason: String) {
        self.change(|state| state.shut = true);
        self.trip(reason, Cause::RateLimit, true);
    }

    fn trip(&self, reason: String, cause: Cause, later: bool) {
        let failure = Failure { service: self.service, cause };
        self.shared.trip.get_or_init(|| Trip { reason, failure, server: self.server.clone(), later });
    }
}

/// An episode that needs the server is under way until this is dropped.
pub(crate) struct EpisodePermit(Arc<Breaker>);

impl Drop for EpisodePermit {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.open -= 1;
            state.closed += u64::from(!state.proven);
        });
    }
}

/// A request is on its way until this is dropped.
struct RequestPermit<'a>(&'a Breaker);

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.asking -= 1);
    }
}

pub(super) struct Watched<T: ?Sized, E> {
    inner: Arc<T>,
    breaker: Arc<Breaker>,
    /// What the server said last, for those who are not let through any more.
    last: Mutex<Option<E>>,
}

pub(super) trait RequestFailure: Clone + ToString {
    fn cause(&self) -> Cause;
    /// The failure of a request that was not sent, as the server asked for a wait that is too long.
    fn held_off(&self) -> Option<&NetError>;
}

impl RequestFailure for ModelError {
    fn cause(&self) -> Cause {
        self.failure().cause
    }

    fn held_off(&self) -> Option<&NetError> {
        if let Self::Net(error) = self { Some(error.last()).filter(|error| error.is_held_off()) } else { None }
    }
}

impl RequestFailure for SourceError {
    fn cause(&self) -> Cause {
        Self::cause(self)
    }

    fn held_off(&self) -> Option<&NetError> {
        if let Self::Net(error) = self { Some(error.last()).filter(|error| error.is_held_off()) } else { None }
    }
}

impl<T: ?Sized, E: RequestFailure> Watched<T, E> {
    pub(super) fn new(inner: Arc<T>, breaker: Arc<Breaker>) -> Self {
        Self { inner, breaker, last: Mutex::default() }
    }

    async fn ask<A>(
        &self,
        request: impl Future<Output = Result<A, E>>,
        never: impl FnOnce(String) -> E,
    ) -> Result<A, E> {
        let Some(_pass) = self.breaker.pass().await else {
            let last = locked(&self.last).clone();
            return Err(last.unwrap_or_else(|| never("the server is not asked any more".to_owned())));
        };
        let result = request.await;
        match &result {
            Ok(_) => self.breaker.answered(),
            Err(error) => {
                *locked(&self.last) = Some(error.clone());
                match error.held_off() {
                    Some(held) => self.breaker.held_off(held.to_string()),
                    None => self.breaker.failed(error.cause(), error.to_string()),
                }
            }
        }
        result
    }
}

impl Model for Watched<dyn Model, ModelError> {
    fn unsupported(&self, decoding: &Decoding, forced: bool) -> Option<Unsupported> {
        self.inner.unsupported(decoding, forced)
    }

    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        self.ask(self.inner.complete(request, on_event), ModelError::Other).boxed()
    }
}

impl Source for Watched<dyn Source, SourceError> {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        self.ask(self.inner.retrieve(asked), SourceError::Internal).boxed()
    }
}

#[cfg(test)]
mod tests;
