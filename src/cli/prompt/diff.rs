//! `prompt diff`: what differs between two prompts.

use super::super::failure;
use super::preview::How;
use super::show::write_prompt;
use crate::analysis::report::View;
use crate::analysis::report::console::stdout;
use crate::base::sha256_hex;
use crate::base::text::{visible, visible_line};
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::prompting;
use crate::runner::experiment::shipped;
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

const AROUND: usize = 3;
/// A longer search for the smallest difference ends with a larger one.
const LONGEST: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DiffArgs {
    /// The older prompt: a file (TOML or plain text), or a key of the paper's JSON.
    #[arg(value_name = "A")]
    a: String,
    /// The newer one.
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    how: How,
    /// The question in the requests that are compared.
    #[arg(long, value_name = "TEXT", default_value = "{question}")]
    question: String,
    /// Compare the files, not what the model sees.
    #[arg(long, conflicts_with_all = ["instruction", "protocol", "option", "texts", "method", "question", "question_label", "shots",
        "max_steps"])]
    source: bool,
    /// Print one JSON object: `a`, `b`, `equal`, `removed`, `added` and the `diff`.
    #[arg(long)]
    json: bool,
}

struct Side<'a> {
    prompt: &'a str,
    text: String,
    sha256: String,
}

type Lines<'t> = TextDiff<'t, 't, 't, str>;

pub(super) fn diff_prompts(args: &DiffArgs) -> anyhow::Result<u8> {
    let [a, b] = [side(args, &args.a)?, side(args, &args.b)?];
    let diff = TextDiff::configure().timeout(LONGEST).diff_lines(a.text.as_str(), b.text.as_str());
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (removed, added) = (count(ChangeTag::Delete), count(ChangeTag::Insert));
    let equal = removed + added == 0;
    if args.json {
        let of = |side: &Side<'_>| json!({ "prompt": side.prompt, "sha256": side.sha256 });
        let plain = plain(&a, &b, &diff);
        let line =
            json!({ "a": of(&a), "b": of(&b), "equal": equal, "removed": removed, "added": added, "diff": plain });
        json_line(&mut stdout(), &line)?;
    } else if equal {
        let how = if args.source {
            String::new()
        } else {
            format!(" under {}, {}", args.how.protocol, args.how.method.typed())
        };
        say(format_args!("no difference{how}"));
    } else if View::of_stdout().colour {
        stdout().styled().write_all(coloured(&a, &b, &diff).as_bytes())?;
    } else {
        stdout().write_all(plain(&a, &b, &diff).as_bytes())?;
    }
    Ok(if equal { failure::OK } else { failure::DIFFERENCE })
}

fn side<'a>(args: &DiffArgs, prompt: &'a str) -> anyhow::Result<Side<'a>> {
    let text = if args.source {
        String::from_utf8_lossy(&prompting::source(prompt, &shipped::file)?).into_owned()
    } else {
        seen_text(args, prompt)?
    };
    let sha256 = sha256_hex([text.as_bytes()]);
    Ok(Side { prompt, text, sha256 })
}

/// The first request, and what is said on later occasions, each below its name in brackets.
fn seen_text(args: &DiffArgs, prompt: &str) -> anyhow::Result<String> {
    let shown = args.how.preview(prompt)?;
    let mut text = Vec::new();
    write_prompt(&mut text, &args.how.request(&shown, &args.question)?)?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    for (occasion, said) in &shown.rendered.frame.texts {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}[{occasion}]\n{said}", if text.ends_with('\n') { "" } else { "\n" });
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn plain<'d>(a: &Side<'_>, b: &Side<'_>, diff: &'d Lines<'d>) -> String {
    let [a, b] = [a, b].map(|side| visible_line(side.prompt, 200));
    diff.unified_diff().context_radius(AROUND).header(&a, &b).to_string()
}

/// The same in colours, with the words that changed in bold.
fn coloured<'d>(a: &Side<'_>, b: &Side<'_>, diff: &'d Lines<'d>) -> String {
    let [red, green, cyan, bold, reset] = ["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[36m", "\u{1b}[1m", "\u{1b}[0m"];
    let mut text = String::new();
    for (mark, style, side) in [("---", red, a), ("+++", green, b)] {
        let _ = writeln!(text, "{style}{mark} {}{reset}", visible_line(side.prompt, 200));
    }
    for hunk in diff.grouped_ops(AROUND) {
        let _ = writeln!(text, "{cyan}{}{reset}", similar::udiff::UnifiedHunkHeader::new(&hunk));
        for change in hunk.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            let (mark, style) = match change.tag() {
                ChangeTag::Delete => ("-", red),
                ChangeTag::Insert => ("+", green),
                ChangeTag::Equal => (" ", ""),
            };
            let _ = write!(text, "{style}{mark}");
            for (changed, words) in change.iter_strings_lossy() {
                // Nothing of the prompt's own may be a style.
                let words = visible(words.trim_end_matches(['\n', '\r'])).into_owned();
                let _ = if changed { write!(text, "{bold}{words}{reset}{style}") } else { write!(text, "{words}") };
            }
            let _ = writeln!(text, "{}", if style.is_empty() { "" } else { reset });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Side, TextDiff, coloured};

    #[test]
    fn changed_words_are_marked_and_nothing_else_is_a_style() {
        let side = |text: &str| Side { prompt: "p\u{1b}[2J", text: text.to_owned(), sha256: String::new() };
        let (a, b) = (side("One\nUse one action now.\n"), side("One\nUse \u{1b}[1mtwo actions now.\n"));
        let diff = TextDiff::from_lines(a.text.as_str(), b.text.as_str());
        let text = coloured(&a, &b, &diff);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "\u{1b}[31m--- p\\u{1b}[2J\u{1b}[0m");
        assert_eq!(lines[3], " One");
        assert!(lines[4].starts_with("\u{1b}[31m-Use \u{1b}[1mone"), "{text:?}");
        assert!(lines[5].starts_with("\u{1b}[32m+Use \u{1b}[1m\\u{1b}[1mtwo"), "{text:?}");
        assert!(lines[4].ends_with(" now.\u{1b}[0m"), "{text:?}");
    }
}
