//! Names inside sentences, where nothing but the words around them marks where they begin and end.

use super::lexicon::{SMALL, is_long_surname, is_surname};
use std::ops::Range;

/// Longest run that can be a name, in characters.
const LONGEST: usize = 16;
/// How many runs with one ending are looked at; a sentence has no other bound.
const MOST: usize = 64;

/// Characters behind which a person's name may begin, besides marks: small words, ends of titles and of dynasties.
const BEFORE_PERSON: &str =
    "由是为和与及据给向对请让把被跟受即的家师匠者父母人员官帝王妻夫弟兄友将士手演编词曲晋唐宋元明清汉秦隋代朝国发";
/// Characters that may follow a person's name, besides marks.
const AFTER_PERSON: &str =
    "的在是由和与及等于为因从把将被让同也还曾原本任当主设创写作著编导演改提领发研出说首晚生去赴到又名一两三编合";
/// Characters that no given name holds.
const NO_GIVEN: &str = "的是在由和与了他她它那这年月日于等为从把将被让也还曾任都不有就之其写著编说出";

/// Words at which a given name of one character ends, though their first could belong to it.
const VERBS: &[&str] = &[
    "主演", "主持", "导演", "设计", "作曲", "作词", "创办", "创作", "发明", "提出", "编写", "改编", "写成", "生于",
    "曾任", "出生", "去世", "获得", "毕业", "领导",
];

pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// What stands between `《》`.
pub(super) fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find(['《', '「', '“']).map(|at| from + at) {
        let start = open + '《'.len_utf8();
        let Some(end) = text[start..].find(['》', '」', '”']).map(|at| start + at) else { break };
        if end > start {
            found.push(start..end);
        }
        from = end;
    }
    found
}

/// Names of persons: a surname and one or two characters, between words that may stand beside a name.
pub(super) fn persons(text: &str) -> Vec<Range<usize>> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let at = |i: usize| chars.get(i).map_or(text.len(), |(at, _)| *at);
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if let Some(length) = person_at(&chars, i) {
            found.push(at(i)..at(i + length));
            i += length;
        } else {
            i += 1;
        }
    }
    found
}

/// Length in characters of the name that begins at `i`.
fn person_at(chars: &[(usize, char)], i: usize) -> Option<usize> {
    let char = |i: usize| chars.get(i).map(|(_, c)| *c);
    let first = char(i)?;
    let surname = match char(i + 1) {
        Some(second) if is_long_surname(first, second) => 2,
        _ if is_surname(first) => 1,
        _ => return None,
    };
    let before = i.checked_sub(1).and_then(char);
    if before.is_some_and(|c| is_ideograph(c) && !BEFORE_PERSON.contains(c)) {
        return None;
    }
    let given = |n: usize| {
        let named = (0..n).all(|k| char(i + surname + k).is_some_and(|c| is_ideograph(c) && !NO_GIVEN.contains(c)));
        named && char(i + surname + n).is_none_or(|c| !is_ideograph(c) || AFTER_PERSON.contains(c))
    };
    let verb = |n: usize| {
        let pair = (char(i + surname + n), char(i + surname + n + 1));
        VERBS.iter().any(|verb| (verb.chars().next(), verb.chars().nth(1)) == pair)
    };
    let order = if verb(1) { [1, 2] } else { [2, 1] };
    order.into_iter().find(|n| given(*n)).map(|n| surname + n)
}

/// Runs behind one of `markers`, up to a mark, a small word, or one of the words in `ends`.
pub(super) fn behind(text: &str, markers: &[&str], ends: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for marker in markers {
        for (at, _) in text.match_indices(marker) {
            let start = at + marker.len();
            let run = &text[start..];
            let stop = run
                .char_indices()
                .take(LONGEST + 1)
                .find(|(at, c)| ends_run(*c) || *at > 0 && ends.iter().any(|end| run[*at..].starts_with(end)));
            match stop {
                Some((0, _)) => {}
                Some((end, _)) => found.push(start..start + end),
                None if run.chars().count() <= LONGEST && !run.is_empty() => found.push(start..text.len()),
                None => {}
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// Runs that end in one of `endings`, back to a mark or a small word, two characters or longer.
pub(super) fn ending(text: &str, endings: &[&str]) -> Vec<Range<usize>> {
    const LEFT: &str = "赴入称过往至经向";
    let mut found: Vec<Range<usize>> = Vec::new();
    for ending in endings {
        for (at, _) in text.match_indices(ending).take(MOST) {
            let mut start = at;
            for (i, c) in text[..at].char_indices().rev().take(LONGEST) {
                if ends_run(c) || LEFT.contains(c) {
                    break;
                }
                start = i;
            }
            // Of runs that begin alike, the longer is the name.
            let range = start..at + ending.len();
            if start < at {
                found.retain(|other| other.start != range.start || other.end > range.end);
                if found.iter().all(|other| other.start != range.start) {
                    found.push(range);
                }
            }
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// Words of a list that occur in the text; where two overlap, the longer.
pub(super) fn listed(text: &str, list: &[&str]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> =
        list.iter().flat_map(|word| text.match_indices(word).map(|(at, _)| at..at + word.len())).collect();
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    found.dedup_by(|next, kept| next.start < kept.end);
    found
}

fn ends_run(c: char) -> bool {
    SMALL.contains(c) || !(is_ideograph(c) || c == '·' || c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::{behind, ending, listed, persons, quoted};
    use std::ops::Range;

    fn texts(text: &str, ranges: Vec<Range<usize>>) -> Vec<&str> {
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn persons_are_told_by_surname_and_neighbours() {
        for (text, names) in [
            ("由张艺谋导演，姜文和巩俐主演。", vec!["张艺谋", "姜文", "巩俐"]),
            ("这座桥由工匠李春设计", vec!["李春"]),
            ("祖父曹寅曾任江宁织造", vec!["曹寅"]),
            ("由茅以升主持修建", vec!["茅以升"]),
            ("他是司马相如的后人", vec!["司马相如"]),
            ("他出生于江宁", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(texts(text, persons(text)), names, "{text}");
        }
    }

    #[test]
    fn other_names_are_told_by_what_stands_around_them() {
        let text = "它发表于《新青年》，又见“甲”。《";
        assert_eq!(texts(text, quoted(text)), ["新青年", "甲"]);
        let text = "它最后在宜宾注入长江，作者是老舍。";
        assert_eq!(texts(text, behind(text, &["在", "是"], &["注入"])), ["宜宾", "老舍"]);
        let text = "他隐居在广东的罗浮山，毕业于康奈尔大学";
        assert_eq!(texts(text, ending(text, &["山"])), ["罗浮山"]);
        assert_eq!(texts(text, ending(text, &["大学", "学"])), ["康奈尔大学"]);
        let text = "他去过印度尼西亚和日本";
        assert_eq!(texts(text, listed(text, &["印度", "印度尼西亚", "日本"])), ["印度尼西亚", "日本"]);
    }
}
