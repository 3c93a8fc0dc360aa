//! Flags that say how questions are answered, for every command that answers some; and the agents they make.

mod args;
mod one;

pub(super) use args::{PromptArgs, VariantArgs, parse_price};

use super::builtin;
use super::failure::Failure;
use super::model_args::ModelArgs;
use super::tape_args::Tapes;
use super::wiki_args::BuiltWiki;
use crate::agent::{Agent, StoredPrompt};
use crate::llm::Price;
use crate::prompt::{self, PromptSource};
use crate::protocol::{self, Options, Protocol};
use crate::types::{Compat, Message, Method, Variant, Wording};
use one::One;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the flags are read for: the things that all variants share.
pub(in crate::cli) struct Common<'a> {
    pub(in crate::cli) model: &'a ModelArgs,
    pub(in crate::cli) concurrency: usize,
    pub(in crate::cli) wiki: &'a BuiltWiki,
    /// What stands in front of the model; Wikipedia has it already.
    pub(in crate::cli) tapes: &'a Tapes,
    /// Whether nothing will be sent, so that no key is needed.
    pub(in crate::cli) offline: bool,
    pub(in crate::cli) compat: Compat,
    /// Language of the tool's messages, where one was asked for.
    pub(in crate::cli) wording: Option<Wording>,
    pub(in crate::cli) price: Option<Price>,
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
    /// Every combination of the protocols and methods named, in that order. A direct method is the same under every
    /// protocol, and so stands there once.
    pub(in crate::cli) fn build(&self, common: &Common<'_>) -> anyhow::Result<Vec<BuiltVariant>> {
        let methods = self.methods()?;
        self.method.suits(&methods)?;
        let usual = self.usual_protocol(common)?;
        let protocols =
            if self.prompt.protocol.is_empty() { vec![usual.to_owned()] } else { self.prompt.protocol.clone() };
        // A server's model is one for all variants, so that its limits hold for all of them together.
        let server = common
            .model
            .server(common.concurrency, common.offline || common.tapes.replay())?
            .map(|model| common.tapes.model(model));
        let mut built: Vec<BuiltVariant> = Vec::new();
        for protocol in &protocols {
            let options = self.options(protocol, protocols.len() > 1)?;
            let protocol = find(protocol, &options)?;
            for &method in &methods {
                let direct = method.agent().is_none();
                if direct && protocol.id() != protocols[0] {
                    continue;
                }
                let name = match (protocols.len(), methods.len()) {
                    (1, 1) => "main".to_owned(),
                    (1, _) => method.name().to_owned(),
                    _ if direct => method.name().to_owned(),
                    (_, 1) => protocol.id().to_owned(),
                    _ => format!("{}/{}", protocol.id(), method.name()),
                };
                let one = One { args: self, common, name, options: &options, protocol: Arc::clone(&protocol), method };
                built.push(one.build(server.clone())?);
            }
        }
        let mut names: Vec<&str> = built.iter().map(|variant| variant.variant.name.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.array_windows().find(|[a, b]| a == b) {
            return Err(Failure::usage(format!("`{twice}` is named twice"), "name each protocol and method once"));
        }
        Ok(built)
    }

    /// Chat models run ahead and answer in prose, which our own protocol is made for. A finished text of the paper's has
    /// the paper's form, so it goes with the paper's protocol.
    fn usual_protocol(&self, common: &Common<'_>) -> anyhow::Result<&'static str> {
        if !common.model.is_chat() || !self.prompt.protocol.is_empty() {
            return Ok(protocol::react_paper::ID);
        }
        let (source, _) = prompt_of(&self.prompt, common.claims)?;
        Ok(if matches!(source, PromptSource::File(_)) { protocol::robust::ID } else { protocol::react_paper::ID })
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

/// The prompt and the texts that the flags name.
pub(in crate::cli) fn prompt_of(args: &PromptArgs, claims: bool) -> anyhow::Result<(PromptSource, String)> {
    let default = if claims { "prompts/fever.toml" } else { "prompts/hotpotqa.toml" };
    let spec = args.prompt.as_deref().unwrap_or(default);
    let instruction = args.instruction.as_deref().map(|path| path.to_string_lossy().into_owned());
    Ok((prompt::load(spec, instruction.as_deref(), &builtin::file)?, spec.to_owned()))
}
