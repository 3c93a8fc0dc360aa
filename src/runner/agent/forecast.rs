//! Estimates the calls and tokens of an episode before it runs.
//!
//! The first prompt is the real one; every further call adds a step in the protocol's form, with texts of the lengths
//! below. A token is estimated at [`BYTES_PER_TOKEN`] bytes.

use super::approach::{Acting, Answering, Approach, Stage};
use crate::base::request::BYTES_PER_TOKEN;
use crate::base::{AnswerKind, Paid, Question, Tool, Usage, Voting};
use crate::prompting::protocol::{Dialogue, Turn};

/// Steps of a question, the last one included. Published agents need 2 to 6: recorded runs of the paper's notebooks took
/// 5.5 per question and 2.5 per claim.
const STEPS: usize = 4;
const CLAIM_STEPS: usize = 3;
/// Bytes of a thought. Recorded: 91 (claims) to 294.
const THOUGHT: usize = 120;
/// Bytes of a tool's argument. Recorded actions: 21 to 91.
const INPUT: usize = 20;
/// Bytes of an observation, five sentences or a lookup's one. Recorded: 349 (questions) to 482.
const OBSERVATION: usize = 400;
/// Bytes of a long observation. Recorded maximum: 2,537.
const LONG_OBSERVATION: usize = 4000;
/// Bytes of the reasoning before a direct answer.
const RATIONALE: usize = 240;
/// Bytes of a direct answer.
const ANSWER: usize = 20;
/// One in this many episodes of a back-off needs its second stage.
const BACKED_OFF: u64 = 2;

/// Model calls, retries of a request left out, and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forecast {
    /// With the usual number of steps and texts of the usual lengths.
    pub expected: Paid,
    /// Every step used, every action missing, every completion as long as allowed, and long observations throughout.
    pub most: Paid,
}

impl std::ops::AddAssign for Forecast {
    fn add_assign(&mut self, other: Self) {
        self.expected += other.expected;
        self.most += other.most;
    }
}

fn estimated(calls: usize, prompt_bytes: usize, completion_bytes: usize) -> Paid {
    Paid { calls: calls as u64, uncounted: 0, usage: Usage::estimated(prompt_bytes, completion_bytes) }
}

impl Approach {
    /// Of one question, where a call of the tool `passages` shows so many of them.
    pub fn forecast(&self, question: &Question, passages: usize) -> Forecast {
        let mut sum = Forecast::default();
        for (stage, one_in) in self.0.iter().zip([1, BACKED_OFF]) {
            let Forecast { expected, most } = stage.forecast(question, passages);
            sum += Forecast { expected: expected.share(1, one_in), most };
        }
        sum
    }
}

impl Stage {
    fn forecast(&self, question: &Question, passages: usize) -> Forecast {
        match self {
            Self::Act(acting) => acting.forecast(question, passages),
            Self::Answer(answering) => answering.forecast(question),
            Self::Vote(answering, voting) => answering.votes(voting, question),
            #[cfg(feature = "serve")]
            Self::Program(_) => of_program(),
        }
    }
}

/// Bytes of the first prompt; none if the dialogue makes no request.
fn first_prompt(mut dialogue: Box<dyn Dialogue>, question: &Question) -> Option<usize> {
    match dialogue.begin(question) {
        Turn::Ask(request) => Some(request.prompt.bytes()),
        Turn::Use(_) | Turn::Stop(_) => None,
    }
}

/// A program asks as often as it likes; its first prompt and the longest conversation are guesses.
#[cfg(feature = "serve")]
fn of_program() -> Forecast {
    const PROMPT: usize = 2_000;
    const CALLS: usize = 10_000;
    Forecast {
        expected: estimated(STEPS, growing(STEPS, PROMPT, OBSERVATION + THOUGHT), STEPS * THOUGHT),
        most: estimated(CALLS, CALLS * (PROMPT + LONG_OBSERVATION), CALLS * RATIONALE),
    }
}

/// Bytes of `calls` prompts, each longer than the one before by `growth`.
fn growing(calls: usize, first: usize, growth: usize) -> usize {
    calls * first + growth * (calls * calls.saturating_sub(1) / 2)
}

impl Acting {
    fn forecast(&self, question: &Question, passages: usize) -> Forecast {
        let Some(first) = first_prompt(self.dialogue(), question) else { return Forecast::default() };
        let (protocol, setup) = (&self.protocol, &self.setup);
        let thought = setup.thoughts.then(|| "x".repeat(THOUGHT));
        let reply = protocol.step(1, thought.as_deref(), Tool::Search, &"x".repeat(INPUT)).len();
        let labels = protocol.observation(1, "").len();
        // A passage is about as long as the first sentences of a page.
        let shown = if protocol.offers().offers(Tool::Passages) { passages } else { 1 };
        let usual = if question.answer_kind == AnswerKind::Label { CLAIM_STEPS } else { STEPS };
        let steps = usual.min(setup.max_steps);
        let expected = estimated(steps, growing(steps, first, reply + labels + shown * OBSERVATION), steps * reply);

        // A missing action costs a second call, so each step may have two.
        let completion = setup.decoding.max_total_tokens() as usize * BYTES_PER_TOKEN;
        let long = growing(setup.max_steps, first, 2 * completion + labels + shown * LONG_OBSERVATION);
        let calls = 2 * setup.max_steps;
        let most = estimated(calls, 2 * long + setup.max_steps * completion, calls * completion);
        Forecast { expected, most }
    }
}

impl Answering {
    fn forecast(&self, question: &Question) -> Forecast {
        let Some(first) = first_prompt(self.dialogue(), question) else { return Forecast::default() };
        let reply = ANSWER + if self.reasons { RATIONALE } else { 0 };
        let completion = self.setup.decoding.max_total_tokens() as usize * BYTES_PER_TOKEN;
        // A chain of thought without an answer costs a second call.
        let most = if self.reasons {
            estimated(2, 2 * first + completion, 2 * completion)
        } else {
            estimated(1, first, completion)
        };
        Forecast { expected: estimated(1, first, reply), most }
    }

    fn votes(&self, voting: &Voting, question: &Question) -> Forecast {
        let Forecast { expected, most } = self.forecast(question);
        let samples = u64::from(voting.samples);
        Forecast { expected: expected.share(samples, 1), most: most.share(samples, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::Forecast;
    use crate::base::{AnswerKind, Paid, Question, Usage, Voting};
    use crate::prompting::protocol::{Frame, Options, Setup, find, testing};
    use crate::runner::agent::{Acting, Answering, Approach, Stage};
    use std::sync::Arc;

    fn setup(max_steps: usize) -> Arc<Setup> {
        Arc::new(testing::setup(Frame::text("p".repeat(8000)), max_steps))
    }

    fn act(protocol: &str, max_steps: usize) -> Approach {
        let protocol = find(protocol, &Options::default()).expect("known").expect("no options");
        Approach(vec![Stage::Act(Acting { protocol, setup: setup(max_steps) })])
    }

    fn question() -> Question {
        Question::new("q", "Who taught the engineer of the bridge?", vec!["Ines Mora".into()])
    }

    fn tokens(load: Paid) -> u64 {
        load.usage.total()
    }

    #[test]
    fn an_agent_takes_the_usual_steps_and_never_more_than_it_may() {
        let calls = |max_steps, question: &Question| {
            let Forecast { expected, most } = act("react-paper", max_steps).forecast(question, 3);
            assert!(tokens(expected) <= tokens(most) && expected.calls <= most.calls);
            (expected.calls, most.calls)
        };
        let claim = Question { answer_kind: AnswerKind::Label, ..question() };
        assert_eq!(
            [calls(7, &question()), calls(7, &claim), calls(2, &question()), calls(0, &question())],
            [(4, 14), (3, 14), (2, 4), (0, 0)]
        );
        // Four prompts of 8,000 bytes and what was asked and read: 2,000 tokens each and some more.
        let Usage { prompt_tokens, completion_tokens, .. } =
            act("react-paper", 7).forecast(&question(), 3).expected.usage;
        assert!((8_500..9_500).contains(&prompt_tokens), "{prompt_tokens}");
        assert!((150..250).contains(&completion_tokens), "{completion_tokens}");
    }

    #[test]
    fn every_protocol_has_a_forecast() {
        for id in crate::prompting::protocol::IDS {
            let forecast = act(id, 5).forecast(&question(), 3);
            assert_eq!((forecast.expected.calls, forecast.most.calls), (4, 10), "{id}");
            assert!(tokens(forecast.expected) > 100, "{id}");
        }
    }

    #[test]
    fn votes_and_back_offs_add_up() {
        let answering = Answering { setup: setup(7), reasons: true, oracle_context: false };
        let voting = Voting { samples: 21, ..Voting::default() };
        let one = Approach(vec![Stage::Answer(answering.clone())]).forecast(&question(), 3);
        let voted = Stage::Vote(answering, voting);
        let vote = Approach(vec![voted.clone()]).forecast(&question(), 3);
        assert_eq!((vote.expected.calls, vote.most.calls), (21, 42));
        assert_eq!(tokens(vote.expected), 21 * tokens(one.expected));
        let act = act("react-paper", 7);
        let both = Approach([act.0.clone(), vec![voted]].concat()).forecast(&question(), 3);
        assert_eq!((both.expected.calls, both.most.calls), (4 + 11, 14 + 42));
        assert_eq!(tokens(both.most), tokens(act.forecast(&question(), 3).most) + tokens(vote.most));
    }
}
