//! Flags that say how questions are answered, for every command that answers some; and the agents they make.

mod args;
mod one;

pub(super) use args::{VariantArgs, parse_price};

use super::builtin;
use super::failure::Failure;
use super::model_args::{BuiltModel, ModelArgs};
use super::tape_args::Tapes;
use super::wiki_args::BuiltWiki;
use crate::agent::{Agent, StoredPrompt};
use crate::experiment::prompt_name;
use crate::prompt::{self, PromptSource};
use crate::protocol::{self, Options, Protocol};
use crate::types::{Compat, Message, Method, PriceRecord, Variant, Wording};
use one::One;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the flags are read for: the things that all variants share.
pub(in crate::cli) struct Common<'a> {
    pub(in crate::cli) model: &'a ModelArgs,
    /// The model behind a server with the tapes in front of it, one for all variants, so that its limits hold for all of
    /// them together; none for the baseline, which follows the settings of each variant.
    pub(in crate::cli) server: Option<BuiltModel>,
    pub(in crate::cli) wiki: &'a BuiltWiki,
    /// What stands in front of the model; Wikipedia has it already.
    pub(in crate::cli) tapes: &'a Tapes,
    pub(in crate::cli) compat: Compat,
    /// Language of the tool's messages, where one was asked for.
    pub(in crate::cli) wording: Option<Wording>,
    /// What tokens cost, where that is known.
    pub(in crate::cli) price: Option<&'a PriceRecord>,
    /// Whether claims are judged instead of questions answered.
    pub(in crate::cli) claims: bool,
    /// Earlier questions and answers of a conversation.
    pub(in crate::cli) history: Vec<Message>,
}

/// A variant, ready to answer.
pub(in crate::cli) struct BuiltVariant {
    pub(in crate::cli) variant: Variant,
    pub(in crate::cli) agent: Agent,
    /// Its rendered prompts, to be stored.
    pub(in crate::cli) prompts: Vec<StoredPrompt>,
}

impl VariantArgs {
    /// Every combination of the prompts, protocols and methods named, in that order. A direct method is the same under
    /// every protocol, and so stands there once.
    pub(in crate::cli) fn build(&self, common: &Common<'_>) -> anyhow::Result<Vec<BuiltVariant>> {
        let methods = self.methods()?;
        self.method.suits(&methods)?;
        let prompts = self.prompts(common)?;
        let mut built: Vec<BuiltVariant> = Vec::new();
        for prompt in &prompts {
            let protocols = match self.prompt.protocol.as_slice() {
                [] => vec![usual_protocol(common, &prompt.0).to_owned()],
                named => named.to_vec(),
            };
            for protocol in &protocols {
                let options = self.options(protocol, protocols.len() > 1)?;
                let protocol = find(protocol, &options)?;
                for &method in &methods {
                    let direct = method.agent().is_none();
                    if direct && protocol.id() != protocols[0] {
                        continue;
                    }
                    let name = [
                        (prompts.len() > 1).then(|| prompt_name(&prompt.1)),
                        (protocols.len() > 1 && !direct).then(|| protocol.id().to_owned()),
                        (methods.len() > 1 || protocols.len() > 1 && direct).then(|| method.name().to_owned()),
                    ];
                    let name = name.into_iter().flatten().collect::<Vec<_>>().join("/");
                    let name = if name.is_empty() { "main".to_owned() } else { name };
                    let protocol = Arc::clone(&protocol);
                    built.push(One { args: self, common, name, prompt, options: &options, protocol, method }.build()?);
                }
            }
        }
        let mut names: Vec<&str> = built.iter().map(|variant| variant.variant.name.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.array_windows().find(|[a, b]| a == b) {
            return Err(Failure::usage(
                format!("`{twice}` is named twice"),
                "name each prompt, protocol and method once; an experiment file gives names of your own",
            ));
        }
        Ok(built)
    }

    fn prompts(&self, common: &Common<'_>) -> anyhow::Result<Vec<(PromptSource, String)>> {
        let default = if common.claims { "prompts/fever.toml" } else { "prompts/hotpotqa.toml" };
        let named: Vec<&str> = match self.prompt.prompt.as_slice() {
            [] => vec![default],
            named => named.iter().map(String::as_str).collect(),
        };
        let instruction = self.prompt.instruction.as_deref().map(|path| path.to_string_lossy().into_owned());
        let load = |spec: &str| Ok((prompt::load(spec, instruction.as_deref(), &builtin::file)?, spec.to_owned()));
        named.into_iter().map(load).collect()
    }

    fn methods(&self) -> anyhow::Result<Vec<Method>> {
        self.method.method.iter().map(|name| parse_method(name)).collect()
    }

    /// The options that belong to a protocol. Where several protocols run together, an option is given as
    /// `ID.NAME=VALUE`.
    fn options(&self, protocol: &str, several: bool) -> anyhow::Result<Options> {
        if !several {
            return options_of(&self.prompt.option);
        }
        let mut options = BTreeMap::new();
        for option in &self.prompt.option {
            let (name, value) = split_option(option)?;
            match name.split_once('.') {
                Some((id, name)) if id == protocol => drop(options.insert(name.to_owned(), value)),
                Some((id, _)) if self.prompt.protocol.iter().any(|named| named == id) => {}
                Some((id, _)) if protocol::IDS.contains(&id) => {
                    return Err(Failure::usage(
                        format!("--option `{option}` belongs to none of the protocols that run"),
                        format!("name its protocol too: --protocol {id}"),
                    ));
                }
                _ => {
                    return Err(Failure::usage(
                        format!("--option `{option}` does not say whose it is, and several protocols run"),
                        format!("write --option PROTOCOL.NAME=VALUE, such as {protocol}.{option}"),
                    ));
                }
            }
        }
        Ok(Options(options))
    }
}

/// Options as typed, for a single protocol: `NAME=VALUE`.
pub(in crate::cli) fn options_of(typed: &[String]) -> anyhow::Result<Options> {
    typed.iter().map(|option| split_option(option)).collect::<anyhow::Result<_>>().map(Options)
}

fn split_option(option: &str) -> anyhow::Result<(String, String)> {
    let (name, value) = option.split_once('=').ok_or_else(|| {
        Failure::usage(
            format!("--option `{option}` has no value"),
            "write --option NAME=VALUE, such as --option variant=workflow",
        )
    })?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The protocol of that id with these options.
pub(in crate::cli) fn find(id: &str, options: &Options) -> anyhow::Result<Arc<dyn Protocol>> {
    let found = protocol::find(id, options).ok_or_else(|| {
        Failure::usage(format!("unknown protocol `{id}`"), format!("known protocols: {}", protocol::IDS.join(", ")))
    })?;
    found.map_err(|error| Failure::usage(&error, error.hint()))
}

/// The method of that name.
pub(in crate::cli) fn parse_method(name: &str) -> anyhow::Result<Method> {
    Method::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        Failure::usage(format!("unknown method `{name}`"), format!("known methods: {}", known.join(", ")))
    })
}

/// Chat models run ahead and answer in prose, which our own protocol is made for. A finished text of the paper's has
/// the paper's form, so it goes with the paper's protocol.
fn usual_protocol(common: &Common<'_>, prompt: &PromptSource) -> &'static str {
    let ours = common.model.is_chat() && matches!(prompt, PromptSource::File(_));
    if ours { protocol::robust::ID } else { protocol::react_paper::ID }
}
