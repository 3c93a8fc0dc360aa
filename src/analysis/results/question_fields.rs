//! Fields of questions: for breakdowns, for tables, and shared by runs over one dataset.

use crate::base::{DatasetRecord, Manifest, Question};
use crate::runner::store::RunFolder;
use crate::runner::stored::Evidence;
use crate::scoring::GoldEvidence;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Fields of `meta` that become columns; further ones are left out.
pub(crate) const MAX_META: usize = 100;

/// Bytes of a field's name; a longer one is left out.
const MAX_NAME: usize = 200;

/// The questions of runs; runs over one dataset share them, and the file is read once.
#[derive(Debug, Default)]
pub(crate) struct QuestionCache {
    known: Vec<(DatasetRecord, Rc<Questions>)>,
    /// Fields of `meta`, in the order of their first appearance.
    pub(crate) meta: Vec<String>,
    left_out: HashSet<String>,
}

#[derive(Debug)]
pub(crate) struct Questions {
    pub(crate) evidence: Evidence,
    fields: HashMap<String, Vec<Option<String>>>,
}

impl Questions {
    /// The fields of a question: [`Field::KNOWN`], then those of `meta` up to its last one.
    pub(crate) fn fields(&self, id: &str) -> &[Option<String>] {
        self.fields.get(id).map_or(&[], Vec::as_slice)
    }
}

impl QuestionCache {
    /// The questions of a run's dataset, and a note where its supporting facts are missing, once.
    pub(crate) fn of(&mut self, folder: &RunFolder, manifest: &Manifest) -> (Rc<Questions>, Option<String>) {
        let wanted = &manifest.dataset;
        let same = |known: &DatasetRecord| {
            (&known.sha256, &known.format, &known.columns, &known.selection)
                == (&wanted.sha256, &wanted.format, &wanted.columns, &wanted.selection)
        };
        if let Some((_, questions)) = self.known.iter().find(|(known, _)| same(known)) {
            return (Rc::clone(questions), None);
        }
        let mut fields = HashMap::new();
        let evidence = Evidence::of_questions(folder, manifest, None, |question| {
            for (name, _) in question.meta.iter().filter(|(_, value)| !value.is_null()) {
                self.name(name);
            }
            let meta = self.meta.iter().map(|name| Field::Meta(name.clone()));
            let row = Field::KNOWN.into_iter().chain(meta).map(|field| field.of(question)).collect();
            fields.insert(question.id.clone(), row);
        });
        if evidence.missing.is_some() {
            fields.clear();
        }
        let note = evidence.note();
        let questions = Rc::new(Questions { evidence, fields });
        self.known.push((wanted.clone(), Rc::clone(&questions)));
        (questions, note)
    }

    /// Gives a field of `meta` a column, as long as there are some left.
    fn name(&mut self, name: &str) {
        if self.meta.iter().any(|known| known == name) {
            return;
        }
        if self.meta.len() < MAX_META && name.len() <= MAX_NAME {
            self.meta.push(name.to_owned());
        } else {
            self.left_out.insert(name.to_owned());
        }
    }

    pub(crate) fn left_out(&self) -> Option<String> {
        let count = self.left_out.len();
        (count > 0).then(|| {
            format!("note: the questions have {count} more fields of `meta`; at most {MAX_META} become columns")
        })
    }
}

/// A field of a question by which results are broken down or clustered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Cluster,
    Type,
    Level,
    /// How many gold pages the question needs.
    Hops,
    AnswerKind,
    /// The first gold page.
    Page,
    Meta(String),
}

impl Field {
    /// The fields that every table of questions has, in the order of its columns.
    pub(crate) const KNOWN: [Self; 5] = [Self::Type, Self::Level, Self::Hops, Self::AnswerKind, Self::Cluster];

    pub(crate) fn parse(name: &str) -> Self {
        let name = name.trim();
        let meta = || Self::Meta(name.strip_prefix("meta.").unwrap_or(name).to_owned());
        Self::KNOWN.into_iter().chain([Self::Page]).find(|field| field.name() == name).unwrap_or_else(meta)
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Cluster => "cluster",
            Self::Type => "type",
            Self::Level => "level",
            Self::Hops => "hops",
            Self::AnswerKind => "answer_kind",
            Self::Page => "page",
            Self::Meta(name) => name,
        }
    }

    pub(crate) fn of(&self, question: &Question) -> Option<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self {
            Self::Cluster => question.cluster.clone(),
            Self::Type => question.kind.clone(),
            Self::Level => question.level.clone(),
            Self::Hops => hops(question).map(|hops| hops.to_string()),
            Self::AnswerKind => serde_json::to_value(question.answer_kind).ok().as_ref().map(text),
            Self::Page => Some(GoldEvidence::of(question)?.groups().first()?.pages.first()?.clone()),
            Self::Meta(name) => question.meta.get(name).filter(|value| !value.is_null()).map(text),
        }
    }

    /// The fields that every table has, and `meta` as it is, by their names.
    pub(crate) fn json(question: &Question) -> Map<String, Value> {
        let value = |field: &Self, text: Option<String>| match field {
            Self::Hops => text.and_then(|text| text.parse::<u64>().ok()).map_or(Value::Null, Value::from),
            _ => text.map_or(Value::Null, Value::from),
        };
        let known = Self::KNOWN.into_iter().map(|field| (field.name().to_owned(), value(&field, field.of(question))));
        known.chain([("meta".to_owned(), Value::Object(question.meta.clone()))]).collect()
    }
}

/// Pages that the shortest way to the answer needs; where the dataset names none, the parts of its decomposition.
fn hops(question: &Question) -> Option<usize> {
    let pages =
        GoldEvidence::of(question).and_then(|evidence| evidence.groups().iter().map(|group| group.pages.len()).min());
    pages.or_else(|| Some(question.decomposition.len()).filter(|parts| *parts > 0))
}

#[cfg(test)]
mod tests {
    use super::{MAX_META, QuestionCache, RunFolder};
    use crate::base::{Manifest, sha256_hex};
    use serde_json::{Value, json};
    use std::rc::Rc;

    fn manifest(path: &std::path::Path, sha256: &str) -> Manifest {
        let dataset = json!({"name": "q", "path": path, "format": "jsonl", "sha256": sha256, "questions": 1,
            "selection": {"limit": 1}, "selected": 1});
        let whole = json!({"v": 1, "variants": [], "repeats": 1, "dataset": dataset, "wikitrail": "",
            "git_revision": null, "command_line": [], "started_at": "", "ended_at": null});
        serde_json::from_value(whole).expect("a manifest")
    }

    /// The file is taken away after the first run: what the second has can only be what the first one read.
    #[test]
    fn runs_over_one_dataset_read_it_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("q.jsonl");
        let line = r#"{"id": "a", "question": "Who?", "answers": ["Ada"], "supporting_facts": [["Ada", 0]],
            "context": [{"title": "Ada", "sentences": ["She did."]}], "level": "hard", "meta": {"z": 7, "y": null}}"#;
        let text = line.replace('\n', "") + "\n";
        std::fs::write(&path, &text).expect("it can be written");
        let sha256 = sha256_hex([text.as_bytes()]);
        let (mut cache, run) = (QuestionCache::default(), RunFolder::at(folder.path().join("run")));
        let (first, _) = cache.of(&run, &manifest(&path, &sha256));
        assert_eq!((first.evidence.len(), &first.evidence.missing), (1, &None));
        let fields: Vec<_> = first.fields("a").iter().map(|field| field.as_deref().unwrap_or_default()).collect();
        assert_eq!((fields, &*cache.meta), (vec!["", "hard", "1", "span", "", "7"], &["z".to_owned()][..]));
        std::fs::remove_file(&path).expect("it can be removed");
        assert!(Rc::ptr_eq(&first, &cache.of(&run, &manifest(&path, &sha256)).0));
        let (other, note) = cache.of(&run, &manifest(&path, "another"));
        assert!(note.is_some() && other.evidence.missing.is_some() && other.fields("a").is_empty());
    }

    #[test]
    fn further_fields_are_left_out_and_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("q.jsonl");
        let mut meta: serde_json::Map<String, Value> =
            (0..MAX_META + 7).map(|n| (format!("f{n:04}"), json!(n))).collect();
        meta.insert("n".repeat(1000), json!(1));
        let text = json!({"id": "a", "question": "Who?", "meta": meta}).to_string() + "\n";
        std::fs::write(&path, &text).expect("it can be written");
        let mut cache = QuestionCache::default();
        let run = RunFolder::at(folder.path().join("run"));
        cache.of(&run, &manifest(&path, &sha256_hex([text.as_bytes()])));
        assert_eq!((cache.meta.len(), cache.meta[0].as_str()), (MAX_META, "f0000"));
        let note = cache.left_out().expect("a note");
        assert!(note.contains(" 8 more fields of `meta`; at most 100 "), "{note}");
    }
}
