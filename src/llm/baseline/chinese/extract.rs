//! From a sentence to a short answer.

use super::clue::{Clue, distance};
use super::lexicon::{BIRTH, COUNTRIES, DEATH, DYNASTIES, MEASURES, PROVINCES, Sort};
use super::names::{behind, ending, is_ideograph, listed, persons, quoted};
use super::question::{Ask, Kind};
use super::reading::Page;
use std::ops::Range;

/// Words behind which a place stands.
const PLACED: &[&str] = &["于", "在", "到", "往", "入", "赴"];

/// The best answer that a page gives.
pub(super) fn answer(ask: &Ask, page: &Page, question: &str) -> Option<String> {
    if matches!(ask.kind, Kind::Year | Kind::Date)
        && let Some(date) = life(page, &ask.clue)
    {
        return Some(shortened(&date, &ask.kind));
    }
    let known = |name: &str| question.contains(name) || page.name.contains(name);
    let clue = ask.clue.without(&page.name);
    best(page, &clue, &|sentence| {
        let places = clue.places(sentence);
        let ranges = match &ask.kind {
            Kind::Year | Kind::Date => dates(sentence),
            Kind::Number(unit) => numbers(sentence, unit),
            Kind::Named(sort) => names(*sort, sentence, &clue, ask.people),
            Kind::Other => [quoted(sentence), behind(sentence, &["是"], &[])].concat(),
        };
        let nearest =
            ranges.into_iter().filter(|range| !known(&sentence[range.clone()])).min_by_key(|r| distance(r, &places))?;
        let text = &sentence[nearest];
        Some(match &ask.kind {
            Kind::Named(sort) => trimmed(*sort, text).to_owned(),
            kind => shortened(text, kind),
        })
    })
}

/// The name on a page that a noun of the question stands for. Who a work is by, its first sentence may say without a
/// word for it: `《甲》是某某的小说`.
pub(super) fn name(sort: Sort, clue: &Clue, page: &Page, question: &str) -> Option<String> {
    let known = |name: &str| question.contains(name) || page.name.contains(name);
    let clue = clue.without(&page.name);
    let take = |sentence: &str| {
        let places = clue.places(sentence);
        let ranges = names(sort, sentence, &clue, false).into_iter().filter(|r| !known(&sentence[r.clone()]));
        let nearest = ranges.min_by_key(|range| distance(range, &places))?;
        Some(trimmed(sort, &sentence[nearest]).to_owned())
    };
    let first = || page.sentences.first().filter(|_| sort == Sort::Person).and_then(|sentence| take(sentence));
    best(page, &clue, &take).or_else(first)
}

/// What `take` makes of the sentence that says most of a clue, of those it makes something of.
fn best(page: &Page, clue: &Clue, take: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    for sentence in &page.sentences {
        let hits = clue.hits(sentence);
        let enough = hits > 0 || clue.most() == 0;
        if enough
            && best.as_ref().is_none_or(|(most, _)| hits > *most)
            && let Some(text) = take(sentence)
        {
            best = Some((hits, text));
        }
    }
    best.map(|(_, text)| text)
}

/// Names of a sort in a sentence.
fn names(sort: Sort, sentence: &str, clue: &Clue, people: bool) -> Vec<Range<usize>> {
    let first = |lists: [&dyn Fn() -> Vec<Range<usize>>; 3]| {
        lists.iter().map(|list| list()).find(|found| !found.is_empty()).unwrap_or_default()
    };
    let of_people = || if people { natives(sentence) } else { Vec::new() };
    let placed = || places(sentence, clue);
    match sort {
        Sort::Person => first([&|| persons(sentence), &|| doers(sentence, clue), &Vec::new]),
        Sort::Work => quoted(sentence),
        Sort::City => first([&|| ending(sentence, &["市"]), &of_people, &placed]),
        Sort::Place => first([&of_people, &placed, &Vec::new]),
        Sort::Country => listed(sentence, COUNTRIES),
        Sort::Province => listed(sentence, PROVINCES),
        Sort::Dynasty => listed(sentence, DYNASTIES),
        Sort::Ending(endings) => {
            let words = clue.words();
            let behind_word = |range: Range<usize>| {
                let word = words.iter().find(|word| sentence[range.clone()].starts_with(**word));
                range.start + word.map_or(0, |word| word.len())..range.end
            };
            ending(sentence, endings).into_iter().map(behind_word).collect()
        }
    }
}

/// Persons whose surname is not known: `作者是老舍`, `由老舍创作`, `是老舍的小说`.
fn doers(sentence: &str, clue: &Clue) -> Vec<Range<usize>> {
    let fits = |range: &Range<usize>| {
        let text = &sentence[range.clone()];
        let length = text.chars().count();
        let title =
            text.ends_with(['家', '者', '师', '员', '人']) || COUNTRIES.iter().any(|name| text.starts_with(name));
        (2..=8).contains(&length) && !title && !text.starts_with(|c: char| c.is_ascii_digit() || c == '一')
    };
    behind(sentence, &["由", "是"], &clue.words()).into_iter().filter(fits).collect()
}

/// Places by the words before them.
fn places(sentence: &str, clue: &Clue) -> Vec<Range<usize>> {
    let dated = |range: &Range<usize>| sentence[range.clone()].starts_with(|c: char| c.is_ascii_digit());
    behind(sentence, PLACED, &clue.words()).into_iter().filter(|range| !dated(range)).collect()
}

/// Places whose people someone is of: `杭州钱塘人`.
fn natives(sentence: &str) -> Vec<Range<usize>> {
    let last = |range: &Range<usize>| sentence[range.end..].chars().next().is_none_or(|c| !is_ideograph(c));
    let runs = ending(sentence, &["人"]).into_iter().filter(last);
    runs.map(|range| range.start..range.end - '人'.len_utf8()).collect()
}

/// A name without the larger places before it, where a smaller one is asked for.
fn trimmed(sort: Sort, text: &str) -> &str {
    if !matches!(sort, Sort::City | Sort::Ending(_)) {
        return text;
    }
    let mut rest = text;
    for list in [COUNTRIES, PROVINCES] {
        let smaller = list.iter().find_map(|name| rest.strip_prefix(name)).map(|rest| rest.trim_start_matches('省'));
        // What is left must still be a name.
        rest = smaller.filter(|smaller| smaller.chars().nth(1).is_some()).unwrap_or(rest);
    }
    rest
}

/// Dates: `1881年9月25日`, `1957年10月`, `公元前256年`.
pub(super) fn dates(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let mut end = at;
        for unit in ['年', '月', '日'] {
            let digits = text[end..].bytes().take_while(u8::is_ascii_digit).count();
            match text[end + digits..].strip_prefix(unit) {
                Some(_) if digits > 0 => end += digits + unit.len_utf8(),
                _ => break,
            }
        }
        if end > at {
            let start = if text[..at].ends_with("公元前") { at - "公元前".len() } else { at };
            found.push(start..end);
            from = end;
        } else {
            from = at + text[at..].bytes().take_while(u8::is_ascii_digit).count();
        }
    }
    found
}

/// A date as a number that grows with time.
pub(super) fn day(date: &str) -> i64 {
    let (before, date) = date.strip_prefix("公元前").map_or((1, date), |rest| (-1, rest));
    let mut parts = date.split(['年', '月', '日']).map(|part| part.parse::<i64>().unwrap_or(0).min(99_999));
    let mut part = || parts.next().unwrap_or(0);
    before * part() * 372 + part() * 31 + part()
}

/// The day of birth or death in the brackets behind the name of the page, if the clue asks for one.
pub(super) fn life(page: &Page, clue: &Clue) -> Option<String> {
    let first = page.sentences.first()?;
    let open = first.find('（').filter(|at| *at < 60)?;
    let close = open + first[open..].find('）')?;
    let dates = dates(&first[open..close]);
    let words = clue.words();
    let asks = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let date = if asks(BIRTH) { dates.first() } else { dates.get(1).filter(|_| asks(DEATH)) };
    date.map(|date| first[open..close][date.clone()].to_owned())
}

/// Numbers with such a unit; without one, any number and the measure word behind it.
pub(super) fn numbers(text: &str, unit: &str) -> Vec<Range<usize>> {
    const NUMERALS: &str = "一二三四五六七八九十百千万亿两零〇";
    const ABOUT: &[char] = &['多', '余', '几'];
    let digit = |c: char| c.is_ascii_digit() || NUMERALS.contains(c);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(digit).map(|at| from + at) {
        let run = text[at..].find(|c: char| !digit(c) && !matches!(c, '.' | ',')).unwrap_or(text.len() - at);
        let end = at + run;
        let rest = &text[end..];
        let behind = rest.strip_prefix(ABOUT).unwrap_or(rest);
        let about = rest.len() - behind.len();
        if unit.is_empty() {
            let measure = behind.chars().next().filter(|c| MEASURES.contains(c)).map_or(0, char::len_utf8);
            found.push(at..end + if measure > 0 { about + measure } else { 0 });
        } else if behind.starts_with(unit) {
            found.push(at..end + about + unit.len());
        }
        from = end;
    }
    found
}

/// A date as long as it is asked for.
fn shortened(text: &str, kind: &Kind) -> String {
    match (kind, text.find('年')) {
        (Kind::Year, Some(at)) => text[..at + '年'.len_utf8()].to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{dates, day, numbers};

    #[test]
    fn dates_and_numbers_are_found_and_ordered() {
        let text = "（1881年9月25日—1936年10月）约公元前256年，12月，35岁";
        let found: Vec<&str> = dates(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["1881年9月25日", "1936年10月", "公元前256年"]);
        assert!(day("公元前256年") < day("1881年9月25日") && day("1881年") < day("1881年9月25日"));
        let text = "五十二卷，收录药物1892种，附有一万多个药方，长266.5米";
        let found = |unit: &str| numbers(text, unit).into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(found("种"), ["1892种"]);
        assert_eq!(found(""), ["五十二卷", "1892种", "一万多个", "266.5米"]);
    }
}
