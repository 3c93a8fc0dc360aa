//! The progress of a run: a bar on a terminal, plain lines elsewhere.

use super::console::{View, dash, duration, percent, rate, stderr, stderr_is_terminal};
use crate::base::short_names::ShortNames;
use crate::base::text::{counted, cut, printable, thousands};
use crate::base::{Paid, RunEvent, Trajectory, Variant, Wait, WaitReason};
use crate::models::Price;
use crate::scoring::{RunScore, Tally, float};
pub(crate) use indicatif::ProgressBar as Bar;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::{self, Write as _};
use std::io::Write;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr as _;

/// Without a terminal, a line is written when this much time has passed since the last one.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Scores of many questions take a while.
const FIGURES_EVERY: Duration = Duration::from_millis(200);

/// Waits that end within this time of each other are told as one.
const SAME_WAIT: Duration = Duration::from_secs(2);

/// Longest name of a server in a line, in characters.
const MAX_SERVER: usize = 80;

/// Longest name of a variant in a line, in characters.
const MAX_NAME: usize = 30;

/// Columns of a terminal that does not say how many it has, and of the figures in a line without a terminal.
const WIDTH: usize = 80;
const FIGURES: usize = 40;

/// Columns that rate and remaining time take at most: `59.9/min `, `, ETA 59 min 59 s`.
const RATE: usize = 9;
const ETA: usize = 17;
const BAR: usize = 10;

/// Shows the events of a run on standard error.
pub(crate) struct Progress {
    total: usize,
    done: usize,
    /// A sum without episodes.
    empty: Tally,
    variants: Vec<VariantProgress>,
    /// What servers answered; the cache's answers cost nothing.
    paid: Paid,
    paid_usd: Option<f64>,
    started: Instant,
    shown: ProgressDisplay,
    /// When the figures of the bar were computed.
    figured: Option<Instant>,
    /// The end of the wait that was told last.
    waits_until: Option<Instant>,
}

struct VariantProgress {
    name: String,
    short: String,
    price: Option<Price>,
    tally: Tally,
}

enum ProgressDisplay {
    Nothing,
    Bar(ProgressBar),
    Lines { out: Box<dyn Write + Send>, last: Instant },
}

impl Progress {
    /// Progress over `total` episodes to run; shows nothing if `quiet`.
    pub(crate) fn new(total: usize, quiet: bool) -> Self {
        let started = Instant::now();
        let shown = if quiet || total == 0 {
            ProgressDisplay::Nothing
        } else if stderr_is_terminal() {
            ProgressDisplay::Bar(bar(total))
        } else {
            ProgressDisplay::Lines { out: Box::new(stderr()), last: started }
        };
        Self {
            total,
            done: 0,
            empty: Tally::new(""),
            variants: Vec::new(),
            paid: Paid::default(),
            paid_usd: None,
            started,
            shown,
            figured: None,
            waits_until: None,
        }
    }

    /// The same, with the running EM of these variants by the metric of this empty tally.
    #[must_use]
    pub(crate) fn over(mut self, tally: Tally, variants: &[Variant]) -> Self {
        let names = ShortNames::of(variants.iter().map(|variant| variant.name.as_str()));
        let progress = |variant: &Variant| VariantProgress {
            name: variant.name.clone(),
            short: printable(names.of_name(&variant.name), MAX_NAME),
            price: variant.price.as_ref().map(Price::from),
            tally: tally.clone(),
        };
        self.variants = variants.iter().map(progress).collect();
        self.empty = tally;
        self
    }

    fn add(&mut self, trajectory: &Trajectory) {
        let name = &trajectory.variant;
        let at = self.variants.iter().position(|variant| variant.name == *name).unwrap_or_else(|| {
            let (name, short) = (name.clone(), printable(name, MAX_NAME));
            self.variants.push(VariantProgress { name, short, price: None, tally: self.empty.clone() });
            self.variants.len() - 1
        });
        let variant = &mut self.variants[at];
        variant.tally.add(trajectory);
        let paid = Paid::of(trajectory);
        if let Some(price) = variant.price {
            self.paid_usd = Some(self.paid_usd.unwrap_or_default() + price.of(paid.usage));
        }
        self.paid += paid;
    }

    pub(crate) fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Recorded(trajectory) => {
                self.done += 1;
                self.add(trajectory);
                self.show(Instant::now());
            }
            RunEvent::Waiting(wait) => self.waits(wait.as_ref(), Instant::now()),
            RunEvent::Begun { .. } | RunEvent::Note(_) => {}
            RunEvent::Stopping => {
                if let ProgressDisplay::Bar(bar) = &self.shown {
                    bar.set_prefix("stopping ");
                }
            }
        }
    }

    /// Shows what the whole run waits for: in front of the bar, else in one line for each wait of a server.
    fn waits(&mut self, wait: Option<&Wait>, now: Instant) {
        match &self.shown {
            ProgressDisplay::Nothing => {}
            ProgressDisplay::Bar(bar) => match wait {
                // The figures come back with the next episode.
                Some(wait) => bar.set_message(cut(&waiting(wait), self.room(bar).saturating_sub(1)).into_owned()),
                None => bar.set_message(self.figures(self.room(bar))),
            },
            ProgressDisplay::Lines { .. } => {
                let Some(wait) = wait.filter(|wait| wait.reason != WaitReason::Pace) else { return };
                let is_told = self.waits_until.is_some_and(|until| now + wait.left <= until + SAME_WAIT);
                if !is_told {
                    self.waits_until = Some(now + wait.left);
                    self.write(&waiting(wait), now);
                }
            }
        }
    }

    /// Ends the display: removes the bar, or writes the last line.
    pub(crate) fn finish(&mut self) {
        let line = self.line(Instant::now());
        match std::mem::replace(&mut self.shown, ProgressDisplay::Nothing) {
            ProgressDisplay::Nothing => {}
            ProgressDisplay::Bar(bar) => bar.finish_and_clear(),
            ProgressDisplay::Lines { mut out, .. } => write_line(&mut *out, &line),
        }
    }

    fn show(&mut self, now: Instant) {
        let is_last = self.done >= self.total;
        // Scores of many questions take a while, so they are computed only when they are shown.
        match &self.shown {
            ProgressDisplay::Bar(bar) => {
                bar.set_position(self.done as u64);
                if is_last || self.figured.is_none_or(|last| now.duration_since(last) >= FIGURES_EVERY) {
                    bar.set_message(self.figures(self.room(bar)));
                    self.figured = Some(now);
                }
            }
            // `finish` writes the last line.
            ProgressDisplay::Lines { last, .. } if !is_last && now.duration_since(*last) >= LINE_EVERY => {
                self.write(&self.line(now), now);
            }
            ProgressDisplay::Nothing | ProgressDisplay::Lines { .. } => {}
        }
    }

    fn write(&mut self, line: &str, now: Instant) {
        if let ProgressDisplay::Lines { out, last } = &mut self.shown {
            write_line(&mut **out, line);
            *last = now;
        }
    }

    /// Columns that the bar, the counts and the times leave.
    fn room(&self, bar: &ProgressBar) -> usize {
        let width = View::of_stderr().map_or(WIDTH, |view| view.width);
        let counts = 2 * self.total.to_string().len() + 1;
        width.saturating_sub(bar.prefix().width() + BAR + counts + RATE + ETA + 3)
    }

    /// `12 of 60 episodes, 4.0/s, EM 33.3 %, …, ETA 12 s`
    fn line(&self, now: Instant) -> String {
        let elapsed = now.duration_since(self.started);
        let mut line = format!("{} of {}", thousands(self.done), counted(self.total, "episode"));
        if let Some(per_second) = per_second(self.done, elapsed) {
            let _ = write!(line, ", {}", rate(per_second));
        }
        let time = match self.total.checked_sub(self.done).filter(|left| *left > 0) {
            Some(left) => eta(left, self.done, elapsed),
            None => format!(", took {}", duration(millis(elapsed))),
        };
        format!("{line}, {}{time}", self.figures(FIGURES))
    }

    /// `EM v1 30.0, v2 65.0 %, 0.0182 USD`: as much of it as fits, the range of EM where not each variant's does.
    fn figures(&self, room: usize) -> String {
        let scores: Vec<_> = self.variants.iter().map(|variant| (&variant.short, variant.tally.score())).collect();
        let ems = || scores.iter().filter_map(|(_, score)| score.em);
        let ends = ems().reduce(f64::min).zip(ems().reduce(f64::max));
        let range = match ends.map(|(low, high)| [low, high].map(percent)) {
            None => "EM n/a".to_owned(),
            Some([low, high]) if low == high => format!("EM {low} %"),
            Some([low, high]) => format!("EM {low} to {high} %"),
        };
        let each = |(name, score): &(&String, RunScore)| format!("{name} {}", score.em.map_or_else(dash, percent));
        let each = match scores.len() {
            2.. if ends.is_some() => format!("EM {} %", scores.iter().map(each).collect::<Vec<_>>().join(", ")),
            _ => range.clone(),
        };
        let unmeasured: u64 = scores.iter().map(|(_, score)| score.not_measured).sum();
        // Estimates of what a server did not count say little here.
        let (tokens, about) = if self.paid.uncounted == 0 { (self.paid.usage.total(), "") } else { (0, "about ") };
        let usd = self.paid_usd.map(|usd| format!(", {about}{usd:.4} USD")).unwrap_or_default();
        let more = [(unmeasured, "not measured"), (tokens, "tokens")].into_iter().filter(|(n, _)| *n > 0);
        let more: Vec<String> = more.map(|(n, what)| format!(", {} {what}", thousands(n))).collect();
        let with = |em: &String| (0..=more.len()).rev().map(|n| format!("{em}{usd}{}", more[..n].concat())).collect();
        let all: [Vec<String>; 3] = [with(&each), with(&range), vec![range.clone()]];
        let fits = all.concat().into_iter().find(|text| text.width() <= room);
        fits.unwrap_or_else(|| cut(&range, room.saturating_sub(1)).into_owned())
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
    let template = "{prefix}{bar:10} {pos}/{len} {speed}{msg}{left}";
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
    let ms = millis(elapsed).saturating_mul(left as u64).checked_div(done as u64);
    ms.map_or_else(String::new, |ms| format!(", ETA {}", duration(ms)))
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
