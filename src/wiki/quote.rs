//! Quoting of a query for a URL: as the paper's HTTP client did it, and as it should be done.
//!
//! The paper pasted the query into the URL with nothing but spaces replaced. What went over the wire was decided by
//! `requests` and its `urllib3`: the fragment dropped, unsafe characters quoted, `%XX` left alone where every percent
//! sign starts one, unreserved characters unquoted.
//!
//! One difference stays: the paper's client left apostrophes plain, and ours sends `%27`, as the standard for URLs has
//! it. No server tells the two apart, since it reads the query unquoted.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write as _;

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
    use super::{quote_form, quote_like_requests};

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
