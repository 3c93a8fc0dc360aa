//! Reading files and tables. Also a module of `src/tests`.

use serde_json::Value;
use std::path::Path;

/// Each line of a text as JSON.
#[track_caller]
pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[track_caller]
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file of the repository, such as `docs/guide.md`.
pub(crate) fn repository(name: &str) -> String {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
}

/// Rows of a page's tables whose header begins with these cells, each with the headings that it stands under.
pub(crate) fn table_rows(page: &str, header: &[&str]) -> Vec<(Vec<String>, Vec<String>)> {
    let (mut headings, mut inside, mut found) = (Vec::new(), false, Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            headings = vec![heading.to_owned()];
        } else if let Some(heading) = line.strip_prefix("### ") {
            headings.truncate(1);
            headings.push(heading.to_owned());
        }
        let Some(row) = line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) else {
            inside = false;
            continue;
        };
        // A bar inside a cell is written `\|`.
        let cells: Vec<String> =
            row.replace("\\|", "\0").split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
        if cells.iter().zip(header).filter(|(cell, name)| cell == *name).count() == header.len() {
            inside = true;
        } else if inside && !cells[0].starts_with("---") {
            found.push((headings.clone(), cells));
        }
    }
    found
}
