//! The pages of the documentation: files, links and sections that they name exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders of the repository whose files pages name.
const FOLDERS: [&str; 11] = [
    "src/",
    "tests/",
    "scripts/",
    "prompts/",
    "datasets/",
    "experiments/",
    "python/",
    "examples/",
    "simulate/",
    "benches/",
    ".github/",
];

/// Every page by its path, with its text.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for folder in [".", "docs", "docs/decisions", "prompts", "datasets"] {
        let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder");
        for entry in entries {
            let name = entry.expect("a file").file_name();
            let path = Path::new(folder).join(name);
            if path.extension().is_some_and(|ending| ending == "md") {
                let path = path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
                let text = crate::common::repository(path.to_str().expect("a name"));
                found.insert(path, text);
            }
        }
    }
    assert!(found.len() > 60, "{}", found.len());
    found
}

/// A page's text without its blocks of commands.
fn prose(text: &str) -> String {
    let mut inside = false;
    let kept = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// The sections of a page by the names that links give them, as GitHub makes them of headings.
fn sections(text: &str) -> BTreeSet<String> {
    let heading =
        |line: &str| Some(line.trim_start_matches('#')).filter(|rest| rest.len() < line.len()).map(str::to_owned);
    let prose = prose(text);
    let names = prose.lines().filter_map(heading).map(|heading| {
        // Of a link, its words.
        let words = heading
            .split("](")
            .enumerate()
            .map(|(at, part)| if at == 0 { part } else { part.split_once(')').map_or("", |(_, behind)| behind) });
        let plain = words.collect::<String>().to_lowercase();
        let kept = plain.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    });
    names.collect()
}

#[test]
fn every_file_that_a_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = 0;
    for (page, text) in pages() {
        let prose = prose(&text);
        let paths =
            prose.split('`').skip(1).step_by(2).filter(|text| FOLDERS.iter().any(|folder| text.starts_with(folder)));
        // Some are patterns: src/models/NAME.rs, tests/it/transcripts/*.txt.
        for path in paths.filter(|path| !path.contains(['*', ' ', '{', '#', '<']) && !path.contains("NAME")) {
            named += 1;
            assert!(root.join(path).exists(), "{} names `{path}`", page.display());
        }
    }
    assert!(named > 60, "{named} paths");
}

#[test]
fn every_link_leads_to_a_page_and_a_section() {
    let (root, pages) = (Path::new(env!("CARGO_MANIFEST_DIR")), pages());
    let mut followed = 0;
    for (page, text) in &pages {
        let prose = prose(text);
        for target in prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            followed += 1;
            let (file, section) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().expect("a folder");
            let mut path = PathBuf::new();
            for part in folder.join(file).components() {
                match part {
                    std::path::Component::ParentDir => drop(path.pop()),
                    part => path.push(part),
                }
            }
            let path = if file.is_empty() { page.clone() } else { path };
            assert!(root.join(&path).exists(), "{} links to {target}", page.display());
            if let Some(text) = pages.get(&path).filter(|_| !section.is_empty()) {
                assert!(sections(text).contains(section), "{} links to {target}", page.display());
            }
        }
    }
    assert!(followed > 400, "{followed} links");
}
