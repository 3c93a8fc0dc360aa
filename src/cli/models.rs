//! `models check`: one short conversation with a model's server, and what it tells about it.

use super::flags::{OfModel, Typed};
use crate::llm::{Check, Verdict};
use crate::run::agent;
use clap::{Args, Subcommand};
use std::io::Write;

/// Models and their servers.
#[derive(Debug, Clone, Args)]
pub(super) struct ModelsArgs {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: ModelsCommand,
}

/// What can be done with models.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum ModelsCommand {
    /// Ask a server two short questions, and say whether it is there and which settings it honours.
    Check(CheckArgs),
}

/// Flags of `models check`.
#[derive(Debug, Clone, Args)]
pub(super) struct CheckArgs {
    /// Print the result as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
    /// The model to ask.
    #[command(flatten)]
    pub(super) model: Typed<OfModel>,
}

/// Runs the command and writes its result to `out`.
pub(super) async fn execute(args: &ModelsArgs, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    let ModelsCommand::Check(args) = &args.command;
    let Some(model) = agent::remote(&args.model.variant()?)? else {
        if args.json {
            writeln!(
                out,
                "{}",
                serde_json::json!({"url": null, "endpoint": "none", "asked": "baseline", "answered": "baseline"})
            )?;
        } else {
            writeln!(out, "baseline is part of this program and needs no server")?;
        }
        return Ok(());
    };
    let check = model.check().await?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&check)?)?;
        return Ok(());
    }
    out.write_all(text(&check).as_bytes())?;
    Ok(())
}

fn text(check: &Check) -> String {
    let answered = check.answered.as_deref().unwrap_or("the answer names none");
    let finish = check.finish_reason.as_deref().unwrap_or("none given");
    let mut rows = vec![
        ("server", format!("{} answers", check.url)),
        ("model", format!("{} (answered by: {})", check.asked, crate::types::text::printable(answered, 80))),
        ("latency", format!("{} ms", check.latency_ms)),
        ("stop", format!("{} (applied on this side in any case)", check.stop.name())),
        (check.max_tokens_name, check.max_tokens.name().to_owned()),
        ("usage", if check.usage { "counted" } else { "not counted" }.to_owned()),
        ("finish reason", crate::types::text::printable(finish, 80)),
        ("requests", check.requests.to_string()),
    ];
    if check.temperature == Verdict::Refused {
        rows.push(("temperature", "0 is refused: use --temperature 1".to_owned()));
    }
    if let Some(place) = check.reasoning {
        rows.push(("reasoning", format!("comes in `{place}` and is left out of the answer")));
    }
    if !check.left_out.is_empty() {
        rows.push(("not sent", format!("{}: the provider does not know it", check.left_out.join(", "))));
    }
    rows.push(("answer", check.sample.clone()));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:width$}  {value}")).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{ModelsArgs, execute};
    use crate::llm::ModelError;
    use clap::Parser;
    use wiremock::{Mock, MockServer, ResponseTemplate, matchers::method};

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        models: ModelsArgs,
    }

    async fn run(line: &str) -> anyhow::Result<String> {
        let args = Program::try_parse_from(line.split_whitespace()).expect("valid flags").models;
        let mut out = Vec::new();
        execute(&args, &mut out).await?;
        Ok(String::from_utf8(out).expect("text"))
    }

    async fn server(status: u16, body: serde_json::Value) -> MockServer {
        let server = MockServer::start().await;
        let answer = ResponseTemplate::new(status).set_body_json(body);
        Mock::given(method("POST")).respond_with(answer).mount(&server).await;
        server
    }

    #[tokio::test]
    async fn a_server_is_described() {
        let server = server(
            200,
            serde_json::json!({
                "model": "tiny-1",
                "choices": [{"message": {"content": "four, five, six, seven"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 20, "completion_tokens": 8},
            }),
        )
        .await;
        let line = format!("x check --model openai:tiny --base-url {}/v1", server.uri());
        let text = run(&line).await.expect("a server");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("latency")).collect();
        assert_eq!(
            lines,
            [
                format!("server         {}/v1/chat/completions answers", server.uri()).as_str(),
                "model          tiny (answered by: tiny-1)",
                "stop           ignored (applied on this side in any case)",
                "max_tokens     honoured",
                "usage          counted",
                "finish reason  stop",
                "requests       2",
                "answer         four, five, six, seven",
            ]
        );
        let json: serde_json::Value =
            serde_json::from_str(&run(&format!("{line} --json")).await.expect("a server")).expect("JSON");
        assert_eq!(
            (&json["stop"], &json["answered"], &json["usage"]),
            (&"ignored".into(), &"tiny-1".into(), &true.into())
        );
    }

    #[tokio::test]
    async fn what_a_provider_does_not_know_is_said() {
        let server = server(
            200,
            serde_json::json!({
                "type": "message",
                "model": "c-1",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "four"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 20, "output_tokens": 8},
            }),
        )
        .await;
        let line = format!("x check --model anthropic:c --base-url {}", server.uri());
        let text = run(&line).await.expect("a server");
        for row in [
            format!("server         {}/v1/messages answers\n", server.uri()).as_str(),
            "reasoning      comes in `thinking` and is left out of the answer\n",
            "not sent       seed: the provider does not know it\n",
        ] {
            assert!(text.contains(row), "{text}");
        }
    }

    #[tokio::test]
    async fn a_refusal_keeps_its_type_and_the_baseline_needs_no_server() {
        let server = server(404, serde_json::json!({"error": {"message": "no model `x`"}})).await;
        let line = format!("x check --model openai:x --base-url {}/v1", server.uri());
        let error = run(&line).await.expect_err("refused").downcast::<ModelError>().expect("typed");
        assert_eq!(error.to_string(), "the model's server refused the request with status 404: no model `x`");
        assert!(run("x check").await.expect("no server").starts_with("baseline is part"));
    }
}
