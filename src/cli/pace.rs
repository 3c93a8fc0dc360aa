//! Flags that say how fast requests go out, and what came of it for the record.

use crate::net::limit::{History, Limiter, Limiters, Settings};
use crate::types::{LimitChange, LimitHistory};
use secrecy::SecretString;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Requests at once to a model's server at most, where the number is learned.
const MOST: usize = 100;
/// Requests at once that a flag may ask for; each is a connection.
const LARGEST: usize = 65_535;
/// Episodes under way for each model request: one that waits for a page leaves its place to another one.
const EPISODES: usize = 2;
/// Episodes under way where no model's server is asked.
const WITHOUT_SERVER: usize = 32;

/// How many requests go to the model's server.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run")]
pub(super) struct PaceArgs {
    /// Model requests at once: `auto` begins with one and learns from the answers how many the server can take, up to 100;
    /// `auto:N` up to N; a plain number is fixed.
    #[arg(long, value_name = "N|auto[:N]", default_value = "auto", value_parser = concurrency)]
    concurrency: Concurrency,
    /// Requests to the model's server in any minute, retries included [default: unlimited].
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<NonZeroU32>,
    /// Tokens of requests that begin in any minute, prompt and answer together [default: unlimited].
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<NonZeroU32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Concurrency {
    Fixed(usize),
    UpTo(usize),
}

fn concurrency(text: &str) -> Result<Concurrency, String> {
    let number = |text: &str| match text.parse() {
        Ok(n @ 1..=LARGEST) => Ok(n),
        _ => Err(format!("it is `auto`, `auto:N` or N, with N from 1 to {LARGEST}")),
    };
    match text.split_once(':') {
        Some(("auto", most)) => number(most).map(Concurrency::UpTo),
        None if text == "auto" => Ok(Concurrency::UpTo(MOST)),
        _ => number(text).map(Concurrency::Fixed),
    }
}

/// Where all requests of a command wait for their turn: one limiter for each model's server and key, and one for each site.
#[derive(Debug)]
pub(super) struct Pace {
    started_at: jiff::Timestamp,
    limits: Settings,
    models: Limiters,
    sites: Arc<Limiters>,
}

impl PaceArgs {
    /// The pace that the flags ask for.
    pub(super) fn build(&self) -> Pace {
        let limits = match self.concurrency {
            Concurrency::Fixed(n) => Settings::fixed(n),
            Concurrency::UpTo(most) => Settings { max: most, ..Settings::default() },
        };
        let limits = Settings {
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            ..limits
        };
        Pace::new(limits)
    }
}

impl Pace {
    /// So many model requests at once, always.
    pub(super) fn fixed(places: usize) -> Self {
        Self::new(Settings::fixed(places))
    }

    fn new(limits: Settings) -> Self {
        Self { started_at: jiff::Timestamp::now(), limits, models: Limiters::default(), sites: Arc::default() }
    }

    /// The limiter of a model's server, which is named as in the record.
    pub(super) fn model(&self, server: &str, key: Option<&SecretString>) -> Arc<Limiter> {
        self.models.of(server, key, &self.limits)
    }

    /// The limiters of the sites that pages come from.
    pub(super) fn sites(&self) -> &Arc<Limiters> {
        &self.sites
    }

    /// How many episodes are to be under way now, so that no place at a model's server is left empty.
    pub(super) fn room(&self) -> usize {
        let limits: usize = self.models.each().iter().map(|(_, limiter)| limiter.limit()).sum();
        match self.limits.fixed {
            _ if limits > 0 => EPISODES * limits,
            Some(places) => EPISODES * places,
            None => WITHOUT_SERVER,
        }
    }

    /// What was learned since the start of the program, from servers where anything was.
    pub(super) fn history(&self) -> Vec<LimitHistory> {
        let started_at = self.started_at.to_string();
        let of = |service: &str, limiters: &Limiters| -> Vec<LimitHistory> {
            let each = limiters.each().into_iter();
            let each = each.map(|(server, limiter)| record(service, server, &started_at, &limiter.history()));
            each.filter(|history| !history.changes.is_empty()).collect()
        };
        [of("model", &self.models), of("wikipedia", &self.sites)].concat()
    }
}

fn record(service: &str, server: String, started_at: &str, history: &History) -> LimitHistory {
    let changes = history.changes().iter().map(|change| LimitChange {
        at_ms: u64::try_from(change.at.as_millis()).unwrap_or(u64::MAX),
        from: change.from,
        to: change.to,
        reason: change.reason.as_str().to_owned(),
    });
    LimitHistory {
        service: service.to_owned(),
        server,
        started_at: started_at.to_owned(),
        changes: changes.collect(),
        dropped: history.dropped(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Concurrency, Pace, PaceArgs, concurrency};
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        pace: PaceArgs,
    }

    fn pace(line: &str) -> Pace {
        Program::try_parse_from(line.split_whitespace()).expect("valid flags").pace.build()
    }

    #[test]
    fn a_number_is_fixed_and_auto_is_learned() {
        assert_eq!(concurrency("7"), Ok(Concurrency::Fixed(7)));
        assert_eq!(concurrency("auto"), Ok(Concurrency::UpTo(100)));
        assert_eq!(concurrency("auto:500"), Ok(Concurrency::UpTo(500)));
        for bad in ["0", "auto:0", "auto:", "many", "-1", "65536", "fixed:3", ""] {
            assert!(concurrency(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn episodes_under_way_follow_the_limits_of_all_servers() {
        let learned = pace("x");
        assert_eq!(learned.room(), 32, "rules in this process");
        learned.model("a", None);
        assert_eq!(learned.room(), 2);
        learned.model("b", None);
        learned.model("b", None);
        assert_eq!(learned.room(), 4);
        let fixed = pace("x --concurrency 3 --requests-per-minute 9 --tokens-per-minute 1000");
        assert_eq!(fixed.room(), 6);
        fixed.model("a", None);
        assert_eq!(fixed.room(), 6);
        assert_eq!(fixed.limits.requests_per_minute.map(std::num::NonZeroU32::get), Some(9));
        assert_eq!(pace("x --concurrency auto:5").limits.max, 5);
        assert!(fixed.history().is_empty(), "nothing was learned");
    }
}
