//! Decides what to do next: search for a title in the question, look up a rare word, follow a name on a page, answer.

use super::answer::{self, Found, greatest};
use super::notes::{Notes, Page};
use super::question::{Kind, Question, weight};
use super::text;
use super::transcript::{Action, Decision, Transcript};

/// Share of the question that must be covered to answer while steps are left.
const ENOUGH: f64 = 0.9;
/// Words are only looked up with more steps left than this.
const SPARE: usize = 4;

/// The next step; an answer if it is the last.
pub(super) fn decide(transcript: &Transcript, last_step: usize) -> Decision {
    let history = &transcript.history;
    let question = Question::read(&history.question, history.is_claim);
    // The number of the step to write may lag behind the steps so far.
    let step = transcript.step().max(history.steps.len() + 1);
    let left = if transcript.must_answer() { 1 } else { (last_step + 1).saturating_sub(step) };
    let notes = Notes::read(&history.steps, &question);
    next_step(&question, &notes, history.just_failed.as_deref(), left)
}

/// The next step, with `left` steps left including it; an answer that was just refused is not repeated.
fn next_step(question: &Question, notes: &Notes, refused: Option<&str>, left: usize) -> Decision {
    let Found { answer, share } = answer::best(question, notes);
    let answer = text::line(&answer);
    let verdict = question.kind == Kind::Verdict;
    let guesses = if verdict { ["NOT ENOUGH INFO", "REFUTES"] } else { ["unknown", "not known"] };
    let is_new = |action: &Action| refused != Some(&action.text());
    let finish = |answer: &str| Some(Action::Finish(answer.to_owned())).filter(is_new);
    let tool = if left > 1 { use_tool(question, notes, share, left).filter(is_new) } else { None };
    let search = || (left > 1 && !notes.tried(&answer)).then(|| Action::Search(answer.clone()));
    let action = tool.or_else(|| finish(&answer)).or_else(search);
    let action = action.or_else(|| guesses.into_iter().find_map(finish)).unwrap_or(Action::Finish(answer));
    let thought = match &action {
        Action::Search(query) => format!("I need to search {query}."),
        Action::Lookup(keyword) => format!("This page may say more about {keyword}."),
        Action::Finish(answer) => format!("The answer is {answer}."),
    };
    Decision { thought, action }
}

/// What to read next, unless enough was read.
fn use_tool(question: &Question, notes: &Notes, share: f64, left: usize) -> Option<Action> {
    let untried = |title: &&String| !notes.tried(title);
    let search = |query: &String| Action::Search(text::line(query));
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
    let keyword = lookup(question, page).map(Action::Lookup);
    // A page that the question names may say more further down.
    if keyword.is_some() && left > SPARE && question.mentions(&page.title) {
        return keyword;
    }
    link(question, notes).as_ref().map(search).or(named).or(keyword)
}

/// The name on the pages that is closest to words of the question.
fn link(question: &Question, notes: &Notes) -> Option<String> {
    let mut links = Vec::new();
    for page in &notes.pages {
        for (text, clues) in &page.sentences {
            let share = question.share(&(&page.known | clues));
            let near = answer::nearness(question, text, clues);
            for name in answer::names(question, page, text).iter().filter(|name| !notes.tried(name.text)) {
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
