//! What an experiment is to decide: `baseline` and `contrasts`, the pairs that it compares, and `stop_when`.

use super::problem::ProblemKind;
use super::reader::{Entry, Notes};
use crate::prompt::Fault;
use crate::types::{Pairs, StopRule};

/// Reads both keys. `names` are those of the variants.
pub(super) fn read_pairs(
    notes: &mut Notes<'_>,
    baseline: Option<Entry<'_>>,
    contrasts: Option<Entry<'_>>,
    names: &[&str],
) -> Pairs {
    // A variant with a mistake is missing, which is not the fault of what names it.
    let sound = notes.is_clean();
    let known = |notes: &mut Notes<'_>, key: &str, line: usize, name: &str| {
        if sound {
            notes.known(key, line, name, "variant", names);
        }
    };
    let baseline = baseline.and_then(|entry| {
        let name = notes.text("baseline", entry.value)?;
        known(notes, "baseline", entry.line, &name);
        Some(name)
    });
    let mut pairs = Pairs { baseline, contrasts: Vec::new() };
    let Some(entry) = contrasts else { return pairs };
    let Some(items) = entry.value.get_ref().as_array() else {
        notes.wrong_type("contrasts", entry.value, EXPECTED);
        return pairs;
    };
    if items.is_empty() {
        notes.note(entry.line, ProblemKind::Empty("contrasts".to_owned()));
    }
    for (at, item) in items.iter().enumerate() {
        let key = format!("contrasts[{}]", at + 1);
        let Some([a, b]) = item.get_ref().as_array().map(|pair| &pair[..]) else {
            notes.wrong_type(&key, item, "two names of variants");
            continue;
        };
        let line = notes.line_of(item);
        let (Some(a), Some(b)) = (notes.text(&key, a), notes.text(&key, b)) else { continue };
        for name in [&a, &b] {
            known(notes, &key, line, name);
        }
        if a == b || !pairs.add([a, b]) {
            notes.note(line, ProblemKind::Contrast(key));
        }
    }
    pairs
}

/// Reads `stop_when`. `names` are those of the variants.
pub(super) fn read_stop_when(notes: &mut Notes<'_>, entry: Entry<'_>, names: &[&str]) -> Option<StopRule> {
    let sound = notes.is_clean();
    let text = notes.text("stop_when", entry.value)?;
    let rule = match StopRule::parse(&text) {
        Ok(rule) => rule,
        Err(error) => {
            notes.note(entry.line, Fault::from(format!("`stop_when`: {error}")).hint(error.hint));
            return None;
        }
    };
    for name in [&rule.a, &rule.b] {
        if sound {
            notes.known("stop_when", entry.line, name, "variant", names);
        }
    }
    Some(rule)
}

const EXPECTED: &str = "a list of pairs of variants, such as [[\"a\", \"b\"]] for b - a";
