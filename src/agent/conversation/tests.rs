//! Conversations of episodes whose replies are written here: what stays of each reply, and what is sent between them.

use super::{NoConversation, Said, conversation};
use crate::agent::{Acting, Answering, Approach};
use crate::protocol::{self, Dialogue, Frame, Options, Setup, ToolSpec, Turn};
use crate::types::{Call, Decoding, Message, Question, Reply, Request, Role, Step, ToolCall, Trajectory, Vote, Voting};
use serde_json::json;
use std::sync::Arc;

fn question() -> Question {
    Question::new("q", "Who?", vec!["Ada".to_owned()])
}

fn setup(thoughts: bool) -> Arc<Setup> {
    let texts = [("feedback", "Bad: {error}"), ("force_stop", "The last one.")];
    Arc::new(Setup {
        frame: Frame {
            prefix: "PREFIX\n".into(),
            suffix: "\nThought: ".into(),
            system: Some("SYSTEM".into()),
            examples: vec![Message::user("example"), Message::assistant("solved")],
            tools: vec![ToolSpec::search("opens a page", "a title"), ToolSpec::lookup("finds", "a word")],
            texts: texts.map(|(name, text)| (name.to_owned(), text.into())).into(),
        },
        question_label: "Question".to_owned(),
        max_steps: 3,
        thoughts,
        decoding: Decoding::default(),
        history: Vec::new(),
    })
}

fn acting(id: &str, thoughts: bool) -> Acting {
    let protocol = protocol::find(id, &Options::default()).expect("a protocol").expect("no options");
    Acting { protocol, setup: setup(thoughts) }
}

fn call(request: &Request, text: &str) -> Call {
    Call {
        prompt_sha256: request.prompt.sha256(),
        prompt_chars: request.prompt.chars(),
        stop: request.stop.clone(),
        completion: text.to_owned(),
        finish_reason: None,
        usage: None,
        latency_ms: 0,
        attempts: 1,
        cached: false,
    }
}

fn step(used: ToolCall, observation: &str, sample: Option<u32>, calls: Vec<Call>) -> Step {
    let observation = match used.reply {
        Reply::Tool => Some(observation.to_owned()),
        Reply::Given(text) => Some(text),
        Reply::None => None,
    };
    Step {
        n: used.step,
        sample,
        thought: used.thought,
        tool: Some(used.tool),
        input: Some(used.input),
        action_text: Some(used.action_text),
        discarded: used.discarded,
        observation,
        calls,
        ..Step::default()
    }
}

/// Has a dialogue answered by these replies, and every use of a tool by `Page.`, and puts that on record.
fn episode(dialogue: &mut dyn Dialogue, replies: &[&str], sample: Option<u32>, record: &mut Trajectory) {
    let (mut replies, mut calls) = (replies.iter(), Vec::new());
    let mut turn = dialogue.begin(&question());
    loop {
        turn = match turn {
            Turn::Ask(request) => {
                let reply = replies.next().expect("a reply");
                calls.push(call(&request, reply));
                dialogue.completion(reply)
            }
            Turn::Use(used) => {
                record.steps.push(step(used, "Page.", sample, std::mem::take(&mut calls)));
                let heard = record.steps.last().and_then(|step| step.observation.clone());
                dialogue.observation(&heard.unwrap_or_default())
            }
            Turn::Stop(stop) => {
                record.answer = stop.answer;
                record.outcome = stop.outcome;
                record.repairs.extend(stop.repairs);
                if !calls.is_empty() {
                    record.steps.push(Step { n: record.steps.len() + 1, sample, calls, ..Step::default() });
                }
                return;
            }
        };
    }
}

fn blank() -> Trajectory {
    let value = json!({"v": 1, "id": "q", "index": 0, "variant": "main", "repeat": 0, "question": "Who?", "answers": ["Ada"],
        "steps": [], "answer": null, "outcome": "finished", "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        "started_at": "", "wall_ms": 0, "compat": "fixed", "repairs": [], "key": ""});
    serde_json::from_value(value).expect("a trajectory")
}

/// The conversation as lines `role: text`, with `-` before what is not to be learned.
fn shown(turns: &[Said]) -> Vec<String> {
    let line = |said: &Said| {
        let role = match said.message.role {
            Role::System => "S",
            Role::User => "U",
            Role::Assistant if said.learn => "A",
            Role::Assistant => "-A",
        };
        format!("{role}: {}", said.message.content)
    };
    turns.iter().map(line).collect()
}

fn of(id: &str, thoughts: bool, exemplars: bool, replies: &[&str]) -> Result<Vec<String>, NoConversation> {
    let (acting, mut record) = (acting(id, thoughts), blank());
    episode(&mut *acting.dialogue(), replies, None, &mut record);
    conversation(&record, &question(), &Approach::Act(acting), exemplars).map(|turns| shown(&turns))
}

fn turns(id: &str, replies: &[&str]) -> Vec<String> {
    of(id, true, false, replies).expect("a conversation")
}

#[test]
fn lines_of_the_papers_transcript_stand_in_the_turn_of_their_writer() {
    let replies = [" I look.\nAction 1: Search[Ada]", " So it is.", " Finish[Ada]"];
    let expected = [
        "U: Question: Who?",
        "A: Thought 1: I look.\nAction 1: Search[Ada]",
        "U: Observation 1: Page.",
        "A: Thought 2: So it is.\nAction 2: Finish[Ada]",
    ];
    assert_eq!(turns("react-paper", &replies), expected);
    let whole = of("react-paper", true, true, &replies).expect("a conversation");
    assert_eq!(whole[0], "U: PREFIX\nQuestion: Who?");
    assert_eq!(whole[1..], expected[1..]);
    let act = of("react-paper", false, false, &[" Search[Ada]", " Finish[Ada]"]).expect("a conversation");
    assert_eq!(
        act,
        ["U: Question: Who?", "A: Action 1: Search[Ada]", "U: Observation 1: Page.", "A: Action 2: Finish[Ada]"]
    );
    let script = turns("react-zh", &["看\nAction 1:Search[Ada]", "好\nAction 2:Finish[Ada]"]);
    assert_eq!(
        script,
        [
            "U: Question:Who?",
            "A: Thought 1:看\nAction 1:Search[Ada]",
            "U: Observation 1:Page.",
            "A: Thought 2:好\nAction 2:Finish[Ada]"
        ]
    );
}

#[test]
fn messages_keep_the_system_and_leave_the_exemplars_out_unless_asked() {
    let replies = ["Thought 1: I look.\nAction 1: Search[Ada]", "Thought 2: So.\nAction 2: Finish[Ada]"];
    let expected = [
        "S: SYSTEM",
        "U: Question: Who?",
        "A: Thought 1: I look.\nAction 1: Search[Ada]",
        "U: Observation 1: Page.",
        "A: Thought 2: So.\nAction 2: Finish[Ada]",
    ];
    assert_eq!(turns("robust", &replies), expected);
    let whole = of("robust", true, true, &replies).expect("a conversation");
    assert_eq!(whole[..3], ["S: SYSTEM", "U: example", "-A: solved"]);
    assert_eq!(whole[3..], expected[1..]);
}

#[test]
fn what_was_set_aside_is_gone_and_refused_replies_are_not_to_be_learned() {
    let ahead = "Thought 1: I look.\nAction 1: Search[Ada]\nObservation 1: Made up.\nThought 2: Ha.";
    let said = turns("robust", &[ahead, "No idea.", "Thought 3: So.\nAction 3: Finish[Ada]"]);
    assert_eq!(said[2], "A: Thought 1: I look.\nAction 1: Search[Ada]");
    assert_eq!(said[4], "-A: No idea.");
    // The text before the last step stands where it was sent.
    assert!(said[5].starts_with("U: Bad: ") && said[5].ends_with("\nThe last one."), "{said:?}");
    let ahead = "Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}\nObservation: Made up.\nAnswer: 1";
    let said = turns("go-blog", &[ahead, "Thought: so\nAnswer: Ada"]);
    assert_eq!(said[2], "A: Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}");
    assert_eq!(said[3..], ["U: Observation: Page.", "A: Thought: so\nAnswer: Ada"]);
}

#[test]
fn a_reply_ends_with_its_action_where_nothing_was_recorded_as_set_aside() {
    let first = "Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}";
    let ahead =
        format!("{first}\nObservation: Made up.\nThought: u\nAction: Lookup\nAction Input: {{\"keyword\": \"z\"}}");
    let said = turns("llama-index", &[&ahead, "Thought: so\nAnswer: Ada"]);
    assert_eq!(
        said,
        ["S: SYSTEM", "U: Who?", &format!("A: {first}"), "U: Observation: Page.", "A: Thought: so\nAnswer: Ada"]
    );
    // Of a reply that could not be read, the system keeps nothing.
    let said = turns("llama-index", &["Thought: unreadable", "Thought: so\nAnswer: Ada"]);
    assert_eq!(said, ["S: SYSTEM", "U: Who?", "A: Thought: so\nAnswer: Ada"]);
    // Without a leading thought the last action counts, and all before it is the thought.
    let hidden = format!("Hm.\n{ahead}");
    let left_out = of("llama-index", true, false, &[&hidden, "Thought: so\nAnswer: Ada"]);
    assert_eq!(left_out, Err(NoConversation::Invented));
    let lagent = "Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}\nResponse: Made up.";
    let left_out = of("lagent", true, false, &[lagent, "Thought: so\nFinal Answer: Ada"]);
    assert_eq!(left_out, Err(NoConversation::Invented));
}

#[test]
fn a_template_gives_its_question_and_the_label_goes_to_the_reply() {
    let replies = ["I look.\nAction: Search\nAction Input: {\"query\": \"Ada\"}", "Thought: So.\nFinal Answer: Ada"];
    let expected = [
        "U: Who?",
        "A: Thought: I look.\nAction: Search\nAction Input: {\"query\": \"Ada\"}",
        "U: Observation: Page.",
        "A: Thought: So.\nFinal Answer: Ada",
    ];
    assert_eq!(turns("qwen-agent", &replies), expected);
    let whole = of("qwen-agent", true, true, &replies).expect("a conversation");
    assert_eq!(whole[..2], ["S: SYSTEM", "U: PREFIX\nWho?"]);
    assert_eq!(whole[2..], expected[1..]);
}

#[test]
fn a_tool_that_speaks_as_the_system_becomes_the_user() {
    let replies = ["Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}", "Thought: so\nFinal Answer: Ada"];
    let said = turns("lagent", &replies);
    assert_eq!(said[..2], ["S: SYSTEM", "U: Who?"]);
    assert_eq!(said[3], "U: Response:Page.");
}

#[test]
fn of_a_vote_the_first_sample_with_the_answer_speaks() {
    let answering = Answering { setup: setup(true), reasons: true, oracle_context: false };
    let (voting, mut record) = (Voting { samples: 3, ..Voting::default() }, blank());
    for (number, reply) in [(0, " a.\nAnswer: B"), (1, " b.\nAnswer: Ada\nQuestion 2"), (2, " c.\nAnswer: Ada")] {
        let mut dialogue = answering.sample(number, &voting).dialogue();
        episode(&mut *dialogue, &[reply], Some(number + 1), &mut record);
    }
    record.votes = [("Ada", "ada", 2), ("B", "b", 1)]
        .map(|(answer, normalized, count)| Vote { answer: answer.into(), normalized: normalized.into(), count })
        .into();
    let said = conversation(&record, &question(), &Approach::Vote(answering, voting), false).expect("a conversation");
    assert_eq!(shown(&said), ["U: Question: Who?", "A: Thought: b.\nAnswer: Ada"]);
    record.votes[0].count = 3;
    let approach = Approach::Vote(Answering { setup: setup(true), reasons: true, oracle_context: false }, voting);
    assert_eq!(conversation(&record, &question(), &approach, false), Err(NoConversation::Differs));
}

#[test]
fn an_episode_without_an_answer_is_none() {
    let look = " I look.\nAction 1: Search[Ada]";
    let look = [look, &look.replace('1', "2"), &look.replace('1', "3")];
    assert_eq!(of("react-paper", true, false, &look), Err(NoConversation::NoAnswer));
}
