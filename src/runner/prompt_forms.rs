//! Where a comparison says more about forms than about prompts: exemplars as one text beside exemplars as turns, and a model
//! that does not write what the protocol reads.

use crate::base::Variant;
use crate::base::text::{counted, shell_word, visible_line};
use crate::prompting::protocol::{Frame, Layout};
use std::collections::BTreeMap;
use std::path::Path;

/// From this share on, format failures are said to be what a variant's score shows.
const MOST: f64 = 0.9;

/// A note for each protocol under which some prompts are one text, and others have their exemplars as turns of a
/// conversation. Each variant comes with its rendered prompt as it is stored.
pub(crate) fn layout_notes<'v>(variants: impl Iterator<Item = (&'v Variant, String)>) -> Vec<String> {
    // By protocol, a prompt that is a text and one with turns.
    let mut forms: BTreeMap<&str, [Option<&str>; 2]> = BTreeMap::new();
    for (variant, stored) in variants {
        // A protocol of one text has both alike.
        let Ok(frame) = Frame::read(&stored, Layout::Instruction) else { continue };
        let is_text = Path::new(&variant.prompt).extension().is_some_and(|end| end.eq_ignore_ascii_case("txt"));
        let at = match (is_text, frame.examples.is_empty()) {
            (true, true) => 0,
            (_, false) => 1,
            (false, true) => continue,
        };
        forms.entry(&variant.protocol).or_default()[at].get_or_insert(&variant.prompt);
    }
    let note = |(protocol, forms): (&str, [Option<&str>; 2])| {
        let [text, turns] = [forms[0]?, forms[1]?];
        let made = shell_word(&visible_line(&Path::new(text).with_extension("toml").display().to_string(), 200));
        let typed = shell_word(&visible_line(text, 200));
        Some(format!(
            "protocol {protocol} sends `{}` as one text, and the exemplars of `{}` as turns: a difference may come from that; to \
             send both alike: wikitrail prompt new {made} --from {typed}",
            visible_line(text, 200),
            visible_line(turns, 200),
        ))
    };
    forms.into_iter().filter_map(note).collect()
}

/// A note if nearly all episodes of a variant are format failures: its score is that of the form.
pub(crate) fn format_note(name: &str, protocol: &str, failures: u64, measured: u64) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "counts of episodes")]
    let is_most = failures > 0 && failures as f64 >= MOST * measured as f64;
    is_most.then(|| {
        let of = counted(measured, "episode");
        format!(
            "{name}: {failures} of {of} {} in a format failure: the model does not write the form that protocol {protocol} reads, and the \
             score says nothing else",
            if measured == 1 { "ends" } else { "end" }
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{format_note, layout_notes};
    use crate::base::Variant;

    #[test]
    fn nine_tenths_of_format_failures_are_told() {
        let told = |failures, measured| format_note("think", "robust", failures, measured);
        let sentence = "think: 9 of 10 episodes end in a format failure: the model does not write the form that protocol robust \
                        reads, and the score says nothing else";
        assert_eq!(told(9, 10).as_deref(), Some(sentence));
        assert!(told(1, 1).expect("a note").starts_with("think: 1 of 1 episode ends in"));
        assert_eq!([told(8, 9), told(0, 0), told(0, 10)], [None, None, None]);
    }

    #[test]
    fn a_text_beside_turns_is_told_once_for_each_protocol() {
        let of = |prompt: &str, protocol: &str, stored: &str| {
            let variant = Variant { prompt: prompt.to_owned(), protocol: protocol.to_owned(), ..Variant::default() };
            (variant, stored.to_owned())
        };
        let text = r#"{"system": "Find it."}"#;
        let turns = r#"{"system": "Find it.", "examples": [{"role": "user", "content": "Who?"}]}"#;
        let notes = |variants: &[(Variant, String)]| {
            layout_notes(variants.iter().map(|(variant, stored)| (variant, stored.clone())))
        };
        let both = [of("my think.txt", "robust", text), of("b.toml", "robust", turns), of("c.toml", "robust", turns)];
        let [note] = &notes(&both)[..] else { panic!("one note") };
        let start = "protocol robust sends `my think.txt` as one text, and the exemplars of `b.toml` as turns";
        assert!(note.starts_with(start));
        assert!(note.ends_with("wikitrail prompt new 'my think.toml' --from 'my think.txt'"), "{note}");
        for alike in [
            // Other protocols differ by their name.
            [of("a.txt", "robust", text), of("b.toml", "tools", turns)],
            // No exemplars are no turns.
            [of("a.txt", "robust", text), of("b.toml", "robust", text)],
            [of("a.txt", "react-paper", "Find it.\n"), of("b.toml", "react-paper", "Question: Who?\n")],
        ] {
            assert!(notes(&alike).is_empty());
        }
    }
}
