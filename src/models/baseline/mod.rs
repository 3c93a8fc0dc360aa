//! `--model baseline`: a simple rule-based policy with the interface of a real model.
//!
//! It searches for the titles that the question names, looks up its rarest words, follows names that it reads, and
//! answers with the best matching span. It needs no key, network or weights, so runs can be tried, tested and measured on any machine, with the same answers every time. A real model should beat it.

mod notes;
mod text;
mod transcript;

use super::{CompletionFuture, Model, OnEvent, cut_at_stop, report};
use crate::base::{Completion, Request, Tool};
use futures_util::FutureExt as _;
use notes::{Clues, Kind, Notes, Page, Question, weight};
use text::Span;
use transcript::{Action, Decision, Transcript};

pub use transcript::BaselineSettings;

#[derive(Debug, Clone, Default)]
pub struct Baseline {
    settings: BaselineSettings,
}

impl Baseline {
    pub fn new(settings: BaselineSettings) -> Self {
        Self { settings }
    }

    pub fn reply(&self, request: &Request) -> Completion {
        let transcript = Transcript::read(request, &self.settings);
        let decision = decide(&transcript, &self.settings);
        if let Some(functions) = &request.functions {
            return transcript.call(&decision, functions);
        }
        let text = transcript.write(&decision, &self.settings);
        Completion { text, finish_reason: Some("stop".to_owned()), ..Completion::default() }
    }
}

impl Model for Baseline {
    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let mut completion = self.reply(request);
        let end = cut_at_stop(&completion.text, &request.stop);
        completion.text.truncate(end);
        report(&completion, on_event);
        futures_util::future::ready(Ok(completion)).boxed()
    }
}

// Decides what to do next: search for a title in the question, look up a rare word, follow a name on a page, answer.

/// Share of the question that must be covered to answer while steps are left.
const ENOUGH: f64 = 0.9;
/// Words are only looked up with more steps left than this.
const SPARE: usize = 4;

fn decide(transcript: &Transcript, settings: &BaselineSettings) -> Decision {
    let question = Question::read(&transcript.question, settings.claims);
    let left = if transcript.must_answer() { 1 } else { (settings.last_step + 1).saturating_sub(transcript.step()) };
    let notes = Notes::read(&transcript.steps, &question);
    let offered = settings.protocol().offers();
    next_step(&question, &notes, transcript.just_failed.as_ref(), left, |share| {
        if offered.offers(Tool::Passages) {
            retrieve(&transcript.question, &question, &notes, share)
        } else {
            use_tool(&question, &notes, share, left)
        }
    })
}

/// The next step, with `left` steps left including it; an answer that was just refused is not repeated.
fn next_step(
    question: &Question,
    notes: &Notes,
    refused: Option<&Action>,
    left: usize,
    use_tool: impl FnOnce(f64) -> Option<Action>,
) -> Decision {
    let Found { answer, share } = best_answer(question, notes);
    let answer = text::line(&answer);
    let verdict = question.kind == Kind::Verdict;
    let guesses = if verdict { ["NOT ENOUGH INFO", "REFUTES"] } else { ["unknown", "not known"] };
    let is_new = |action: &Action| refused != Some(action);
    let finish = |answer: &str| Some(act(Tool::Finish, answer)).filter(is_new);
    let tool = if left > 1 { use_tool(share).filter(is_new) } else { None };
    let search = || (left > 1 && !notes.tried(&answer)).then(|| act(Tool::Search, &answer));
    let action = tool.or_else(|| finish(&answer)).or_else(search);
    let action = action.or_else(|| guesses.into_iter().find_map(finish)).unwrap_or(act(Tool::Finish, &answer));
    let input = &action.input;
    let thought = match action.tool {
        Tool::Search => format!("I need to search {input}."),
        Tool::Lookup => format!("This page may say more about {input}."),
        Tool::Passages => format!("I need passages about {input}."),
        _ => format!("The answer is {input}."),
    };
    Decision { thought, action }
}

fn act(tool: Tool, input: &str) -> Action {
    Action { tool, input: input.to_owned() }
}

fn use_tool(question: &Question, notes: &Notes, share: f64, left: usize) -> Option<Action> {
    let untried = |title: &&String| !notes.tried(title);
    let search = |query: &String| act(Tool::Search, &text::line(query));
    let similar = notes.similar.iter().filter(untried);
    let similar = greatest(similar.map(|title| (title, question.share(&question.clues_in(title)))));
    if let Some((title, _)) = similar {
        return Some(search(title));
    }
    let named = question.titles.iter().find(untried).map(search);
    let all = matches!(question.kind, Kind::Verdict | Kind::YesNo | Kind::Most | Kind::Least);
    if named.is_some() && (all || notes.pages.is_empty()) {
        return named;
    }
    if share >= ENOUGH {
        return None;
    }
    let Some(page) = notes.pages.last() else {
        return Some(question.clues.join(" "))
            .filter(|words| !words.is_empty() && untried(&words))
            .as_ref()
            .map(search);
    };
    let keyword = lookup(question, page).map(|word| act(Tool::Lookup, &word));
    // A page that the question names may say more further down.
    if keyword.is_some() && left > SPARE && question.mentions(&page.title) {
        return keyword;
    }
    link(question, notes).as_ref().map(search).or(named).or(keyword)
}

/// What to ask for next where passages are offered, unless enough was read: the question, its names, then names in passages.
fn retrieve(asked: &str, question: &Question, notes: &Notes, share: f64) -> Option<Action> {
    let first = Some(text::line(asked)).filter(|asked| notes.pages.is_empty() && !asked.is_empty());
    let named = || question.titles.iter().find(|title| !notes.tried(title)).cloned();
    let more = || if share < ENOUGH { named().or_else(|| link(question, notes)) } else { None };
    let query = first.filter(|asked| !notes.tried(asked)).or_else(more)?;
    Some(act(Tool::Passages, &text::line(&query)))
}

/// The name on the pages that is closest to words of the question.
fn link(question: &Question, notes: &Notes) -> Option<String> {
    let mut links = Vec::new();
    for page in &notes.pages {
        for (text, clues) in &page.sentences {
            let share = question.share(&(&page.known | clues));
            let near = nearness(question, text, clues);
            for name in names(question, page, text).iter().filter(|name| !notes.tried(name.text)) {
                let several = if name.text.contains(' ') { 0.1 } else { 0.0 };
                links.push((name.text, share + several + 0.2 * near(name)));
            }
        }
    }
    greatest(links).map(|(name, _)| name.to_owned())
}

/// The rarest word of the question that the page has not shown; one per page.
fn lookup(question: &Question, page: &Page) -> Option<String> {
    let shown = page.clues(question);
    let open = question.clues.iter().enumerate().filter(|(i, _)| !page.looked_up && !shown.contains(i));
    greatest(open.map(|(_, clue)| (text::line(clue), weight(clue)))).map(|(keyword, _)| keyword)
}

// The best answer according to the notes.

/// An answer, and the share of the question that its evidence covers, from 0 to 1.
#[derive(Debug)]
struct Found {
    answer: String,
    share: f64,
}

/// A claim is supported from this share on, and unknown below the other.
const SUPPORTED: f64 = 0.75;
const UNKNOWN: f64 = 0.5;

/// The best answer so far; a guess if no page has one.
fn best_answer(question: &Question, notes: &Notes) -> Found {
    let certain = |answer: String| Found { answer, share: 1.0 };
    let found = match question.kind {
        Kind::Verdict => Some(verdict(question, notes)),
        Kind::YesNo => yes_or_no(question, notes).map(certain),
        Kind::Most => choice(question, notes, 1.0).map(certain),
        Kind::Least => choice(question, notes, -1.0).map(certain),
        Kind::Description => description(notes).map(certain),
        _ => span(question, notes),
    };
    found.unwrap_or_else(|| {
        let read = notes.pages.last().map(|page| &page.title).or(question.titles.first());
        let guess = if question.kind == Kind::YesNo { "yes" } else { read.map_or("unknown", |title| title) };
        Found { answer: guess.to_owned(), share: 0.0 }
    })
}

/// Judges by the share of the claim that was read anywhere, and whether that includes all its names and numbers.
fn verdict(claim: &Question, notes: &Notes) -> Found {
    let read: Clues = notes.pages.iter().flat_map(|page| page.clues(claim)).collect();
    let share = claim.share(&read);
    let titles = text::fold(&claim.titles.join(" "));
    let exact = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || text::is_one_of(&titles, word);
    let missing = claim.clues.iter().enumerate().any(|(i, clue)| exact(clue) && !read.contains(&i));
    let answer = match share {
        _ if share < UNKNOWN => "NOT ENOUGH INFO",
        _ if missing || share < SUPPORTED => "REFUTES",
        _ => "SUPPORTS",
    };
    Found { answer: answer.to_owned(), share }
}

/// Yes, if every page covers a third of the question; the rest may be about the other pages.
fn yes_or_no(question: &Question, notes: &Notes) -> Option<String> {
    let shares = notes.pages.iter().map(|page| question.share(&page.clues(question)));
    let least = shares.reduce(f64::min)?;
    Some(if least >= 1.0 / 3.0 { "yes" } else { "no" }.to_owned())
}

/// The title whose page has the lowest or highest number in the sentence that covers most of the question.
fn choice(question: &Question, notes: &Notes, sign: f64) -> Option<String> {
    let value = |title: &String| -> Option<f64> {
        let title = text::fold(title);
        let is_own = |own: String| own.contains(&title) || title.contains(&own);
        let page = notes.pages.iter().find(|page| is_own(text::fold(&page.title)))?;
        let values = page.sentences.iter().filter_map(|(text, clues)| Some((number(text)?, question.share(clues))));
        greatest(values).map(|(value, _)| sign * value)
    };
    let values = question.titles.iter().filter_map(|title| Some((title, value(title)?)));
    greatest(values).map(|(title, _)| title.clone())
}

/// The first year in a text, or else the first number in digits.
fn number(text: &str) -> Option<f64> {
    let numbers = text::numbers(text).into_iter();
    let values =
        numbers.filter_map(|span| Some((span.text.replace(',', "").parse().ok()?, f64::from(text::is_year(&span)))));
    greatest(values).map(|(value, _)| value)
}

/// How the first sentence of a page describes its topic: `a French mathematician`.
fn description(notes: &Notes) -> Option<String> {
    let (first, _) = notes.pages.first()?.sentences.first()?;
    let verbs = [" is ", " was ", " are ", " were "];
    let start = verbs.iter().filter_map(|verb| first.find(verb).map(|at| at + verb.len())).min()?;
    let said = first[start..].split([',', ';', '(']).next().unwrap_or_default();
    let words = said.split_whitespace().take_while(|word| !text::is_one_of("who which that where", word));
    let words: Vec<&str> = words.collect();
    Some(words.join(" ").trim_end_matches('.').to_owned()).filter(|said| !said.is_empty())
}

/// The span of the right type in the sentence that, with what is already known, covers most of the question.
fn span(question: &Question, notes: &Notes) -> Option<Found> {
    let mut found = Vec::new();
    for page in &notes.pages {
        for (text, clues) in &page.sentences {
            let share = question.share(&(&page.known | clues));
            let new = clues - &page.known;
            let news = if new.is_empty() { 0.0 } else { 0.3 };
            let near = nearest(question, page, text, if new.is_empty() { clues } else { &new });
            let answer = near.map(|(answer, fit)| (Found { answer, share }, 1.5 * share + news + 0.4 * fit));
            found.extend(answer);
        }
        // A page that the question does not name may be the answer.
        if question.kind == Kind::Name && !question.mentions(&page.title) {
            let share = question.share(&page.known);
            found.push((Found { answer: page.title.clone(), share }, 1.5 * share));
        }
    }
    greatest(found).map(|(found, _)| found)
}

/// The span of the right type that is closest to words of the question, and how close it is.
fn nearest(question: &Question, page: &Page, text: &str, clues: &Clues) -> Option<(String, f64)> {
    let numbers = text::numbers(text).into_iter();
    let spans = match question.kind {
        Kind::Year => numbers.filter(text::is_year).collect(),
        Kind::Date => numbers.filter(text::is_year).map(|year| text::date(text, &year)).collect(),
        Kind::Number => numbers.filter(|number| !text::is_year(number)).collect(),
        _ => names(question, page, text),
    };
    let near = nearness(question, text, clues);
    let new = spans.into_iter().filter(|span| !question.mentions(span.text));
    greatest(new.map(|span| (span.text.to_owned(), near(&span))))
}

/// Names on a page that are neither in the question nor in the page's title.
fn names<'a>(question: &Question, page: &Page, text: &'a str) -> Vec<Span<'a>> {
    let title = format!(" {} ", text::fold(&page.title));
    let is_new = |span: &Span<'_>| {
        let opens = span.at.start == 0 && !span.text.contains(' ');
        let known = title.contains(&format!(" {} ", text::fold(span.text))) || question.mentions(span.text);
        !known && !opens && !text::is_adjective(text, span)
    };
    text::titles(text).into_iter().filter(is_new).collect()
}

/// How close a span is to the words of these clues, from 0 to 1; a span after a word is closer than one before it.
fn nearness(question: &Question, text: &str, clues: &Clues) -> impl Fn(&Span<'_>) -> f64 {
    let stems: Vec<String> = clues.iter().map(|i| text::stem(&question.clues[*i])).collect();
    let is_clue = |word: &Span<'_>| stems.contains(&text::stem(word.text));
    let anchors: Vec<_> = text::words(text).into_iter().filter(is_clue).map(|word| word.at).collect();
    move |span| {
        let distance = |word: &std::ops::Range<usize>| {
            let before = 12 + 2 * word.start.saturating_sub(span.at.end);
            span.at.start.checked_sub(word.end).unwrap_or(before)
        };
        let least = anchors.iter().map(distance).min();
        least.map_or(0.2, |least| 20.0 / (20.0 + f64::from(u32::try_from(least).unwrap_or(u32::MAX))))
    }
}

fn greatest<T>(scored: impl IntoIterator<Item = (T, f64)>) -> Option<(T, f64)> {
    scored.into_iter().reduce(|best, other| if other.1 > best.1 { other } else { best })
}

#[cfg(test)]
mod tests;
