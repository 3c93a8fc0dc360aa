//! Provenance of live answers.

use crate::net::{Answer, redact};
use crate::types::{Provenance, sha256_hex};

/// Where `answer` came from; `title` is that of the page, or the query of a list.
pub(super) fn provenance_of(answer: &Answer, source: &str, title: &str) -> Provenance {
    stamped(&answer.url, source, title, answer.status, &answer.body)
}

/// Where an empty finding comes from that needed no request.
pub(super) fn provenance_unsent(url: &str, source: &str, title: &str) -> Provenance {
    stamped(url, source, title, 200, &[])
}

/// All addresses of live findings pass through here, and lose their user part if they still have one.
fn stamped(url: &str, source: &str, title: &str, status: u16, body: &[u8]) -> Provenance {
    Provenance {
        source: source.to_owned(),
        url: redact::user(url),
        title: title.to_owned(),
        status,
        fetched_at: jiff::Timestamp::now().to_string(),
        sha256: sha256_hex([body]),
        ..Provenance::default()
    }
}

#[cfg(test)]
mod tests {
    use super::provenance_unsent;

    #[test]
    fn records_never_hold_the_user_part_of_an_address() {
        let stamped = provenance_unsent("https://user:SECRET@h/w/api.php?a='b'#c", "api", "T");
        assert_eq!((stamped.url.as_str(), stamped.status), ("https://h/w/api.php?a=%27b%27#c", 200));
        assert_eq!(stamped.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            provenance_unsent("http://h/w/index.php?search=a@b", "html", "T").url,
            "http://h/w/index.php?search=a@b"
        );
    }
}
