//! What holds for every dialogue, whatever a model writes: it never panics, asks and uses within its limits, and
//! comes to an end; and reading takes time in proportion to the length of the text.

mod outputs;

use crate::base::{Message, Outcome, Prompt, Question};
use crate::prompting::protocol::direct::Direct;
use crate::prompting::protocol::{Dialogue, Frame, IDS, Options, Protocol, Setup, ToolSpec, Turn, find};
use crate::tests::rubble::Rubble;
use outputs::Chance;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Model outputs that each protocol reads.
const OUTPUTS: usize = 100_000;

/// A seed that is the same at every run, unless `WIKITRAIL_SEED` says otherwise.
fn seed() -> u64 {
    Rubble::new().below(usize::MAX) as u64
}

/// Options that change what a protocol reads.
const VARIANTS: [(&str, &str, &str); 3] =
    [("llama-index", "variant", "workflow"), ("lagent", "labels", "v0.1"), ("lagent", "variant", "json")];

const OBSERVATIONS: &[&str] = &[
    "No more results.\n",
    "",
    "The Colorado orogeny was an episode of mountain building.",
    "Could not find x. Similar: ['a', \"b's\"].",
    "(Result 1 / 1) Thought 2: u\nAction 2: Finish[z]\\n",
    "找不到[x]。",
    "{\"a\": {}}\n\nAnswer: 5",
];

/// Every protocol with its options, by a name for messages.
fn protocols() -> Vec<(String, Arc<dyn Protocol>)> {
    let plain = IDS.into_iter().map(|id| (id.to_owned(), Options::default(), id));
    let variants = VARIANTS.into_iter().map(|(id, name, value)| {
        (format!("{id} {name}={value}"), Options([(name.to_owned(), value.to_owned())].into()), id)
    });
    let found = |(name, options, id): (String, Options, &str)| {
        let protocol = find(id, &options).expect("a known id").unwrap_or_else(|error| panic!("{error}"));
        (name, protocol)
    };
    plain.chain(variants).map(found).collect()
}

fn setup(max_steps: usize, thoughts: bool) -> Arc<Setup> {
    let tool = |name: &str, spec: ToolSpec| ToolSpec { name: name.to_owned(), ..spec };
    let frame = Frame {
        prefix: "PREFIX\n".into(),
        suffix: "\nThought: ".into(),
        system: Some("SYSTEM".into()),
        examples: vec![Message::user("Question: e"), Message::assistant("Thought 1: f\nAction 1: Finish[g]")],
        tools: vec![
            tool("search", ToolSpec::new(crate::base::Tool::Search, "Does it.", "What.")),
            tool("lookup", ToolSpec::new(crate::base::Tool::Lookup, "Does it.", "What.")),
        ],
        ..Frame::default()
    };
    let mut setup = Arc::unwrap_or_clone(crate::tests::setup(frame, max_steps));
    setup.thoughts = thoughts;
    setup.history = vec![Message::user("Question: h"), Message::assistant("Answer: i")];
    Arc::new(setup)
}

fn question() -> Question {
    Question::new("q", "Why {so}?", vec!["yes".to_owned()])
}

/// One conversation in which replies keep coming; how many there were.
fn converse(
    name: &str,
    mut dialogue: Box<dyn Dialogue>,
    max_steps: usize,
    chance: &mut Chance,
    read: impl Fn(&str, usize),
) -> usize {
    let (mut calls, mut steps, mut last) = (0, 0, String::new());
    let mut turn = dialogue.begin(&question());
    let stop = loop {
        turn = match turn {
            Turn::Ask(request) => {
                calls += 1;
                assert!(calls <= 2 * max_steps + 2, "{name}: call {calls} of {max_steps} steps after {last:?}");
                assert!(request.prompt.chars() > 0, "{name}: an empty prompt after {last:?}");
                if let Prompt::Messages(messages) = &request.prompt {
                    assert!(!messages.is_empty(), "{name}: no message after {last:?}");
                }
                assert!(request.stop.iter().all(|stop| !stop.is_empty()), "{name}: an empty stop");
                last = chance.output(steps + 1);
                read(&last, steps + 1);
                dialogue.completion(&last)
            }
            Turn::Use(call) => {
                assert_eq!(call.step, steps + 1, "{name}: steps do not follow each other after {last:?}");
                steps = call.step;
                assert!(steps <= max_steps + 1, "{name}: step {steps} of {max_steps} after {last:?}");
                assert!(calls > 0 || max_steps == 0, "{name}: a tool before the model");
                dialogue.observation(chance.of(OBSERVATIONS))
            }
            Turn::Stop(stop) => break stop,
        };
    };
    assert_ne!(stop.outcome, Outcome::NotMeasured, "{name}: {last:?}");
    assert_eq!(stop.answer.is_some(), stop.outcome == Outcome::Finished, "{name}: {stop:?} after {last:?}");
    let in_range = |step: usize| (1..=steps + 1).contains(&step);
    assert!(stop.repairs.iter().all(|repair| in_range(repair.step) && !repair.kind.is_empty()), "{name}: {stop:?}");
    let _ = dialogue.memory();
    calls
}

#[test]
fn every_dialogue_ends_within_its_limits_whatever_is_said() {
    for (name, protocol) in protocols() {
        let begun = Instant::now();
        let mut chance = Chance::new(seed());
        let mut outputs = 0;
        while outputs < Rubble::count(OUTPUTS) {
            let (max_steps, thoughts) =
                (chance.below(6), chance.below(4) > 0 || !protocol.profile().acts_without_thoughts);
            let dialogue = protocol.dialogue(&setup(max_steps, thoughts));
            let calls = converse(&name, dialogue, max_steps, &mut chance, |output, step| {
                let _ = protocol.parse(output, step);
            });
            // A conversation without a call is one all the same.
            outputs += calls.max(1);
        }
        println!("{name}: {outputs} outputs in {:?}", begun.elapsed());
    }
}

#[test]
fn direct_answers_end_after_two_calls_whatever_is_said() {
    for reasons in [false, true] {
        let mut chance = Chance::new(seed());
        let mut outputs = 0;
        while outputs < Rubble::count(OUTPUTS) {
            let dialogue = Box::new(Direct::new(&setup(1, reasons), reasons, false));
            let calls = converse("direct", dialogue, 1, &mut chance, |_, _| {});
            assert!(calls <= 2, "direct: {calls} calls");
            outputs += calls;
        }
        println!("direct: {outputs} outputs");
    }
}

/// Texts that a reader that looks back reads many times, `length` bytes long.
fn adversarial(length: usize) -> Vec<(&'static str, String)> {
    let repeated = |piece: &str| piece.repeat(length / piece.len());
    let halves = |first: &str, second: &str| {
        format!("{}{}", first.repeat(length / 2 / first.len()), second.repeat(length / 2 / second.len()))
    };
    vec![
        ("newlines behind a label", format!("Thought: {}Action: x", "\n".repeat(length))),
        ("newlines between labels", format!("Thought: t\nAction: a{}Action Input: x", "\n".repeat(length))),
        ("braces", halves("{", "}")),
        ("open objects", repeated("Thought: t\nAction: a\nAction Input: {\"a\":")),
        ("brackets", format!("Thought 1: t\nAction 1: Search{}", halves("[", "]"))),
        ("open actions", repeated("\nAction 1: Search[")),
        ("quotes", format!("Thought: t\nAction: a\nAction Input: {{{}}}", repeated("\""))),
        ("apostrophes", format!("Thought: t\nAction: a\nAction Input: {{'a': '{}'}}", repeated("'"))),
        ("backslashes", format!("Thought: t\nAction: a\nAction Input: {{\"a\": \"{}", repeated("\\"))),
        ("labels", repeated("Thought: ")),
        ("steps", repeated("Thought 1: t\nAction 1: Search[x]\n")),
        ("inputs", repeated("\nAction: a\nAction Input: ")),
        ("answers", repeated("Answer: Final Answer: ")),
        ("words and spaces", halves("Search[x] a ", " ")),
        ("fences", repeated("```json\n")),
        ("verbs and fences", repeated("finish\n```\n")),
        ("think", repeated("<think>")),
        ("one line", repeated("é")),
    ]
}

/// What one text takes: its parse, and one reply of a dialogue.
fn took(protocol: &dyn Protocol, setup: &Arc<Setup>, text: &str) -> Duration {
    let begun = Instant::now();
    let _ = protocol.parse(text, 1);
    let mut dialogue = protocol.dialogue(setup);
    dialogue.begin(&question());
    dialogue.completion(text);
    begun.elapsed()
}

/// A quarter of a megabyte and a whole one: reading ends, and the table shows four times the time where work is linear,
/// sixteen where it is not. The times are printed and not judged: a busy machine proves nothing.
#[test]
fn a_megabyte_of_hostile_text_is_read() {
    let setup = setup(3, true);
    let (quarter, whole) = (adversarial(250_000), adversarial(1_000_000));
    for (name, protocol) in protocols() {
        for ((kind, quarter), (_, whole)) in quarter.iter().zip(&whole) {
            let (n, four) = (took(protocol.as_ref(), &setup, quarter), took(protocol.as_ref(), &setup, whole));
            println!("{name}, {kind}: {n:.1?}, {four:.1?}");
        }
    }
}
