//! `parse`: what a protocol's parser makes of replies, one JSON object a line in and out.

use super::failure::{self, Failure};
use super::flags::options;
use crate::protocol::Parsed;
use crate::run::find_protocol;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read as _, Write};
use std::path::PathBuf;

/// Longest line that is read, in bytes: 64 MiB. A reply has a few kilobytes.
const MAX_LINE: u64 = 64 << 20;

/// Flags of `parse`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Replies, one JSON object a line: `{"name": …, "output": …, "step": …}`; `step` may be missing [default: stdin].
    file: Option<PathBuf>,
    /// The protocol whose parser reads them, one of those that `wikitrail prompt protocols` lists.
    #[arg(long, value_name = "ID")]
    protocol: String,
    /// Option of the protocol, may be given again.
    #[arg(long, value_name = "K=V")]
    option: Vec<String>,
    /// Number of the step for lines that name none; it matters to labels such as `Action 2:`.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    step: u16,
}

/// One reply.
#[derive(Debug, Deserialize)]
struct Line {
    /// Given back as it is.
    name: serde_json::Value,
    output: String,
    step: Option<usize>,
}

/// What became of it.
#[derive(Debug, Serialize)]
struct Out<'a> {
    name: &'a serde_json::Value,
    #[serde(flatten)]
    parsed: Parsed,
}

/// Carries the command out and returns its exit code.
pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match &args.file {
        Some(path) => {
            let file = std::fs::File::open(path).map_err(|error| {
                Failure::bad_input(format!("cannot read `{}`: {error}", path.display()), "check the path")
            })?;
            parse(args, &path.display().to_string(), BufReader::new(file), &mut out)?;
        }
        None => parse(args, "stdin", std::io::stdin().lock(), &mut out)?,
    }
    out.flush()?;
    Ok(failure::OK)
}

fn parse(args: &Args, name: &str, mut input: impl BufRead, out: &mut impl Write) -> anyhow::Result<()> {
    let protocol = find_protocol(&args.protocol, &options(&args.option)?)?;
    let bad = |line: usize, reason: &str| {
        Failure::bad_input(
            format!("{name}, line {line}: {reason}"),
            r#"a line is a JSON object such as {"name": "a", "output": "Thought 1: …", "step": 1}"#,
        )
    };
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let read = input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut text)?;
        if read == 0 {
            break;
        }
        if read as u64 > MAX_LINE {
            return Err(bad(number, "the line has more than 64 MiB"));
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Line = serde_json::from_slice(&text).map_err(|error| bad(number, &error.to_string()))?;
        let step = line.step.unwrap_or(usize::from(args.step));
        serde_json::to_writer(&mut *out, &Out { name: &line.name, parsed: protocol.parse(&line.output, step) })
            .map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Args, parse};

    fn run(protocol: &str, input: &str) -> anyhow::Result<String> {
        let args = Args { file: None, protocol: protocol.into(), option: vec![], step: 2 };
        let mut out = Vec::new();
        parse(&args, "stdin", input.as_bytes(), &mut out)?;
        Ok(String::from_utf8(out).expect("JSON is UTF-8"))
    }

    #[test]
    fn lines_come_back_in_the_common_form() {
        let input = "{\"name\": 7, \"output\": \"t\\nAction 1: Search[x]\", \"step\": 1}\n\n{\"name\": \"b\", \"output\": \"t\\nAction 2: Finish[y]\"}";
        assert_eq!(
            run("react-paper", input).expect("sound lines"),
            "{\"name\":7,\"kind\":\"act\",\"thought\":\"t\",\"tool\":\"Search\",\"input\":\"x\",\"args\":null,\"answer\":null,\"error\":null}\n\
             {\"name\":\"b\",\"kind\":\"finish\",\"thought\":\"t\",\"tool\":null,\"input\":null,\"args\":null,\"answer\":\"y\",\"error\":null}\n"
        );
    }

    #[test]
    fn a_bad_line_is_named_and_an_unknown_protocol_refused() {
        let error = run("react-paper", "{\"name\": 1, \"output\": \"\"}\n{\"name\": 2}\n").expect_err("no output");
        assert!(error.to_string().starts_with("stdin, line 2: missing field `output`"), "{error}");
        assert!(run("react", "").is_err());
    }
}
