//! Whether a comparison or an export looks at the holdout of a split, and the ledger of such looks beside its list of ids.

use super::Source;
use crate::analysis::compare::Optimism;
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, visible_line};
use crate::base::{Manifest, Variant, json_error};
use crate::dataset::{IdList, sha256_of_ids};
use crate::runner::RunError;
use crate::runner::store::{Skipped, StoreError, append_lines, read_lines};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const LOOKS_VERSION: u32 = 1;

/// Largest list of ids, in bytes, as for `--ids`.
const MAX_LIST_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Holdout {
    path: PathBuf,
    list: IdList,
    /// Compared questions that are in the list, and others.
    inside: usize,
    pub(crate) outside: usize,
}

/// What of a run was written.
#[derive(Debug, Default)]
pub(crate) struct ExportedRun {
    pub(crate) variants: HashSet<String>,
    pub(crate) ids: HashSet<String>,
}

/// A line of the ledger: the first time that somebody saw the figures of some variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    v: u32,
    at: String,
    wikitrail: String,
    /// Of the list's ids: which holdout.
    holdout_sha256: String,
    questions: usize,
    /// Figures compared; `export` for an export, which has all.
    metrics: Vec<String>,
    variants: Vec<Seen>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Seen {
    variant: String,
    /// Start of its run: the same prompt, run again, is another draw.
    started_at: String,
    prompt_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direct_prompt_sha256: Option<String>,
}

/// What the ledger says, this look included.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names in JSON")]
pub(crate) struct Looks {
    pub(crate) list: String,
    pub(crate) sha256: String,
    pub(crate) ledger: String,
    pub(crate) looks: usize,
    pub(crate) first: String,
    /// Whether this comparison or export is one of them for the first time.
    pub(crate) new: bool,
    pub(crate) questions: usize,
    /// Compared questions that are not in the holdout.
    pub(crate) others: usize,
    /// What went wrong, a sentence each.
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pending: Option<Look>,
    pub(crate) sentence: String,
    /// What a comparison says beside the development part.
    #[serde(rename = "pairs", skip_serializing_if = "Vec::is_empty")]
    pub(crate) optimism: Vec<Optimism>,
}

impl Holdout {
    /// The holdout whose questions these variants share: the list that was named, else one that a run was given and that
    /// still is what it was.
    ///
    /// A run may come from somebody else, and its record say any path. Beside a file that the command does not name nothing is
    /// written unless that file is the holdout of a split, with the ids and the dataset of the run.
    pub(crate) fn of(sources: &[Source], named: Option<&Path>) -> Result<Option<Self>, RunError> {
        let found = match named {
            Some(path) => Some((path.to_owned(), named_list(path, sources)?)),
            None => sources.iter().filter_map(Source::manifest).find_map(recorded),
        };
        let Some((path, list)) = found else { return Ok(None) };
        let ids: HashSet<&str> = list.ids.iter().map(String::as_str).collect();
        // Those that all variants have.
        let compared = sources.iter().map(|source| source.ids().collect::<HashSet<_>>());
        let compared = compared.reduce(|shared, ids| &shared & &ids).unwrap_or_default();
        let inside = compared.intersection(&ids).count();
        let outside = compared.len() - inside;
        if inside == 0 && named.is_some() {
            return Err(RunError::input(
                format!("no compared question is in the holdout `{}`", path.display()),
                "name the holdout.ids of the split whose questions these runs were asked",
            ));
        }
        Ok((inside > 0).then_some(Self { path, list, inside, outside }))
    }

    /// Says that a run was asked the questions of an unusable list, which may be of a holdout whose looks are not counted.
    pub(crate) fn unusable(sources: &[Source]) -> Option<String> {
        let then = "--holdout FILE names its list, and this look is counted";
        sources.iter().filter_map(Source::manifest).find_map(|manifest| Self::lost(manifest, then))
    }

    fn lost(manifest: &Manifest, then: &str) -> Option<String> {
        let path = PathBuf::from(manifest.dataset.ids_file.as_ref()?);
        if recorded(manifest).is_some() {
            return None;
        }
        let shown = visible_line(&path.display().to_string(), 200);
        let why = match read(&path) {
            Err(_) => "cannot be read here",
            Ok(text) if IdList::names_holdout(&text) => "was changed since it was drawn, or is of another dataset file",
            Ok(_) => return None,
        };
        Some(format!("`{shown}`, the list of the run's questions, {why}: if they are the holdout of a split, {then}"))
    }

    /// The looks of an export at the holdouts that its runs were given, and warnings of those that cannot be counted.
    pub(crate) fn exported<'a>(
        runs: impl IntoIterator<Item = (&'a Manifest, &'a ExportedRun)>,
    ) -> (Vec<Looks>, Vec<String>) {
        let (mut holdouts, mut warnings): (Vec<(Self, Vec<Seen>)>, Vec<String>) = (Vec::new(), Vec::new());
        for (manifest, ExportedRun { variants, ids }) in runs {
            let written = manifest.variants.iter().filter(|variant| variants.contains(&variant.name));
            let seen: Vec<Seen> = written.map(|variant| Seen::new(manifest, variant)).collect();
            if seen.is_empty() {
                continue;
            }
            let Some((path, list)) = recorded(manifest) else {
                warnings.extend(Self::lost(manifest, "this look is not counted"));
                continue;
            };
            match holdouts.iter_mut().find(|(known, _)| known.path == path) {
                Some((known, of_it)) => {
                    known.inside = known.inside.max(ids.len());
                    of_it.extend(seen);
                }
                None => holdouts.push((Self { path, list, inside: ids.len(), outside: 0 }, seen)),
            }
        }
        warnings.dedup();
        let looks = |(holdout, seen): (Self, Vec<Seen>)| holdout.look_of(seen, vec!["export".to_owned()]);
        (holdouts.into_iter().map(looks).collect(), warnings)
    }

    /// Counts the looks, this one included where it shows a variant that no earlier one has shown.
    pub(crate) fn look(&self, sources: &[Source], metrics: Vec<String>) -> Looks {
        let seen = |source: &Source| Some(Seen::new(source.manifest()?, source.variant()?));
        self.look_of(sources.iter().filter_map(seen).collect(), metrics)
    }

    /// For each variant on the holdout the development run with the same prompt, method, protocol and model; else by name.
    pub(crate) fn counterparts(&self, sources: &[Source], development: &[Source]) -> Result<Vec<Source>, RunError> {
        let held: HashSet<&str> = self.list.ids.iter().map(String::as_str).collect();
        for source in development {
            let run = || visible_line(&source.run.typed(), 200);
            if source.manifest().is_none_or(|manifest| manifest.dataset.sha256 != self.list.dataset_sha256) {
                return Err(RunError::input(
                    format!("`{}` was asked from another dataset file than the holdout (their SHA-256 differ)", run()),
                    "--dev takes runs over the development.ids of the same split",
                ));
            }
            let seen: HashSet<&str> = source.ids().filter(|id| held.contains(id)).collect();
            if !seen.is_empty() {
                return Err(RunError::input(
                    format!("`{}` was asked {} of the holdout", run(), counted(seen.len(), "question")),
                    "what was looked at while prompts were chosen says nothing about them later; --dev takes runs over the \
                     development.ids of the split",
                ));
            }
        }
        sources.iter().map(|source| counterpart(source, development).cloned()).collect()
    }

    fn look_of(&self, variants: Vec<Seen>, metrics: Vec<String>) -> Looks {
        let ledger = self.path.with_extension("looks.jsonl");
        let sha256 = self.list.sha256();
        let mut warnings = Vec::new();
        let known = read_lines(&ledger, parse).unwrap_or_else(|error| {
            warnings.push(format!("earlier looks at the holdout cannot be counted: {error}"));
            Default::default()
        });
        warnings.extend(uncounted(&known.1));
        let (mut seen, mut first, mut looks) = (HashSet::new(), None, 0);
        // Two processes may have noted one look at the same time.
        for look in known.0.into_iter().filter(|look| look.holdout_sha256 == sha256) {
            let before = seen.len();
            seen.extend(look.variants);
            if seen.len() > before {
                looks += 1;
                first.get_or_insert(look.at);
            }
        }
        let new = variants.iter().any(|variant| !seen.contains(variant));
        let at = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let (list, questions) = (self.path.display().to_string(), self.inside);
        let first = first.unwrap_or_else(|| at.clone());
        looks += usize::from(new);
        let wikitrail = env!("CARGO_PKG_VERSION").to_owned();
        let look =
            Look { v: LOOKS_VERSION, at, wikitrail, holdout_sha256: sha256.clone(), questions, metrics, variants };
        if self.outside > 0 {
            let (inside, outside) = (counted(self.inside, "question"), self.outside);
            warnings.push(format!(
                "{inside} of the holdout `{list}` and {outside} others are compared together: a winner that was chosen on the \
                 others is flattered by them; name runs over the holdout alone, and the others with --dev"
            ));
        }
        let ledger = ledger.display().to_string();
        let (pending, sentence) = (new.then_some(look), sentence(looks, &first));
        let (others, optimism) = (self.outside, Vec::new());
        Looks { list, sha256, ledger, looks, first, new, questions, others, warnings, pending, sentence, optimism }
    }
}

fn uncounted(lines: &[Skipped]) -> Option<String> {
    let first = lines.first()?;
    let place = format!("{}:{}: {}", first.path.display(), first.line, first.reason);
    Some(match lines.len() {
        1 => format!("a look at the holdout cannot be counted: {place}"),
        n => format!("{n} looks at the holdout cannot be counted, the first at {place}"),
    })
}

impl Looks {
    /// Adds the line of a new look to the ledger; says what kept it from that.
    pub(crate) fn note(&mut self) -> Option<String> {
        let look = self.pending.take()?;
        let error = append_lines(Path::new(&self.ledger), &[look]).err()?;
        Some(format!("this look at the holdout was not noted: {error}; later ones will not know of it"))
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.sentence).chain(self.optimism.iter().map(|pair| &pair.sentence))
    }
}

fn sentence(looks: usize, first: &str) -> String {
    let day = visible_line(&first.chars().take(10).collect::<String>(), 20);
    match looks {
        1 => format!("holdout: looked at once for this family of prompts ({day})"),
        n => format!(
            "holdout: looked at {n} times for this family of prompts (first {day}); a p-value after several looks is too small"
        ),
    }
}

impl Seen {
    fn new(manifest: &Manifest, variant: &Variant) -> Self {
        Self {
            variant: variant.name.clone(),
            started_at: manifest.started_at.clone(),
            prompt_sha256: variant.prompt_sha256.clone(),
            direct_prompt_sha256: variant.direct_prompt_sha256.clone(),
        }
    }
}

/// A line; one of a newer version is not read.
fn parse(line: &[u8]) -> Result<Look, String> {
    let look: Look = serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    if look.v > LOOKS_VERSION { Err(format!("format version {}", look.v)) } else { Ok(look) }
}

fn read(path: &Path) -> io::Result<String> {
    // A pipe or a device may never end.
    if path.exists() && !path.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    text_at_most(File::open(path)?, MAX_LIST_BYTES)
}

fn named_list(path: &Path, sources: &[Source]) -> Result<IdList, RunError> {
    let shown = path.display();
    let text = read(path).map_err(|error| {
        let hint = "--holdout takes the holdout.ids that `wikitrail dataset split` wrote";
        RunError::input(StoreError::io("read", path)(error).to_string(), hint)
    })?;
    let Some(list) = IdList::parse(&text).filter(IdList::is_holdout) else {
        let message = format!("`{shown}` is not the holdout of a split, or was changed since it was drawn");
        return Err(RunError::input(message, "name the holdout.ids that `wikitrail dataset split` wrote"));
    };
    let mut manifests = sources.iter().filter_map(Source::manifest);
    if manifests.any(|manifest| manifest.dataset.sha256 != list.dataset_sha256) {
        return Err(RunError::input(
            format!("`{shown}` is the holdout of another dataset file than that of these runs (their SHA-256 differ)"),
            "name the holdout of the file that the runs were asked from",
        ));
    }
    Ok(list)
}

/// The list that a run was given, where it still is what it was.
fn recorded(manifest: &Manifest) -> Option<(PathBuf, IdList)> {
    let dataset = &manifest.dataset;
    let path = PathBuf::from(dataset.ids_file.as_ref()?);
    let list = IdList::parse(&read(&path).ok()?).filter(IdList::is_holdout)?;
    let same = list.dataset_sha256 == dataset.sha256 && list.sha256() == sha256_of_ids(&dataset.selection.ids);
    same.then_some((path, list))
}

fn counterpart<'d>(source: &Source, development: &'d [Source]) -> Result<&'d Source, RunError> {
    let Some(wanted) = source.variant() else { return Err(missing(source, "")) };
    let is_named = |other: &&Source| other.variant().is_some_and(|other| other.name == wanted.name);
    let is_alike = |other: &&Source| other.variant().is_some_and(|other| alike(wanted, other));
    let same: Vec<&Source> = development.iter().filter(is_alike).collect();
    let named: Vec<&Source> = same.iter().copied().filter(is_named).collect();
    match (&same[..], &named[..]) {
        ([one], _) | (_, [one]) => Ok(one),
        ([], _) => {
            let changed = development.iter().any(|other| is_named(&other));
            Err(missing(source, if changed { " with this prompt, method, protocol and model" } else { "" }))
        }
        _ => Err(RunError::input(
            format!("`{}` is several times among the development runs", visible_line(&source.run.typed(), 200)),
            "name one of them: --dev RUN@VARIANT",
        )),
    }
}

fn missing(source: &Source, how: &str) -> RunError {
    RunError::input(
        format!("`{}` is not among the development runs{how}", visible_line(&source.run.typed(), 200)),
        "run the same variants over the development part, or compare fewer with --contrast A B",
    )
}

fn alike(one: &Variant, other: &Variant) -> bool {
    one.direct_prompt_sha256 == other.direct_prompt_sha256
        && [&one.prompt_sha256, &one.method, &one.protocol, &one.model]
            == [&other.prompt_sha256, &other.method, &other.protocol, &other.model]
}
