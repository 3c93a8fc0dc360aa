//! The methods as data: the stages of an episode and their settings.

#[cfg(feature = "serve")]
use super::program::Program;
use crate::base::{Branch, Method, Outcome, Vote, Voting, sha256_hex};
use crate::prompting::protocol::direct::Direct;
use crate::prompting::protocol::{Dialogue, Frame, Layout, Protocol, Setup, Spacing, Stop};
use crate::scoring::{is_unspaced, normalize, normalize_characters};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Acting {
    pub protocol: Arc<dyn Protocol>,
    pub setup: Arc<Setup>,
}

#[derive(Debug, Clone)]
pub struct Answering {
    pub setup: Arc<Setup>,
    pub reasons: bool,
    pub oracle_context: bool,
}

#[derive(Debug, Clone)]
pub enum Stage {
    Act(Acting),
    Answer(Answering),
    Vote(Answering, Voting),
    /// Another program, which has prompts and steps of its own.
    #[cfg(feature = "serve")]
    Program(Arc<Program>),
}

/// The stages of an episode. A back-off has two, and comes to the second where the first settles nothing.
#[derive(Debug, Clone)]
pub struct Approach(pub Vec<Stage>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredPrompt {
    pub sha256: String,
    pub text: String,
}

impl StoredPrompt {
    fn of(frame: &Frame, layout: Layout) -> Self {
        let text = frame.stored(layout);
        Self { sha256: sha256_hex([text.as_bytes()]), text }
    }
}

/// Distance between the seeds of two repeats; a vote has fewer samples.
const SEEDS_A_REPEAT: u64 = 1_000;

fn move_seed(setup: &mut Setup, by: u64) {
    setup.decoding.seed = setup.decoding.seed.map(|seed| seed.wrapping_add(by));
}

/// The end of a back-off: its second stage's, with the repairs of both.
pub(super) fn backed_off(first: Stop, mut second: Stop) -> Stop {
    second.repairs.splice(0..0, first.repairs);
    second
}

impl Acting {
    fn prompt(&self) -> StoredPrompt {
        StoredPrompt::of(&self.setup.frame, self.protocol.layout())
    }

    pub fn dialogue(&self) -> Box<dyn Dialogue> {
        self.protocol.dialogue(&self.setup)
    }
}

impl Answering {
    fn prompt(&self) -> StoredPrompt {
        StoredPrompt::of(&self.setup.frame, Layout::Text)
    }

    pub fn dialogue(&self) -> Box<dyn Dialogue> {
        Box::new(Direct::new(&self.setup, self.reasons, self.oracle_context))
    }

    /// The same for sample `number` (from 0) of a vote: with a seed of its own, or a server would give the same text.
    #[must_use]
    pub fn sample(&self, number: u32, voting: &Voting) -> Self {
        let mut setup = Setup::clone(&self.setup);
        setup.decoding.temperature = voting.temperature;
        move_seed(&mut setup, u64::from(number));
        Self { setup: Arc::new(setup), ..self.clone() }
    }
}

impl Stage {
    /// Whether a back-off ends with this end of its first stage, and the votes for it.
    pub(super) fn settles(&self, stop: &Stop, votes: &[Vote]) -> bool {
        if let Self::Vote(_, voting) = self { is_majority(votes, voting) } else { stop.answers() }
    }
}

impl Approach {
    /// The approach of a method. `acting` and `answering` build its stages and are called only for those that it has.
    pub fn of<E>(
        method: Method,
        acting: impl FnOnce(Method) -> Result<Acting, E>,
        answering: impl FnOnce(Method) -> Result<Answering, E>,
        voting: Voting,
    ) -> Result<Self, E> {
        let act = |method| acting(method).map(Stage::Act);
        let vote = |answering| Stage::Vote(answering, voting);
        Ok(Self(match method {
            Method::Act | Method::React => vec![act(method)?],
            Method::Standard | Method::Cot => vec![Stage::Answer(answering(method)?)],
            Method::CotSc => vec![vote(answering(Method::Cot)?)],
            Method::ReactThenCotSc => vec![act(Method::React)?, vote(answering(Method::Cot)?)],
            Method::CotScThenReact => vec![vote(answering(Method::Cot)?), act(Method::React)?],
        }))
    }

    /// The stored prompts: the only stage's, or of a back-off that of the stage with tools and that of the direct one.
    pub fn prompts(&self) -> (StoredPrompt, Option<StoredPrompt>) {
        let direct = self.0.iter().find_map(|stage| match stage {
            Stage::Answer(answering) | Stage::Vote(answering, _) => Some(answering.prompt()),
            Stage::Act(_) => None,
            #[cfg(feature = "serve")]
            Stage::Program(_) => None,
        });
        let mut prompts = self.acting().map(Acting::prompt).into_iter().chain(direct);
        (prompts.next().unwrap_or_default(), prompts.next())
    }

    /// The same for a repeat (from 0) of a question. Seeds differ between repeats, or a server would repeat itself.
    #[must_use]
    pub fn repeated(&self, repeat: u32) -> Self {
        let mut repeated = self.clone();
        for stage in &mut repeated.0 {
            let setup = match stage {
                Stage::Act(acting) => &mut acting.setup,
                Stage::Answer(answering) | Stage::Vote(answering, _) => &mut answering.setup,
                #[cfg(feature = "serve")]
                Stage::Program(_) => continue,
            };
            if repeat > 0 && setup.decoding.seed.is_some() {
                move_seed(Arc::make_mut(setup), SEEDS_A_REPEAT * u64::from(repeat));
            }
        }
        repeated
    }

    /// The same for an episode that branches off another one: a placebo may have a prompt with other white space.
    #[must_use]
    pub fn branched(mut self, branch: Option<&Branch>) -> Self {
        let edit = branch.and_then(|branch| branch.edit.as_ref());
        let spacing = edit.and_then(|edit| Spacing::named(edit.formatting()?));
        if let (Some(spacing), Some(acting)) = (spacing, self.acting_mut()) {
            let setup = Arc::make_mut(&mut acting.setup);
            setup.frame = setup.frame.spaced(spacing);
        }
        self
    }

    /// Whether another program answers, of which nothing is computed here.
    #[cfg_attr(not(feature = "serve"), expect(clippy::unused_self, reason = "this build runs no other programs"))]
    pub fn is_program(&self) -> bool {
        #[cfg(feature = "serve")]
        return matches!(self.0[..], [Stage::Program(_)]);
        #[cfg(not(feature = "serve"))]
        false
    }

    pub fn acting(&self) -> Option<&Acting> {
        self.0.iter().find_map(|stage| if let Stage::Act(acting) = stage { Some(acting) } else { None })
    }

    pub fn acting_mut(&mut self) -> Option<&mut Acting> {
        self.0.iter_mut().find_map(|stage| if let Stage::Act(acting) = stage { Some(acting) } else { None })
    }
}

/// Counts answers by their normal form, most first, ties by first seen. Samples without an answer do not count.
fn tally<'a>(answers: impl IntoIterator<Item = Option<&'a str>>) -> Vec<Vote> {
    let mut votes: Vec<Vote> = Vec::new();
    for answer in answers.into_iter().flatten() {
        let normalized = ballot(answer);
        match votes.iter_mut().find(|vote| vote.normalized == normalized) {
            Some(vote) => vote.count += 1,
            None => votes.push(Vote { answer: answer.to_owned(), normalized, count: 1 }),
        }
    }
    // A stable sort keeps the first seen before its equals.
    votes.sort_by_key(|vote| std::cmp::Reverse(vote.count));
    votes
}

/// The normal form of an answer: the paper's, which handles ASCII punctuation only, or by characters for unspaced
/// scripts. Where nothing is left of it, as of the choice `A` or of `.`, the answer in lower case.
fn ballot(answer: &str) -> String {
    let normal = if answer.contains(is_unspaced) { normalize_characters(answer) } else { normalize(answer) };
    if normal.is_empty() { answer.trim().to_lowercase() } else { normal }
}

/// The end of a vote by the ends of all its samples, and the votes.
pub(super) fn voted(samples: Vec<Stop>) -> (Stop, Vec<Vote>) {
    let votes = tally(samples.iter().map(|stop| stop.answer.as_deref()));
    let answer = votes.first().map(|vote| vote.answer.clone());
    let (outcome, detail) = match answer {
        Some(_) => (Outcome::Finished, None),
        None => (Outcome::FormatFailure, Some(format!("none of {} samples gave an answer", samples.len()))),
    };
    let repairs = samples.into_iter().flat_map(|stop| stop.repairs).collect();
    (Stop { outcome, answer, detail, repairs }, votes)
}

/// Whether the first of `votes` has the share of all samples that `voting` requires.
fn is_majority(votes: &[Vote], voting: &Voting) -> bool {
    votes.first().is_some_and(|vote| f64::from(vote.count) >= voting.majority * f64::from(voting.samples))
}

#[cfg(test)]
mod tests {
    use super::{is_majority, tally};
    use crate::base::Voting;

    fn counted(answers: &[Option<&str>]) -> Vec<(String, u32)> {
        tally(answers.iter().copied()).into_iter().map(|vote| (vote.answer, vote.count)).collect()
    }

    #[test]
    fn answers_count_by_their_normal_form_and_ties_fall_to_the_first_seen() {
        let answers = [Some("B"), Some("The Answer"), None, Some("answer."), Some("b"), Some("c")];
        assert_eq!(counted(&answers), [("B".to_owned(), 2), ("The Answer".to_owned(), 2), ("c".to_owned(), 1)]);
        assert_eq!(counted(&[Some("a1"), Some("z"), Some("z")])[0], ("z".to_owned(), 2));
        assert_eq!(counted(&[Some("《红楼梦》。"), Some("红楼梦")]), [("《红楼梦》。".to_owned(), 2)]);
        assert!(counted(&[None, None]).is_empty());
    }

    #[test]
    fn answers_of_which_the_normal_form_leaves_nothing_are_counted_as_written() {
        // The choice `A` is not an article here.
        let answers = [Some("the"), Some("A"), Some("B"), Some(" a"), Some("."), Some("a. B")];
        let expected = [("A", 2), ("B", 2), ("the", 1), (".", 1)];
        assert_eq!(counted(&answers), expected.map(|(answer, count)| (answer.to_owned(), count)));
    }

    #[test]
    fn a_majority_has_half_of_all_samples_those_without_an_answer_included() {
        let voting = Voting { samples: 21, ..Voting::default() };
        let votes = |count: usize| tally(std::iter::repeat_n(Some("x"), count));
        assert!(is_majority(&votes(11), &voting));
        assert!(!is_majority(&votes(10), &voting));
        assert!(is_majority(&votes(2), &Voting { samples: 4, ..voting }));
        assert!(!is_majority(&[], &Voting { samples: 1, majority: 0.0, ..voting }));
    }
}
