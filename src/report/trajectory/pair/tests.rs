use super::{Side, render_pair};
use crate::report::View;
use crate::report::trajectory::Verdict;
use crate::score::{AnswerScore, fixtures};
use crate::types::{Outcome, Step, Tool, Trajectory};
use unicode_width::UnicodeWidthStr as _;

fn episode(actions: &[&str], answer: &str) -> Trajectory {
    let step = |input: &&str| Step {
        thought: Some("I look.".to_owned()),
        action_text: Some(format!("Search[{input}]")),
        ..fixtures::step(Tool::Search, input, &format!("Page of {input}."))
    };
    fixtures::episode(actions.iter().map(step).collect(), Some(answer), &["gold"], Outcome::Finished)
}

fn pair(a: &Trajectory, b: &Trajectory, width: usize) -> String {
    let verdict = |right| Some(Verdict { metric: "aliases", score: Some(AnswerScore::right(right)), assessment: None });
    let a = Side { name: "runs/a:q", trajectory: a, verdict: verdict(true) };
    let b = Side { name: "runs/b:q", trajectory: b, verdict: verdict(false) };
    render_pair(a, b, &View { width, colour: false })
}

#[test]
fn equal_steps_are_shown_once_and_the_divergence_is_marked() {
    let (a, b) = (episode(&["x", "y"], "gold"), episode(&["x", "z", "w"], "other"));
    let text = pair(&a, &b, 120);
    assert!(text.contains("divergence   at step 2, in the action\n"), "{text}");
    assert_eq!(text.matches("Page of x.").count(), 1, "{text}");
    assert!(text.contains("── step 1, the same in both ──"), "{text}");
    assert!(text.contains("━━ step 2: divergence in the action ━"), "{text}");
    let beside = |left: &str, right: &str| {
        text.lines().any(|line| line.split_once(" │ ").is_some_and(|(a, b)| a.contains(left) && b.contains(right)))
    };
    assert!(beside("Search[y]", "Search[z]") && beside("runs/a:q", "runs/b:q"), "{text}");
    assert!(beside("verdict      right (EM 1, F1 1.00", "verdict      wrong (EM 0, F1 0.00"), "{text}");
    assert!(beside("(already ended)", "I look."), "{text}");
    assert!(text.lines().all(|line| line.width() <= 120), "{text}");
}

#[test]
fn answers_alone_may_differ_and_nothing_may() {
    let a = episode(&["x"], "gold");
    let text = pair(&a, &episode(&["x"], "other"), 100);
    assert!(text.contains("in the answer: all steps are the same"), "{text}");
    assert!(text.contains("━━ end: divergence in the answer"), "{text}");
    assert!(pair(&a, &a.clone(), 100).contains("none: same steps, same answer"));
}

#[test]
fn nothing_hostile_reaches_the_terminal_and_columns_stay_in_line() {
    let hostile = "\u{1b}[2J\u{202e}\r".to_owned();
    let mut a = episode(&["x", "y"], &hostile);
    (a.question, a.variant, a.answers) = (hostile.clone(), hostile.clone(), vec![hostile.clone()]);
    a.steps[1].observation = Some(hostile.clone() + &"东京".repeat(80));
    let b = episode(&["x", "z"], "other");
    let side = |trajectory| Side { name: &hostile, trajectory, verdict: None };
    let text = render_pair(side(&a), side(&b), &View { width: 110, colour: false });
    assert!(text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{text:?}");
    let coloured = render_pair(side(&a), side(&b), &View { width: 110, colour: true });
    for line in coloured.lines() {
        assert!(textwrap::core::display_width(line) <= 110, "{line:?}");
    }
    let bars = |text: &str| -> Vec<usize> {
        text.lines()
            .filter_map(|line| line.split_once(" │ "))
            .map(|(left, _)| textwrap::core::display_width(left))
            .collect()
    };
    assert!(bars(&coloured).iter().all(|at| *at == 53), "{coloured}");
    assert_eq!(bars(&coloured), bars(&text));
}
