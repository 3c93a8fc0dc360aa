//! Redirects alone: a line is a name, a tab, and the title or the redirect that it leads to.
//!
//! Underscores stand for spaces, as in the tables that Wikipedia publishes.

use super::{ImportError, Imported, Place, Records, text_of};
use crate::types::bounded::{read_line, too_long};
use crate::wiki::corpus::record::Record;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    let mut source = File::open(path).and_then(text_of).map_err(|error| broken(&error))?;
    let (mut line, mut number, mut ended) = (Vec::new(), 0, false);
    Ok(Box::new(std::iter::from_fn(move || {
        while !ended {
            number += 1;
            match next(&mut source, &mut line, number) {
                Ok(Line::End) => ended = true,
                Ok(Line::Blank) => {}
                Ok(Line::Redirect(record)) => return Some(Ok(record)),
                Err(error) => {
                    ended = matches!(error, ImportError::Broken { .. });
                    return Some(Err(error));
                }
            }
        }
        None
    })))
}

fn broken(error: &io::Error) -> ImportError {
    ImportError::Broken { reason: error.to_string() }
}

enum Line {
    Redirect(Imported),
    Blank,
    End,
}

fn next(source: &mut impl BufRead, line: &mut Vec<u8>, number: u64) -> Result<Line, ImportError> {
    let length = read_line(source, line).map_err(|error| broken(&error))?;
    if length == 0 {
        return Ok(Line::End);
    }
    let place = Place { member: None, line: number };
    let wrong = |reason: String| ImportError::Record { place: place.clone(), reason };
    if let Some(reason) = too_long(line, length) {
        return Err(wrong(format!("it is {reason}")));
    }
    let text = str::from_utf8(line).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { text }.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Ok(Line::Blank);
    }
    let names =
        text.split_once('\t').map(|(title, to)| [title, to].map(|name| name.replace('_', " ").trim().to_owned()));
    match names {
        Some([title, to]) if !title.is_empty() && !to.is_empty() && !to.contains('\t') => {
            Ok(Line::Redirect(Imported { record: Record::Redirect { title, to }, place: place.clone() }))
        }
        _ => Err(wrong("a name, a tab and its target are expected".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{ImportError, Record, open};
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
            b"nul\0\tb",
            &long,
            b"last\tone",
        ];
        fs::write(&path, lines.join(&b'\n')).expect("written");
        let shown = |found| match found {
            Ok(super::Imported { record: Record::Redirect { title, to }, place }) => {
                format!("{}: {title} -> {to}", place.line)
            }
            Err(ImportError::Record { place, reason }) => format!("{}: {reason}", place.line),
            other => format!("{other:?}"),
        };
        let found: Vec<String> = open(&path).expect("a file").map(shown).collect();
        let expected = "a name, a tab and its target are expected";
        assert_eq!(found[0], "1: New York City -> New York");
        assert_eq!(
            found[1..5],
            [2, 3, 4, 5].map(|line| format!("{line}: {}", if line == 3 { "it is not UTF-8 text" } else { expected }))
        );
        assert_eq!(found[5..], ["7: nul\0 -> b", "8: it is longer than 16 MiB", "9: last -> one"].map(str::to_owned));
        assert!(
            open(dir.path()).is_err() || open(dir.path()).is_ok_and(|mut found| matches!(found.next(), Some(Err(_))))
        );
    }
}
