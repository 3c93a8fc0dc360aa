//! `parse`: how a protocol parses replies, one JSON object per line in and out.

use super::failure::{self, Failure};
use super::flags::options;
use super::output_file::json_line;
use crate::analysis::report::console::stdout;
use crate::base::bounded::{read_line, too_long};
use crate::base::json_error;
use crate::prompting::protocol::Parsed;
use crate::runner::find_protocol;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Replies, one JSON object per line: `{"name": …, "output": …, "step": …}`; `step` is optional [default: stdin].
    file: Option<PathBuf>,
    /// Protocol whose parser reads the replies; `wikitrail prompt protocols` lists them.
    #[arg(long, value_name = "ID", value_parser = crate::prompting::protocol::IDS)]
    protocol: String,
    /// Option of the protocol; may be repeated.
    #[arg(long, value_name = "K=V")]
    option: Vec<String>,
    /// Step number of lines without one; labels such as `Action 2:` depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    step: u16,
}

#[derive(Debug, Deserialize)]
struct Line {
    /// Copied to the output.
    name: serde_json::Value,
    output: String,
    step: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Out<'a> {
    name: &'a serde_json::Value,
    #[serde(flatten)]
    parsed: Parsed,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let mut out = std::io::BufWriter::new(stdout());
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
    let protocol = find_protocol(&args.protocol, &options(&args.option)?, None)?;
    let bad = |line: usize, reason: &str| {
        let hint = r#"a line is a JSON object such as {"name": "a", "output": "Thought 1: …", "step": 1}"#;
        Failure::bad_input(format!("{name}, line {line}: {reason}"), hint)
    };
    let mut text = Vec::new();
    for number in 1.. {
        let length = read_line(&mut input, &mut text)?;
        if length == 0 {
            break;
        }
        if let Some(why) = too_long(&text, length) {
            return Err(bad(number, &format!("the line is {why}")));
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Line = serde_json::from_slice(&text).map_err(|error| bad(number, &json_error::in_line(&error)))?;
        let step = line.step.unwrap_or(usize::from(args.step));
        json_line(out, &Out { name: &line.name, parsed: protocol.parse(&line.output, step) })?;
    }
    Ok(())
}
