//! `models check`: which settings a model's server honours, and how the program of another agent asks.

use super::config;
use super::failure::{self, Failure};
use super::flags::{OfModel, TypedSettings};
use super::output_file::json_or;
use super::say::say;
use crate::analysis::report::visible;
#[cfg(feature = "serve")]
use crate::base::text::visible_line;
#[cfg(feature = "serve")]
use crate::base::{SentBody, Tool, Trajectory};
use crate::models::{Check, Verdict};
use crate::runner::one_agent;
#[cfg(feature = "serve")]
use crate::runner::program;
#[cfg(feature = "serve")]
use serde_json::Value;
use serde_json::json;
use std::io::Write;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Send a server two short requests and report which settings it honours; or run the program of another agent once.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Print the result as one JSON object.
    #[arg(long)]
    json: bool,
    /// Run this program on one question against a script in place of a model, and report what was seen of it.
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "COMMAND|URL")]
    agent: Option<String>,
    #[command(flatten)]
    model: TypedSettings<OfModel>,
}

pub(super) async fn execute(Command::Check(args): &Command, out: &mut (impl Write + Send)) -> anyhow::Result<u8> {
    #[cfg(feature = "serve")]
    if let Some(command) = &args.agent {
        let episode = program::checked(command, None).await?;
        json_or(args.json, || &episode, || agent_report(&episode), out)?;
        return Ok(if episode.answer.is_some() { failure::OK } else { failure::NOT_MEASURED });
    }
    let settings = config::completed(&args.model)?.variant()?;
    if settings.model.as_ref().is_some_and(|model| model.contains(',')) {
        return Err(Failure::usage("`models check` takes one model", "check the others with commands of their own"));
    }
    let Some((model, asked)) = one_agent::remote(&settings)? else {
        let line = || json!({"url": null, "endpoint": "none", "asked": "baseline", "answered": "baseline"});
        json_or(args.json, line, || "baseline is part of this program and needs no server\n".to_owned(), out)?;
        return Ok(failure::OK);
    };
    let check = match model.check(&asked).await {
        Ok(check) => check,
        Err(error) => {
            say(format_args!("error: {}\nhint: {}", visible(&error.to_string()), one_agent::hint(&error, &settings)));
            return Ok(failure::NOT_MEASURED);
        }
    };
    json_or(args.json, || &check, || text(&check), out)?;
    Ok(failure::OK)
}

#[cfg(feature = "serve")]
fn agent_report(episode: &Trajectory) -> String {
    let line = |text: &str| visible_line(text, 300);
    let calls = episode.steps.iter().flat_map(|step| &step.calls).filter_map(|call| call.sent.as_ref());
    let call = |sent: &SentBody| {
        let named = sent.body.get("model").and_then(Value::as_str).or(sent.model.as_deref());
        let model = named.map(|name| format!(", model {}", line(name)));
        let streamed = sent.stream || sent.body.get("stream") == Some(&Value::Bool(true));
        format!("{}{}{}", sent.endpoint, model.unwrap_or_default(), if streamed { ", streamed" } else { "" })
    };
    let calls: Vec<String> = calls.map(call).collect();
    let tools = episode.steps.iter().filter(|step| step.tool != Some(Tool::Finish));
    let tools: Vec<String> = tools.filter_map(|step| step.action_text.as_deref().map(line)).collect();
    let listed = |all: &[String]| if all.is_empty() { "none".to_owned() } else { all.join("; ") };
    let mut rows = vec![
        ("question", line(&episode.question)),
        ("model calls", listed(&calls)),
        ("tool calls", listed(&tools)),
        ("answer", episode.answer.as_deref().map_or_else(|| "none".to_owned(), line)),
        ("outcome", format!("{}, after {} ms", episode.outcome.name(), episode.wall_ms)),
    ];
    rows.extend(episode.detail.as_deref().map(|detail| ("detail", visible_line(detail, 2_000))));
    if calls.is_empty() && episode.detail.is_none() {
        let note = "no call came through: the program has to read OPENAI_BASE_URL, ANTHROPIC_BASE_URL or \
                    GOOGLE_GEMINI_BASE_URL (`wikitrail docs agents`)";
        rows.push(("hint", note.to_owned()));
    }
    aligned(&rows)
}

/// A line for each, the values below each other.
fn aligned(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:width$}  {value}")).collect();
    lines.join("\n") + "\n"
}

/// What became of reasoning, where there was some or some was asked for.
fn reasoning(check: &Check) -> Option<String> {
    let asked = check.asked_reasoning.map(|asked| format!("{asked} was asked for: "));
    let shown = check.reasoning.map(|place| format!("comes in `{place}` and is left out of the answer"));
    let shown = shown.or_else(|| asked.as_ref().map(|_| "none is shown".to_owned()))?;
    let counted = match (check.reasoning_tokens, &asked) {
        (0, None) => String::new(),
        (0, Some(_)) => ", no tokens of it are counted".to_owned(),
        (tokens, _) => format!(", {} counted", crate::base::text::counted(tokens, "token")),
    };
    Some(asked.unwrap_or_default() + &shown + &counted)
}

fn text(check: &Check) -> String {
    let answered = check.answered.as_deref().unwrap_or("the answer names none");
    let finish = check.finish_reason.as_deref().unwrap_or("none given");
    let mut rows = vec![
        ("server", format!("{} answers", check.url)),
        ("model", format!("{} (answered by: {})", check.asked, crate::base::text::printable(answered, 80))),
        ("latency", format!("{} ms", check.latency_ms)),
        ("stop", format!("{} (applied by wikitrail anyway)", check.stop.name())),
        (check.max_tokens_name, check.max_tokens.name().to_owned()),
        ("usage", if check.usage { "counted" } else { "not counted" }.to_owned()),
        ("finish reason", crate::base::text::printable(finish, 80)),
        ("requests", check.requests.to_string()),
    ];
    if check.temperature == Verdict::Refused {
        rows.push(("temperature", "0 is refused: requests are sent without one".to_owned()));
    }
    rows.extend(reasoning(check).map(|row| ("reasoning", row)));
    if !check.left_out.is_empty() {
        rows.push(("not sent", format!("{}: refused, or unknown to the provider", check.left_out.join(", "))));
    }
    rows.push(("answer", check.sample.clone()));
    rows.extend(check.warning.clone().map(|warning| ("warning", warning)));
    aligned(&rows)
}

#[cfg(test)]
mod tests {
    use super::{Check, Verdict, text};

    #[test]
    fn a_server_is_described() {
        let mut check = Check {
            url: "http://127.0.0.1/v1/chat/completions".into(),
            endpoint: "chat",
            asked: "tiny".into(),
            answered: Some("tiny-1\u{1b}".into()),
            stop: Verdict::Ignored,
            max_tokens: Verdict::Honoured,
            max_tokens_name: "max_tokens",
            temperature: Verdict::Refused,
            usage: true,
            reasoning: Some("thinking"),
            asked_reasoning: crate::base::Reasoning::parse("medium"),
            reasoning_tokens: 1,
            left_out: vec!["temperature", "seed"],
            finish_reason: None,
            latency_ms: 7,
            requests: 2,
            warning: Some("w".into()),
            sample: "four, five".into(),
        };
        assert_eq!(
            text(&check),
            "server         http://127.0.0.1/v1/chat/completions answers\n\
             model          tiny (answered by: tiny-1\\u{1b})\n\
             latency        7 ms\n\
             stop           ignored (applied by wikitrail anyway)\n\
             max_tokens     honoured\n\
             usage          counted\n\
             finish reason  none given\n\
             requests       2\n\
             temperature    0 is refused: requests are sent without one\n\
             reasoning      medium was asked for: comes in `thinking` and is left out of the answer, 1 token counted\n\
             not sent       temperature, seed: refused, or unknown to the provider\n\
             answer         four, five\n\
             warning        w\n"
        );
        (check.reasoning, check.reasoning_tokens) = (None, 0);
        let row = "reasoning      medium was asked for: none is shown, no tokens of it are counted\n";
        assert!(text(&check).contains(row));
        check.asked_reasoning = None;
        assert!(!text(&check).contains("\nreasoning"));
    }
}
