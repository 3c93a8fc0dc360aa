//! How fast requests are sent, and what was learned about it for the record.

use crate::base::{LimitHistory, Wait};
use crate::net::limit::{Activity, History, Limiter, Limiters, Settings, Waiting};
use crate::runner::experiment::{Concurrency, Pace};
use secrecy::SecretString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Episodes in flight for each model request: one that waits for a page leaves its place to another one.
const EPISODES: usize = 2;
/// Episodes in flight where no model's server is asked.
const WITHOUT_SERVER: usize = 32;

/// Where all requests of a start of the program wait for their turn: one limiter for each model's server and key, and one for each site.
#[derive(Debug)]
pub(crate) struct Pacer {
    started_at: jiff::Timestamp,
    limits: Settings,
    models: Limiters,
    sites: Arc<Limiters>,
    /// Episodes that may be under way besides, as no server has been asked anything lately.
    besides: AtomicUsize,
    /// The most episodes under way, whatever servers bear.
    episode_limit: Option<usize>,
}

impl Pacer {
    pub(crate) fn of(pace: &Pace) -> Self {
        let limits = match pace.concurrency {
            Concurrency::Fixed(n) => Settings::fixed(n),
            Concurrency::UpTo(most) => Settings { max: most, ..Settings::default() },
        };
        let Pace { requests_per_minute, tokens_per_minute, max_wait, .. } = *pace;
        Self::new(Settings { requests_per_minute, tokens_per_minute, ..limits }, max_wait)
    }

    pub(crate) fn fixed(places: usize) -> Self {
        Self::new(Settings::fixed(places), None)
    }

    fn new(limits: Settings, max_wait: Option<Duration>) -> Self {
        Self {
            started_at: jiff::Timestamp::now(),
            limits,
            models: Limiters::with_max_wait(max_wait),
            sites: Arc::new(Limiters::with_max_wait(max_wait)),
            besides: AtomicUsize::new(0),
            episode_limit: None,
        }
    }

    /// The same with a limit of episodes, each of which takes more of this machine than an agent of ours.
    pub(crate) fn with_episode_limit(self, episode_limit: Option<usize>) -> Self {
        Self { episode_limit, ..self }
    }

    /// The limiter of a model's server, which is named as in the record.
    pub(crate) fn model(&self, server: &str, key: Option<&SecretString>) -> Arc<Limiter> {
        self.models.of(server, key, &self.limits)
    }

    pub(crate) fn sites(&self) -> &Arc<Limiters> {
        &self.sites
    }

    pub(crate) fn room(&self) -> usize {
        self.room_of_servers().min(self.episode_limit.unwrap_or(usize::MAX))
    }

    /// How many are wanted, so that no place stays empty. Where a cache answers, one more each time.
    fn room_of_servers(&self) -> usize {
        let models = self.models.each();
        let limits: usize = models.iter().map(|(_, limiter)| limiter.limit()).sum();
        match self.limits.fixed {
            Some(places) => EPISODES * limits.max(places),
            None if models.is_empty() => WITHOUT_SERVER,
            None => {
                let idle = models.iter().chain(&self.sites.each()).all(|(_, limiter)| limiter.is_idle());
                let besides = if idle { self.besides.load(Ordering::Relaxed) + 1 } else { 0 };
                self.besides.store(besides.min(WITHOUT_SERVER), Ordering::Relaxed);
                EPISODES * limits + besides.min(WITHOUT_SERVER)
            }
        }
    }

    /// How many requests were sent, and what the next one waits for if none is under way.
    pub(crate) fn waiting(&self) -> (u64, Option<Wait>) {
        let (mut requests, mut is_busy, mut first) = (0, false, None::<Wait>);
        for (server, limiter) in self.models.each().into_iter().chain(self.sites.each()) {
            let Activity { sent, busy, waiting } = limiter.activity();
            requests += sent;
            is_busy |= busy;
            if let Some(Waiting { whole, left, why: reason }) = waiting
                && first.as_ref().is_none_or(|first| left < first.left)
            {
                first = Some(Wait { server, whole, left, reason });
            }
        }
        (requests, first.filter(|_| !is_busy))
    }

    /// What was learned since the start of the program, from servers where anything was.
    pub(crate) fn history(&self) -> Vec<LimitHistory> {
        let started_at = self.started_at.to_string();
        let of = |service: &str, limiters: &Limiters| -> Vec<LimitHistory> {
            let each = limiters.each().into_iter();
            let each = each.map(|(server, limiter)| {
                let (History { changes, dropped }, started_at) = (limiter.history(), started_at.clone());
                LimitHistory { service: service.to_owned(), server, started_at, changes, dropped }
            });
            each.filter(|history| !history.changes.is_empty()).collect()
        };
        [of("model", &self.models), of("wikipedia", &self.sites)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::Pacer;
    use crate::runner::experiment::{Concurrency, Pace};
    use std::num::NonZeroU32;

    #[tokio::test]
    async fn episodes_in_flight_follow_the_limits_of_all_servers() {
        let learned = Pacer::of(&Pace::default());
        assert_eq!(learned.room(), 32, "rules in this process");
        let first = learned.model("a", None);
        let asked = first.acquire(1, std::time::Duration::from_secs(1)).await.expect("a place");
        assert_eq!(learned.room(), 2);
        learned.model("b", None);
        learned.model("b", None);
        assert_eq!(learned.room(), 4);
        drop(asked);
        assert_eq!((learned.room(), learned.room()), (5, 6), "no server is asked");
        let most = (0..100).map(|_| learned.room()).max();
        assert_eq!(most, Some(36));
        let site = learned.sites().of("site", None, &learned.limits);
        let _asked = site.acquire(1, std::time::Duration::from_secs(1)).await.expect("a place");
        assert_eq!(learned.room(), 4, "a site is asked");
        let per_minute = NonZeroU32::new(9);
        let pace = Pace { concurrency: Concurrency::Fixed(3), requests_per_minute: per_minute, ..Pace::default() };
        let fixed = Pacer::of(&pace);
        assert_eq!(fixed.room(), 6);
        fixed.model("a", None);
        assert_eq!(fixed.room(), 6);
        assert_eq!(fixed.limits.requests_per_minute, per_minute);
        let five = Pace { concurrency: Concurrency::UpTo(5), ..Pace::default() };
        assert_eq!(Pacer::of(&five).limits.max, 5);
        assert!(fixed.history().is_empty(), "nothing was learned");
    }
}
