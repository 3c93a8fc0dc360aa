//! From a sentence to a short answer.

use super::question::{Kind, Question};
use super::reading::Sentence;
use super::text::{self, Span};
use std::collections::HashSet;
use std::ops::Range;

/// A short answer found in a sentence, and how well it fits its kind, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) answer: String,
    pub(super) fit: f64,
}

/// The best short answer in `sentence`, a sentence about `subject`. `fresh` says which clues count as anchors.
pub(super) fn extract(
    sentence: &Sentence,
    subject: &str,
    question: &Question,
    fresh: &dyn Fn(usize) -> bool,
) -> Option<Found> {
    let anchors = anchors(sentence, question, fresh);
    match question.kind {
        Kind::Year => year(sentence, question, &anchors, false),
        Kind::Date => year(sentence, question, &anchors, true),
        Kind::Number => number(sentence, question, &anchors),
        Kind::Nationality => nationality(sentence),
        Kind::Person | Kind::Place => name(sentence, subject, question, &anchors),
        Kind::Thing => {
            let named = name(sentence, subject, question, &anchors);
            let plain = plain(sentence, question, &anchors);
            match (named, plain) {
                (Some(named), Some(plain)) => Some(if plain.fit > named.fit { plain } else { named }),
                (named, plain) => named.or(plain),
            }
        }
    }
}

/// Where the sentence takes up the question's words.
fn anchors(sentence: &Sentence, question: &Question, fresh: &dyn Fn(usize) -> bool) -> Vec<Range<usize>> {
    let clues = || question.clues.iter().enumerate().filter(|(_, clue)| !clue.named);
    let hits = |all: bool| -> Vec<Range<usize>> {
        let wanted: HashSet<&str> =
            clues().filter(|(i, _)| all || fresh(*i)).map(|(_, clue)| clue.stem.as_str()).collect();
        let taken_up = sentence.words.iter().filter(|(stem, _)| wanted.contains(stem.as_str()));
        taken_up.map(|(_, at)| at.clone()).collect()
    };
    let first = hits(false);
    if first.is_empty() { hits(true) } else { first }
}

/// Nearness of a place to the nearest anchor, 0 to 1; what follows an anchor is nearer than what stands before it.
fn nearness(at: &Range<usize>, anchors: &[Range<usize>]) -> f64 {
    let distance = |anchor: &Range<usize>| {
        if at.start >= anchor.end { at.start - anchor.end } else { 12 + 2 * anchor.start.saturating_sub(at.end) }
    };
    let least = anchors.iter().map(distance).min();
    least.map_or(0.2, |d| 20.0 / (20.0 + f64::from(u32::try_from(d).unwrap_or(u32::MAX))))
}

fn best<T>(items: impl IntoIterator<Item = (T, f64)>) -> Option<(T, f64)> {
    items.into_iter().fold(None, |best: Option<(T, f64)>, (item, score)| match best {
        Some((_, most)) if most >= score => best,
        _ => Some((item, score)),
    })
}

fn year(sentence: &Sentence, question: &Question, anchors: &[Range<usize>], whole: bool) -> Option<Found> {
    let asked: Vec<i32> = text::years(&question.text).into_iter().map(|(year, _)| year).collect();
    let years: Vec<(i32, Range<usize>)> =
        text::years(&sentence.text).into_iter().filter(|(year, _)| !asked.contains(year)).collect();
    let has = |stem: &str| question.clues.iter().any(|clue| clue.stem == stem);
    // Behind a person's name stand birth and death, in this order and often without a word.
    let life = text::life(&sentence.text);
    let pick = if has("born") {
        life.first()
    } else if has("die") {
        life.get(1)
    } else {
        None
    };
    if let Some(at) = pick {
        return Some(Found { answer: shown(sentence, at, whole), fit: 0.9 });
    }
    let (at, fit) = best(years.into_iter().map(|(_, at)| {
        let near = nearness(&at, anchors);
        (at, near)
    }))?;
    Some(Found { answer: shown(sentence, &at, whole), fit })
}

fn shown(sentence: &Sentence, year: &Range<usize>, whole: bool) -> String {
    let at = whole.then(|| text::date_around(&sentence.text, year)).flatten().unwrap_or(year.clone());
    sentence.text[at].to_owned()
}

fn number(sentence: &Sentence, question: &Question, anchors: &[Range<usize>]) -> Option<Found> {
    let years: Vec<Range<usize>> = text::years(&sentence.text).into_iter().map(|(_, at)| at).collect();
    let counted: Vec<Range<usize>> = text::words(&sentence.text)
        .into_iter()
        .filter(|word| question.head.contains(&text::stem(word.text)))
        .map(|word| word.at)
        .collect();
    let numbers =
        text::numbers(&sentence.text).into_iter().filter(|n| !years.contains(&n.at) && !question.mentions(&n.text));
    let (number, fit) = best(numbers.map(|number| {
        // `eight comets`: what is counted follows the number closely.
        let before =
            counted.iter().filter(|noun| noun.start >= number.at.end).map(|noun| noun.start - number.at.end).min();
        let bonus = before.map_or(0.0, |gap| if gap < 25 { 0.5 } else { 0.1 });
        let small = if number.value <= 1.0 { 0.3 } else { 0.0 };
        let fit = nearness(&number.at, anchors) * 0.5 + bonus - small;
        (number, fit)
    }))?;
    Some(Found { answer: number.text, fit })
}

fn nationality(sentence: &Sentence) -> Option<Found> {
    let word = text::words(&sentence.text).into_iter().find(|word| text::is_demonym(word.text))?;
    Some(Found { answer: word.text.to_owned(), fit: 0.9 })
}

fn name(sentence: &Sentence, subject: &str, question: &Question, anchors: &[Range<usize>]) -> Option<Found> {
    let spans =
        text::spans(&sentence.text).into_iter().filter(|span| may_answer(span, subject, question) && !opens(span));
    let (span, fit) = best(spans.map(|span| {
        let score = nearness(&span.at, anchors) * 0.6 + shape(&span, sentence, question.kind);
        (span, score)
    }))?;
    Some(Found { answer: span.text, fit })
}

fn may_answer(span: &Span, subject: &str, question: &Question) -> bool {
    let subject = text::fold(subject);
    let own = text::fold(&span.text);
    let part_of_subject = format!(" {subject} ").contains(&format!(" {own} "));
    !part_of_subject && !question.mentions(&span.text) && !text::is_month(&span.text) && !text::is_demonym(&span.text)
}

/// A single word at the start of a sentence has its capital from there, most likely.
pub(super) fn opens(span: &Span) -> bool {
    span.at.start == 0 && !span.text.contains(' ')
}

/// How much a name looks like the kind that is asked for, by its length and the words around it.
fn shape(span: &Span, sentence: &Sentence, kind: Kind) -> f64 {
    let before = sentence.text[..span.at.start]
        .trim_end()
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let several = span.text.contains(' ');
    let placed = matches!(before.as_str(), "in" | "at" | "near" | "of" | "from" | "on" | "into" | "to");
    match kind {
        Kind::Person => {
            let by = if matches!(before.as_str(), "by" | "with" | "and") { 0.25 } else { 0.0 };
            let place = if matches!(before.as_str(), "in" | "at" | "near") { -0.3 } else { 0.0 };
            by + place + if several { 0.2 } else { 0.0 }
        }
        Kind::Place if placed => 0.35,
        _ => 0.0,
    }
}

/// An answer that is no name: the words right behind the word that was taken up, `studied medicine`.
fn plain(sentence: &Sentence, question: &Question, anchors: &[Range<usize>]) -> Option<Found> {
    let words = text::words(&sentence.text);
    let last = anchors.last()?;
    let after: Vec<&str> = words
        .iter()
        .filter(|word| word.at.start >= last.end)
        .skip_while(|word| text::is_stop(word.text))
        .take_while(|word| {
            !text::is_stop(word.text) && !word.text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
        })
        .take(3)
        .map(|word| word.text)
        .collect();
    let known = after.iter().all(|word| question.clues.iter().any(|clue| clue.stem == text::stem(word)));
    (!after.is_empty() && !known).then(|| Found { answer: after.join(" "), fit: 0.3 })
}
