//! What a rule sees, and when.

use super::Watch;
use crate::base::{Manifest, Trajectory};
use serde_json::json;

/// A rule over questions 0, 1, 2 ….
fn watch(rule: &str, questions: usize, repeats: u32, looked: usize) -> Watch {
    let manifest: Manifest = serde_json::from_value(json!({
        "v": 1, "variants": [], "repeats": repeats, "stop_when": rule, "stop_looked": looked, "wikitrail": "0",
        "git_revision": null, "command_line": [], "started_at": "", "ended_at": null,
        "dataset": {"name": "d", "path": "d", "sha256": "", "questions": questions, "selection": {}, "selected": questions},
    }))
    .expect("a manifest");
    let ids: Vec<String> = (0..questions).map(|n| n.to_string()).collect();
    Watch::new(&manifest, ids.iter().map(String::as_str)).expect("a rule")
}

/// An episode; nothing was measured without an answer.
fn episode(id: usize, variant: &str, answer: Option<&str>) -> Trajectory {
    let outcome = if answer.is_some() { "finished" } else { "not_measured" };
    serde_json::from_value(json!({
        "v": 1, "id": id.to_string(), "variant": variant, "repeat": 0, "question": "?", "answers": ["yes it is"], "steps": [],
        "answer": answer, "outcome": outcome, "started_at": "", "wall_ms": 0, "compat": "fixed",
        "usage": {"prompt_tokens": 0, "completion_tokens": 0}, "repairs": [], "key": "k",
    }))
    .expect("a trajectory")
}

const RIGHT: Option<&str> = Some("yes it is");
const WRONG: Option<&str> = Some("no");

#[test]
fn questions_count_in_their_order_whatever_ends_first() {
    let watch = watch("decided(em, a, b)", 30, 1, 0);
    // All of b is right and all of a wrong, and the last questions end first; the first one is missing.
    for at in (1..30).rev() {
        watch.saw(&episode(at, "b", RIGHT));
        watch.saw(&episode(at, "a", WRONG));
    }
    watch.saw(&episode(0, "c", RIGHT));
    watch.saw(&episode(0, "b", RIGHT));
    let found = watch.stopping();
    assert!(
        !found.decided && found.looked == 0 && found.difference.is_none() && (found.e_value - 1.0).abs() < 1e-9,
        "{found:?}"
    );
    watch.saw(&episode(0, "a", WRONG));
    // 2^8 / 9 is the first that exceeds 20.
    let found = watch.stopping();
    assert!(watch.is_decided() && found.looked == 8 && (found.e_value - 256.0 / 9.0).abs() < 1e-9, "{found:?}");
    assert_eq!((found.n, found.later, found.difference), (8, 44, Some(1.0)));
    assert!(found.low > 0.0 && found.high > 0.999);
}

#[test]
fn repeats_are_averaged_once_all_of_them_have_ended() {
    let watch = watch("decided(em, a, b)", 2, 2, 0);
    for (variant, answer) in [("a", RIGHT), ("b", RIGHT), ("b", WRONG)] {
        watch.saw(&episode(0, variant, answer));
    }
    assert_eq!(watch.stopping().looked, 0);
    watch.saw(&episode(0, "a", RIGHT));
    let found = watch.stopping();
    assert_eq!((found.looked, found.a_mean, found.b_mean, found.difference), (1, Some(1.0), Some(0.5), Some(-0.5)));
}

#[test]
fn what_was_not_measured_neither_stalls_nor_counts() {
    let watch = watch("decided(f1, a, b)", 3, 1, 0);
    watch.saw(&episode(0, "a", None));
    watch.saw(&episode(0, "b", RIGHT));
    watch.saw(&episode(1, "a", Some("yes it was")));
    watch.saw(&episode(1, "b", RIGHT));
    let found = watch.stopping();
    assert_eq!((found.looked, found.n, found.left_out), (2, 1, 1));
    assert!((found.difference.expect("one question") - 1.0 / 3.0).abs() < 1e-6, "{found:?}");
}

#[test]
fn what_is_measured_later_does_not_decide_in_hindsight() {
    let fill = |looked: usize| {
        let watch = watch("decided(em, a, b)", 20, 1, looked);
        for at in 0..12 {
            watch.saw(&episode(at, "a", WRONG));
            watch.saw(&episode(at, "b", RIGHT));
        }
        watch.stopping()
    };
    assert_eq!(fill(0).looked, 8);
    // An earlier start had looked at ten questions, without some of them, and had not stopped.
    assert_eq!((fill(10).looked, fill(10).decided), (10, true));
    assert_eq!((fill(15).looked, fill(15).decided), (12, false));
}
