//! What a Chinese question asks for: a name to begin with, the things on the way, and the kind of answer.
//!
//! What describes a thing stands before it, so a question is read from the left: `[《红楼梦》前八十回]的[作者]出生于[哪座城市]`
//! begins at a name, goes over one noun, and asks for a city.

use super::clue::Clue;
use super::lexicon::{MEASURES, Sort, VERBS, noun_at};
use super::names::{is_ideograph, persons, quoted};
use std::ops::Range;

/// The kind of answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Named(Sort),
    Year,
    Date,
    /// A number of such units; without a unit, any.
    Number(String),
    Other,
}

/// The last step: what is asked of the thing at the end of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) kind: Kind,
    /// The noun behind the question word, if there is one.
    pub(super) noun: String,
    /// Whether it is asked whose people someone is of: `哪里人`.
    pub(super) people: bool,
    pub(super) clue: Clue,
}

/// A noun on the way, to be replaced by a name from the page before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) sort: Sort,
    pub(super) clue: Clue,
}

/// A question that is answered by going from page to page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// What to search for first.
    pub(super) anchor: String,
    pub(super) hops: Vec<Hop>,
    pub(super) ask: Ask,
}

/// Question words that need no noun.
const WORDS: &[(&str, Kind)] = &[
    ("哪一年", Kind::Year),
    ("哪年", Kind::Year),
    ("何年", Kind::Year),
    ("哪一天", Kind::Date),
    ("哪天", Kind::Date),
    ("什么时候", Kind::Date),
    ("何时", Kind::Date),
    ("什么时间", Kind::Date),
    ("谁", Kind::Named(Sort::Person)),
    ("什么人", Kind::Named(Sort::Person)),
    ("哪国", Kind::Named(Sort::Country)),
    ("哪省", Kind::Named(Sort::Province)),
    ("哪里", Kind::Named(Sort::Place)),
    ("哪儿", Kind::Named(Sort::Place)),
    ("何处", Kind::Named(Sort::Place)),
    ("何地", Kind::Named(Sort::Place)),
    ("什么地方", Kind::Named(Sort::Place)),
];

/// Units of more than one character.
const UNITS: &[&str] = &["平方公里", "平方千米", "公里", "千米", "万人", "英里", "公顷"];

/// The question word with its noun, and the kind of answer.
pub(super) fn asked(text: &str) -> Option<(Range<usize>, Kind)> {
    let fixed = WORDS.iter().filter_map(|(word, kind)| text.find(word).map(|at| (at..at + word.len(), kind.clone())));
    let open = ["多少", "几", "哪", "什么"].into_iter().filter_map(|word| {
        let at = text.find(word)?;
        let (length, kind) = if matches!(word, "多少" | "几") {
            counted(&text[at + word.len()..])
        } else {
            named(&text[at + word.len()..])
        };
        Some((at..at + word.len() + length, kind))
    });
    // Of two at one place, a whole word comes first, then the longer.
    let fixed = fixed.map(|(range, kind)| (range, kind, 0));
    let all = fixed.chain(open.map(|(range, kind)| (range, kind, 1)));
    let first = all.min_by_key(|(range, _, rank)| (range.start, *rank, std::cmp::Reverse(range.end)));
    first.map(|(range, kind, _)| (range, kind))
}

/// Length and unit of what follows `多少`.
fn counted(rest: &str) -> (usize, Kind) {
    let unit = UNITS.iter().find(|unit| rest.starts_with(**unit)).copied();
    let single = rest.chars().next().filter(|c| MEASURES.contains(c)).map_or(0, char::len_utf8);
    let unit = unit.unwrap_or(&rest[..single]);
    (unit.len(), Kind::Number(unit.to_owned()))
}

/// Length and kind of what follows `哪` or `什么`: `座城市`, `部长篇小说`.
fn named(rest: &str) -> (usize, Kind) {
    let mut noun = rest.trim_start_matches('一');
    let measure = noun.chars().next().filter(|c| MEASURES.contains(c));
    noun = &noun[measure.map_or(0, char::len_utf8)..];
    let before = rest.len() - noun.len();
    // Words may stand before the noun where a measure word says that there is one: `哪部长篇小说`.
    let room = if measure.is_some() { 4 * '的'.len_utf8() } else { 0 };
    let found = role_at(noun).filter(|role| role.at.start <= room);
    match (found, measure) {
        (Some(role), _) => (before + role.at.end, Kind::Named(role.sort)),
        (None, Some('位' | '名')) => (before, Kind::Named(Sort::Person)),
        (None, _) => (before, Kind::Other),
    }
}

/// A noun that stands for another thing, and where it stands.
struct Role {
    sort: Sort,
    at: Range<usize>,
}

/// The first such noun of a text: one of the lexicon, or a doer, `设计者`, `创办人`.
fn role_at(text: &str) -> Option<Role> {
    for (start, c) in text.char_indices() {
        // `原著作者` holds no `著作`.
        let whole = |noun: &str| !text[start + noun.len()..].starts_with('者');
        if let Some((noun, sort)) = noun_at(&text[start..]).filter(|(noun, _)| whole(noun)) {
            return Some(Role { sort, at: start..start + noun.len() });
        }
        let end = match c {
            '者' if start > 0 && !text[..start].ends_with('或') => start + c.len_utf8(),
            '办' | '明' | '建' if text[start + c.len_utf8()..].starts_with('人') => start + "办人".len(),
            _ => continue,
        };
        return Some(Role { sort: Sort::Person, at: 0..end });
    }
    None
}

/// A question without its marks.
pub(super) fn bare(question: &str) -> &str {
    question.trim().trim_end_matches(['？', '?', '。', '呢', ' '])
}

impl Chain {
    /// Reads a question; nothing where it asks for no thing.
    pub(super) fn read(question: &str) -> Option<Self> {
        let text = bare(question);
        let (word, kind) = asked(text)?;
        let (before, after) = (&text[..word.start], &text[word.end..]);
        let people = after.trim_start_matches('的').starts_with('人');
        // `谁创办了《新青年》` has its name behind the question word.
        let front = before.chars().filter(|c| is_ideograph(*c)).nth(1).is_some();
        let parts = parts(if front { before } else { after });
        let at = anchor_at(&parts)?;
        let (anchor, said, left) = anchor(parts[at]);
        let mut clue = parts[..at].concat() + said;
        let mut hops = Vec::new();
        for part in std::iter::once(left).chain(parts[at + 1..].iter().copied()) {
            match role_at(part).filter(|_| front) {
                Some(role) => {
                    clue.push_str(&part[..role.at.end]);
                    hops.push(Hop { sort: role.sort, clue: Clue::of(&clue) });
                    part[role.at.end..].clone_into(&mut clue);
                }
                None => clue.push_str(part),
            }
        }
        if front {
            clue.push('，');
            clue.push_str(after);
        }
        let noun = text[word].trim_start_matches(['哪', '什', '么', '一']).trim_start_matches(MEASURES).to_owned();
        Some(Self { anchor, hops, ask: Ask { kind, noun, people, clue: Clue::of(&clue) } })
    }
}

/// What a statement is about: the name at its beginning.
pub(super) fn subject(text: &str) -> String {
    parts(text).first().map(|part| anchor(part).0).unwrap_or_default()
}

/// The parts of a text between `的` and marks, those inside `《》` left whole; pointing words in front are left out.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut inside) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '《' => inside = true,
            '》' => inside = false,
            '的' | '，' | ',' | '、' if !inside => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(pointed).filter(|part| !part.is_empty()).collect()
}

/// A part without `其`, `那部`, `这座`.
fn pointed(part: &str) -> &str {
    let rest = part.trim_start_matches('其');
    match rest.strip_prefix(['那', '这', '该']) {
        Some(rest) => rest.strip_prefix(MEASURES).unwrap_or(rest),
        None => rest,
    }
}

/// The part that names something: the last with a title or that is a person's name, else the one before the first noun.
fn anchor_at(parts: &[&str]) -> Option<usize> {
    let named = |part: &&str| !quoted(part).is_empty() || person(part).is_some();
    let noun = || parts.iter().skip(1).position(|part| role_at(part).is_some());
    parts.iter().rposition(named).or_else(noun).or(parts.len().checked_sub(1).map(|_| 0))
}

/// The person whose name a part begins with, a noun before it left out: `诗人李白写`.
fn person(part: &str) -> Option<Range<usize>> {
    let noun = noun_at(part).map_or(0, |(noun, _)| noun.len());
    persons(part).into_iter().find(|name| name.start == noun)
}

/// What to search for, what else the part says, and what follows a title.
fn anchor(part: &str) -> (String, &str, &str) {
    if let Some(title) = quoted(part).pop() {
        let end = title.end + '》'.len_utf8();
        return (part[title.clone()].to_owned(), &part[..title.start - '《'.len_utf8()], &part[end..]);
    }
    if let Some(name) = person(part) {
        return (part[name.clone()].to_owned(), &part[..name.start], &part[name.end..]);
    }
    let verb = |at: &usize| VERBS.iter().any(|verb| part[*at..].starts_with(verb));
    let end = part.char_indices().skip(2).map(|(at, _)| at).find(verb).unwrap_or(part.len());
    (part[..end].trim_start_matches(['在', '了']).to_owned(), part, "")
}

#[cfg(test)]
mod tests {
    use super::{Chain, Kind};
    use crate::llm::baseline::chinese::lexicon::Sort;

    #[test]
    fn questions_are_read_from_the_left() {
        use Sort::{City, Person, Work};
        let year = Kind::Year;
        for (question, anchor, hops, kind) in [
            ("《红楼梦》前八十回的作者出生于哪座城市？", "红楼梦", vec![Person], Kind::Named(City)),
            ("首次发表鲁迅小说《狂人日记》的杂志是谁创办的？", "狂人日记", vec![Work], Kind::Named(Person)),
            ("主持刊刻《全唐诗》的曹寅的孙子写了哪部长篇小说？", "曹寅", vec![Person], Kind::Named(Work)),
            ("李时珍出生于哪一年？", "李时珍", vec![], year.clone()),
            ("诗人陆游的老师写了哪部书", "陆游", vec![Person], Kind::Named(Work)),
            ("谁创办了《新青年》？", "新青年", vec![], Kind::Named(Person)),
            ("电影《红高粱》的原著作者在哪一年获奖？", "红高粱", vec![Person], year),
            ("这部书收录了多少种药物？", "书收录了", vec![], Kind::Number("种".into())),
        ] {
            let chain = Chain::read(question).expect("a question");
            let sorts: Vec<Sort> = chain.hops.iter().map(|hop| hop.sort).collect();
            assert_eq!((chain.anchor.as_str(), sorts, chain.ask.kind), (anchor, hops, kind), "{question}");
        }
        assert_eq!(Chain::read("你好"), None);
        assert!(Chain::read("哪").is_none());
    }
}
