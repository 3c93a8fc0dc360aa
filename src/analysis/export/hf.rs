//! A dataset for the Hugging Face Hub: a folder with both tables as JSON Lines, and a card that says what they are.

use super::table::Kind;
use super::{Export, ExportError, JsonRows, Layout, Scored, Table};
use crate::base::Manifest;
use crate::base::text::visible_line;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy)]
pub struct HfSource<'a> {
    pub run: &'a str,
    pub manifest: &'a Manifest,
    /// Under which licence the questions are, and where they come from, where that is known.
    pub licence: Option<(&'a str, &'a str)>,
}

/// Writes `questions.jsonl`, `steps.jsonl` and a `README.md` with the types of their columns into a folder.
#[derive(Debug)]
pub struct Hf<'a> {
    folder: PathBuf,
    sources: Vec<HfSource<'a>>,
    tables: [JsonRows<File>; 2],
}

impl<'a> Hf<'a> {
    /// `folder` is there; both tables have what `layout` adds to theirs.
    pub fn new(folder: &Path, sources: Vec<HfSource<'a>>, layout: &Layout) -> Result<Self, ExportError> {
        let open = |table: Table| -> Result<_, ExportError> {
            let file = File::create_new(folder.join(format!("{}.jsonl", table.name())))?;
            Ok(JsonRows::new(file, Layout { table, ..layout.clone() }))
        };
        Ok(Self { folder: folder.to_owned(), sources, tables: [open(Table::Questions)?, open(Table::Steps)?] })
    }

    fn card(&self) -> String {
        let mut card = String::from("---\npretty_name: Recorded question answering over Wikipedia\n");
        card += "task_categories:\n- question-answering\ntags:\n- wikitrail\n- agent\n- trajectories\n";
        card += "configs:\n";
        for (at, JsonRows { layout, .. }) in self.tables.iter().enumerate() {
            let name = layout.table.name();
            // A `String` takes everything.
            let _ = writeln!(card, "- config_name: {name}\n  data_files: {name}.jsonl");
            card += if at == 0 { "  default: true\n" } else { "" };
        }
        card += "dataset_info:\n";
        for JsonRows { layout, .. } in &self.tables {
            let _ = writeln!(card, "- config_name: {}\n  features:", layout.table.name());
            for column in layout.columns() {
                let _ = writeln!(card, "  - name: {}\n    dtype: {}", quoted(&column.name), dtype(column.kind));
            }
        }
        card += &self.licence();
        card += "---\n\n# Recorded question answering over Wikipedia\n\n";
        card += "Recorded by the program wikitrail. `questions` has a row an episode with its answer \
                 and its scores, `steps` a row a step with thought, tool, input and observation.\n\n";
        card += "```python\nfrom datasets import load_dataset\nquestions = load_dataset(\"USER/NAME\", \"questions\")[\"train\"]\n```\n\n";
        card + &self.runs() + &self.terms()
    }

    /// The licence in the terms of the Hub; `unknown` where that of any questions is not known.
    fn licence(&self) -> String {
        let mut ids: Vec<String> = Vec::new();
        for source in &self.sources {
            let licence = source.licence.map_or("unknown", |(licence, _)| licence);
            ids.extend(licence.split(" OR ").map(|id| id.to_lowercase().replace(' ', "-")));
        }
        ids.sort();
        ids.dedup();
        match &ids[..] {
            [id] => format!("license: {id}\n"),
            ids if ids.iter().any(|id| id == "unknown") => "license: unknown\n".to_owned(),
            ids => format!("license:\n- {}\n", ids.join("\n- ")),
        }
    }

    fn runs(&self) -> String {
        let mut text = String::from("## Runs\n\n| run | variant | model | method | protocol | prompt | Wikipedia |\n");
        text += "|---|---|---|---|---|---|---|\n";
        for HfSource { run, manifest, .. } in &self.sources {
            for variant in &manifest.variants {
                let cells = [run, &*variant.name, &variant.model, &variant.method, &variant.protocol, &variant.prompt];
                let cells = cells.into_iter().chain([variant.wiki.as_str()]).map(code);
                let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
            }
        }
        text + "\n"
    }

    fn terms(&self) -> String {
        let mut text = String::from("## Licence and source\n\n");
        for HfSource { run, manifest, licence } in &self.sources {
            let dataset = &manifest.dataset;
            let file = Path::new(&dataset.path).file_name().unwrap_or_default().to_string_lossy();
            let terms = licence.map_or_else(
                || "their licence is not known to wikitrail: say it here, and above, before you publish".to_owned(),
                |(licence, origin)| format!("{licence}, from {origin}"),
            );
            let _ = writeln!(
                text,
                "- Questions and answers of {}: {} (file {}, SHA-256 {}); {terms}.",
                code(run),
                code(&dataset.name),
                code(&file),
                code(&dataset.sha256)
            );
        }
        text += "- Observations quote pages of Wikipedia, whose texts are under CC BY-SA: the columns `url`, `title` and `revid` name \
                 them. Those of a frozen corpus are under the licence that `wikitrail corpus info` prints.\n";
        text + "- Thoughts and answers are a model's; its provider may have terms for them.\n"
    }
}

impl Export for Hf<'_> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        self.tables.iter_mut().try_for_each(|rows| rows.write(scored))
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.tables.iter_mut().try_for_each(JsonRows::finish)?;
        Ok(fs::write(self.folder.join("README.md"), self.card())?)
    }
}

fn dtype(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "string",
        Kind::Integer => "int64",
        Kind::Real => "float64",
        Kind::Flag => "bool",
    }
}

/// A text as YAML has it in double quotes; everything but printable ASCII is escaped.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        _ => format!("\\U{:08x}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// A text of somebody else's as code in a cell of a table.
fn code(text: &str) -> String {
    let line = visible_line(text, 200).replace('`', "'").replace('|', "\\|");
    if line.trim().is_empty() { String::new() } else { format!("`{line}`") }
}
