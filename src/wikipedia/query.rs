//! Which titles `MediaWiki` tries for a query before it searches texts.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write as _;

/// The titles to try for `query`, in order, without repeats: as written (first letter in upper case), in lower case (also with
/// its first letter in upper case, as most wikis write titles), in Title Case, in UPPER CASE, with a capital after each word break; then the same without the double quotes around
/// the whole. Empty for queries that cannot be titles.
#[cfg(any(feature = "index", test))]
pub fn candidate_titles(query: &str) -> Vec<String> {
    let mut titles = Vec::new();
    let mut query = query.trim();
    // Each round takes a pair of quotes off; two rounds are all that can add something.
    for _ in 0..2 {
        if cannot_be_title(query) {
            break;
        }
        ladder(query, &mut titles);
        match query.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) if !inner.contains('"') => query = inner.trim(),
            _ => break,
        }
    }
    titles
}

/// Whether a query goes straight to the text search: titles hold none of `[ ] { } | < > #`, and are one line.
pub fn cannot_be_title(query: &str) -> bool {
    query.is_empty() || query.contains(['[', ']', '{', '}', '|', '<', '>', '#', '\n'])
}

#[cfg(any(feature = "index", test))]
fn ladder(query: &str, titles: &mut Vec<String>) {
    let name = spaced(query);
    let words: Vec<String> = name.split(' ').map(capitalised).collect();
    let lower = name.to_lowercase();
    for title in
        [capitalised(&name), capitalised(&lower), lower, words.join(" "), name.to_uppercase(), after_word_breaks(&name)]
    {
        if !title.is_empty() && !titles.contains(&title) {
            titles.push(title);
        }
    }
}

/// A name whose underscores are spaces, and runs of them one.
#[cfg(any(feature = "index", test))]
pub(crate) fn spaced(name: &str) -> String {
    name.split([' ', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(any(feature = "index", test))]
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(any(feature = "index", test))]
fn after_word_breaks(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    let mut breaks = true;
    for c in name.chars() {
        let word = c.is_alphanumeric() || c == '_';
        if breaks && word {
            title.extend(c.to_uppercase());
        } else {
            title.push(c);
        }
        breaks = !word;
    }
    title
}

// Quoting of a query for a URL: as the paper's HTTP client did it, and as it should be done.
//
// The paper pasted the query into the URL with nothing but spaces replaced. What went over the wire was decided by
// `requests` and its `urllib3`: the fragment dropped, unsafe characters quoted, `%XX` left alone where every percent
// sign starts one, unreserved characters unquoted.
//
// One difference stays: the paper's client left apostrophes plain, and ours sends `%27`, as the standard for URLs has
// it. No server tells the two apart, since it reads the query unquoted.

/// Characters that a form value carries as they are.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b' ');

/// The query string's value that the paper's environment sent for `query`.
pub(crate) fn quote_like_requests(query: &str) -> String {
    let plussed = query.replace(' ', "+");
    let kept = plussed.split('#').next().unwrap_or_default().as_bytes();
    let percents = memchr::memchr_iter(b'%', kept).count();
    let escapes = memchr::memchr_iter(b'%', kept).filter(|&at| escaped_byte(kept, at).is_some()).count();
    // One percent sign that starts no escape, and all of them are quoted.
    let percent = if percents == escapes { "%" } else { "%25" };
    let mut quoted = String::with_capacity(kept.len());
    let mut at = 0;
    while at < kept.len() {
        // Writing to a String cannot fail.
        let _ = match escaped_byte(kept, at) {
            Some(byte) if percents == escapes && is_unreserved(byte) => quoted.write_char(char::from(byte)),
            // Escapes are put in upper case even where they are then quoted.
            Some(byte) => write!(quoted, "{percent}{byte:02X}"),
            None if is_unreserved(kept[at]) || b"!$&'()*+,;=:@/?".contains(&kept[at]) => {
                // What a query may contain, RFC 3986 section 3.4.
                quoted.write_char(char::from(kept[at]))
            }
            None => write!(quoted, "%{:02X}", kept[at]),
        };
        at += if escaped_byte(kept, at).is_some() { 3 } else { 1 };
    }
    quoted
}

/// `query` percent-encoded whole, spaces as `+`: what a form would send.
pub(crate) fn quote_form(query: &str) -> String {
    utf8_percent_encode(query, FORM).to_string().replace(' ', "+")
}

/// The byte of the escape `%XX` at `at`, if there is one.
fn escaped_byte(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    if bytes.get(at) != Some(&b'%') {
        return None;
    }
    u8::try_from(digit(at + 1)? * 16 + digit(at + 2)?).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::{candidate_titles, quote_form, quote_like_requests};

    #[test]
    fn the_ladder_is_mediawikis() {
        assert_eq!(
            candidate_titles("the_beach  boys-live"),
            [
                "The beach boys-live",
                "the beach boys-live",
                "The Beach Boys-live",
                "THE BEACH BOYS-LIVE",
                "The Beach Boys-Live"
            ]
        );
        assert_eq!(candidate_titles(" ray_ charles")[0], "Ray charles");
        assert_eq!(candidate_titles("IBM pc"), ["IBM pc", "Ibm pc", "ibm pc", "IBM Pc", "IBM PC"]);
        assert_eq!(candidate_titles("\"dog\""), ["\"dog\"", "\"DOG\"", "\"Dog\"", "Dog", "dog", "DOG"]);
    }

    #[test]
    fn queries_that_cannot_be_titles_have_none() {
        for query in ["", "  ", "[The Beach]", "C#", "#x", "a|b", "<b>", "{x}", "a\nb"] {
            assert_eq!(candidate_titles(query), Vec::<String>::new(), "{query:?}");
        }
    }

    #[test]
    fn the_papers_client_quotes_what_it_must_and_unquotes_what_it_may() {
        for (query, sent) in [
            ("Ray Charles", "Ray+Charles"),
            ("AT&T", "AT&T"),
            ("C#", "C"),
            ("#Dog", ""),
            ("C++", "C++"),
            ("100% wool", "100%25+wool"),
            ("100%25", "100%25"),
            ("100%25 %zz %e2", "100%2525+%25zz+%25E2"),
            ("%e2%82%ac%41%7e", "%E2%82%ACA~"),
            ("[x]|<b>", "%5Bx%5D%7C%3Cb%3E"),
            ("foo?bar=1/2:@", "foo?bar=1/2:@"),
            ("Dog\nCat", "Dog%0ACat"),
            ("Bein' Green", "Bein'+Green"),
            ("é\"`^{}\\", "%C3%A9%22%60%5E%7B%7D%5C"),
        ] {
            assert_eq!(quote_like_requests(query), sent, "{query:?}");
        }
    }

    #[test]
    fn a_form_loses_nothing() {
        assert_eq!(quote_form("AT&T C# 100% a+b é'"), "AT%26T+C%23+100%25+a%2Bb+%C3%A9%27");
    }
}
