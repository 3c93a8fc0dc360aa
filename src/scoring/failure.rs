//! Failure classes: why a wrong answer is wrong, after the `ReAct` paper's Table 2, by rule.
//!
//! Every wrong measured answer has exactly one class, the first whose rule holds, in this order:
//!
//! | class | rule |
//! |---|---|
//! | `agent` | the program of another agent crashed, took too long or gave no answer |
//! | `declined` | the model or a filter of its provider withheld the last answer, or the server sent nothing; or no answer, and that is true of at least half of the calls |
//! | `cut` | no answer, and the conversation outgrew the context, the last reply could not be parsed because the limit of tokens cut it, or at least half of the calls were cut |
//! | `format` | the outcome is a format failure; or no answer, and at least half of the actions, refused replies among them, were meant as no search or lookup; or the agent ended with an answer without words |
//! | `label` | F1 of at least 0.5 with a gold answer, or one contains the other, word by word |
//! | `loop` | the steps ran out, and the last two searches and lookups, or a third of all, repeat earlier ones |
//! | `limit` | no answer, and nothing was searched or looked up |
//! | `hallucination` | nothing observed supports the answer |
//! | `reasoning` | all gold sentences were seen |
//! | `search` | a gold page was never opened |
//! | `lookup` | a gold sentence was never seen |
//! | `reasoning` | what is left |
//!
//! Without supporting facts, or for pages whose sentences the dataset does not give, what the episode read decides
//! (`unnamed`).
//!
//! Classes where the dataset names no evidence, or pages without their sentences: what was read decides.

use super::evidence::{GoldFact, is_in, quoted, words};
use super::metric::{FEVER_LABELS, fever_label, hotpot};
use super::normalize::normalize;
use super::observed::{Kind, Observed, cap, is_shown, is_touched, is_verdict, kind_read, missing_name};
use super::overlap::AnswerScore;
use super::retrieval::{Match, fact_seen, page_opened};
use super::shortfall::Shortfalls;
use crate::base::named;
use crate::base::text::visible_line;
use crate::base::{Call, Cause, Outcome, Tool, Trajectory};
use serde::Serialize;

/// Characters of the reason of a program's failure.
const DETAIL: usize = 300;
/// From this F1 on, a wrong answer is a matter of wording.
const NEAR: f64 = 0.5;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum FailureClass {
        Search = "search",
        Lookup = "lookup",
        Reasoning = "reasoning",
        Label = "label",
        Hallucination = "hallucination",
        Loop = "loop",
        Format = "format",
        Cut = "cut",
        Declined = "declined",
        Limit = "limit",
        Agent = "agent",
    }
}

impl FailureClass {
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::Search => "a gold page was never opened",
            Self::Lookup => "a gold sentence was never seen",
            Self::Reasoning => "what was needed was seen, and the answer is wrong",
            Self::Label => "the wording differs from the gold answer",
            Self::Hallucination => "nothing that was read supports the answer",
            Self::Loop => "the steps ran out in repeated actions",
            Self::Format => "the replies did not keep to the protocol",
            Self::Cut => "the limit of tokens or the context cut the replies",
            Self::Declined => "the model or a filter withheld the answer",
            Self::Limit => "no answer, and nothing was searched",
            Self::Agent => "the agent's program crashed, took too long or gave no answer",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub class: FailureClass,
    /// What decided it, in one line for a person to read.
    pub evidence: String,
    /// Whether the steps ran out: a fact beside the class, which says what used them up.
    pub step_limit: bool,
}

impl Failure {
    /// What decided it, with how the episode ended where that is not the class.
    pub fn described(&self) -> String {
        let ended = if self.step_limit && self.class != FailureClass::Limit { "; ended at the step limit" } else { "" };
        format!("{}{ended}", self.evidence)
    }
}

/// The class of a wrong answer; `None` for a right one. The score must be that of this measured episode.
pub(super) fn failure(
    trajectory: &Trajectory,
    score: AnswerScore,
    seen: &Observed<'_>,
    gold: Option<&Match<'_>>,
) -> Option<Failure> {
    if score.em > 0.0 {
        return None;
    }
    let answer = trajectory.answer.as_deref().map(cap).filter(|answer| words(answer).len() > 1);
    let case = Case { trajectory, seen, gold, answer };
    let decided = case
        .program()
        .or_else(|| case.shortfall())
        .or_else(|| case.format())
        .or_else(|| case.label())
        .or_else(|| case.repetition())
        .or_else(|| case.limit())
        .or_else(|| case.hallucination())
        .unwrap_or_else(|| case.retrieval());
    let step_limit = trajectory.outcome == Outcome::StepLimit;
    Some(Failure { class: decided.0, evidence: decided.1, step_limit })
}

type Decided = (FailureClass, String);

struct Case<'a> {
    trajectory: &'a Trajectory,
    seen: &'a Observed<'a>,
    gold: Option<&'a Match<'a>>,
    /// The answer, if it has words.
    answer: Option<&'a str>,
}

impl Case<'_> {
    /// The program of another agent failed, whatever its model said.
    fn program(&self) -> Option<Decided> {
        if self.trajectory.outcome != Outcome::AgentFailure {
            return None;
        }
        let detail = self.trajectory.detail.as_deref().unwrap_or("it gave no answer");
        Some((FailureClass::Agent, visible_line(detail, DETAIL)))
    }

    /// Not a mistake in the answer: the reply was cut, or the model declined.
    fn shortfall(&self) -> Option<Decided> {
        let calls = Shortfalls::of(self.trajectory);
        let last = self.trajectory.steps.iter().flat_map(|step| &step.calls).next_back().and_then(Call::shortfall);
        let (unanswered, outcome) = (self.answer.is_none(), self.trajectory.outcome);
        let most = |count: u64| unanswered && count > 0 && 2 * count >= calls.calls;
        let say = |class| Some((class, calls.evidence()));
        if matches!(last, Some(Cause::Refusal | Cause::ContentFilter | Cause::Empty)) || most(calls.declined()) {
            return say(FailureClass::Declined);
        }
        // A reply that was cut after its action did no harm.
        let was_cut = matches!(last, Some(Cause::TokenLimit | Cause::ContextOverflow));
        let unread = outcome == Outcome::FormatFailure && was_cut;
        let cut = outcome == Outcome::ContextOverflow || unread || most(calls.cut());
        if cut { say(FailureClass::Cut) } else { None }
    }

    fn format(&self) -> Option<Decided> {
        let say = |evidence: String| Some((FailureClass::Format, evidence));
        if self.trajectory.outcome == Outcome::FormatFailure {
            let detail = self.trajectory.detail.as_deref().map(|detail| format!(": {}", quoted(detail)));
            return say(format!("the model's text could not be parsed{}", detail.unwrap_or_default()));
        }
        if self.answer.is_some() {
            return None;
        }
        let refused = self.trajectory.repairs.iter().filter(|repair| repair.is_refused_reply()).count();
        let prose = self.seen.actions.iter().filter(|action| !action.is_attempt()).count() + refused;
        let all = self.seen.actions.len() + refused;
        if prose > 0 && 2 * prose >= all {
            let what = if refused > 0 { "replies" } else { "actions" };
            return say(format!("no answer; {prose} of {all} {what} named no tool"));
        }
        match (self.trajectory.outcome, &self.trajectory.answer) {
            (Outcome::Finished, Some(answer)) => say(format!("ended with {}, an answer without words", quoted(answer))),
            (Outcome::Finished, None) => say("ended without an answer".to_owned()),
            _ => None,
        }
    }

    fn label(&self) -> Option<Decided> {
        let (answer, golds) = (self.answer?, &self.trajectory.answers);
        let scored = golds.iter().map(|gold| (hotpot(answer, gold).f1, gold));
        let near = scored.reduce(|best, next| if best.0 < next.0 { next } else { best });
        if let Some((f1, gold)) = near.filter(|(f1, _)| *f1 >= NEAR) {
            return Some((FailureClass::Label, format!("F1 {f1:.2} of {} with {}", quoted(answer), quoted(gold))));
        }
        let said = words(answer);
        let gold = golds.iter().find(|gold| contain_one_another(&said, gold))?;
        Some((FailureClass::Label, format!("one of {} and {} contains the other", quoted(answer), quoted(gold))))
    }

    fn repetition(&self) -> Option<Decided> {
        if self.trajectory.outcome != Outcome::StepLimit {
            return None;
        }
        let repeated = self.seen.repeats();
        let (all, times) = (repeated.len(), repeated.iter().filter(|repeat| **repeat).count());
        let last = repeated.iter().rev().take_while(|repeat| **repeat).count();
        let (what, count) = match (last, times) {
            (2.., _) => ("the last ", last),
            (1, _) if all == 2 => ("the last ", 1),
            (_, 2..) if 3 * times >= all => ("", times),
            _ => return None,
        };
        let (most, done) = self.seen.most_repeated()?;
        let shown = format!("{}[{}]", most.tool.map_or("invalid", Tool::name), most.input);
        let evidence = format!(
            "{what}{count} of {all} actions repeat earlier ones, {} {done} times in all{}",
            quoted(&shown),
            self.passed_over()
        );
        Some((FailureClass::Loop, evidence))
    }

    /// Without an answer, and without a search or a lookup that could explain it.
    fn limit(&self) -> Option<Decided> {
        let tried = self.seen.actions.iter().any(|action| action.is_attempt() && action.tool != Some(Tool::Think));
        let how = self.trajectory.outcome.name();
        let steps = self.seen.actions.len();
        let idle = self.answer.is_none() && !tried;
        idle.then(|| (FailureClass::Limit, format!("{how}: no answer after {steps} actions")))
    }

    /// The suggestion that was not taken up, as the end of a sentence.
    fn passed_over(&self) -> String {
        let title = self.seen.passed_over(&self.trajectory.question);
        title.map_or_else(String::new, |title| format!("; {} was suggested and never opened", quoted(title)))
    }

    fn hallucination(&self) -> Option<Decided> {
        let answer = self.answer?;
        let supported = if is_verdict(answer) {
            self.seen.texts > 0 && is_touched(&self.trajectory.question, self.seen)
        } else {
            self.seen.supports_answer(answer) || self.any_gold_seen()
        };
        // Who says that nothing was found asserts nothing.
        let supported = supported || is_abstention(answer);
        if supported {
            return None;
        }
        let what = if self.seen.texts == 0 {
            "no page text was seen".to_owned()
        } else if is_verdict(answer) {
            "no text that was shown has a word of the question".to_owned()
        } else if self.gold.is_some() {
            format!(
                "it appears in no observation, and none of the pages opened ({}) is a gold page",
                self.seen.pages.len()
            )
        } else {
            "neither it nor the gold answer appears in an observation".to_owned()
        };
        Some((FailureClass::Hallucination, format!("answered {}: {what}", quoted(answer))))
    }

    /// Whether anything that supports the right answer was seen: a gold page, a gold sentence, the gold answer's text.
    fn any_gold_seen(&self) -> bool {
        match self.gold {
            Some(Match { gold, .. }) => gold.pages_opened > 0 || gold.sentences_seen > 0,
            None => self.gold_text_seen().is_some(),
        }
    }

    fn gold_text_seen(&self) -> Option<&String> {
        self.trajectory.answers.iter().find(|gold| !is_verdict(gold) && self.seen.read_answer(gold))
    }

    fn retrieval(&self) -> Decided {
        let Some(Match { group, gold }) = self.gold else { return self.by_what_was_read() };
        if gold.all_seen() {
            let evidence = format!("{0} of {0} gold sentences were seen", gold.sentences);
            return (FailureClass::Reasoning, evidence);
        }
        if let Some(page) = group.pages.iter().find(|page| !page_opened(group, page, self.seen)) {
            let missing = gold.pages - gold.pages_opened;
            let evidence =
                format!("{} was never opened; {missing} of {} gold pages were not opened", quoted(page), gold.pages);
            return (FailureClass::Search, evidence);
        }
        let unseen = |fact: &&GoldFact| fact_seen(fact, self.seen) == Some(false);
        if let Some(fact) = group.facts.iter().find(unseen) {
            let number = || format!("its sentence {}", fact.number.unwrap_or_default());
            let text = fact.texts.first().map_or_else(number, |text| quoted(text));
            return (FailureClass::Lookup, format!("{} was opened, but {text} was never seen", quoted(&fact.page)));
        }
        let opened = format!("{0} of {0} gold pages were opened; the dataset does not give the sentences", gold.pages);
        match self.gold_text_seen() {
            Some(text) => (FailureClass::Reasoning, format!("{opened}; {} was seen", quoted(text))),
            None if self.trajectory.answers.iter().all(|gold| is_verdict(gold)) => self.by_verdict(&opened),
            None => (FailureClass::Lookup, format!("{opened}; the gold answer was never seen")),
        }
    }
}

/// Whether one holds the other, word by word. A verdict is a word like any other, so it counts only where the answer
/// begins with it; and an answer of function words is in everything.
fn contain_one_another(said: &str, gold: &str) -> bool {
    const FUNCTION: [&str; 16] =
        ["of", "and", "in", "on", "to", "is", "was", "for", "by", "it", "he", "she", "or", "at", "with", "as"];
    let wanted = words(gold);
    if is_verdict(gold) {
        return said.starts_with(&wanted);
    }
    let telling = said.split_ascii_whitespace().any(|word| !FUNCTION.contains(&word) && word.len() > 1);
    is_in(&wanted, said) || (telling && is_in(said, &wanted))
}

fn is_abstention(answer: &str) -> bool {
    const SIGNS: [&str; 13] = [
        "not enough info",
        "noanswer",
        "unable to",
        "cannot be determined",
        "can not be determined",
        "could not find",
        "couldnt find",
        "cannot find",
        "not found",
        "cannot determine",
        "no information",
        "insufficient information",
        "i dont know",
    ];
    let normalized = normalize(answer);
    SIGNS.iter().any(|sign| normalized.starts_with(sign))
        || is_unknown(answer)
        || ["信息不足", "无法确定", "未找到"].iter().any(|sign| normalized.contains(sign))
}

/// Whether an answer is `unknown`, alone or with a reason. Names begin with the word too: `Unknown Pleasures` is an answer.
fn is_unknown(answer: &str) -> bool {
    const BEFORE_REASONS: [&str; 12] =
        ["as", "at", "because", "based", "due", "for", "from", "given", "if", "in", "since", "to"];
    let lower = answer.to_lowercase();
    let Some(rest) = lower.trim_start_matches(|c: char| !c.is_alphanumeric()).strip_prefix("unknown") else {
        return false;
    };
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    match rest.trim_start().chars().next() {
        None => true,
        // `unknown.`, `unknown: no page says it`
        Some(next) if !next.is_alphanumeric() => !"-'’".contains(next),
        Some(_) => rest.starts_with(' ') && words.next().is_some_and(|word| BEFORE_REASONS.contains(&word)),
    }
}

/// Whether an episode gives an answer that could be right: one with a letter or a digit that does not only say that nothing was
/// found. `NOT ENOUGH INFO` is an answer to a claim.
pub(super) fn is_attempt(trajectory: &Trajectory) -> bool {
    let Some(answer) = trajectory.answer.as_deref() else { return false };
    let is_label_of_claim = is_label(answer) && trajectory.answers.iter().any(|gold| is_label(gold));
    answer.chars().any(char::is_alphanumeric) && (is_label_of_claim || !is_abstention(answer))
}

fn is_label(text: &str) -> bool {
    FEVER_LABELS.iter().any(|label| fever_label(text, label))
}

impl Case<'_> {
    pub(super) fn by_what_was_read(&self) -> Decided {
        const UNKNOWN: &str = "supporting facts are not known";
        let golds = &self.trajectory.answers;
        if golds.iter().any(|gold| normalize(gold) == "not enough info") {
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
            return say(format!("none of the pages opened ({}) is about the question", seen.pages.len()));
        }
        let Observed { searches, missed_searches: missed, .. } = *seen;
        if self.answer.is_none() && 2 * missed >= searches && missed > 0 {
            return say(format!("{missed} of {searches} searches opened no page"));
        }
        None
    }

    /// The gold is yes, no or a label: no page has its text, but a page may have the words of the claim.
    pub(super) fn by_verdict(&self, why: &str) -> Decided {
        let question = &self.trajectory.question;
        let gives_up = self.answer.is_none_or(|answer| is_abstention(answer) || !is_verdict(answer));
        let is_claim = self.trajectory.answers.iter().any(|gold| is_label(gold));
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
            format!("{why}, and a verdict has no text; {} pages were opened", self.seen.pages.len()),
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
