//! What a person types after reading an episode.

use super::AnnotationClass;
use crate::base::text::printable;
use crate::scoring::FailureClass;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Judged(Judgement),
    Skip,
    Back,
    Quit,
    Help,
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) correct: Option<bool>,
    pub(crate) class: Option<AnnotationClass>,
    pub(crate) step: Option<u32>,
    pub(crate) note: Option<String>,
}

/// What can be typed, by key and word.
pub(crate) const HELP: &str = "\
y right          n wrong, without saying why
s search         the page that was needed was never reached
k lookup         the page was open, but the sentence that decides was never shown
r reasoning      what was needed was shown, and the agent concluded wrongly
l label          the answer is as good as the gold (counts as right)
h hallucination  it asserts what nothing shown supports
o loop           it repeated itself until the steps ran out
f format         the reply was no usable action or answer
c cut            the reply or the conversation was cut
d declined       the model declined to answer
m limit          the steps ran out for another reason
p agent          the agent's program crashed, took too long or gave no answer
g gold-wrong     the gold answer is wrong or outdated
a ambiguous      several answers are right, or none can be decided
- skip           b back    q quit    ? this list
after a key: the number of the step where it went wrong, and a note: k 3 one page too early
";

const KEYS: [(&str, FailureClass); 11] = [
    ("s", FailureClass::Search),
    ("k", FailureClass::Lookup),
    ("r", FailureClass::Reasoning),
    ("l", FailureClass::Label),
    ("h", FailureClass::Hallucination),
    ("o", FailureClass::Loop),
    ("f", FailureClass::Format),
    ("c", FailureClass::Cut),
    ("d", FailureClass::Declined),
    ("m", FailureClass::Limit),
    ("p", FailureClass::Agent),
];

/// The keys that name a class: each with what it says, and in words.
pub(crate) fn class_keys() -> impl Iterator<Item = (&'static str, Judgement, &'static str)> {
    HELP.lines().filter_map(|line| {
        let (key, rest) = line.split_once(' ')?;
        let (name, about) = rest.split_once(' ')?;
        match parse_answer(key) {
            Ok(Answer::Judged(judgement)) if judgement.class?.name() == name => Some((key, judgement, about.trim())),
            _ => None,
        }
    })
}

pub(crate) fn key_line() -> String {
    let class = |(key, judgement, _): (&str, Judgement, _)| {
        let name = judgement.class.map_or("", AnnotationClass::name);
        format!("{key} {}, ", name.strip_suffix("-wrong").unwrap_or(name))
    };
    let classes: String = class_keys().map(class).collect();
    format!("y right, n wrong, {classes}- skip, b back, q quit, ? help")
}

pub(crate) fn parse_answer(line: &str) -> Result<Answer, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let plain = match word {
        "" => Some(Answer::Nothing),
        "-" | "skip" => Some(Answer::Skip),
        "b" | "back" => Some(Answer::Back),
        "q" | "quit" => Some(Answer::Quit),
        "?" | "help" => Some(Answer::Help),
        _ => None,
    };
    match (plain, rest.trim()) {
        (Some(answer), "") => Ok(answer),
        (Some(_), _) => Err(format!("`{word}` takes nothing after it")),
        (None, rest) => judged(word, rest).map(Answer::Judged),
    }
}

fn judged(word: &str, rest: &str) -> Result<Judgement, String> {
    let class = match word {
        "y" | "right" | "n" | "wrong" => None,
        "g" => Some(AnnotationClass::GoldWrong),
        "a" => Some(AnnotationClass::Ambiguous),
        _ => {
            let by_key = KEYS.iter().find(|(key, _)| *key == word).map(|(_, class)| AnnotationClass::Failure(*class));
            let class = by_key.or_else(|| AnnotationClass::parse(word));
            Some(class.ok_or_else(|| format!("`{}` is neither a key nor a class; ? lists them", printable(word, 40)))?)
        }
    };
    let correct = match class {
        None => Some(matches!(word, "y" | "right")),
        // Nobody can be right or wrong by such a gold answer.
        Some(AnnotationClass::GoldWrong | AnnotationClass::Ambiguous) => None,
        Some(AnnotationClass::Failure(class)) => Some(class == FailureClass::Label),
    };
    let (number, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (step, note) = match number.parse::<u32>() {
        Ok(0) => return Err("steps are counted from 1".to_owned()),
        Ok(step) => (Some(step), after.trim()),
        Err(_) => (None, rest),
    };
    Ok(Judgement { correct, class, step, note: Some(note.to_owned()).filter(|note| !note.is_empty()) })
}

#[cfg(test)]
mod tests {
    use super::{Answer, class_keys, parse_answer as parse};
    use crate::analysis::annotations::AnnotationClass;

    #[test]
    fn a_key_may_have_a_step_and_a_note_behind_it() {
        let judged = |line: &str| match parse(line) {
            Ok(Answer::Judged(judged)) => {
                (judged.correct, judged.class.map(AnnotationClass::name), judged.step, judged.note)
            }
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(judged("y"), (Some(true), None, None, None));
        assert_eq!(judged(" wrong "), (Some(false), None, None, None));
        assert_eq!(judged("k 3"), (Some(false), Some("lookup"), Some(3), None));
        let note = Some("3rd page, never opened".to_owned());
        assert_eq!(judged("search 3rd page, never opened"), (Some(false), Some("search"), None, note));
        assert_eq!(judged("l 2 a nickname"), (Some(true), Some("label"), Some(2), Some("a nickname".to_owned())));
        assert_eq!(judged("gold-wrong"), (None, Some("gold-wrong"), None, None));
        for line in ["x", "k 0", "skip 3", "yes\u{1b}[2J"] {
            assert!(parse(line).is_err_and(|why| !why.contains('\u{1b}')), "{line}");
        }
        assert_eq!([parse(""), parse("-"), parse("b")], [Ok(Answer::Nothing), Ok(Answer::Skip), Ok(Answer::Back)]);
    }

    #[test]
    fn every_class_has_a_line_of_help_whose_key_gives_it() {
        let named: Vec<AnnotationClass> = class_keys().filter_map(|(_, judgement, _)| judgement.class).collect();
        assert_eq!(named, AnnotationClass::all().collect::<Vec<_>>());
        let keys: Vec<&str> = class_keys().map(|(key, ..)| key).collect();
        assert_eq!(keys.concat(), "skrlhofcdmpga");
    }
}
