//! The settings by which variants differ, as their manifest has them.

use super::expand::prompt_name;
use super::setting::Kind;
use super::settings::VARIANT_SETTINGS;
use crate::types::{Method, Variant};
use std::collections::BTreeSet;

/// Variants by the settings in which they differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differing {
    /// Names of the settings in which they differ.
    pub settings: Vec<String>,
    /// The name of each variant, and its value of each of these settings; nothing where it does not use one.
    pub rows: Vec<(String, Vec<Option<String>>)>,
    /// Prompt, protocol, method and model where they are the same in all variants.
    pub same: Vec<(&'static str, String)>,
}

/// A value of a variant, for reading.
pub type OfVariant = fn(&Variant) -> Option<String>;

/// What a manifest has of a variant besides its settings: what was found when they were read.
pub const FACTS: [(&str, OfVariant); 6] = [
    ("protocol_version", |variant| Some(variant.protocol_version.to_string())),
    ("prompt_sha256", |variant| Some(variant.prompt_sha256.clone())),
    ("direct_prompt_sha256", |variant| variant.direct_prompt_sha256.clone()),
    ("direct_max_tokens", |variant| variant.direct_max_tokens.map(|tokens| tokens.to_string())),
    ("endpoint", |variant| Some(variant.endpoint.clone())),
    ("wiki_origin", |variant| variant.wiki_origin.clone()),
];

/// Settings that are named even where all variants have the same.
const NAMED: [&str; 4] = ["prompt", "protocol", "method", "model"];

impl Differing {
    /// Compares variants, of one run or of several.
    pub fn of<'v>(variants: impl IntoIterator<Item = &'v Variant>) -> Self {
        let variants: Vec<&Variant> = variants.into_iter().collect();
        let mut differing = Self::default();
        let mut rows: Vec<(String, Vec<_>)> = variants.iter().map(|variant| (variant.name.clone(), vec![])).collect();
        for setting in VARIANT_SETTINGS {
            let values: Vec<Option<String>> = variants.iter().map(|variant| setting.of(variant)).collect();
            let columns = match setting.kind {
                Kind::Options => options(&variants),
                Kind::Prompt => vec![(setting.name.to_owned(), shortened(values))],
                _ => vec![(setting.name.to_owned(), values)],
            };
            for (name, values) in columns {
                if count(&values) > 1 {
                    differing.settings.push(name);
                    rows.iter_mut().zip(values).for_each(|((_, row), value)| row.push(value));
                } else if let Some(value) =
                    values.into_iter().flatten().next().filter(|_| NAMED.contains(&setting.name))
                {
                    differing.same.push((setting.name, value));
                }
            }
        }
        differing.rows = rows;
        differing
    }
}

/// Each option by itself, in the variants of protocols that it is given to.
fn options(variants: &[&Variant]) -> Vec<(String, Vec<Option<String>>)> {
    let names: BTreeSet<&String> = variants.iter().flat_map(|variant| variant.options.keys()).collect();
    let column = |name: &String| {
        let given = variants.iter().filter(|variant| variant.options.contains_key(name));
        let protocols: BTreeSet<&str> = given.map(|variant| variant.protocol.as_str()).collect();
        let value = |variant: &&Variant| {
            let speaks = Method::parse(&variant.method).is_none_or(|method| method.agent().is_some());
            let takes = speaks && protocols.contains(variant.protocol.as_str());
            takes.then(|| variant.options.get(name).map_or_else(|| "default".to_owned(), Clone::clone))
        };
        (name.clone(), variants.iter().map(value).collect())
    };
    names.into_iter().map(column).collect()
}

fn count(values: &[Option<String>]) -> usize {
    values.iter().flatten().collect::<BTreeSet<_>>().len()
}

/// Prompts by their short names, where these distinguish them.
fn shortened(values: Vec<Option<String>>) -> Vec<Option<String>> {
    let short: Vec<_> = values.iter().map(|value| value.as_deref().map(prompt_name)).collect();
    if count(&short) == count(&values) { short } else { values }
}

#[cfg(test)]
mod tests {
    use super::Differing;
    use crate::types::{Compat, Decoding, Method, Variant, Wording};
    use std::collections::BTreeMap;

    include!("../../tests/it/common/variant.rs");

    #[test]
    fn variants_are_shown_by_what_differs_and_what_they_use() {
        let react = Variant { max_steps: Some(5), ..variant("a") };
        let cot = Variant { method: "cot".to_owned(), prompt: "x/short.toml".to_owned(), ..variant("b") };
        let set = [("top_k".to_owned(), 3.into())].into();
        let other = Variant { settings: set, ..variant("c") };
        let differing = Differing::of([&react, &cot, &other]);
        assert_eq!(differing.settings, ["prompt", "max_steps", "method"]);
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(differing.rows[0].1, [value("hotpotqa"), value("5"), value("react")]);
        assert_eq!(differing.rows[1], ("b".to_owned(), vec![value("short"), None, value("cot")]));
        assert_eq!(differing.same, [("protocol", "react-paper".to_owned()), ("model", "made".to_owned())]);
    }
}
