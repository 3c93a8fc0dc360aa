//! Questions about two things: which is older, longer, higher; are both so.

use super::bridge::{done, lookup_of, root, search};
use super::question::Question;
use super::reading::{Cover, Notes, Page, Sentence};
use super::text;
use super::transcript::Decision;
use std::ops::Range;

/// What is asked about the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Earliest,
    Latest,
    Most,
    Least,
    Age,
    /// Which of them the question's words fit.
    Fit,
    /// Whether its words fit both.
    Both,
    /// Whether both have the same country, year or place.
    Same,
}

/// A question about two things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    left: String,
    right: String,
    measure: Measure,
}

impl Pair {
    /// Reads a question as one about two things, if it is.
    pub(super) fn read(question: &Question) -> Option<Self> {
        let lower = format!(" {} ", question.text.to_lowercase());
        let polar = starts_with_verb(&lower);
        let has = |words: &[&str]| {
            words.iter().any(|word| {
                lower.contains(&format!(" {word} "))
                    || lower.contains(&format!(" {word}?"))
                    || lower.contains(&format!(" {word},"))
            })
        };
        let of_two = lower.contains(" of the ") || lower.contains(" between ") || lower.contains(" of ");
        let (joint, measure) = if lower.contains(" or ") {
            (" or ", measure(&has))
        } else if polar && has(&["same"]) {
            (" and ", Measure::Same)
        } else if polar && has(&["both", "each", "either"]) {
            (" and ", Measure::Both)
        } else if of_two && !polar && measure(&has) != Measure::Fit {
            (" and ", measure(&has))
        } else {
            return None;
        };
        let at = joint_at(question, joint)?;
        let left = left_of(question, at)?;
        let right = right_of(question, at + joint.len())?;
        Some(Self { left, right, measure })
    }
}

fn starts_with_verb(lower: &str) -> bool {
    const VERBS: &[&str] = &["are", "is", "was", "were", "did", "do", "does", "have", "has", "had", "can", "could"];
    lower.split_whitespace().next().is_some_and(|first| VERBS.contains(&first))
}

fn measure(has: &dyn Fn(&[&str]) -> bool) -> Measure {
    if has(&["age"]) || has(&["lived", "live"]) && has(&["longer", "longest"]) {
        return Measure::Age;
    }
    if has(&["earlier", "first", "older", "oldest", "before", "earliest", "sooner"]) {
        return Measure::Earliest;
    }
    if has(&["later", "younger", "newer", "last", "latest", "youngest", "recent", "recently", "after"]) {
        return Measure::Latest;
    }
    if has(&[
        "shorter", "smaller", "lower", "fewer", "less", "narrower", "lighter", "least", "shortest", "smallest",
        "lowest",
    ]) {
        return Measure::Least;
    }
    let more = [
        "longer", "taller", "larger", "bigger", "higher", "wider", "deeper", "greater", "heavier", "more", "longest",
        "tallest", "largest", "highest", "most", "deepest", "widest",
    ];
    if has(&more) { Measure::Most } else { Measure::Fit }
}

/// The place of the word that joins the two: the one with names on both sides, else the last one.
fn joint_at(question: &Question, joint: &str) -> Option<usize> {
    let places: Vec<usize> = question.text.match_indices(joint).map(|(at, _)| at).collect();
    let between = |at: &&usize| {
        question.names.iter().any(|n| n.at.end == **at) && question.names.iter().any(|n| n.at.start > **at)
    };
    places.iter().find(between).or(places.last()).copied()
}

fn left_of(question: &Question, at: usize) -> Option<String> {
    if let Some(name) = question.names.iter().find(|name| name.at.end == at) {
        return Some(name.text.clone());
    }
    // A name with a bracket or an apostrophe may end a little earlier.
    let near =
        question.names.iter().filter(|name| name.at.end < at && at - name.at.end < 25).max_by_key(|name| name.at.end);
    let last = text::words(&question.text[..at]).pop().map(|word| word.text.to_owned());
    near.map(|name| name.text.clone()).or(last)
}

fn right_of(question: &Question, from: usize) -> Option<String> {
    let end = question.text[from..].find([',', '?', ';']).map_or(question.text.len(), |i| from + i);
    let name = question
        .names
        .iter()
        .filter(|name| name.at.start >= from && name.at.start < end)
        .min_by_key(|name| name.at.start);
    let word = || {
        text::words(&question.text[from..end])
            .into_iter()
            .find(|word| !text::is_stop(word.text))
            .map(|word| word.text.to_owned())
    };
    name.map(|name| name.text.clone()).or_else(word)
}

/// What to do next, with `left` steps to go, this one included.
pub(super) fn decide(pair: &Pair, question: &Question, notes: &Notes, left: usize) -> Decision {
    if left <= 1 {
        return done(&verdict(pair, question, notes));
    }
    if notes.just_missed
        && let Some(title) = from_list(pair, question, notes)
    {
        return search(title);
    }
    if let Some(page) = notes.pages.last()
        && left > 2
        && let Some(keyword) = keyword(pair, question, page)
    {
        return lookup_of(keyword);
    }
    for name in [&pair.left, &pair.right] {
        if notes.page_of(name).is_none() && !notes.tried(name) {
            return search(name.clone());
        }
    }
    done(&verdict(pair, question, notes))
}

/// The title of the last list that comes nearest to what was searched for.
fn from_list(pair: &Pair, question: &Question, notes: &Notes) -> Option<String> {
    let miss = notes.misses.last()?;
    // Two lists in a row lead nowhere.
    let wanted = [&pair.left, &pair.right].into_iter().any(|name| text::fold(name) == text::fold(&miss.query));
    let titles = miss.similar.iter().filter(|title| wanted && !notes.tried(title));
    let scored = titles.enumerate().map(|(rank, title)| {
        let mut cover = Cover::default();
        cover.add(&Sentence::new(title), question);
        let bare = title.split(" (").next().unwrap_or(title);
        let same = f64::from(text::fold(bare) == text::fold(&miss.query));
        let close = strsim::jaro_winkler(&text::fold(title), &text::fold(&miss.query));
        let rank = f64::from(u32::try_from(rank).unwrap_or(u32::MAX));
        (title, same + close + 2.0 * cover.share(question) - 0.05 * rank)
    });
    scored.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(a.0))).map(|(title, _)| title.clone())
}

/// The word to look up on the open page, if it has not shown what is needed; one a page.
fn keyword(pair: &Pair, question: &Question, page: &Page) -> Option<String> {
    if !page.looked_up.is_empty() {
        return None;
    }
    let open = match pair.measure {
        Measure::Both => fit(page, question) < ENOUGH,
        Measure::Earliest | Measure::Latest => {
            dated(page, question).is_none_or(|(_, matched)| !matched && !predicate(question).is_empty())
        }
        Measure::Most | Measure::Least => size(page, question).is_none(),
        Measure::Age => age(page).is_none(),
        Measure::Fit | Measure::Same => false,
    };
    let mut missing = predicate(question).into_iter().filter(|(stem, _)| !page.sentences.iter().any(|s| s.has(stem)));
    open.then(|| missing.next().map(|(_, word)| root(&word))).flatten()
}

/// Stems and words that say what is asked about the two.
fn predicate(question: &Question) -> Vec<(String, String)> {
    const EMPTY: &[&str] = &[
        "earlier", "older", "first", "later", "younger", "longer", "taller", "larger", "greater", "higher", "which",
        "between", "two", "same", "both", "happened", "took", "place", "time", "year", "age", "live", "lived", "date",
        "recently", "wider", "deeper", "bigger",
    ];
    let clues = question.clues.iter().filter(|clue| !clue.named && !EMPTY.contains(&clue.word.to_lowercase().as_str()));
    clues
        .filter(|clue| !question.head.contains(&clue.stem))
        .map(|clue| (clue.stem.clone(), clue.word.clone()))
        .collect()
}

/// Share of the predicate's words that a page must hold.
const ENOUGH: f64 = 0.6;

fn fit(page: &Page, question: &Question) -> f64 {
    let wanted = predicate(question);
    let held = wanted.iter().filter(|(stem, _)| page.sentences.iter().any(|sentence| sentence.has(stem))).count();
    ratio(held, wanted.len())
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// The day that answers the question on a page, as a number that grows with time, and whether a word of the
/// question stands beside it.
fn dated(page: &Page, question: &Question) -> Option<(i32, bool)> {
    let wanted = predicate(question);
    let asks = |stem: &str| wanted.iter().any(|(own, _)| own == stem);
    if let Some(first) = page.sentences.first().filter(|_| asks("born") || asks("die")) {
        let life = text::life(&first.text);
        let at = if asks("born") { life.first() } else { life.get(1) };
        if let Some(at) = at {
            return Some((text::day(&first.text, at), true));
        }
    }
    let mut best: Option<(usize, i32)> = None;
    for sentence in &page.sentences {
        let Some(at) = nearest_year(sentence, &wanted) else { continue };
        let held = wanted.iter().filter(|(stem, _)| sentence.has(stem)).count();
        if best.is_none_or(|(most, _)| held > most) {
            best = Some((held, text::day(&sentence.text, &at)));
        }
    }
    best.map(|(held, day)| (day, held > 0))
}

/// The year nearest behind a wanted word; the first one where there is no such word.
fn nearest_year(sentence: &Sentence, wanted: &[(String, String)]) -> Option<Range<usize>> {
    let anchor = sentence.words.iter().find(|(stem, _)| wanted.iter().any(|(own, _)| own == stem)).map(|(_, at)| at);
    let distance = |at: usize| {
        anchor.map_or(
            at,
            |anchor| {
                if at >= anchor.end { at - anchor.end } else { 10 + anchor.start.saturating_sub(at) }
            },
        )
    };
    text::years(&sentence.text).into_iter().map(|(_, at)| at).min_by_key(|at| distance(at.start))
}

/// Days between birth and death, about.
fn age(page: &Page) -> Option<i32> {
    let first = page.sentences.first()?;
    let life: Vec<i32> = text::life(&first.text).iter().map(|at| text::day(&first.text, at)).collect();
    (life.len() >= 2).then(|| life[1] - life[0])
}

const UNITS: &[(&str, f64)] = &[
    ("kilometres", 1000.0),
    ("kilometers", 1000.0),
    ("km", 1000.0),
    ("miles", 1609.3),
    ("metres", 1.0),
    ("meters", 1.0),
    ("metre", 1.0),
    ("meter", 1.0),
    ("m", 1.0),
    ("feet", 0.3048),
    ("ft", 0.3048),
    ("centimetres", 0.01),
    ("centimeters", 0.01),
    ("cm", 0.01),
    ("people", 1.0),
    ("inhabitants", 1.0),
    ("tonnes", 1.0),
    ("tons", 1.0),
    ("kilograms", 0.001),
    ("minutes", 1.0),
    ("hours", 60.0),
    ("storeys", 1.0),
    ("floors", 1.0),
    ("square", 1.0),
];

/// The size that answers the question on a page, in metres or whatever it is counted in.
fn size(page: &Page, question: &Question) -> Option<f64> {
    let wanted: Vec<&str> = question.clues.iter().filter(|clue| !clue.named).map(|clue| clue.stem.as_str()).collect();
    let mut best: Option<(usize, f64)> = None;
    for sentence in &page.sentences {
        let held = wanted.iter().filter(|stem| sentence.has(stem)).count();
        let Some(value) = measured(sentence, &wanted) else { continue };
        if best.is_none_or(|(most, _)| held > most) {
            best = Some((held, value));
        }
    }
    best.map(|(_, value)| value)
}

fn measured(sentence: &Sentence, wanted: &[&str]) -> Option<f64> {
    let words = text::words(&sentence.text);
    let anchor = sentence.words.iter().find(|(stem, _)| wanted.contains(&stem.as_str())).map(|(_, at)| at.start);
    let mut best: Option<(usize, f64)> = None;
    for number in text::numbers(&sentence.text) {
        let after = words.iter().filter(|word| word.at.start >= number.at.end).take(2);
        let unit = after.into_iter().find_map(|word| UNITS.iter().find(|(name, _)| *name == word.text));
        let Some((_, factor)) = unit else { continue };
        let distance = anchor.map_or(0, |at| at.abs_diff(number.at.start));
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, number.value * factor));
        }
    }
    best.map(|(_, value)| value)
}

fn verdict(pair: &Pair, question: &Question, notes: &Notes) -> String {
    let pages = (notes.page_of(&pair.left), notes.page_of(&pair.right));
    let both = |value: &dyn Fn(&Page) -> Option<f64>| Some((value(pages.0?)?, value(pages.1?)?));
    let day = |page: &Page| dated(page, question).map(|(day, _)| f64::from(day));
    let size = |page: &Page| size(page, question);
    let pick = |left: bool| if left { pair.left.clone() } else { pair.right.clone() };
    match pair.measure {
        Measure::Earliest => pick(both(&day).is_none_or(|(l, r)| l <= r)),
        Measure::Latest => pick(both(&day).is_none_or(|(l, r)| l >= r)),
        Measure::Most => pick(both(&size).is_none_or(|(l, r)| l >= r)),
        Measure::Least => pick(both(&size).is_none_or(|(l, r)| l <= r)),
        Measure::Age => pick(both(&|page| age(page).map(f64::from)).is_none_or(|(l, r)| l >= r)),
        Measure::Fit => pick(both(&|page| Some(fit(page, question))).is_none_or(|(l, r)| l >= r)),
        Measure::Both => {
            let all = both(&|page| Some(fit(page, question))).is_none_or(|(l, r)| l >= ENOUGH && r >= ENOUGH);
            polar(all)
        }
        Measure::Same => polar(same(pages, question)),
    }
}

fn polar(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// Whether the first sentences of both pages agree in the years, or else in the peoples and places they name.
fn same(pages: (Option<&Page>, Option<&Page>), question: &Question) -> bool {
    let (Some(left), Some(right)) = pages else { return false };
    let traits = |page: &Page| -> Vec<String> {
        let Some(first) = page.sentences.first() else { return Vec::new() };
        if question.text.contains(" year") {
            return text::years(&first.text).into_iter().take(1).map(|(year, _)| year.to_string()).collect();
        }
        let peoples = text::words(&first.text)
            .into_iter()
            .filter(|word| text::is_demonym(word.text))
            .map(|word| word.text.to_owned());
        let peoples: Vec<String> = peoples.collect();
        if peoples.is_empty() {
            text::spans(&first.text).into_iter().skip(1).map(|span| span.text).collect()
        } else {
            peoples
        }
    };
    let right = traits(right);
    traits(left).iter().any(|own| right.contains(own))
}

#[cfg(test)]
mod tests {
    use super::{Measure, Pair};
    use crate::llm::baseline::question::Question;

    #[test]
    fn the_two_things_are_found_in_any_form() {
        for (question, left, right, measure) in [
            ("Who was born first, Ann Bee or Carl Dee?", "Ann Bee", "Carl Dee", Measure::Earliest),
            ("Which is longer, the River Ex or the River Wye?", "River Ex", "River Wye", Measure::Most),
            ("Of the albums One Day and Nightfall, which came out later?", "One Day", "Nightfall", Measure::Latest),
            ("Between tin and zinc, which was discovered later?", "tin", "zinc", Measure::Latest),
            ("Did Ann Bee or Carl Dee live to a greater age?", "Ann Bee", "Carl Dee", Measure::Age),
            ("Are Ann Bee and the Nightfall both bands?", "Ann Bee", "Nightfall", Measure::Both),
            ("Were Ann Bee and Carl Dee born in the same country?", "Ann Bee", "Carl Dee", Measure::Same),
        ] {
            let pair = Pair::read(&Question::read(question)).expect(question);
            assert_eq!((pair.left.as_str(), pair.right.as_str(), pair.measure), (left, right, measure), "{question}");
        }
        assert_eq!(Pair::read(&Question::read("Who wrote Day and Night in the year 1999?")), None);
    }
}
