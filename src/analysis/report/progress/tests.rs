use super::{Progress, ProgressDisplay};
use crate::base::{Call, Outcome, PriceRecord, RunEvent, Step, Trajectory, Usage, Variant, Wait, WaitReason};
use crate::scoring::{Tally, fixtures};
use crate::tests::made_up;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use unicode_width::UnicodeWidthStr as _;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn lines(&self) -> Vec<String> {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(str::to_owned).collect()
    }
}

fn recorded(answer: &str) -> RunEvent {
    episode_of("v", answer, false)
}

/// An episode of one call.
fn episode_of(variant: &str, answer: &str, cached: bool) -> RunEvent {
    of_call(variant, answer, Call { usage: Some(Usage::new(500, 10)), cached, ..Call::default() })
}

fn of_call(variant: &str, answer: &str, call: Call) -> RunEvent {
    let step = Step { calls: vec![call], ..Step::default() };
    let episode = fixtures::episode(vec![step], Some(answer), &["yes"], Outcome::Finished);
    RunEvent::Recorded(Arc::new(Trajectory { variant: variant.to_owned(), ..episode }))
}

/// Variants at 20 US dollars a million tokens of prompt.
fn variants(names: &[&str]) -> Vec<Variant> {
    let price =
        PriceRecord { prompt: 20.0, completion: 0.0, cached: None, cache_write: None, as_of: None, source: None };
    names.iter().map(|name| Variant { price: Some(price.clone()), ..made_up::variant(name) }).collect()
}

fn watched(total: usize) -> (Progress, Sink) {
    let sink = Sink::default();
    let mut progress = Progress::new(total, true);
    progress.shown = ProgressDisplay::Lines { out: Box::new(sink.clone()), last: progress.started };
    (progress, sink)
}

#[test]
fn a_short_run_writes_its_last_line_alone() {
    let (progress, sink) = watched(40);
    let mut progress = progress.over(Tally::new(""), &variants(&["v"]));
    for i in 0..40 {
        progress.event(&recorded(if i % 4 == 0 { "yes" } else { "no" }));
    }
    progress.finish();
    let lines = sink.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("40 of 40 episodes, ") && lines[0].contains(", took "), "{}", lines[0]);
    assert!(lines[0].contains(", EM 25.0 %, 0.4000 USD, 20,400 tokens, "), "{}", lines[0]);
}

#[test]
fn every_variant_has_its_own_figure_in_one_line() {
    let names = ["v1/robust/temperature=0", "v2/robust/temperature=0"];
    let (progress, sink) = watched(9);
    let mut progress = progress.over(Tally::new(""), &variants(&names));
    for (variant, answer, cached) in [(0, "yes", false), (0, "no", true), (1, "yes", true), (1, "yes", false)] {
        progress.event(&episode_of(names[variant], answer, cached));
    }
    // Two of the four answers came from the cache.
    assert_eq!(progress.figures(80), "EM v1 50.0, v2 100.0 %, 0.0200 USD, 1,020 tokens");
    assert_eq!(progress.figures(34), "EM v1 50.0, v2 100.0 %, 0.0200 USD");
    assert_eq!(progress.figures(33), "EM 50.0 to 100.0 %, 0.0200 USD");
    assert_eq!(progress.figures(20), "EM 50.0 to 100.0 %");
    for room in 1..90 {
        assert!(progress.figures(room).width() <= room, "{room}");
    }
    progress.show(progress.started + Duration::from_mins(1));
    assert!(sink.lines()[0].width() <= 80 && sink.lines()[0].contains("EM v1 50.0, v2 100.0 %"), "{:?}", sink.lines());
    let many: Vec<String> = (0..12).map(|at| format!("prompt-{at}/robust")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (progress, _) = watched(40);
    let mut progress = progress.over(Tally::new(""), &variants(&many));
    progress.event(&episode_of(many[3], "yes", false));
    assert_eq!(progress.figures(33), "EM 100.0 %, 0.0100 USD");
    progress.event(&of_call(many[3], "yes", Call { prompt_chars: 2000, ..Call::default() }));
    assert_eq!(progress.figures(80), "EM 100.0 %, about 0.0200 USD");
}

#[test]
fn a_slow_run_writes_a_line_every_ten_seconds() {
    let (mut progress, sink) = watched(1000);
    for _ in 0..3 {
        progress.event(&recorded("yes"));
    }
    assert_eq!(sink.lines().len(), 0);
    progress.show(progress.started + Duration::from_mins(1));
    assert_eq!(sink.lines().len(), 1);
    assert!(sink.lines()[0].starts_with("3 of 1,000 episodes, 3.0/min, "), "{:?}", sink.lines());
    assert!(sink.lines()[0].contains(", ETA "), "{:?}", sink.lines());
    progress.show(progress.started + Duration::from_secs(69));
    assert_eq!(sink.lines().len(), 1);
    progress.show(progress.started + Duration::from_secs(70));
    assert_eq!(sink.lines().len(), 2);
}

#[test]
fn quiet_shows_nothing_and_nothing_to_run_is_no_error() {
    for (total, quiet) in [(2, true), (0, false)] {
        let mut progress = Progress::new(total, quiet);
        progress.event(&RunEvent::Stopping);
        progress.event(&recorded("yes"));
        assert!(matches!(progress.shown, ProgressDisplay::Nothing));
        progress.finish();
    }
}

#[test]
fn a_wait_of_the_whole_run_is_told_once() {
    let (mut progress, sink) = watched(40);
    let wait = |server: &str, left, reason| {
        let whole = Duration::from_mins(1);
        Some(Wait { server: server.to_owned(), whole, left: Duration::from_millis(left), reason })
    };
    let begun = progress.started;
    let server = "https://api.example.com/v1";
    for (at, told) in [
        (0, wait(server, 57_500, WaitReason::Asked)),
        (500, wait(server, 57_000, WaitReason::Asked)),
        (900, None),
        (1_000, wait(server, 56_500, WaitReason::Asked)),
        (2_000, wait(server, 59_000, WaitReason::Pace)),
        (60_000, wait("http://127.0.0.1:8000/\u{1b}[2J", 30_000, WaitReason::Retry)),
    ] {
        progress.waits(told.as_ref(), begun + Duration::from_millis(at));
    }
    let lines = [
        "waiting 58 s for api.example.com, as it asks",
        "waiting 30 s for 127.0.0.1:8000, which refuses requests at the moment",
    ];
    assert_eq!(sink.lines(), lines);
}
