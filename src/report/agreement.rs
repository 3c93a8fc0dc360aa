//! What people say of episodes, beside what the rules say and what other people say.

use super::judged::agreement_line;
use super::layout::{headings, table};
use super::number::{dash, percent};
use super::wrapped;
use crate::label::{Annotation, Disagreement, Judgements, Person, Table, Two};
use crate::types::text::{counted, thousands, visible_line};
use std::fmt::Write as _;

/// Disagreements that are listed.
const MAX_LISTED: usize = 20;
/// Longest name of a person that is shown.
const MAX_PERSON_NAME: usize = 40;
/// Characters of a reason that are shown.
const MAX_REASON: usize = 400;
/// Characters of a class above a column.
const MAX_HEADING: usize = 6;

/// The tables, ending in a line break; `command` prints one episode.
pub(crate) fn judgements(judgements: &Judgements, command: &dyn Fn(&Disagreement) -> String, width: usize) -> String {
    let mut text = String::new();
    for person in &judgements.people {
        of_person(&mut text, person, judgements, command, width);
    }
    for two in &judgements.pairs {
        of_two(&mut text, two, command, width);
    }
    if !judgements.people.is_empty() {
        text.push_str("intervals: 95 %, over questions; formulas: `wikitrail docs annotation`\n");
    }
    text
}

/// What a model says of an episode, in one line.
pub(crate) fn reading(one: &Annotation) -> String {
    let class = one.class.map(|class| format!(" says {}", class.name())).unwrap_or_default();
    let reason = one.note.as_deref().map(|note| format!(": {}", visible_line(note, MAX_REASON))).unwrap_or_default();
    format!("{}{class}{reason}", visible_line(&one.by, MAX_PERSON_NAME))
}

fn of_person(
    text: &mut String,
    person: &Person,
    judgements: &Judgements,
    command: &dyn Fn(&Disagreement) -> String,
    width: usize,
) {
    let by = visible_line(&person.by, MAX_PERSON_NAME);
    let seen = match person.episodes - person.blind {
        0 => "without sight of the rules' verdict".to_owned(),
        seen => format!("{} of them in sight of the rules' verdict, or unknown", thousands(seen)),
    };
    text.push('\n');
    text.push_str(&wrapped(&format!("judged by {by}: {}, {seen}", counted(person.episodes, "episode")), width, ""));
    if person.is_model() {
        of_model(text, &person.by, judgements, width);
    }
    if person.classes.agreement.n > 0 {
        let _ = writeln!(text, "failure classes, rules against {by}:\n  {}", agreement_line(&person.classes.agreement));
        confusion(text, "rules", &by, &person.classes, width);
        // Only a person is the measure of the rules.
        if !person.is_model() {
            shares(text, &by, &person.classes, width);
        }
    }
    if person.correct.agreement.n > 0 {
        let _ = writeln!(text, "right or wrong, metric against {by}:\n  {}", agreement_line(&person.correct.agreement));
        confusion(text, "metric", &by, &person.correct, width);
    }
    disagreements(text, ["rules", &by], &person.classes, command);
    disagreements(text, ["metric", &by], &person.correct, command);
}

/// A model's classes are worth what they agree with people's.
fn of_model(text: &mut String, by: &str, judgements: &Judgements, width: usize) {
    let mut people = judgements.of_model_and_people(by).peekable();
    if people.peek().is_none() {
        let unknown = "no person has classified these episodes: how often this model is right is not known";
        text.push_str(&wrapped(unknown, width, "  "));
    }
    for (person, found) in people {
        let line = format!("against {}, a person: {}", visible_line(person, MAX_PERSON_NAME), agreement_line(found));
        text.push_str(&wrapped(&line, width, "  "));
    }
}

fn of_two(text: &mut String, two: &Two, command: &dyn Fn(&Disagreement) -> String, width: usize) {
    let [a, b] = &two.people.each_ref().map(|name| visible_line(name, MAX_PERSON_NAME));
    for (what, said) in [("failure classes", &two.classes), ("right or wrong", &two.correct)] {
        if said.agreement.n > 0 {
            let _ = writeln!(text, "\n{what}, {a} against {b}:\n  {}", agreement_line(&said.agreement));
            confusion(text, a, b, said, width);
            disagreements(text, [a, b], said, command);
        }
    }
}

/// Rows are the first's, columns the second's.
fn confusion(text: &mut String, first: &str, second: &str, said: &Table, width: usize) {
    let heads: Vec<String> = said.words.iter().map(|word| word.chars().take(MAX_HEADING).collect()).collect();
    let header = headings(&format!("{first} / {second}"), &heads.iter().map(String::as_str).collect::<Vec<_>>());
    let counts = |row: usize| (0..said.words.len()).map(move |column| said.agreement.confusion.get(row, column));
    let row = |(at, word): (usize, &&str)| {
        let shown = |count: u64| if count == 0 { "·".to_owned() } else { thousands(count) };
        std::iter::once((*word).to_owned()).chain(counts(at).map(shown)).collect()
    };
    let rows: Vec<Vec<String>> = said.words.iter().enumerate().map(row).collect();
    let _ = writeln!(text, "{}", table(&header, &rows, width));
}

/// Precision and recall of the rules for each class, with the person as the judge.
fn shares(text: &mut String, by: &str, said: &Table, width: usize) {
    let header = headings("class", &["rules", by, "both", "precision %", "recall %"]);
    let counts = &said.agreement.confusion;
    let share = |share: Option<f64>| share.map_or_else(dash, percent);
    let row = |(at, word): (usize, &&str)| {
        vec![
            (*word).to_owned(),
            thousands(counts.first(at)),
            thousands(counts.second(at)),
            thousands(counts.get(at, at)),
            share(counts.precision(at)),
            share(counts.recall(at)),
        ]
    };
    let rows: Vec<Vec<String>> = said.words.iter().enumerate().map(row).collect();
    let _ = writeln!(text, "{}", table(&header, &rows, width));
}

fn disagreements(text: &mut String, who: [&str; 2], said: &Table, command: &dyn Fn(&Disagreement) -> String) {
    let all = &said.disagreements;
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "{} of {} and {}:", counted(all.len(), "disagreement"), who[0], who[1]);
    for one in all.iter().take(MAX_LISTED) {
        let _ = writeln!(text, "  {:<13} {:<13} {}", one.first, one.second, visible_line(&command(one), 500));
    }
    if all.len() > MAX_LISTED {
        let _ = writeln!(text, "  and {} more; --json has all", thousands(all.len() - MAX_LISTED));
    }
}
