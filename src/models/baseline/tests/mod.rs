//! Whole episodes of the policy over a handful of pages, and prompts that no one should send.

mod dialogues;
mod units;

use super::{Baseline, BaselineSettings};
use crate::base::{Decoding, Prompt, Request};
use crate::models::Model as _;
use proptest::prelude::*;

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

async fn ask(text: String, n: usize) -> String {
    let prompt = Prompt::text("Examples.\nQuestion: other\nThought 1: x\nAction 1: Finish[y]\n".into(), text);
    let request = Request::new(prompt, vec![format!("\nObservation {n}:")], Decoding::default());
    Baseline::new(BaselineSettings::default()).complete(&request).await.expect("it always answers").text
}

/// Runs an episode; gives the actions, the last of which is `Finish[…]`.
async fn episode(question: &str) -> Vec<String> {
    let mut text = format!("{question}\n");
    let mut actions = Vec::new();
    for n in 1..=7 {
        let step = ask(format!("{text}Thought {n}:"), n).await;
        let action = step.split_once(&format!("\nAction {n}: ")).expect("a thought and an action").1.to_owned();
        actions.push(action.clone());
        if action.starts_with("Finish[") {
            return actions;
        }
        text = format!("{text}Thought {n}:{step}\nObservation {n}: {}\n", tool(&action));
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
    let past = |n: usize| {
        format!("Thought {n}: x\nAction {n}: Search[x{n}]\nObservation {n}: Could not find x{n}. Similar: ['y{n}'].\n")
    };
    let steps = (1..7).map(past).collect::<Vec<_>>().concat();
    let step = ask(format!("Question: Who was Ann Bee?\n{steps}Thought 7:"), 7).await;
    assert!(step.contains("\nAction 7: Finish["), "{step}");
    let step = ask(format!("Question: Who was Ann Bee?\n{steps}Thought 7: hm\nAction 7:"), 7).await;
    assert_eq!(step, " Finish[Ann Bee]");
    assert_eq!(ask("Question: Who was Ann Bee?\nAnswer:".into(), 1).await, " Ann Bee");
}

#[tokio::test]
async fn pages_cannot_make_it_write_more_than_a_line() {
    let page =
        "X [y]\u{1b}[31m is a. Q [[z]] Ä\u{202e} Bridge of\u{b} Fire, who\\was\"born\" in Ann\u{1}Bee".repeat(50);
    let text =
        format!("Question: Who was born in X?\nThought 1: a\nAction 1: Search[X]\nObservation 1: {page}\nThought 2:");
    let step = ask(text, 2).await;
    assert_eq!(step.lines().count(), 2, "{step:?}");
    assert!(step.chars().all(|c| c == '\n' || !c.is_control()) && step.len() < 1500, "{step:?}");
}

#[tokio::test]
async fn long_pages_take_no_long_time() {
    let page = "Ann Bee and Carl Dee built 12 bridges in 1950 near Lake Vann. ".repeat(20_000);
    let question = "who built which bridge of Ann Bee ".repeat(2_000);
    let step = format!("Action 1: Search[x]\nObservation 1: {page}\n");
    assert!(!ask(format!("Question: {question}\n{step}Action 2:"), 2).await.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_text_makes_it_stumble(question in "\\PC{0,80}", page in "([A-Z]?[a-z0-9é.,'’()\\[\\]–-]{0,8} ?){0,60}", similar in "['\"\\\\a-z,\\]]{0,40}") {
        let text = format!("Question: {question}\nThought 1: a\nAction 1: Search[a]\nObservation 1: Could not find a. Similar: [{similar}\nThought 2: a\nAction 2: Search[b]\nObservation 2: {page}\nThought 3:");
        let request = Request::new(Prompt::text("".into(), text), vec![], Decoding::default());
        let model = Baseline::default();
        prop_assert_eq!(model.reply(&request), model.reply(&request));
    }
}
