//! Variants from what flags list: every combination of the prompts, protocols and methods.

use super::expand::{Choice, Dimension, Draft, Naming, expand, short};
use super::model::VariantSpec;
use super::setting::{Applies, Assignment, Kind, Setting};
use super::settings::{VariantSettings, variant_setting};
use crate::protocol;
use serde_json::Value;

/// Settings of which some have several values.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Settings of all variants.
    pub base: Vec<Assignment>,
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
    /// A value that is not of its setting's kind.
    #[error("{0}")]
    Value(#[from] serde_json::Error),
}

impl ProductError {
    pub fn hint(&self) -> String {
        match self {
            Self::Twice(_) => {
                "list each prompt, protocol and method once; in an experiment file you choose the names".to_owned()
            }
            Self::Unused(setting) => unused_hint(setting).to_owned(),
            Self::OtherProtocol { id, .. } => format!("add --protocol {id}, or remove the option"),
            Self::WhoseOption { option, id } => {
                format!("write --option PROTOCOL.NAME=VALUE, such as {id}.{option}")
            }
            Self::Value(_) => "see `wikitrail run --help`".to_owned(),
        }
    }
}

fn unused_hint(setting: &Setting) -> &'static str {
    match setting.applies {
        Applies::Vote => "votes are held by cot-sc and the two back-offs",
        Applies::Majority => "it is for --method 'cot-sc->react'",
        Applies::Direct => "direct methods are standard, cot and cot-sc; the back-offs have a direct part",
        Applies::Server => "it is about a server, and baseline needs none; name a model such as --model openai:NAME",
        _ => "add --wiki api or --wiki html",
    }
}

impl Listed {
    /// The variants. A direct method is the same under every protocol, and so becomes one variant.
    pub fn variants(&self) -> Result<Vec<VariantSpec>, ProductError> {
        self.check_options()?;
        let drafts = self.drafts()?;
        self.check_used(&drafts)?;
        let typed = |draft: Draft| {
            let settings = VariantSettings::try_from(draft.settings.as_slice())?;
            Ok(VariantSpec { name: draft.name, settings, place: None })
        };
        drafts.into_iter().map(typed).collect()
    }

    fn drafts(&self) -> Result<Vec<Draft>, ProductError> {
        let lists = [
            ("prompt", &self.prompts, self.prompts.len() > 1),
            ("protocol", &self.protocols, self.protocols.len() > 1),
            ("method", &self.methods, self.methods.len() > 1),
        ];
        let (mut base, mut dimensions) = (self.base.clone(), Vec::new());
        for (name, values, several) in lists {
            let Some(setting) = variant_setting(name) else { continue };
            let assign = |value: &Value| Assignment { setting, value: value.clone(), line: 0 };
            if several {
                let choice = |value: &Value| Choice { name: short(&assign(value)), settings: vec![assign(value)] };
                dimensions.push(Dimension { setting, line: 0, choices: values.iter().map(choice).collect() });
            } else {
                base.extend(values.iter().map(assign));
            }
        }
        for list in [&self.prompts, &self.protocols, &self.methods] {
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
    fn what_makes_no_difference_is_refused() {
        for (listed, message) in [
            (listed(&[], &[], &["react"], &[("samples", json!(3))]), "no variant uses --samples"),
            (listed(&[], &[], &["cot-sc"], &[("majority", json!(0.5))]), "no variant uses --majority"),
            (listed(&[], &[], &[], &[("oracle_context", json!(true))]), "no variant uses --oracle-context"),
            (listed(&[], &[], &[], &[("completions", json!(true))]), "no variant uses --completions"),
            (listed(&[], &[], &[], &[("wiki_url", json!("http://h"))]), "no variant uses --wiki-url"),
            (listed(&["a/x.toml", "b/x.toml"], &[], &[], &[]), "variant `x` is listed twice"),
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
