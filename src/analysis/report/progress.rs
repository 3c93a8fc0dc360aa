//! The progress of a run: a bar on a terminal, plain lines elsewhere.

use super::console::{duration, rate, stderr, stderr_is_terminal};
use crate::base::text::{counted, printable, thousands};
use crate::base::{RunEvent, Wait, WaitReason};
use crate::scoring::{Tally, float};
pub(crate) use indicatif::ProgressBar as Bar;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::{self, Write as _};
use std::io::Write;
use std::time::{Duration, Instant};

/// Without a terminal, a line is written when this much time has passed since the last one.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Waits that end within this time of each other are told as one.
const SAME_WAIT: Duration = Duration::from_secs(2);

/// Longest name of a server in a line, in characters.
const MAX_SERVER: usize = 80;

/// Shows the events of a run on standard error.
pub(crate) struct Progress {
    total: usize,
    done: usize,
    tally: Tally,
    started: Instant,
    shown: Shown,
    /// The end of the wait that was told last.
    waits_until: Option<Instant>,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines { out: Box<dyn Write + Send>, last: Instant },
}

impl Progress {
    /// Progress over `total` episodes to run; shows nothing if `quiet`.
    pub(crate) fn new(total: usize, quiet: bool) -> Self {
        let started = Instant::now();
        let shown = if quiet || total == 0 {
            Shown::Nothing
        } else if stderr_is_terminal() {
            Shown::Bar(bar(total))
        } else {
            Shown::Lines { out: Box::new(stderr()), last: started }
        };
        Self { total, done: 0, tally: Tally::new(""), started, shown, waits_until: None }
    }

    /// The same, with the running EM by the metric of this empty tally.
    #[must_use]
    pub(crate) fn scored_by(mut self, tally: Tally) -> Self {
        self.tally = tally;
        self
    }

    pub(crate) fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Recorded(trajectory) => {
                self.done += 1;
                self.tally.add(trajectory);
                self.show(Instant::now());
            }
            RunEvent::Waiting(wait) => self.waits(wait.as_ref(), Instant::now()),
            RunEvent::Begun { .. } | RunEvent::Note(_) => {}
            RunEvent::Stopping => {
                if let Shown::Bar(bar) = &self.shown {
                    bar.set_prefix("stopping ");
                }
            }
        }
    }

    /// Shows what the whole run waits for: in front of the bar, else in one line for each wait of a server.
    fn waits(&mut self, wait: Option<&Wait>, now: Instant) {
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.set_prefix(wait.map(|wait| waiting(wait) + "  ").unwrap_or_default()),
            Shown::Lines { out, last, .. } => {
                let Some(wait) = wait.filter(|wait| wait.reason != WaitReason::Pace) else { return };
                let is_told = self.waits_until.is_some_and(|until| now + wait.left <= until + SAME_WAIT);
                if !is_told {
                    self.waits_until = Some(now + wait.left);
                    *last = now;
                    write_line(&mut **out, &waiting(wait));
                }
            }
        }
    }

    /// Ends the display: removes the bar, or writes the last line.
    pub(crate) fn finish(&mut self) {
        let line = self.line(Instant::now());
        match std::mem::replace(&mut self.shown, Shown::Nothing) {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.finish_and_clear(),
            Shown::Lines { mut out, .. } => write_line(&mut *out, &line),
        }
    }

    fn show(&mut self, now: Instant) {
        // Scores of many questions take a while, so they are computed only when they are shown.
        let text = match &self.shown {
            Shown::Bar(_) => self.score(),
            // `finish` writes the last line.
            Shown::Lines { last, .. } if self.done < self.total && now.duration_since(*last) >= LINE_EVERY => {
                self.line(now)
            }
            Shown::Nothing | Shown::Lines { .. } => return,
        };
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_position(self.done as u64);
                bar.set_message(text);
            }
            Shown::Lines { out, last } => {
                write_line(&mut **out, &text);
                *last = now;
            }
        }
    }

    /// `12 of 60 episodes, 4.0/s, EM 33.3 %, …, ETA 12 s`
    fn line(&self, now: Instant) -> String {
        let elapsed = now.duration_since(self.started);
        let mut line = format!("{} of {}", thousands(self.done), counted(self.total, "episode"));
        if let Some(per_second) = per_second(self.done, elapsed) {
            let _ = write!(line, ", {}", rate(per_second));
        }
        line = line + ", " + &self.score();
        match self.total.checked_sub(self.done).filter(|left| *left > 0) {
            Some(left) => line + &eta(left, self.done, elapsed),
            None => line + ", took " + &duration(millis(elapsed)),
        }
    }

    fn score(&self) -> String {
        let score = self.tally.score();
        let mut text = score.em.map_or_else(|| "EM n/a".to_owned(), |em| format!("EM {:.1} %", 100.0 * em));
        if score.not_measured > 0 {
            let _ = write!(text, ", {} not measured", thousands(score.not_measured));
        }
        let tokens = score.usage.prompt_tokens + score.usage.completion_tokens;
        if tokens > 0 {
            let _ = write!(text, ", {} tokens", thousands(tokens));
        }
        if let Some(cost) = score.cost_usd {
            let _ = write!(text, ", {cost:.4} USD");
        }
        text
    }
}

/// `waiting 58 s for api.example.com, as it asks`
fn waiting(wait: &Wait) -> String {
    let seconds = wait.left.as_secs_f64().ceil();
    let hosts: Vec<&str> = wait.server.split(',').map(host).collect();
    let server = printable(&hosts.join(", "), MAX_SERVER);
    let why = match wait.reason {
        WaitReason::Asked => ", as it asks",
        WaitReason::Retry => ", which refuses requests at the moment",
        WaitReason::Pace => ", to keep the limit on requests",
    };
    format!("waiting {seconds} s for {server}{why}")
}

/// The host of an address, with its port.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest)
}

/// A bar for a download, on standard error if that is a terminal.
pub(crate) fn download_bar(quiet: bool) -> Bar {
    bar_of(quiet, "[{bar:20}] {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}")
}

/// A line that says how far a build or a page is, on standard error if that is a terminal.
pub(crate) fn stage_bar(quiet: bool) -> Bar {
    bar_of(quiet, "{msg} {elapsed}")
}

fn bar_of(quiet: bool, template: &str) -> Bar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn bar(total: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
    let template = "{prefix}{bar:20} {pos}/{len} {speed}{msg}{left}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        // The library's own shows more digits than anybody reads. Nothing is known before the first episode has ended;
        // writing to the bar's buffer cannot fail.
        let speed = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = if state.pos() > 0 { write!(out, "{} ", rate(state.per_sec())) } else { Ok(()) };
        };
        let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = if state.pos() > 0 { write!(out, ", ETA {}", duration(millis(state.eta()))) } else { Ok(()) };
        };
        bar.set_style(style.with_key("speed", speed).with_key("left", left));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Ignores errors: a closed standard error must not end a run.
fn write_line(out: &mut dyn Write, line: &str) {
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn eta(left: usize, done: usize, elapsed: Duration) -> String {
    if done == 0 {
        return String::new();
    }
    let ms = millis(elapsed).saturating_mul(left as u64) / done as u64;
    format!(", ETA {}", duration(ms))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Episodes per second; none before any time has passed.
fn per_second(done: usize, elapsed: Duration) -> Option<f64> {
    let seconds = elapsed.as_secs_f64();
    (seconds > 0.0 && done > 0).then(|| float(done) / seconds)
}

#[cfg(test)]
mod tests;
