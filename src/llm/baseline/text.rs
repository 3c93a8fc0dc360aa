//! Words, stems, capitalised spans, numbers and years of English sentences.

use super::lexicon;
use std::ops::Range;

/// A word and where it stands, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) at: Range<usize>,
}

/// A named thing in a sentence: a run of capitalised words and the small words between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) at: Range<usize>,
}

/// A number in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    pub(super) text: String,
    pub(super) value: f64,
    pub(super) at: Range<usize>,
}

/// The words of a text: runs of letters and digits, with apostrophes and hyphens inside.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let inner = matches!(c, '\'' | '’' | '-' | '–') && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        let digits = matches!(c, ',' | '.')
            && text[..at].ends_with(|c: char| c.is_ascii_digit())
            && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if c.is_alphanumeric() || start.is_some() && (inner || digits) {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            words.push(Word { text: &text[from..at], at: from..at });
        }
    }
    if let Some(from) = start {
        words.push(Word { text: &text[from..], at: from..text.len() });
    }
    words
}

pub(super) fn is_stop(word: &str) -> bool {
    lexicon::is_stop(&word.to_lowercase())
}

/// A form that related words share: `directed` and `director`, `wrote` and `author`.
pub(super) fn stem(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    let lower = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
    if let Some(group) = lexicon::group(&lower) {
        return group.to_owned();
    }
    for suffix in [
        "ations", "ation", "ments", "ment", "ings", "ing", "ists", "ist", "ers", "ors", "er", "or", "ies", "ied", "ed",
        "es", "al", "y", "s", "e",
    ] {
        if let Some(root) = lower.strip_suffix(suffix)
            && root.chars().count() >= 4
        {
            return root.to_owned();
        }
    }
    lower.strip_suffix('s').filter(|root| root.len() >= 3).unwrap_or(&lower).to_owned()
}

/// Small words inside a name; those that join two names, such as `and` and `in`, are not among them.
const INNER: &[&str] =
    &["of", "the", "de", "la", "le", "les", "von", "van", "der", "du", "di", "del", "da", "dos", "el", "al", "y", "e"];

/// Named things: capitalised words in a row, with small words between them.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let words = words(text);
    let mut spans = Vec::new();
    let mut i = 0;
    while i < words.len() {
        if !starts_span(text, &words, i) {
            i += 1;
            continue;
        }
        let mut end = i;
        while let Some(next) = continues(text, &words, end) {
            end = next;
        }
        let at = words[i].at.start..words[end].at.end;
        let own = &text[at.clone()];
        let own = own.strip_suffix("'s").or_else(|| own.strip_suffix("’s")).unwrap_or(own);
        spans.push(Span { text: own.to_owned(), at: at.start..at.start + own.len() });
        i = end + 1;
    }
    spans
}

fn capital(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

fn starts_span(text: &str, words: &[Word<'_>], i: usize) -> bool {
    let word = &words[i];
    if !capital(word.text) {
        return false;
    }
    let first = i == 0 || text[..word.at.start].trim_end().ends_with(['.', ':', '?', '!']);
    let small = is_stop(word.text);
    // A small word begins a name only inside a sentence and before another capital: `in The Piano`.
    !small
        || !first && words.get(i + 1).is_some_and(|next| capital(next.text) && text[word.at.end..next.at.start] == *" ")
}

/// The index of the word that carries the name on, if one does.
fn continues(text: &str, words: &[Word<'_>], end: usize) -> Option<usize> {
    let gap = |a: usize, b: usize| text.get(words[a].at.end..words[b].at.start);
    let next = end + 1;
    let word = words.get(next)?;
    let initial = words[end].text.chars().count() == 1 && gap(end, next) == Some(". ");
    if gap(end, next) != Some(" ") && !initial {
        return None;
    }
    if words[end].text.ends_with("'s") && !capital(word.text) {
        return None;
    }
    let number = word.text.chars().all(|c| c.is_ascii_digit()) && word.text.len() <= 3;
    if capital(word.text) || number {
        return Some(next);
    }
    // One or two small words, then a capital: `Bridge of the Gods`.
    let inner = |i: usize| words.get(i).is_some_and(|w| INNER.contains(&w.text));
    let after = if inner(next) && inner(next + 1) { next + 2 } else { next + 1 };
    let joined = inner(next) && words.get(after).is_some_and(|w| capital(w.text)) && gap(after - 1, after) == Some(" ");
    joined.then_some(after)
}

/// Numbers in digits and words; `1,200` and `twenty-four` are one each, `3.5 million` is multiplied.
pub(super) fn numbers(text: &str) -> Vec<Number> {
    let words = words(text);
    let mut numbers = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let plain = word.text.replace(',', "");
        let spelled = lexicon::number;
        let lower = word.text.to_lowercase();
        let value =
            plain.parse::<f64>().ok().filter(|_| word.text.starts_with(|c: char| c.is_ascii_digit())).or_else(|| {
                match lower.split_once('-') {
                    Some((tens, unit)) => Some(spelled(tens)? + spelled(unit)?),
                    None => spelled(&lower),
                }
            });
        let Some(value) = value else { continue };
        let factor = words.get(i + 1).map_or(1.0, |next| match next.text {
            "million" => 1e6,
            "billion" => 1e9,
            "thousand" => 1e3,
            _ => 1.0,
        });
        numbers.push(Number { text: word.text.to_owned(), value: value * factor, at: word.at.clone() });
    }
    numbers
}

/// Four-digit years from 1000 to 2099, with their places; a decade such as `1990s` is none.
pub(super) fn years(text: &str) -> Vec<(i32, Range<usize>)> {
    let mut years = Vec::new();
    for word in words(text) {
        let mut at = word.at.start;
        for part in word.text.split(['-', '–']) {
            if part.len() == 4
                && let Ok(year @ 1000..=2099) = part.parse::<i32>()
            {
                years.push((year, at..at + 4));
            }
            at += part.len() + word.text[at - word.at.start + part.len()..].chars().next().map_or(0, char::len_utf8);
        }
    }
    years
}

pub(super) fn is_month(word: &str) -> bool {
    lexicon::month(word).is_some()
}

/// A full date around a year, `4 May 1931` or `May 4, 1931`, if the year is part of one.
pub(super) fn date_around(text: &str, year: &Range<usize>) -> Option<Range<usize>> {
    let words = words(text);
    let i = words.iter().position(|word| word.at.start <= year.start && year.end <= word.at.end)?;
    let at = |back: usize| i.checked_sub(back).and_then(|i| words.get(i));
    let (one, two) = (at(1)?, at(2)?);
    let day = |word: &Word<'_>| word.text.len() <= 2 && word.text.chars().all(|c| c.is_ascii_digit());
    (is_month(one.text) && day(two) || day(one) && is_month(two.text)).then_some(two.at.start..year.end)
}

/// Places of the years of birth and death in the brackets behind a name at the start of a first sentence.
pub(super) fn life(sentence: &str) -> Vec<Range<usize>> {
    let brackets = sentence.find('(').zip(sentence.find(')')).filter(|(open, close)| open < close && *open < 80);
    let Some((open, close)) = brackets else { return Vec::new() };
    years(sentence).into_iter().map(|(_, at)| at).filter(|at| open < at.start && at.end <= close).collect()
}

/// The day of a year's full date, else the year's first, as a number that grows with time; months count 31 days.
pub(super) fn day(text: &str, year: &Range<usize>) -> i32 {
    let whole = date_around(text, year).map_or("", |at| &text[at]);
    let part = |of: &dyn Fn(&str) -> Option<usize>| words(whole).iter().find_map(|word| of(word.text)).unwrap_or(0);
    let month = part(&|word| lexicon::month(word));
    let day = part(&|word| word.parse().ok().filter(|day| *day <= 31));
    let number = |n: usize| i32::try_from(n).unwrap_or(0);
    text[year.clone()].parse::<i32>().unwrap_or(0) * 372 + number(month) * 31 + number(day)
}

pub(super) fn is_demonym(word: &str) -> bool {
    lexicon::is_people(word) || word.split_once('-').is_some_and(|(a, b)| b == "born" || lexicon::is_people(a))
}

/// Lower-case letters and digits only: two names that differ in case or marks are the same.
pub(super) fn fold(text: &str) -> String {
    let folded: Vec<String> = words(text).iter().map(|word| word.text.to_lowercase().replace('’', "'")).collect();
    folded.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{date_around, day, fold, life, numbers, spans, stem, words, years};

    fn names(text: &str) -> Vec<String> {
        spans(text).into_iter().map(|span| span.text).collect()
    }

    #[test]
    fn words_keep_apostrophes_hyphens_and_decimals() {
        let got: Vec<&str> =
            words("Babette's forty-foot mirror, 1,200.5 m (1785–89).").iter().map(|w| w.text).collect();
        assert_eq!(got, ["Babette's", "forty-foot", "mirror", "1,200.5", "m", "1785–89"]);
    }

    #[test]
    fn names_are_runs_of_capitals() {
        for (text, want) in [
            ("The director of Throne of Blood met Toshiro Mifune's wife.", vec!["Throne of Blood", "Toshiro Mifune"]),
            ("Which is older, The Piano or Babette's Feast?", vec!["The Piano", "Babette's Feast"]),
            ("He moved from Paris to Rome and Milan in May.", vec!["Paris", "Rome", "Milan", "May"]),
            ("C. S. Lewis wrote it.", vec!["C. S. Lewis"]),
            ("Apollo 11 flew.", vec!["Apollo 11"]),
            ("nothing here", vec![]),
        ] {
            assert_eq!(names(text), want, "{text}");
        }
    }

    #[test]
    fn numbers_and_years() {
        let values: Vec<f64> = numbers("It has 1,200 rooms, twenty-four halls and 3.5 million visitors.")
            .iter()
            .map(|n| n.value)
            .collect();
        assert_eq!(values, [1200.0, 24.0, 3_500_000.0]);
        let text = "born 1 May 1950, active 1969–1975 and in the 1980s";
        let found: Vec<i32> = years(text).iter().map(|(year, _)| *year).collect();
        assert_eq!(found, [1950, 1969, 1975]);
        assert_eq!(date_around(text, &years(text)[0].1).map(|at| &text[at]), Some("1 May 1950"));
        assert_eq!(date_around(text, &years(text)[1].1), None);
        let text = "Ann Bee (1 May 1950 – June 9, 1999) was a poet (1970).";
        let days: Vec<i32> = life(text).iter().map(|at| day(text, at)).collect();
        assert_eq!(days, [1950 * 372 + 4 * 31 + 1, 1999 * 372 + 5 * 31 + 9]);
    }

    #[test]
    fn related_words_share_a_stem() {
        for (a, b) in [
            ("directed", "director"),
            ("wrote", "author"),
            ("bridges", "bridge"),
            ("mountains", "mountain"),
            ("river's", "rivers"),
        ] {
            assert_eq!(stem(a), stem(b));
        }
        assert_ne!(stem("born"), stem("bored"));
        assert_eq!(fold("The  PIANO’s"), "the piano's");
    }
}
