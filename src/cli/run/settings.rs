//! The settings by which the variants of a plan differ.

use crate::experiment::prompt_name;
use crate::report::plan::Cells;
use crate::types::{Method, Variant};
use std::collections::BTreeSet;

/// A setting with its value in each variant; nothing where a variant has no use for it.
struct Column {
    name: String,
    values: Vec<Option<String>>,
}

/// A setting's value in a variant.
type Value = fn(&Variant) -> Option<String>;

/// Settings besides the protocol's options, in the order in which they are shown.
const SETTINGS: [(&str, Value); 27] = [
    ("prompt", |variant| Some(variant.prompt.clone())),
    ("instruction", |variant| Some(variant.instruction.clone().unwrap_or_else(|| "none".to_owned()))),
    ("shots", |variant| Some(variant.shots.map_or_else(|| "all".to_owned(), |shots| shots.to_string()))),
    ("exemplar_order", |variant| Some(variant.exemplar_order.clone().unwrap_or_else(|| "file".to_owned()))),
    ("exemplar_seed", |variant| variant.exemplar_seed.map(|seed| seed.to_string())),
    ("question_label", |variant| Some(variant.question_label.clone())),
    ("protocol", |variant| of_agent(variant, variant.protocol.clone())),
    ("texts", |variant| of_agent(variant, variant.texts.clone().unwrap_or_else(|| "ours".to_owned()))),
    ("max_steps", |variant| of_agent(variant, variant.max_steps.to_string())),
    ("method", |variant| Some(variant.method.clone())),
    ("samples", |variant| Some(variant.voting?.samples.to_string())),
    ("sample_temperature", |variant| Some(variant.voting?.temperature.to_string())),
    ("majority", |variant| {
        let falls_back = method(variant) == Some(Method::CotScThenReact);
        variant.voting.filter(|_| falls_back).map(|voting| voting.majority.to_string())
    }),
    ("oracle_context", |variant| method(variant).and_then(Method::direct).map(|_| variant.oracle_context.to_string())),
    ("temperature", |variant| Some(variant.decoding.temperature.to_string())),
    ("top_p", |variant| Some(variant.decoding.top_p.to_string())),
    ("max_tokens", |variant| Some(variant.decoding.max_tokens.to_string())),
    ("direct_max_tokens", |variant| variant.direct_max_tokens.map(|tokens| tokens.to_string())),
    ("seed", |variant| Some(variant.decoding.seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string()))),
    ("model", |variant| Some(variant.model.clone())),
    ("base_url", |variant| variant.base_url.clone()),
    ("price", |variant| variant.price.as_ref().map(|price| format!("{}/{}", price.prompt, price.completion))),
    ("endpoint", |variant| (variant.endpoint != "none").then(|| variant.endpoint.clone())),
    ("wiki", |variant| of_agent(variant, variant.wiki.clone())),
    ("wiki_url", |variant| {
        let site = variant.wiki_origin.clone().filter(|_| !variant.wiki.starts_with("corpus:"));
        site.and_then(|site| of_agent(variant, site))
    }),
    ("wording", |variant| {
        of_agent(variant, if variant.wording.is_english() { "english" } else { "chinese" }.to_owned())
    }),
    ("compat", |variant| of_agent(variant, variant.compat.name().to_owned())),
];

/// Settings that are said where all variants have the same as well.
const SAID: [&str; 4] = ["prompt", "protocol", "method", "model"];

/// The variants by the settings in which they differ, and what they have in common.
pub(super) fn cells(variants: &[Variant]) -> Cells {
    let (differing, same): (Vec<Column>, Vec<Column>) = columns(variants).into_iter().partition(Column::differs);
    let row = |(at, variant): (usize, &Variant)| {
        (variant.name.clone(), differing.iter().map(|column| column.values[at].clone()).collect())
    };
    let said = same.iter().filter(|column| SAID.contains(&column.name.as_str()));
    Cells {
        rows: variants.iter().enumerate().map(row).collect(),
        same: said
            .filter_map(|column| Some((column.name.clone(), column.values.iter().flatten().next()?.clone())))
            .collect(),
        settings: differing.into_iter().map(|column| column.name).collect(),
    }
}

fn columns(variants: &[Variant]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (name, value) in SETTINGS {
        let column = Column { name: name.to_owned(), values: variants.iter().map(value).collect() };
        columns.push(if name == "prompt" { column.shortened() } else { column });
        if name == "protocol" {
            columns.extend(options(variants));
        }
    }
    columns
}

/// Every option that a variant gives, in the variants of protocols that it is given to.
fn options(variants: &[Variant]) -> Vec<Column> {
    let names: BTreeSet<&String> = variants.iter().flat_map(|variant| variant.options.keys()).collect();
    let column = |name: &String| {
        let takes = |variant: &&Variant| variant.options.contains_key(name);
        let protocols: BTreeSet<&str> =
            variants.iter().filter(takes).map(|variant| variant.protocol.as_str()).collect();
        let value = |variant: &Variant| {
            let given = variant.options.get(name).map_or("default", String::as_str);
            if protocols.contains(variant.protocol.as_str()) { of_agent(variant, given.to_owned()) } else { None }
        };
        Column { name: name.clone(), values: variants.iter().map(value).collect() }
    };
    names.into_iter().map(column).collect()
}

impl Column {
    fn differs(&self) -> bool {
        self.values.iter().flatten().collect::<BTreeSet<_>>().len() > 1
    }

    /// Prompts by their short names, where these tell them apart.
    fn shortened(self) -> Self {
        let count = |values: &[Option<String>]| values.iter().flatten().collect::<BTreeSet<_>>().len();
        let short: Vec<_> = self.values.iter().map(|value| value.as_deref().map(prompt_name)).collect();
        if count(&short) == count(&self.values) { Self { values: short, ..self } } else { self }
    }
}

fn method(variant: &Variant) -> Option<Method> {
    Method::parse(&variant.method)
}

/// What a direct method is recorded with, and has no use for.
fn of_agent(variant: &Variant, value: String) -> Option<String> {
    method(variant).is_none_or(|method| method.agent().is_some()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::SETTINGS;

    /// The schema is held to what is written, so a field that is new is in it, and fails here until it has a column or a
    /// reason to have none.
    #[test]
    fn every_field_of_a_variant_has_its_column() {
        let schema = include_str!("../../../docs/schema/manifest.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        let fields = schema["$defs"]["variant"]["properties"].as_object().expect("fields");
        assert!(fields.len() > 20);
        for field in fields.keys() {
            let columns: &[&str] = match field.as_str() {
                // The row's own name, a column for each, and what follows from other fields.
                "name" | "options" | "prompt_sha256" | "direct_prompt_sha256" => &[],
                "voting" => &["samples", "sample_temperature", "majority"],
                "decoding" => &["temperature", "top_p", "max_tokens", "seed"],
                "wiki_origin" => &["wiki_url"],
                field => &[field],
            };
            for column in columns {
                assert!(SETTINGS.iter().any(|(name, _)| name == column), "`{column}` has no column");
            }
        }
    }
}
