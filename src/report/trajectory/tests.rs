use super::page::MAX_FIELD_CHARS;
use super::{View, render};
use crate::types::{Call, Cause, Trajectory};
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
id           q-1 (variant main, repeat 0, fixed)
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
sum          2 steps, 1 call, 5 + 2 tokens, 0.2500 USD, 99 ms from
             2026-01-02T03:04:05Z
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
        ["1 min 32 s, 5 + 2 tokens, stop, reasoning only", "did not fit into the model's context", "4 min 11 s from"]
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
