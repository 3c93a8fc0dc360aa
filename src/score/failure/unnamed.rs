//! Classes where the dataset names no evidence, or pages without their sentences: what was read decides.

use super::{Case, Decided, FailureClass, is_abstention};
use crate::score::claim::{Kind, is_shown, kind_read, missing_name};
use crate::score::fever::{FEVER_LABELS, fever_label};
use crate::score::normalize::normalize;
use crate::score::observed::is_verdict;
use crate::score::wording::quoted;

impl Case<'_> {
    pub(super) fn by_what_was_read(&self) -> Decided {
        const UNKNOWN: &str = "supporting facts are not known";
        let golds = &self.trajectory.answers;
        if golds.iter().any(|gold| is_not_enough(gold)) {
            return self.not_enough();
        }
        if let Some(nothing) = self.nothing_usable() {
            return nothing;
        }
        if golds.iter().all(|gold| is_verdict(gold)) {
            return self.by_verdict(UNKNOWN);
        }
        match self.gold_text_seen() {
            Some(text) => (FailureClass::Reasoning, format!("{UNKNOWN}; {} was seen", quoted(text))),
            None => self.unread(&format!("{UNKNOWN}; the gold answer was never seen")),
        }
    }

    /// The gold says that no evidence exists, so none is missing.
    fn not_enough(&self) -> Decided {
        const GOLD: &str = "the gold is NOT ENOUGH INFO";
        let Some(answer) = self.answer else {
            let nothing = self.nothing_usable();
            return nothing.unwrap_or_else(|| (FailureClass::Reasoning, format!("{GOLD}, and no answer was given")));
        };
        let question = &self.trajectory.question;
        match &*normalize(answer) {
            "supports" if is_shown(question, 0, self.seen) => {
                return (FailureClass::Label, format!("{GOLD}, but a text that was shown has the words of the claim"));
            }
            "refutes" if matches!(kind_read(question, self.seen), Some(Kind::Partly | Kind::Other)) => {
                return (
                    FailureClass::Label,
                    format!("{GOLD}, but a text that was shown says that it is something else"),
                );
            }
            _ => {}
        }
        (FailureClass::Reasoning, format!("{GOLD}: the dataset names no evidence for {}", quoted(answer)))
    }

    /// Nothing was found on which an answer could rest.
    fn nothing_usable(&self) -> Option<Decided> {
        let (seen, gives_up) = (self.seen, self.answer.is_none_or(is_abstention));
        let say = |what: String| Some((FailureClass::Search, format!("{what}{}", self.passed_over())));
        if seen.texts == 0 {
            return say("no page text was seen".to_owned());
        }
        if gives_up && seen.pages_about(&self.trajectory.question) == 0 {
            return say(format!("none of the pages opened ({}) is about the question", seen.opened_count()));
        }
        if self.answer.is_none() && 2 * seen.missed_searches >= seen.searches && seen.missed_searches > 0 {
            return say(format!("{} of {} searches opened no page", seen.missed_searches, seen.searches));
        }
        None
    }

    /// The gold is yes, no or a label: no page has its text, but a page may have the words of the claim.
    pub(super) fn by_verdict(&self, why: &str) -> Decided {
        let question = &self.trajectory.question;
        let gives_up = self.answer.is_none_or(|answer| is_abstention(answer) || !is_verdict(answer));
        let is_claim =
            self.trajectory.answers.iter().any(|gold| FEVER_LABELS.iter().any(|label| fever_label(gold, label)));
        let affirmed = self.trajectory.answers.iter().any(|gold| matches!(&*normalize(gold), "supports" | "yes"));
        // What refutes a claim has other words in a place; one changed word leaves the rest.
        if gives_up && !is_shown(question, usize::from(!affirmed), self.seen) {
            return self.unread(&format!("{why}; no text that was shown has the words of the question"));
        }
        if affirmed && kind_read(question, self.seen) == Some(Kind::Other) {
            return (FailureClass::Search, format!("{why}; no text that was shown says what the question says it is"));
        }
        // What a page supports, it names; what it refutes, it need not name.
        if let Some(name) = missing_name(question, self.seen).filter(|_| affirmed) {
            let class = if is_claim { FailureClass::Lookup } else { FailureClass::Search };
            return (class, format!("{why}; {} was in no text that was shown", quoted(name)));
        }
        (
            FailureClass::Reasoning,
            format!("{why}, and a verdict has no text; {} pages were opened", self.seen.opened_count()),
        )
    }

    /// What decides was never shown: on the page that was open, or on another one.
    fn unread(&self, why: &str) -> Decided {
        let verdict = self.trajectory.answers.iter().all(|gold| is_verdict(gold));
        let lookups = self.seen.last_lookups_empty;
        if verdict || lookups > 0 {
            let looked =
                if lookups > 0 { format!("; {lookups} lookups on the open page found nothing") } else { String::new() };
            return (FailureClass::Lookup, format!("{why}{looked}"));
        }
        (FailureClass::Search, format!("{why}{}", self.passed_over()))
    }
}

fn is_not_enough(gold: &str) -> bool {
    normalize(gold) == "not enough info"
}
