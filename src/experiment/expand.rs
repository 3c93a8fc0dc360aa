//! From settings and dimensions to variants: every combination, each with the settings that it uses and a name.

use super::setting::{Assignment, Facts, Kind, Setting, shown, text_of};
use std::collections::HashSet;

/// A variant on its way from a file or a command line to [`VariantSettings`](super::VariantSettings).
#[derive(Debug, Clone)]
pub struct Draft {
    /// Its name, unique within the experiment.
    pub name: String,
    /// Line of the file where it comes from: of its inclusion, or of the matrix; 0 for one that was typed.
    pub line: usize,
    /// What it sets; only settings that it uses.
    pub settings: Vec<Assignment>,
    /// Names of the settings that the matrix or its inclusion gives it.
    pub(super) own: Vec<&'static str>,
}

/// A setting with the values that are combined with those of other dimensions.
pub(super) struct Dimension {
    pub(super) setting: &'static Setting,
    pub(super) line: usize,
    pub(super) choices: Vec<Choice>,
}

/// One value of a dimension: its short name and what it sets.
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) settings: Vec<Assignment>,
}

/// The variants, and what became of combinations that are none.
#[derive(Default)]
pub(super) struct Expanded {
    pub(super) kept: Vec<Draft>,
    /// Combinations that are the same as an earlier one.
    pub(super) merged: usize,
    pub(super) excluded: usize,
}

/// A combination of the dimensions.
pub(super) struct Combination<'m> {
    /// Everything that is set, whether it is used or not.
    pub(super) settings: Vec<Assignment>,
    /// The short name in each dimension.
    pub(super) named: Vec<(&'m Dimension, &'m str)>,
}

impl Draft {
    /// Sets something from elsewhere, if the variant uses it.
    pub(super) fn set(&mut self, assignment: &Assignment) {
        if assignment.setting.is_kept(&Facts::set(&self.settings)) {
            let mut assignment = assignment.clone();
            // Headers come together: a file may have plain ones, and only a person those with secrets.
            let headers = self
                .settings
                .iter()
                .find(|other| other.setting.kind == Kind::Headers && other.sets(assignment.setting));
            if let (Some(old), Some(new)) =
                (headers.and_then(|old| old.value.as_object()), assignment.value.as_object_mut())
            {
                let more: Vec<_> = old.iter().filter(|(name, _)| !new.contains_key(*name)).collect();
                new.extend(more.into_iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            self.settings.retain(|other| !other.sets(assignment.setting));
            self.settings.push(assignment);
        }
    }

    /// Drops what belonged to a model or a source that is another one now.
    pub(super) fn prune(&mut self) {
        let settings = self.settings.clone();
        let facts = Facts::set(&settings);
        self.settings.retain(|assignment| assignment.setting.is_kept(&facts));
    }

    /// The variant as it is on a dataset with settings of its own for variants. What distinguishes this variant from
    /// the others stays.
    #[must_use]
    pub(super) fn with(&self, of_dataset: &[Assignment]) -> Self {
        let mut draft = self.clone();
        let others = of_dataset.iter().filter(|assignment| !self.own.contains(&assignment.setting.name));
        others.for_each(|assignment| draft.set(assignment));
        draft.prune();
        draft
    }
}

impl Dimension {
    /// The settings that some value of the dimension sets.
    pub(super) fn sets(&self) -> impl Iterator<Item = &'static Setting> {
        let own = std::iter::once(self.setting);
        own.chain(self.choices.iter().flat_map(|choice| &choice.settings).map(|assignment| assignment.setting))
    }
}

/// How variants are named.
pub(super) enum Naming {
    /// Short names joined by `/`.
    Joined,
    /// A template: each placeholder with the text before it, and the text after the last one.
    Template(Vec<(String, &'static str)>, String),
}

impl Naming {
    /// The name of a variant, from the dimensions that matter to it and its short names in them. Where a placeholder's
    /// dimension does not matter, the text before it is left out as well.
    fn name(&self, named: &[(&'static str, &str)]) -> String {
        match self {
            Self::Joined => named.iter().map(|(_, name)| *name).collect::<Vec<_>>().join("/"),
            Self::Template(parts, end) => {
                let mut text = String::new();
                for (i, (before, placeholder)) in parts.iter().enumerate() {
                    if let Some((_, name)) = named.iter().find(|(dimension, _)| dimension == placeholder) {
                        if i == 0 || !text.is_empty() {
                            text.push_str(before);
                        }
                        text.push_str(name);
                    }
                }
                text + end
            }
        }
    }
}

impl Combination<'_> {
    /// The name of its variant: dimensions that make no difference to it are left out.
    fn name(&self, naming: &Naming) -> String {
        let facts = Facts::set(&self.settings);
        let matters = |dimension: &Dimension| dimension.sets().any(|setting| setting.applies_to(&facts));
        let mattering = self.named.iter().filter(|(dimension, _)| matters(dimension));
        let named: Vec<(&'static str, &str)> =
            mattering.map(|(dimension, name)| (dimension.setting.name, *name)).collect();
        match naming.name(&named) {
            name if !name.trim().is_empty() => name,
            _ => text_of(&self.settings, "method").unwrap_or("main").to_owned(),
        }
    }
}

/// Every combination of the dimensions on top of `base`, without those that are excluded. Combinations that differ in
/// nothing that they use become one variant.
pub(super) fn expand(
    base: &[Assignment],
    dimensions: &[Dimension],
    naming: &Naming,
    line: usize,
    mut is_excluded: impl FnMut(&Combination<'_>) -> bool,
) -> Expanded {
    let mut expanded = Expanded::default();
    let mut seen: HashSet<(String, Vec<(&str, String)>)> = HashSet::new();
    for numbers in combinations(dimensions) {
        let chosen = || dimensions.iter().zip(&numbers).map(|(dimension, at)| (dimension, &dimension.choices[*at]));
        let own: Vec<Assignment> = chosen().flat_map(|(_, choice)| choice.settings.iter().cloned()).collect();
        let named = chosen().map(|(dimension, choice)| (dimension, choice.name.as_str())).collect();
        let combination = Combination { settings: over(base, &own), named };
        if is_excluded(&combination) {
            expanded.excluded += 1;
            continue;
        }
        let name = combination.name(naming);
        let settings = used(&combination.settings);
        let facts = Facts::set(&settings);
        let mattering = settings.iter().filter(|assignment| assignment.setting.applies_to(&facts));
        let mut values: Vec<_> = mattering.map(|used| (used.setting.name, shown(&used.value))).collect();
        values.sort();
        if seen.insert((name.clone(), values)) {
            let own = own.iter().map(|assignment| assignment.setting.name).collect();
            expanded.kept.push(Draft { name, line, settings, own });
        } else {
            expanded.merged += 1;
        }
    }
    expanded
}

/// `own` on top of `base`.
pub(super) fn over(base: &[Assignment], own: &[Assignment]) -> Vec<Assignment> {
    let kept = base.iter().filter(|assignment| own.iter().all(|other| !other.sets(assignment.setting)));
    kept.chain(own).cloned().collect()
}

/// The settings that a variant uses, with the options of its own protocol.
pub(super) fn used(settings: &[Assignment]) -> Vec<Assignment> {
    let facts = Facts::set(settings);
    let protocol = text_of(settings, "protocol");
    let mut kept: Vec<Assignment> =
        settings.iter().filter(|assignment| assignment.setting.is_kept(&facts)).cloned().collect();
    for assignment in kept.iter_mut().filter(|assignment| assignment.setting.kind == Kind::Options) {
        let Some(options) = assignment.value.as_object_mut() else { continue };
        *options = std::mem::take(options)
            .into_iter()
            .filter_map(|(name, value)| match name.split_once('.') {
                Some((id, name)) if protocol == Some(id) => Some((name.to_owned(), value)),
                // Whose option it is cannot be told; whoever reads the settings refuses it.
                Some(_) if protocol.is_none() => Some((name, value)),
                Some(_) => None,
                None => Some((name, value)),
            })
            .collect();
    }
    kept.retain(|assignment| assignment.value.as_object().is_none_or(|options| !options.is_empty()));
    kept
}

/// Every combination, the first dimension slowest; each as the numbers of its choices.
fn combinations(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for dimension in dimensions {
        let longer = |begun: &Vec<usize>| {
            let begun = begun.clone();
            (0..dimension.choices.len()).map(move |choice| [begun.as_slice(), &[choice]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// What a prompt is called in the name of a variant: its key in the paper's JSON, else its file's name.
pub fn prompt_name(spec: &str) -> String {
    match spec.split_once(".json#") {
        Some((_, key)) => key.to_owned(),
        None => stem(spec).unwrap_or_else(|| spec.to_owned()),
    }
}

fn stem(path: &str) -> Option<String> {
    std::path::Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

/// What a value is called in the name of a variant.
pub(super) fn short(assignment: &Assignment) -> String {
    let value = shown(&assignment.value);
    let last = |text: &str, marks: &[char]| text.trim_end_matches(marks).rsplit(marks).next().map(str::to_owned);
    let name = match assignment.setting.kind {
        Kind::Prompt => Some(prompt_name(&value)),
        Kind::Path => stem(&value),
        Kind::Source => last(&value, &[':', '/', '@']),
        Kind::Choice(_) | Kind::Method | Kind::Texts | Kind::Urls | Kind::Options => Some(value.clone()),
        _ if assignment.setting.name == "model" => last(&value, &[':', '/']),
        _ => Some(format!("{}={value}", assignment.setting.name)),
    };
    let name = name.filter(|name| !name.is_empty()).unwrap_or(value);
    // A slash separates dimensions.
    name.replace('/', "_")
}

/// How a dataset is named without a name of its own: everything before the first dot of its file's name, as `dev` of
/// `dev.jsonl.gz`.
pub(super) fn dataset_name(path: &str) -> String {
    let file = std::path::Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.unwrap_or_default();
    let sound = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    file.split('.').next().unwrap_or_default().chars().map(sound).collect()
}

/// A dataset on its way from a file to [`DatasetSettings`](super::DatasetSettings).
#[derive(Debug, Clone)]
pub struct DatasetDraft {
    /// Its name, fit for a folder; of the file unless another is given.
    pub name: String,
    pub path: String,
    /// Line of the experiment file, from 1.
    pub line: usize,
    /// Line of the value that names the file.
    pub path_line: usize,
    /// How it is read, and what is selected.
    pub settings: Vec<Assignment>,
    /// Settings of variants on this dataset, in place of those that hold for all.
    pub(super) variant_settings: Vec<Assignment>,
}
