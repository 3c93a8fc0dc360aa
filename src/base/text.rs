//! Text for people: untrusted text made safe for a terminal, counts, words for a shell, what looks like a secret.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

/// `text` with control characters and marks that change the direction of writing escaped, as in `\u{1b}`. Line breaks
/// are kept, and a tab becomes a space.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => shown.push(' '),
            c if is_control(c) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "{}", c.escape_default());
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The first `limit` characters of `text`; `…` marks a cut.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    text.char_indices().nth(limit).map_or(Cow::Borrowed(text), |(end, _)| Cow::Owned(format!("{}…", &text[..end])))
}

/// Whether a text is a date, perhaps without day or month, or a time in UTC. Such texts are in the order of their dates.
pub fn is_date(text: &str) -> bool {
    let rest = match text.len() {
        4 => "-01-01",
        7 => "-01",
        _ => "",
    };
    let is_date = format!("{text}{rest}").parse::<jiff::civil::Date>().is_ok();
    text.starts_with(|c: char| c.is_ascii_digit())
        && (is_date || text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok())
}

/// [`visible`] text on one line, line breaks as spaces, [cut] after `limit` characters.
pub fn visible_line(text: &str, limit: usize) -> String {
    visible(&cut(text, limit).replace('\n', " ")).into_owned()
}

/// `text` on one line for an error message: line breaks, tabs and invisible marks are escaped too, and `…` marks a cut
/// after `limit` characters.
pub fn printable(text: &str, limit: usize) -> String {
    let invisible = |c| matches!(c, '\n' | '\u{200b}'..='\u{200d}' | '\u{feff}');
    let mut shown = String::new();
    for c in cut(text, limit).chars() {
        if is_control(c) || invisible(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// How an error message quotes text from a file: [`printable`], cut after 80 characters.
pub fn excerpt(text: &str) -> String {
    printable(text, 80)
}

/// Whether a terminal would obey a character, turn the direction of writing, or show nothing of it, as of a tag: everything that
/// [`visible`] escapes.
pub fn is_control(c: char) -> bool {
    let directs = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    let hides = ('\u{e0000}'..='\u{e007f}').contains(&c);
    directs || breaks || hides || (c.is_control() && c != '\n')
}

/// Whether a text is written in Chinese characters, for the most part.
pub fn is_chinese(text: &str) -> bool {
    let han = text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    2 * han > text.chars().count()
}

/// A count with its noun: `1 episode`, `1,200 episodes`.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(n)) }
}

/// A time to wait, in words and rounded up: `45 seconds`, `10 minutes`, `3 hours`.
pub(crate) fn wait_in_words(wait: Duration) -> String {
    let seconds = wait.as_millis().div_ceil(1000);
    match u64::try_from(seconds).unwrap_or(u64::MAX) {
        seconds @ 0..120 => counted(seconds, "second"),
        seconds @ 120..7200 => counted(seconds.div_ceil(60), "minute"),
        seconds => counted(seconds.div_ceil(3600), "hour"),
    }
}

/// A count with a comma between thousands.
pub fn thousands(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The words with `between` them; nothing where there are none.
pub(crate) fn joined<S: AsRef<str>>(words: impl IntoIterator<Item = S>, between: &str) -> Option<String> {
    let mut words = words.into_iter();
    let first = words.next()?.as_ref().to_owned();
    Some(words.fold(first, |text, word| text + between + word.as_ref()))
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+#".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The candidate most similar to `word`, if it is similar enough to be a typo.
pub(crate) fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A very long key is not a typo, and the comparison takes quadratic time.
    if word.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .filter(|known| known.len() <= 64)
        .map(|known| (strsim::jaro_winkler(&word.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// Whether a name is one that values with secrets have: `key`, `token`, `Sig`, …
pub fn is_secret_name(name: &str) -> bool {
    const WORDS: [&str; 9] = ["key", "token", "sig", "secret", "auth", "pass", "pwd", "cred", "code"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Whether it contains a mix of letters and digits that is longer than words and dates.
pub fn looks_secret(value: &str) -> bool {
    const LEAST: usize = 16;
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        let has = |of: fn(&u8) -> bool| run.as_bytes().iter().any(of);
        run.len() >= LEAST && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::{closest, counted, printable, shell_word, thousands, visible, visible_line, wait_in_words};
    use std::time::Duration;

    #[test]
    fn a_wait_is_told_in_words_and_rounded_up() {
        for (ms, words) in [
            (1, "1 second"),
            (90_000, "90 seconds"),
            (600_000, "10 minutes"),
            (600_001, "11 minutes"),
            (7_200_000, "2 hours"),
            (90_000_000, "25 hours"),
        ] {
            assert_eq!(wait_in_words(Duration::from_millis(ms)), words);
        }
        assert_eq!(wait_in_words(Duration::MAX), "5,124,095,576,030,432 hours");
    }

    #[test]
    fn typos_are_recognised() {
        assert_eq!(closest("exampler", ["exemplar", "instruction"]), Some("exemplar"));
        assert_eq!(closest("Claims", ["Question", "Claim"]), Some("Claim"));
        assert_eq!(closest("colour", ["exemplar", "instruction"]), None);
        assert_eq!(closest(&"x".repeat(100_000), ["exemplar"]), None);
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(visible("a\tb\nc\rd"), "a b\nc\\rd");
        assert_eq!(visible("\u{1b}]0;x\u{7}\u{9b}31m\0\u{7f}"), "\\u{1b}]0;x\\u{7}\\u{9b}31m\\u{0}\\u{7f}");
        assert_eq!(visible("\u{202e}evil\u{2066}\u{2028}"), "\\u{202e}evil\\u{2066}\\u{2028}");
        assert_eq!(visible("Ærø 東京 é"), "Ærø 東京 é");
    }

    #[test]
    fn a_line_is_cut_by_characters() {
        assert_eq!(visible_line("ab\ncd", 3), "ab …");
        assert_eq!(visible_line("ab\n", 3), "ab ");
        assert_eq!(printable("a\n\t\u{1b}[31m\u{202e}\u{feff}é", 20), "a\\n\\t\\u{1b}[31m\\u{202e}\\u{feff}é");
        assert_eq!(["abcdef", "abc"].map(|text| printable(text, 3)), ["abc…", "abc"]);
    }

    #[test]
    fn numbers_and_words_are_written_for_people_and_shells() {
        assert_eq!([0_u64, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0_u64, 1, 2_000].map(|n| counted(n, "question")), ["0 questions", "1 question", "2,000 questions"]);
        assert_eq!(["a-b", "it's", ""].map(shell_word), ["a-b", "'it'\\''s'", "''"]);
    }
}
