//! Questions about two things: which is earlier or higher, whether both are so or the same.

use super::clue::{Clue, distance};
use super::extract::{self, dates, day, life, numbers};
use super::lexicon::{Sort, VERBS, noun_at};
use super::names::quoted;
use super::question::{Ask, Kind, asked, bare};
use super::reading::Page;

/// What is asked about the two.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Measure {
    Earliest,
    Latest,
    /// Most or least of what these words say.
    Most(Words),
    Least(Words),
    /// Whether what is asked is the same for both.
    Same(Ask),
    /// Whether all of it is said of both.
    Both,
}

/// A question about two things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) left: String,
    pub(super) right: String,
    measure: Measure,
    clue: Clue,
}

const JOINTS: &[&str] = &["还是", "和", "与", "跟", "、", "及"];
/// Words at which the second name ends, besides verbs.
const ENDS: &[&str] =
    &["，", ",", "谁", "哪", "都", "的", "两", "这", "之", "中", "相比", "比", "更", "同", "相同", "是否", "吗", "？"];
/// Words behind which the number stands that is compared, the plainest first.
type Words = &'static [&'static str];

const HIGH: Words = &["海拔", "高"];
const LONG: Words = &["全长", "长度", "长"];
const LARGE: Words = &["面积", "大"];
const MANY: Words = &["人口", "共有", "共", "多"];

const MOST: &[(&str, Words)] = &[
    ("高", HIGH),
    ("长", LONG),
    ("大", LARGE),
    ("多", MANY),
    ("深", &["深"]),
    ("宽", &["跨度", "宽"]),
    ("重", &["重"]),
];
const LEAST: &[(&str, Words)] =
    &[("低", HIGH), ("矮", HIGH), ("短", LONG), ("小", LARGE), ("少", MANY), ("浅", &["深"]), ("轻", &["重"])];

impl Pair {
    /// Reads a question as one about two things, if it is.
    pub(super) fn read(question: &str) -> Option<Self> {
        let text = bare(question);
        let polar = text.ends_with('吗') || text.contains("是否") || text.contains("是不是");
        let compared = text.contains('更') || text.contains("最") || text.contains("还是");
        let joint_fact = polar && ["都", "同", "一样"].iter().any(|word| text.contains(word));
        if !(compared || joint_fact) {
            return None;
        }
        let (at, joint) = joint(text)?;
        let left = named(text[..at].trim_start_matches(['在', '比', '较']));
        let (right, rest) = right(&text[at + joint.len()..]);
        if left.is_empty() || right.is_empty() {
            return None;
        }
        let measure = measure(rest, polar)?;
        Some(Self { left: left.to_owned(), right: right.to_owned(), measure, clue: Clue::of(rest) })
    }

    /// The answer, once both pages are read.
    pub(super) fn answer(&self, left: &Page, right: &Page, question: &str) -> String {
        let pick = |first: bool| if first { left.name.clone() } else { right.name.clone() };
        let verdict = |yes: bool| if yes { "是" } else { "否" }.to_owned();
        match &self.measure {
            Measure::Earliest | Measure::Latest => match (self.date(left), self.date(right)) {
                (Some(a), Some(b)) => pick((self.measure == Measure::Earliest) == (a <= b)),
                (a, _) => pick(a.is_some()),
            },
            Measure::Most(words) | Measure::Least(words) => match (amount(left, words), amount(right, words)) {
                (Some(a), Some(b)) => pick(matches!(self.measure, Measure::Most(_)) == (a >= b)),
                (a, _) => pick(a.is_some()),
            },
            Measure::Same(ask) => {
                let of = |page: &Page| extract::answer(ask, page, question);
                match (of(left), of(right)) {
                    (Some(a), Some(b)) => verdict(a.ends_with(&b) || b.ends_with(&a)),
                    _ => verdict(false),
                }
            }
            Measure::Both => {
                let all = |page: &Page| {
                    page.sentences.iter().map(|sentence| self.clue.hits(sentence)).max() >= Some(self.clue.most())
                };
                verdict(all(left) && all(right))
            }
        }
    }

    /// The day that is compared.
    fn date(&self, page: &Page) -> Option<i64> {
        if let Some(date) = life(page, &self.clue) {
            return Some(day(&date));
        }
        let mut best: Option<(usize, i64)> = None;
        for sentence in &page.sentences {
            let (hits, places) = (self.clue.hits(sentence), self.clue.places(sentence));
            let nearest = dates(sentence).into_iter().min_by_key(|range| distance(range, &places));
            if let Some(range) = nearest.filter(|_| best.is_none_or(|(most, _)| hits > most)) {
                best = Some((hits, day(&sentence[range])));
            }
        }
        best.map(|(_, day)| day)
    }
}

/// The number on a page that stands nearest behind the first of these words that there is.
fn amount(page: &Page, words: &[&str]) -> Option<f64> {
    words.iter().find_map(|word| {
        page.sentences.iter().find_map(|sentence| {
            let at = sentence.find(word)? + word.len();
            let number = numbers(&sentence[at..], "").into_iter().next()?;
            let end = at + number.end;
            let digits: String = sentence[at..][number].chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            let scale = if ["公里", "千米", "平方公里"].iter().any(|unit| sentence[end..].starts_with(unit)) {
                1000.0
            } else {
                1.0
            };
            digits.parse::<f64>().ok().map(|value| value * scale)
        })
    })
}

/// The first word that joins two names, outside of titles.
fn joint(text: &str) -> Option<(usize, &'static str)> {
    let titles = quoted(text);
    let outside = |at: usize| titles.iter().all(|title| !title.contains(&at));
    let mut found: Vec<(usize, &'static str)> = JOINTS
        .iter()
        .flat_map(|joint| text.match_indices(joint).map(|(at, _)| (at, *joint)))
        .filter(|(at, _)| *at > 0 && outside(*at))
        .collect();
    found.sort_unstable();
    found.first().copied()
}

/// The name that a text holds: its title, or all of it without the noun in front.
fn named(text: &str) -> &str {
    if let Some(title) = quoted(text).pop() {
        return &text[title];
    }
    let rest = noun_at(text).map_or(text, |(noun, _)| &text[noun.len()..]);
    if rest.chars().count() >= 2 { rest } else { text }
}

/// The second name, and what follows it.
fn right(text: &str) -> (&str, &str) {
    let titles = quoted(text);
    let noun = noun_at(text).map_or(0, |(noun, _)| noun.len());
    if let Some(title) = titles.first().filter(|title| title.start <= noun + '《'.len_utf8()) {
        let end = (title.end + '》'.len_utf8()).min(text.len());
        return (&text[title.clone()], &text[end..]);
    }
    let ends = |at: usize| ENDS.iter().chain(VERBS).any(|end| text[at..].starts_with(end));
    let end = text.char_indices().skip(2).map(|(at, _)| at).find(|at| ends(*at)).unwrap_or(text.len());
    (named(&text[..end]), &text[end..])
}

/// What is asked about the two, by the words behind their names.
fn measure(rest: &str, polar: bool) -> Option<Measure> {
    let has = |words: &[&str]| words.iter().any(|word| rest.contains(word));
    if polar && has(&["同", "一样"]) {
        return Some(Measure::Same(same(rest)));
    }
    if polar {
        return Some(Measure::Both);
    }
    if has(&["早", "先", "年长", "古老", "年纪大"]) {
        return Some(Measure::Earliest);
    }
    if has(&["晚", "后", "迟", "年轻"]) {
        return Some(Measure::Latest);
    }
    let find = |list: &[(&str, Words)]| list.iter().find(|(word, _)| has(&[*word])).map(|(_, words)| *words);
    find(MOST).map(Measure::Most).or_else(|| find(LEAST).map(Measure::Least))
}

/// What must be the same: `出生于同一座城市`, `作者是同一个人`, `同一年去世`.
fn same(rest: &str) -> Ask {
    let at = rest.find('同').unwrap_or(0);
    // `同一座城市` is read as `哪一座城市` would be.
    let question = format!("{}哪{}", &rest[..at], rest[at..].trim_start_matches(['同', '相', '样']));
    let kind = match asked(&question) {
        Some((_, Kind::Other)) | None => Kind::Named(Sort::Person),
        Some((_, kind)) => kind,
    };
    Ask {
        kind,
        noun: String::new(),
        people: false,
        clue: Clue::of(rest[..at].trim_end_matches('是').trim_end_matches('者')),
    }
}
