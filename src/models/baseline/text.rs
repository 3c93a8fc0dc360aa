//! Words, titles, years and numbers in plain text, independent of any dataset.

use std::ops::Range;

/// A part of a text and its position, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span<'a> {
    pub(super) text: &'a str,
    pub(super) at: Range<usize>,
}

/// Words that say little about the topic of a sentence.
const SMALL: &str = "a about after all also although among an and any are as at be because been before being \
    between both but by called can could despite did do does during each either every first for from had has have \
    he her here him his how i if in into is it its itself known made make many more most much name named not of on \
    once one only or other out over own same she since so some such than that the their them then there these they \
    this those through to two under until up was were what when where whether which while who whom whose why will \
    with within without would";
/// Small words inside a title: `Bridge of the Gods`.
const INNER: &str = "of the de la le von van der du di da del";
const MONTHS: &str = "January February March April May June July August September October November December";
const NUMBERS: &str = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred";
/// Whether a list of words, separated by spaces, contains this one.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    // Most words are no part of the list: that is found out faster.
    memchr::memmem::find(list.as_bytes(), word.as_bytes()).is_some() && list.split(' ').any(|known| known == word)
}

/// The words of a text: runs of letters and digits with apostrophes, hyphens and decimal points inside.
pub(super) fn words(text: &str) -> Vec<Span<'_>> {
    let is_gap = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '-' | ',' | '.');
    let words = text.split(is_gap).map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    let at = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
    words.filter(|word| !word.is_empty()).map(|word| Span { text: word, at: at(word)..at(word) + word.len() }).collect()
}

pub(super) fn is_small(word: &str) -> bool {
    is_one_of(SMALL, &word.to_lowercase())
}

/// The start of a word, which related words share: `directed` and `director`.
pub(super) fn stem(word: &str) -> String {
    word.to_lowercase().trim_end_matches("'s").trim_end_matches("’s").chars().take(6).collect()
}

/// Words in lower case, separated by single spaces, so that case and punctuation do not matter.
pub(super) fn fold(text: &str) -> String {
    let folded: Vec<String> = words(text).iter().map(|word| word.text.to_lowercase().replace('’', "'")).collect();
    folded.join(" ")
}

/// One short line, so that page text cannot break out of an action.
pub(super) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(40).collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(300).collect()
}

/// Spans that look like titles of pages: capitalised words in a row, with small words between them.
pub(super) fn titles(text: &str) -> Vec<Span<'_>> {
    let words = words(text);
    let is_capital = |word: &str| word.starts_with(char::is_uppercase) && !is_one_of(MONTHS, word);
    let mut titles = Vec::new();
    let mut next = 0;
    while let Some(from) = (next..words.len()).find(|i| is_capital(words[*i].text)) {
        let (mut start, mut end) = (from, from);
        next = from + 1;
        // A capital, a short number, or small words and a capital continue the title.
        while let [one, word, ..] = &words[next - 1..] {
            let gap = &text[one.at.end..word.at.start];
            let number = word.text.len() < 4 && word.text.parse::<u32>().is_ok();
            let small = is_one_of(INNER, word.text);
            if !(gap == " " || gap == ". " && one.text.len() == 1) || !(is_capital(word.text) || number || small) {
                break;
            }
            end = if small { end } else { next };
            next += 1;
        }
        let opens = from == 0 || text[..words[from].at.start].trim_end().ends_with(['.', ':', '?', '!']);
        // Inside a sentence, a small word may belong to the title: `in The Piano`.
        while (opens || start == end) && start <= end && is_small(words[start].text) {
            start += 1;
        }
        if start <= end && is_capital(words[start].text) {
            let at = words[start].at.start..words[end].at.end;
            let own = text[at.clone()].trim_end_matches("'s").trim_end_matches("’s");
            titles.push(Span { text: own, at: at.start..at.start + own.len() });
        }
    }
    titles
}

/// Whether a title is one capitalised word before a common one: an adjective, such as `Danish` in `Danish author`.
pub(super) fn is_adjective(text: &str, title: &Span<'_>) -> bool {
    let rest = text[title.at.end..].strip_prefix([' ', '-']).unwrap_or_default();
    let next = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    !title.text.contains(' ') && next.starts_with(char::is_lowercase) && !is_small(next)
}

pub(super) fn numbers(text: &str) -> Vec<Span<'_>> {
    let spelled = |word: &str| is_one_of(NUMBERS, &word.split('-').next().unwrap_or_default().to_lowercase());
    let is_number = |word: &Span<'_>| word.text.starts_with(|c: char| c.is_ascii_digit()) || spelled(word.text);
    words(text).into_iter().filter(is_number).collect()
}

/// Whether a number is a year from 1000 to 2099.
pub(super) fn is_year(number: &Span<'_>) -> bool {
    number.text.len() == 4 && number.text.parse::<u32>().is_ok_and(|year| (1000..2100).contains(&year))
}

/// The full date that a year is part of (`4 May 1931`, `May 4, 1931`), or the year.
pub(super) fn date<'a>(text: &'a str, year: &Span<'a>) -> Span<'a> {
    let before = words(&text[..year.at.start]);
    let is_day = |word: &Span<'_>| word.text.len() <= 2 && word.text.parse::<u8>().is_ok();
    let is_month = |word: &Span<'_>| is_one_of(MONTHS, word.text);
    let start = match &before[..] {
        [.., one, two] if is_month(one) && is_day(two) || is_day(one) && is_month(two) => one.at.start,
        _ => year.at.start,
    };
    Span { text: &text[start..year.at.end], at: start..year.at.end }
}
