use super::{Live, MAX_FIELD_CHARS, Side, render, render_pair};
use crate::analysis::report::View;
use crate::base::{Call, Cause, Outcome, Step, Tool, Trajectory};
use crate::scoring::{AnswerScore, Metric, ScoredEpisode, fixtures};
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

fn trajectory() -> Trajectory {
    serde_json::from_value(json!({
        "v": 1, "id": "q-1", "index": 0, "variant": "main", "repeat": 0, "question": "Who named the island?",
        "answers": ["Willem de Vlamingh", "de Vlamingh"],
        "steps": [
            {"n": 1, "thought": "I need the island.", "tool": "search", "input": "Quokka", "action_text": " Search[Quokka]\n",
             "observation": "The quokka lives on an island near Perth, and the text is long enough for a second line.\n",
             "provenance": {"source": "corpus", "url": "corpus:w#Quokka", "title": "Quokka", "revid": 7, "status": 200,
                "fetched_at": "", "sha256": "ab"},
             "discarded": "Thought 2: more", "calls": [{"prompt_sha256": "a", "prompt_chars": 9, "stop": [],
                "completion": " c", "finish_reason": "stop", "usage": {"prompt_tokens": 5, "completion_tokens": 2},
                "latency_ms": 12, "attempts": 2, "cached": true}]},
            {"n": 2, "thought": null, "tool": "finish", "input": "x", "action_text": "Finish[x]", "observation": null,
             "provenance": null, "calls": []}],
        "answer": "x", "outcome": "finished", "usage": {"prompt_tokens": 5, "completion_tokens": 2},
        "cost_usd": 0.25, "started_at": "2026-01-02T03:04:05Z", "wall_ms": 99, "compat": "fixed",
        "repairs": [{"step": 1, "kind": "missing_action"}], "key": "k"
    }))
    .unwrap()
}

const PLAIN: View = View { width: 80, colour: false };

#[test]
fn a_trajectory_reads_from_top_to_bottom() {
    let expected = "\
id           q-1 (variant main, repeat 0, compat fixed)
question     Who named the island?
gold         Willem de Vlamingh (or: de Vlamingh)
answer       x

── step 1 ──────────────────────────────────────────────────────────────────────
thought      I need the island.
action       Search[Quokka]
observation  The quokka lives on an island near Perth, and the text is long
             enough for a second line.
source       Quokka, revision 7, corpus:w#Quokka
set aside    Thought 2: more
calls        12 ms, 5 + 2 tokens, stop, 2 attempts, cached

── step 2 ──────────────────────────────────────────────────────────────────────
action       Finish[x]

outcome      finished
repairs      step 1: missing_action
total        2 steps, 1 call, 5 + 2 tokens (in + out), 0.2500 USD, 99 ms,
             started 03:04:05
";
    assert_eq!(render(&trajectory(), None, &PLAIN), expected);
}

#[test]
fn slow_episodes_have_times_for_people_and_short_calls_say_what_they_lack() {
    let mut slow = trajectory();
    slow.wall_ms = 251_330;
    let call = &mut slow.steps[0].calls[0];
    (call.latency_ms, call.completion, call.reasoning) = (92_000, String::new(), Some("hm".to_owned()));
    let unfit = Call { cause: Some(Cause::ContextOverflow), ..Call::default() };
    slow.steps[1].calls.push(unfit);
    let text = render(&slow, None, &PLAIN);
    for part in
        ["1 min 32 s, 5 + 2 tokens, stop, reasoning only", "did not fit into the model's context", "4 min 11 s,"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn lines_fit_the_terminal_and_colours_are_the_only_escapes() {
    let mut long = trajectory();
    long.steps[0].observation = Some("东京".repeat(100) + &"x".repeat(500));
    for width in [0, 40, 61, 120] {
        let text = render(&long, None, &View { width, colour: false });
        assert!(text.lines().all(|line| line.width() <= width.max(40)), "{width}:\n{text}");
        assert!(!text.contains('\u{1b}'));
    }
    let coloured = render(&trajectory(), None, &View { width: 80, colour: true });
    assert!(coloured.contains("\u{1b}[1mquestion     \u{1b}[0m"), "{coloured}");
    let bare = anstyle_free(&coloured);
    assert_eq!(bare, render(&trajectory(), None, &PLAIN));
}

/// The text without `ESC [ … m`.
fn anstyle_free(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut bare = parts.next().unwrap().to_owned();
    for part in parts {
        bare += part.split_once('m').unwrap().1;
    }
    bare
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\r\u{202e}";
    let mut trajectory = trajectory();
    trajectory.id = hostile.into();
    trajectory.question = hostile.into();
    trajectory.variant = hostile.into();
    trajectory.answer = Some(hostile.into());
    trajectory.answers = vec![hostile.into()];
    trajectory.detail = Some(hostile.into());
    trajectory.repairs[0].kind = hostile.into();
    let step = &mut trajectory.steps[0];
    step.thought = Some(hostile.into());
    step.action_text = Some(hostile.into());
    step.observation = Some(hostile.into());
    step.note = Some(hostile.into());
    step.discarded = Some(hostile.into());
    step.calls[0].finish_reason = Some(hostile.into());
    let provenance = step.provenance.as_mut().unwrap();
    provenance.url = hostile.into();
    provenance.title = hostile.into();
    let text = render(&trajectory, None, &PLAIN);
    assert!(text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{text:?}");
    assert!(text.contains("\\u{1b}]0;owned\\u{7}\\u{9b}2J\\r\\u{202e}"), "{text}");
}

#[test]
fn endless_fields_are_cut() {
    let mut trajectory = trajectory();
    trajectory.steps[0].observation = Some("word ".repeat(1_000_000));
    let text = render(&trajectory, None, &PLAIN);
    assert!(text.len() < 2 * MAX_FIELD_CHARS, "{}", text.len());
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains("… (4,979,999 more characters)"));
}

fn episode(actions: &[&str], answer: &str) -> Trajectory {
    let step = |input: &&str| Step {
        thought: Some("I look.".to_owned()),
        action_text: Some(format!("Search[{input}]")),
        ..fixtures::step(Tool::Search, input, &format!("Page of {input}."))
    };
    fixtures::episode(actions.iter().map(step).collect(), Some(answer), &["gold"], Outcome::Finished)
}

fn scored(trajectory: &Trajectory, right: bool) -> ScoredEpisode {
    let (trajectory, score) = (trajectory.clone(), Some(AnswerScore::right(right)));
    ScoredEpisode { trajectory, metric: Metric::Aliases, score, assessment: None }
}

fn pair(a: &Trajectory, b: &Trajectory, width: usize) -> String {
    let (a, b) = (scored(a, true), scored(b, false));
    let sides = [Side { name: "runs/a:q", episode: &a }, Side { name: "runs/b:q", episode: &b }];
    render_pair(sides[0], sides[1], &View { width, colour: false })
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
    let (a, b) = (scored(&a, true), scored(&b, false));
    let side = |episode| Side { name: &hostile, episode };
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

fn live() -> Live {
    Live::new("Why?", View { width: 40, colour: false })
}

fn step(n: usize) -> Step {
    Step {
        n,
        thought: Some("I \u{1b}[31mthink.".into()),
        tool: Some(Tool::Search),
        action_text: Some("Search[x]".into()),
        observation: Some("A \u{202e}page.\n".into()),
        ..Step::default()
    }
}

#[test]
fn a_reply_is_shown_as_it_comes_and_its_step_after_it() {
    let mut live = live();
    let mut shown = String::new();
    for piece in ["", " ", "I think", ".\n", "\n", "Action 1: Search[\u{1b}[2J]", "\n "] {
        shown += &live.text(piece);
    }
    shown += &live.call_ended();
    shown += &live.step(&step(1));
    shown += &live.text("Done");
    assert_eq!(
        shown,
        "\n── step 1 ──────────────────────────────\nI think.\n\nAction 1: Search[\\u{1b}[2J]\n\
         observation  A \\u{202e}page.\n\n── step 2 ──────────────────────────────\nDone"
    );
    assert_eq!(live.again(), "\n(the reply was interrupted; asking again)\n");
    assert_eq!((live.text("Done"), live.call_ended()), ("Done".into(), "\n".into()));
    assert_eq!((live.again(), live.call_ended()), (String::new(), String::new()));
}

#[test]
fn what_was_not_shown_as_it_came_is_shown_with_its_step() {
    let text = live().step(&step(3));
    assert!(text.starts_with("\n── step 3 ─"), "{text}");
    assert!(text.contains("thought      I \\u{1b}[31mthink.\naction       Search[x]\nobservation  A"), "{text}");
    let call = Call { completion: " So it is.\n".into(), latency_ms: 1, attempts: 1, ..Call::default() };
    let text = live().step(&Step { n: 1, sample: Some(4), calls: vec![call], ..Step::default() });
    assert!(text.contains("── sample 4, step 1 ─") && text.ends_with("reply        So it is.\n"), "{text}");
}
