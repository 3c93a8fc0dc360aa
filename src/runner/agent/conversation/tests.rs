//! Conversations of scripted episodes: what remains of each reply, and the messages between them.

use super::{DialogueTurn, NoConversation, conversation};
use crate::base::{Completion, FunctionCall, Message, Method, Role, Trajectory, Voting};
use crate::prompting::protocol::{self, Frame, Options, Setup, ToolTexts, testing};
use crate::runner::agent::tests::{episode, replying, scripted};
use crate::runner::agent::{Acting, Answering, Approach, Stage};
use futures_util::FutureExt as _;
use std::sync::Arc;

fn setup(thoughts: bool) -> Arc<Setup> {
    let frame = Frame {
        prefix: "PREFIX\n".into(),
        suffix: "\nThought: ".into(),
        examples: vec![Message::user("example"), Message::assistant("solved")],
        ..testing::messages_frame(&[("feedback", "Bad: {error}"), ("force_stop", "The last one.")])
    };
    Arc::new(Setup { thoughts, ..testing::setup(frame, 3) })
}

fn acting(id: &str, thoughts: bool) -> Acting {
    let protocol = protocol::find(id, &Options::default()).expect("a protocol").expect("no options");
    Acting { protocol, setup: setup(thoughts) }
}

/// The record of an episode in which the model gives these replies.
fn recorded(approach: &Approach, replies: &[&str]) -> Trajectory {
    let replies: Vec<String> = replies.iter().map(|&reply| reply.to_owned()).collect();
    let (agent, _) = scripted(approach.clone(), move |_, number| replies.get(number).cloned());
    agent.answer(&episode(Method::React), None).now_or_never().expect("nothing waits")
}

/// The conversation as lines `role: text`, with `-` before what is not to be learned.
fn turn_lines(turns: &[DialogueTurn]) -> Vec<String> {
    let line = |said: &DialogueTurn| {
        let role = match said.message.role {
            Role::System => "S",
            Role::User => "U",
            Role::Assistant if said.learn => "A",
            Role::Assistant => "-A",
            Role::Tool => "T",
        };
        format!("{role}: {}", said.message.content)
    };
    turns.iter().map(line).collect()
}

fn of(id: &str, thoughts: bool, exemplars: bool, replies: &[&str]) -> Result<Vec<String>, NoConversation> {
    let approach = Approach(vec![Stage::Act(acting(id, thoughts))]);
    let record = recorded(&approach, replies);
    let made = conversation(&record, &episode(Method::React).question, &approach, exemplars);
    made.map(|conversation| turn_lines(&conversation.turns))
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
        "U: Observation 1: It is a page.",
        "A: Thought 2: So it is.\nAction 2: Finish[Ada]",
    ];
    assert_eq!(turns("react-paper", &replies), expected);
    let whole = of("react-paper", true, true, &replies).expect("a conversation");
    assert_eq!(whole[0], "U: PREFIX\nQuestion: Who?");
    assert_eq!(whole[1..], expected[1..]);
    let act = of("react-paper", false, false, &[" Search[Ada]", " Finish[Ada]"]).expect("a conversation");
    assert_eq!(
        act,
        [
            "U: Question: Who?",
            "A: Action 1: Search[Ada]",
            "U: Observation 1: It is a page.",
            "A: Action 2: Finish[Ada]"
        ]
    );
    let script = turns("react-zh", &["看\nAction 1:Search[Ada]", "好\nAction 2:Finish[Ada]"]);
    assert_eq!(
        script,
        [
            "U: Question:Who?",
            "A: Thought 1:看\nAction 1:Search[Ada]",
            "U: Observation 1:It is a page.",
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
        "U: Observation 1: It is a page.",
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
    assert_eq!(said[3..], ["U: Observation: It is a page.", "A: Thought: so\nAnswer: Ada"]);
}

#[test]
fn a_reply_ends_with_its_action_where_nothing_was_recorded_as_set_aside() {
    let first = "Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}";
    let ahead =
        format!("{first}\nObservation: Made up.\nThought: u\nAction: Lookup\nAction Input: {{\"keyword\": \"z\"}}");
    let said = turns("llama-index", &[&ahead, "Thought: so\nAnswer: Ada"]);
    assert_eq!(
        said,
        [
            "S: SYSTEM",
            "U: Who?",
            &format!("A: {first}"),
            "U: Observation: It is a page.",
            "A: Thought: so\nAnswer: Ada"
        ]
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
        "U: Observation: It is a page.",
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
    assert_eq!(said[3], "U: Response:It is a page.");
}

#[test]
fn of_a_vote_the_first_sample_with_the_answer_speaks() {
    let answering = Answering { setup: setup(true), reasons: true, oracle_context: false };
    let approach = Approach(vec![Stage::Vote(answering, Voting { samples: 3, ..Voting::default() })]);
    let question = episode(Method::CotSc).question;
    let mut record = recorded(&approach, &[" a.\nAnswer: B", " b.\nAnswer: Ada\nQuestion 2", " c.\nAnswer: Ada"]);
    let said = conversation(&record, &question, &approach, false).expect("a conversation");
    assert_eq!(turn_lines(&said.turns), ["U: Question: Who?", "A: Thought: b.\nAnswer: Ada"]);
    record.votes[0].count = 3;
    assert_eq!(conversation(&record, &question, &approach, false), Err(NoConversation::Differs));
}

#[test]
fn an_episode_without_an_answer_is_none() {
    let look = " I look.\nAction 1: Search[Ada]";
    let look = [look, &look.replace('1', "2"), &look.replace('1', "3")];
    assert_eq!(of("react-paper", true, false, &look), Err(NoConversation::NoAnswer));
}

#[test]
fn native_calls_and_their_results_are_turns() {
    let protocol = protocol::find("tools", &Options::default()).expect("a protocol").expect("no options");
    let frame = Frame { tools: protocol.tools(&ToolTexts::default()), ..testing::messages_frame(&[]) };
    let acting = Acting { protocol, setup: Arc::new(testing::setup(frame, 4)) };
    let approach = Approach(vec![Stage::Act(acting)]);
    let call = |id: &str, name: &str, arguments: &str| FunctionCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let replies = [
        ("I look.", call("a", "search", r#"{"query":"Ada"}"#)),
        ("", call("b", "open", "{}")),
        // Some servers give no ids.
        ("So.", call("", "finish", r#"{"answer":"Ada"}"#)),
    ];
    let (agent, _) = replying(approach.clone(), move |_, number| {
        let (text, call) = replies.get(number)?.clone();
        Some(Completion { text: text.to_owned(), calls: vec![call], ..Completion::default() })
    });
    let record = agent.answer(&episode(Method::React), None).now_or_never().expect("nothing waits");
    let question = &episode(Method::React).question;
    let made = conversation(&record, question, &approach, false).expect("a conversation");
    let lines = turn_lines(&made.turns);
    let ["S: SYSTEM", "U: Question: Who?", "A: I look.", "T: It is a page.", "-A: ", told, "A: So."] =
        lines.iter().map(String::as_str).collect::<Vec<_>>()[..]
    else {
        panic!("{lines:?}")
    };
    assert!(told.starts_with("T: Error: there is no tool `open`"), "{told}");
    assert_eq!(made.turns[3].message.answers.as_deref(), Some("a"));
    assert_eq!(made.turns[6].message.calls, [call("c00030001", "finish", r#"{"answer":"Ada"}"#)]);
    assert_eq!(made.functions.expect("functions").list.len(), 3);
    assert_eq!(conversation(&record, question, &approach, true).expect("a conversation").turns.len(), 9);
}
