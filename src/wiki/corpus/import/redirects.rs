//! Redirects alone: a line is a name, a tab, and the title or the redirect that it leads to.
//!
//! Underscores are spaces, as in the tables that Wikipedia publishes.

use super::lines::{self, Parsed};
use super::{ImportError, Records};
use crate::wiki::corpus::record::Record;
use std::path::Path;

pub(super) fn open_redirects(path: &Path) -> Result<Records, ImportError> {
    lines::open_lines(path, parse_redirect)
}

fn parse_redirect(line: &[u8]) -> Parsed {
    let names = str::from_utf8(line).unwrap_or_default().split_once('\t');
    let names = names.map(|(title, to)| [title, to].map(|name| name.replace('_', " ").trim().to_owned()));
    match names {
        Some([title, to]) if !title.is_empty() && !to.is_empty() && !to.contains('\t') => {
            Ok(vec![Record::Redirect { title, to }])
        }
        _ => Err("a name, a tab and its target are expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ImportError, Record, open_redirects};
    use crate::wiki::corpus::import::Imported;
    use std::fs;

    #[test]
    fn lines_that_are_no_redirects_are_named_and_the_others_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r.tsv");
        let long = vec![b'x'; 17 << 20];
        let lines: [&[u8]; 9] = [
            "\u{feff}New_York_City\tNew York\r".as_bytes(),
            b"a\tb\tc",
            b"\xff\tb",
            b"\tb",
            b"a\t ",
            b"  ",
            b"one\ttwo",
            &long,
            b"last\tone",
        ];
        fs::write(&path, lines.join(&b'\n')).expect("written");
        let shown = |found| match found {
            Ok(Imported { record: Record::Redirect { title, to }, place }) => {
                format!("{}: {title} -> {to}", place.line)
            }
            Err(ImportError::Record { place, reason }) => format!("{}: {reason}", place.line),
            other => format!("{other:?}"),
        };
        let found: Vec<String> = open_redirects(&path).expect("a file").map(shown).collect();
        let expected = "a name, a tab and its target are expected";
        assert_eq!(found[0], "1: New York City -> New York");
        assert_eq!(
            found[1..5],
            [2, 3, 4, 5].map(|line| format!("{line}: {}", if line == 3 { "it is not UTF-8 text" } else { expected }))
        );
        assert_eq!(found[5..], ["7: one -> two", "8: it is longer than 16 MiB", "9: last -> one"].map(str::to_owned));
        assert!(
            open_redirects(dir.path()).is_err()
                || open_redirects(dir.path()).is_ok_and(|mut found| matches!(found.next(), Some(Err(_))))
        );
    }
}
