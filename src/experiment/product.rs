//! Variants from what flags list: every combination of the models, prompts, protocols and methods.

use super::expand::{Choice, Dimension, Draft, Naming, expand};
use super::model::VariantSpec;
use super::naming;
use super::setting::{Applies, Assignment, Kind, Setting};
use super::settings::{VariantSettings, variant_setting};
use crate::protocol;
use serde_json::Value;

/// Settings of which some have several values.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Settings of all variants.
    pub base: Vec<Assignment>,
    /// Models, as `--model` takes them; none means the default.
    pub models: Vec<Value>,
    /// Prompts, as `--prompt` takes them; none means the default.
    pub prompts: Vec<Value>,
    /// Ids of protocols; none means the default.
    pub protocols: Vec<Value>,
    /// Names of methods; none means the default.
    pub methods: Vec<Value>,
}

/// Why flags do not make variants.
#[derive(Debug, thiserror::Error)]
pub enum ProductError {
    #[error("variant `{0}` is listed twice")]
    Twice(String),
    #[error("no variant uses {}", .0.flag())]
    Unused(&'static Setting),
    #[error("--option `{option}` is for protocol `{id}`, which is not run")]
    OtherProtocol { option: String, id: String },
    #[error("--option `{option}` does not name its protocol, and several are run")]
    WhoseOption { option: String, id: String },
    /// A flag about a server, for models of several providers: their keys and addresses differ.
    #[error("{} holds for every model, and `{one}` and `{other}` have different providers", .setting.flag())]
    Providers { setting: &'static Setting, one: String, other: String },
    /// A value that is not of its setting's kind.
    #[error("{0}")]
    Value(#[from] serde_json::Error),
}

impl ProductError {
    pub fn hint(&self) -> String {
        match self {
            Self::Twice(_) => {
                "list each model, prompt, protocol and method once; in an experiment file you choose the names"
                    .to_owned()
            }
            Self::Unused(setting) => unused_hint(setting).to_owned(),
            Self::OtherProtocol { id, .. } => format!("add --protocol {id}, or remove the option"),
            Self::WhoseOption { option, id } => {
                format!("write --option PROTOCOL.NAME=VALUE, such as {id}.{option}")
            }
            Self::Providers { .. } => {
                "compare them in an experiment file, where each model has settings of its own; a key is \
                found by its provider's usual variable"
                    .to_owned()
            }
            Self::Value(_) => "see `wikitrail run --help`".to_owned(),
        }
    }
}

fn unused_hint(setting: &Setting) -> &'static str {
    match setting.applies {
        Applies::Vote => "votes are held by cot-sc and the two back-offs",
        Applies::Majority => "it is for --method cot-sc-react",
        Applies::Direct => "direct methods are standard, cot and cot-sc; the back-offs have a direct part",
        Applies::Server => "it is about a server, and baseline needs none; name a model such as --model openai:NAME",
        _ => "add --wiki api or --wiki html",
    }
}

impl Listed {
    /// The variants. A direct method is the same under every protocol, and so becomes one variant.
    pub fn variants(&self) -> Result<Vec<VariantSpec>, ProductError> {
        self.check_options()?;
        self.check_providers()?;
        let drafts = self.drafts()?;
        self.check_used(&drafts)?;
        let typed = |draft: Draft| {
            let settings = VariantSettings::try_from(draft.settings.as_slice())?;
            Ok(VariantSpec { name: draft.name, settings, ..VariantSpec::default() })
        };
        drafts.into_iter().map(typed).collect()
    }

    fn drafts(&self) -> Result<Vec<Draft>, ProductError> {
        let lists = [
            ("model", &self.models, self.models.len() > 1),
            ("prompt", &self.prompts, self.prompts.len() > 1),
            ("protocol", &self.protocols, self.protocols.len() > 1),
            ("method", &self.methods, self.methods.len() > 1),
        ];
        let (mut base, mut dimensions) = (self.base.clone(), Vec::new());
        for (name, values, several) in lists {
            let Some(setting) = variant_setting(name) else { continue };
            let assign = |value: &Value| Assignment { setting, value: value.clone(), line: 0 };
            if several {
                let values: Vec<Assignment> = values.iter().map(assign).collect();
                let names = naming::value_names(&values, Some(&str::to_owned));
                let choices = names.into_iter().zip(values).map(|(name, value)| Choice { name, settings: vec![value] });
                dimensions.push(Dimension { setting, line: 0, choices: choices.collect() });
            } else {
                base.extend(values.iter().map(assign));
            }
        }
        for list in [&self.models, &self.prompts, &self.protocols, &self.methods] {
            if let Some((_, twice)) = list.iter().enumerate().find(|(i, value)| list[..*i].contains(value)) {
                return Err(ProductError::Twice(super::shown(twice)));
            }
        }
        let kept = expand(&base, &dimensions, &Naming::Joined, 0, |_| false).kept;
        match kept.iter().enumerate().find(|(i, draft)| kept[..*i].iter().any(|other| other.name == draft.name)) {
            Some((_, twice)) => Err(ProductError::Twice(twice.name.clone())),
            None => Ok(kept),
        }
    }

    /// An option of a protocol that is not run makes no difference. Where several protocols run together, one is written
    /// `PROTOCOL.NAME=VALUE`.
    fn check_options(&self) -> Result<(), ProductError> {
        let ids: Vec<&str> = self.protocols.iter().filter_map(Value::as_str).collect();
        let Some(first) = ids.first() else { return Ok(()) };
        let options = self.base.iter().filter_map(|assignment| assignment.value.as_object());
        for option in options.flat_map(serde_json::Map::keys) {
            match option.split_once('.') {
                Some((id, _)) if ids.contains(&id) => {}
                Some((id, _)) if protocol::IDS.contains(&id) => {
                    return Err(ProductError::OtherProtocol { option: option.clone(), id: id.to_owned() });
                }
                _ if ids.len() == 1 => {}
                _ => return Err(ProductError::WhoseOption { option: option.clone(), id: (*first).to_owned() }),
            }
        }
        Ok(())
    }

    /// A key or an address of one provider is not sent to another.
    fn check_providers(&self) -> Result<(), ProductError> {
        let provider = |model: &&str| model.split_once(':').map_or("", |(provider, _)| provider).to_owned();
        let remote = || self.models.iter().filter_map(Value::as_str).filter(|model| *model != "baseline");
        let Some(one) = remote().next() else { return Ok(()) };
        let Some(other) = remote().find(|model| provider(model) != provider(&one)) else { return Ok(()) };
        let of_server = ["base_url", "server", "key_env", "key_file", "extra_header", "extra_body"];
        match self.base.iter().find(|assignment| of_server.contains(&assignment.setting.name)) {
            None => Ok(()),
            Some(Assignment { setting, .. }) => {
                Err(ProductError::Providers { setting, one: one.to_owned(), other: other.to_owned() })
            }
        }
    }

    /// Refuses a setting that makes no difference: whoever gives it expects another run.
    fn check_used(&self, drafts: &[Draft]) -> Result<(), ProductError> {
        let matters = |assignment: &&Assignment| {
            let setting = assignment.setting;
            matches!(setting.applies, Applies::Vote | Applies::Majority | Applies::Direct | Applies::Server)
                || setting.kind == Kind::Url
        };
        let is_used = |assignment: &&Assignment| {
            drafts.iter().flat_map(|draft| &draft.settings).any(|used| used.sets(assignment.setting))
        };
        match self.base.iter().filter(matters).find(|assignment| !is_used(assignment)) {
            None => Ok(()),
            Some(assignment) => Err(ProductError::Unused(assignment.setting)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Assignment, Listed};
    use crate::experiment::variant_setting;
    use serde_json::{Value, json};

    fn listed(prompts: &[&str], protocols: &[&str], methods: &[&str], base: &[(&str, Value)]) -> Listed {
        let values = |list: &[&str]| list.iter().map(|text| Value::from(*text)).collect();
        let assign = |(name, value): &(&str, Value)| {
            let setting = variant_setting(name).expect("a setting");
            Assignment { setting, value: value.clone(), line: 0 }
        };
        Listed {
            base: base.iter().map(assign).collect(),
            models: Vec::new(),
            prompts: values(prompts),
            protocols: values(protocols),
            methods: values(methods),
        }
    }

    fn names(listed: &Listed) -> Vec<String> {
        listed.variants().expect("sound").into_iter().map(|variant| variant.name).collect()
    }

    #[test]
    fn variants_are_named_after_what_distinguishes_them() {
        assert_eq!(names(&listed(&[], &[], &[], &[])), ["main"]);
        assert_eq!(names(&listed(&["p/a.toml"], &["robust"], &[], &[])), ["main"]);
        assert_eq!(names(&listed(&[], &[], &["react", "cot"], &[])), ["react", "cot"]);
        assert_eq!(names(&listed(&[], &["robust", "lagent"], &[], &[])), ["robust", "lagent"]);
        assert_eq!(
            names(&listed(&["a.toml", "p.json#k"], &["robust", "lagent"], &["react", "cot"], &[])),
            ["a/robust/react", "a/cot", "a/lagent/react", "k/robust/react", "k/cot", "k/lagent/react"]
        );
    }

    #[test]
    fn models_make_variants_and_share_what_is_typed() {
        let of = |models: &[&str], base: &[(&str, Value)]| Listed {
            models: models.iter().map(|model| Value::from(*model)).collect(),
            ..listed(&[], &[], &["react", "cot"], base)
        };
        let url = [("base_url", json!(["http://h"]))];
        let variants = of(&["baseline", "openai:org/small"], &url).variants().expect("sound");
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["baseline/react", "baseline/cot", "small/react", "small/cot"]);
        let urls: Vec<bool> = variants.iter().map(|variant| variant.settings.base_url.is_some()).collect();
        assert_eq!(urls, [false, false, true, true]);
        assert_eq!(of(&["openai:a", "gemini:b"], &[]).variants().expect("sound").len(), 4);
        let refused = of(&["baseline", "openai:a", "gemini:b"], &[("key_env", json!("KEY"))]).variants();
        let message = "--key-env holds for every model, and `openai:a` and `gemini:b` have different providers";
        assert_eq!(refused.expect_err(message).to_string(), message);
        assert_eq!(
            of(&["openai:a", "openai:a"], &[]).variants().expect_err("twice").to_string(),
            "variant `openai:a` is listed twice"
        );
    }

    #[test]
    fn what_makes_no_difference_is_refused() {
        for (listed, message) in [
            (listed(&[], &[], &["react"], &[("samples", json!(3))]), "no variant uses --samples"),
            (listed(&[], &[], &["cot-sc"], &[("majority", json!(0.5))]), "no variant uses --majority"),
            (listed(&[], &[], &[], &[("oracle_context", json!(true))]), "no variant uses --oracle-context"),
            (listed(&[], &[], &[], &[("completions", json!(true))]), "no variant uses --completions"),
            (listed(&[], &[], &[], &[("wiki_url", json!("http://h"))]), "no variant uses --wiki-url"),
            (listed(&["a/x.toml", "a/x.toml"], &[], &[], &[]), "variant `a/x.toml` is listed twice"),
            (listed(&[], &[], &["cot", "cot"], &[]), "variant `cot` is listed twice"),
            (
                listed(&[], &["robust", "lagent"], &[], &[("option", json!({"labels": "v0.1"}))]),
                "--option `labels` does not name its protocol, and several are run",
            ),
            (
                listed(&[], &["tools"], &[], &[("option", json!({"robust.x": "1"}))]),
                "--option `robust.x` is for protocol `robust`, which is not run",
            ),
            (
                listed(&[], &["robust", "lagent"], &[], &[("option", json!({"go-blog.x": "1"}))]),
                "--option `go-blog.x` is for protocol `go-blog`, which is not run",
            ),
        ] {
            assert_eq!(listed.variants().expect_err(message).to_string(), message);
        }
        let options = [("option", json!({"lagent.labels": "v0.1"}))];
        let variants = listed(&[], &["robust", "lagent"], &[], &options).variants().expect("sound");
        assert_eq!(variants[0].settings.option, None);
        assert_eq!(variants[1].settings.option, Some([("labels".to_owned(), "v0.1".to_owned())].into()));
    }
}
