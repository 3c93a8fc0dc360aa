//! Whole episodes of the policy over a handful of pages, and prompts that no one should send.

mod dialogues;
mod units;

use super::{Baseline, BaselineSettings};
use crate::base::{Decoding, EpisodeState, Prompt, Reply, Request, Tool, ToolCall};
use crate::models::Model as _;
use proptest::prelude::*;
use std::sync::Arc;

/// Title and first sentences, all invented; a tool that knows no page offers every title that shares a word.
const PAGES: &[(&str, &str)] = &[
    (
        "Nightfall of Arven",
        "Nightfall of Arven is a 1961 drama film directed by Mara Lindqvist. The music was written by Otto Brandt.",
    ),
    (
        "Mara Lindqvist",
        "Mara Lindqvist (4 May 1920 – 1 June 1999) was a Swedish film director. She was born in Tolvsund and studied medicine in Uppsala.",
    ),
    (
        "Otto Brandt",
        "Otto Brandt (2 May 1918 – 3 March 1971) was a German composer. He wrote eleven symphonies and two operas.",
    ),
    ("Tolvsund", "Tolvsund is a town on the coast. It lies on the River Ark and has a stone bridge."),
    ("River Ark", "The River Ark is a river in the north. It is 120 kilometres long and flows into Lake Vann."),
    ("River Bel", "The River Bel is a river in the south. It is 340 kilometres long."),
    ("Lake Vann", "Lake Vann is a lake. It was dammed on 3 June 1931."),
];

fn tool(action: &str) -> String {
    let (verb, argument) = action.split_once('[').expect("an action");
    let argument = argument.strip_suffix(']').expect("an action");
    if verb == "Lookup" {
        return "No more results.".into();
    }
    if let Some((_, text)) = PAGES.iter().find(|(title, _)| title.eq_ignore_ascii_case(argument)) {
        return (*text).into();
    }
    let shares = |title: &str| title.split(' ').any(|word| argument.split(' ').any(|own| own == word));
    let similar: Vec<String> =
        PAGES.iter().filter(|(title, _)| shares(title)).map(|(title, _)| format!("'{title}'")).collect();
    format!("Could not find {argument}. Similar: [{}].", similar.join(", "))
}

/// A step of the paper's: what the model wrote for an action, and what the tool answered.
pub(super) fn past(action: &str, observation: &str) -> (ToolCall, String) {
    let lowered = action.replacen(char::is_alphabetic, &action[..1].to_lowercase(), 1);
    let (tool, input) = Tool::parse_action(&lowered);
    let call = ToolCall {
        step: 0,
        thought: None,
        action_text: action.to_owned(),
        tool,
        input: input.to_owned(),
        discarded: None,
        reply: Reply::Tool,
    };
    (call, observation.to_owned())
}

/// A request whose prompt ends in this text.
fn request(question: &str, steps: &[(ToolCall, String)], end: &str) -> Request {
    let prompt = Prompt::text("Examples.\n".into(), format!("Question: {question}\n{end}"));
    let state = EpisodeState { question: question.to_owned(), steps: steps.to_vec() };
    Request { state: Some(Arc::new(state)), ..Request::new(prompt, vec!["\nObservation".into()], Decoding::default()) }
}

async fn ask(request: &Request, claims: bool) -> String {
    let settings = BaselineSettings { claims, ..BaselineSettings::default() };
    Baseline::new(settings).complete(request, None).await.expect("it always answers").text
}

/// Runs an episode; gives the actions, the last of which is `Finish[…]`.
async fn episode(question: &str) -> Vec<String> {
    let (label, question) = question.split_once(": ").expect("a label");
    let (mut steps, mut actions) = (Vec::new(), Vec::new());
    for n in 1..=7 {
        let step = ask(&request(question, &steps, &format!("Thought {n}:")), label == "Claim").await;
        let action = step.split_once(&format!("\nAction {n}: ")).expect("a thought and an action").1.to_owned();
        actions.push(action.clone());
        if action.starts_with("Finish[") {
            return actions;
        }
        steps.push(past(&action, &tool(&action)));
    }
    panic!("no answer by step 7: {actions:?}");
}

#[tokio::test]
async fn a_bridge_is_crossed() {
    assert_eq!(
        episode("Question: In which town was the director of Nightfall of Arven born?").await,
        ["Search[Nightfall of Arven]", "Lookup[born]", "Search[Mara Lindqvist]", "Finish[Tolvsund]"]
    );
}

#[tokio::test]
async fn an_answer_has_the_type_that_is_asked_for() {
    for (question, answer) in [
        ("Question: Who was Mara Lindqvist?", "a Swedish film director"),
        ("Question: When was Lake Vann dammed?", "3 June 1931"),
        ("Question: In what year was Nightfall of Arven made?", "1961"),
        ("Question: How many kilometres long is the river on which Tolvsund lies?", "120"),
        ("Question: Which is longer, the River Ark or the River Bel?", "River Bel"),
        ("Question: Who was born first, Mara Lindqvist or Otto Brandt?", "Otto Brandt"),
        ("Question: Did Mara Lindqvist study medicine?", "yes"),
        ("Question: Did Mara Lindqvist collect antique clocks and breed northern honey bees?", "no"),
        ("Claim: Mara Lindqvist was a film director who was born in Tolvsund.", "SUPPORTS"),
        ("Claim: Mara Lindqvist studied medicine in 1947.", "REFUTES"),
        ("Claim: Mara Lindqvist collected antique clocks and kept bees.", "NOT ENOUGH INFO"),
    ] {
        let actions = episode(question).await;
        assert_eq!(actions.last(), Some(&format!("Finish[{answer}]")), "{question} {actions:?}");
    }
}

#[tokio::test]
async fn there_is_an_answer_by_the_last_step_and_where_none_can_be_looked_for() {
    let steps: Vec<_> =
        (1..7).map(|n| past(&format!("Search[x{n}]"), &format!("Could not find x{n}. Similar: ['y{n}']."))).collect();
    let step = ask(&request("Who was Ann Bee?", &steps, "Thought 7:"), false).await;
    assert!(step.contains("\nAction 7: Finish["), "{step}");
    let step = ask(&request("Who was Ann Bee?", &steps, "Thought 7: hm\nAction 7:"), false).await;
    assert_eq!(step, " Finish[Ann Bee]");
    assert_eq!(ask(&request("Who was Ann Bee?", &[], "Answer:"), false).await, " Ann Bee");
}

#[tokio::test]
async fn pages_cannot_make_it_write_more_than_a_line() {
    let page =
        "X [y]\u{1b}[31m is a. Q [[z]] Ä\u{202e} Bridge of\u{b} Fire, who\\was\"born\" in Ann\u{1}Bee".repeat(50);
    let step = ask(&request("Who was born in X?", &[past("Search[X]", &page)], "Thought 2:"), false).await;
    assert_eq!(step.lines().count(), 2, "{step:?}");
    assert!(step.chars().all(|c| c == '\n' || !c.is_control()) && step.len() < 1500, "{step:?}");
}

#[tokio::test]
async fn long_pages_take_no_long_time() {
    let page = "Ann Bee and Carl Dee built 12 bridges in 1950 near Lake Vann. ".repeat(20_000);
    let question = "who built which bridge of Ann Bee ".repeat(2_000);
    assert!(!ask(&request(&question, &[past("Search[x]", &page)], "Action 2:"), false).await.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_text_makes_it_stumble(question in "\\PC{0,80}", page in "([A-Z]?[a-z0-9é.,'’()\\[\\]–-]{0,8} ?){0,60}", similar in "['\"\\\\a-z,\\]]{0,40}") {
        let missed = past("Search[a]", &format!("Could not find a. Similar: [{similar}"));
        let request = request(&question, &[missed, past("Search[b]", &page)], "Thought 3:");
        let model = Baseline::default();
        prop_assert_eq!(model.reply(&request), model.reply(&request));
    }
}
