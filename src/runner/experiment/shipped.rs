//! Files that are part of the program, so that the main job works from any folder.

/// A shipped file by its path in the repository. Callers let a file on disk win, so that a checkout can be edited.
pub fn file(path: &str) -> Option<&'static [u8]> {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    SHIPPED.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}

/// Paths of the shipped prompt files and files of protocol texts.
pub fn prompts() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name).filter(|name| name.starts_with("prompts/"))
}

/// The prompt files with exemplars of their own; those for passages have the questions of the others.
pub fn prompt_files() -> impl Iterator<Item = &'static str> {
    prompts().filter(|name| !name.starts_with("prompts/protocols/") && !name.ends_with("-passages.toml"))
}

/// The dataset that `run` uses when none is named.
pub const SAMPLE: &str = "datasets/sample.jsonl";

macro_rules! shipped {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../", $path)))),*]
    };
}

const SHIPPED: &[(&str, &[u8])] = shipped![
    "experiments/demo.toml",
    "experiments/interface.toml",
    "experiments/sample.toml",
    "experiments/table1.toml",
    "datasets/sample.jsonl",
    "datasets/sample-claims.jsonl",
    "datasets/sample-wiki/articles.jsonl",
    "datasets/demo.recording.jsonl",
    "datasets/sample-zh.jsonl",
    "datasets/sample-zh.recording.jsonl",
    "datasets/sample-wiki-zh/articles.jsonl",
    "prompts/hotpotqa.toml",
    "prompts/fever.toml",
    "prompts/hotpotqa-zh.toml",
    "prompts/hotpotqa-passages.toml",
    "prompts/fever-passages.toml",
    "prompts/protocols/en.toml",
    "prompts/protocols/zh.toml",
];
