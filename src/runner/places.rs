//! Where an experiment reaches out of its folder: servers, keys, recordings.

use super::model::ModelSettings;
use super::provider::is_at;
use super::wiki::WIKIPEDIA;
use crate::net::redact;
use crate::runner::experiment::extra::HeaderValue;
use crate::runner::experiment::{Experiment, VariantSettings};
use crate::wikipedia::RetrieverAddress;
use std::path::Path;

/// What an experiment contacts, reads a key from or writes to. What is a provider's own, or Wikipedia's, is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalResource {
    /// The setting that names it, such as `base_url`.
    pub(crate) setting: &'static str,
    pub(crate) value: String,
}

impl ExternalResource {
    pub(crate) fn flag(&self) -> String {
        format!("--{}", self.setting.replace('_', "-"))
    }
}

type OfExperiment = fn(&Experiment) -> Option<&Path>;

/// Flags of which each names a file that is used only where it is typed or confirmed, wherever it lies.
pub(crate) const FLAGS_OF_FILES: [(&str, OfExperiment); 4] = [
    ("record", |experiment| experiment.recording.record.as_deref()),
    ("replay", |experiment| experiment.recording.replay.as_deref()),
    ("cache", |experiment| experiment.recording.cache.as_deref()),
    ("prices", |experiment| experiment.limits.prices.as_deref()),
];

/// Every place of an experiment, each once. A replay contacts nobody.
pub(crate) fn places(experiment: &Experiment) -> Vec<ExternalResource> {
    let on_datasets = experiment.datasets.iter().flat_map(|dataset| &dataset.variants);
    let variants = experiment.variants.iter().chain(on_datasets);
    let mut all: Vec<ExternalResource> = Vec::new();
    if !experiment.recording.is_offline() {
        all.extend(variants.flat_map(|variant| places_of_variant(&variant.settings)));
    }
    let file = |(setting, path): (&'static str, OfExperiment)| {
        Some(ExternalResource { setting, value: path(experiment)?.display().to_string() })
    };
    all.extend(FLAGS_OF_FILES.into_iter().filter_map(file));
    let mut places: Vec<ExternalResource> = Vec::new();
    for place in all {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn places_of_variant(settings: &VariantSettings) -> Vec<ExternalResource> {
    let mut places: Vec<ExternalResource> = Vec::new();
    let mut add = |setting, value: String| places.push(ExternalResource { setting, value });
    for address in ModelSettings(settings).custom_base_urls() {
        add("base_url", redact::url(address));
    }
    for (setting, value) in [("key_env", &settings.key_env), ("key_file", &settings.key_file)] {
        if let Some(value) = value {
            add(setting, value.clone());
        }
    }
    for (name, value) in settings.extra_header.iter().flatten() {
        if let HeaderValue::Variable(_) = HeaderValue::of(value) {
            add("extra_header", format!("{name}={value}"));
        }
    }
    for address in settings.wiki_url.iter().filter(|address| !is_at(address, WIKIPEDIA)) {
        add("wiki_url", redact::url(address));
    }
    let retriever = settings.wiki.iter().filter(|wiki| wiki.starts_with("retriever:"));
    for wiki in retriever {
        add("wiki", RetrieverAddress::shown(wiki));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::runner::experiment::{DatasetSpec, Experiment, Limits, Recording, VariantSettings, VariantSpec};

    #[test]
    fn every_place_that_is_not_a_providers_own_is_listed_once() {
        let of = |settings: VariantSettings| VariantSpec { name: "v".to_owned(), settings, ..VariantSpec::default() };
        let text = |text: &str| Some(text.to_owned());
        let (home, stranger) = ("https://api.openai.com/v1", "http://me:secret@host.example/v1?key=secret");
        let one = VariantSettings {
            model: text("openai:m"),
            base_url: Some(vec![home.to_owned(), stranger.to_owned()]),
            key_env: text("NAME"),
            extra_header: Some([("a", "b"), ("api-key", "env:X")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()),
            wiki_url: text("https://en.wikipedia.org/"),
            ..VariantSettings::default()
        };
        let other = VariantSettings {
            key_file: text("k"),
            wiki_url: text("http://127.0.0.1:9"),
            wiki: text("retriever:http://me:secret@h"),
            ..one.clone()
        };
        let mut experiment = Experiment {
            variants: vec![of(one)],
            datasets: vec![DatasetSpec { variants: vec![of(other)], ..DatasetSpec::default() }],
            recording: Recording { record: Some("r".into()), cache: Some("c".into()), replay: None },
            limits: Limits { prices: Some("p".into()), ..Limits::default() },
            ..Experiment::default()
        };
        let listed = |experiment: &Experiment| {
            let all = places(experiment);
            all.iter().map(|place| format!("{} {}", place.flag(), place.value)).collect::<Vec<_>>()
        };
        assert_eq!(
            listed(&experiment),
            [
                "--base-url http://host.example/v1",
                "--key-env NAME",
                "--extra-header api-key=env:X",
                "--key-file k",
                "--wiki-url http://127.0.0.1:9/",
                "--wiki retriever:http://h/retrieve?topk=3",
                "--record r",
                "--cache c",
                "--prices p"
            ]
        );
        experiment.recording = Recording { replay: Some("t".into()), ..Recording::default() };
        assert_eq!(listed(&experiment), ["--replay t", "--prices p"]);
    }
}
