//! What scoring a file of predictions gives, as JSON and as a table.

use crate::types::text::visible_line;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::io::{self, Write};

/// Official names and their values, in the official order.
pub(super) type Named = Vec<(Cow<'static, str>, Value)>;

/// The figures of one file of predictions.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) metric: &'static str,
    /// Questions that count.
    pub(super) n: usize,
    pub(super) aggregate: Named,
    /// What the official script prints, where it rounds what `aggregate` holds whole.
    pub(super) official: Option<Named>,
    /// How many questions lack what, such as an answer.
    pub(super) missing: Vec<(&'static str, usize)>,
    /// One object a question, `id` first; empty unless asked for.
    pub(super) items: Vec<Value>,
}

/// Floats under static names, as most metrics give them.
pub(super) fn named(values: impl IntoIterator<Item = (&'static str, f64)>) -> Named {
    values.into_iter().map(|(name, value)| (Cow::Borrowed(name), Value::from(value))).collect()
}

/// One question's object.
pub(super) fn item(id: Value, values: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), id);
    fields.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Value::Object(fields)
}

impl Report {
    /// Writes the report as one JSON object; `items` only where they were asked for.
    pub(super) fn write_json(&self, per_item: bool, out: &mut dyn Write) -> io::Result<()> {
        let object = |named: &Named| -> Map<String, Value> {
            named.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
        };
        let mut report = Map::new();
        report.insert("metric".to_owned(), self.metric.into());
        report.insert("n".to_owned(), self.n.into());
        report.insert("aggregate".to_owned(), object(&self.aggregate).into());
        if let Some(official) = &self.official {
            report.insert("official".to_owned(), object(official).into());
        }
        let missing: Map<String, Value> =
            self.missing.iter().map(|(what, count)| ((*what).to_owned(), json!(count))).collect();
        report.insert("missing".to_owned(), missing.into());
        if per_item {
            #[derive(serde::Serialize)]
            struct WithItems<'a> {
                #[serde(flatten)]
                report: &'a Map<String, Value>,
                items: &'a [Value],
            }
            serde_json::to_writer(&mut *out, &WithItems { report: &report, items: &self.items })?;
        } else {
            serde_json::to_writer(&mut *out, &report)?;
        }
        writeln!(out)
    }

    /// Writes the report for reading.
    pub(super) fn write_text(&self, per_item: bool, out: &mut dyn Write) -> io::Result<()> {
        let noun = if self.n == 1 { "question" } else { "questions" };
        writeln!(out, "{}: {} {noun}", self.metric, self.n)?;
        let width = self.aggregate.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in &self.aggregate {
            writeln!(out, "  {name:width$}  {:>8}", shown(value))?;
        }
        for (what, count) in self.missing.iter().filter(|(_, count)| *count > 0) {
            writeln!(out, "  without {what}: {count}")?;
        }
        if !per_item {
            return Ok(());
        }
        writeln!(out)?;
        for fields in self.items.iter().filter_map(Value::as_object) {
            let cells: Vec<String> = fields.iter().map(|(name, value)| cell(name, value)).collect();
            writeln!(out, "{}", cells.join("  "))?;
        }
        Ok(())
    }
}

fn cell(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if name == "id" => visible_line(text, 80),
        Value::Number(_) if name == "id" => value.to_string(),
        _ => format!("{name} {}", shown(value)),
    }
}

/// Shares with four decimals, counts and the rest as they are.
fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, item, named};
    use serde_json::{Value, json};

    fn report() -> Report {
        Report {
            metric: "hotpot",
            n: 2,
            aggregate: named([("em", 0.5), ("sp_recall", 1.0)]),
            official: None,
            missing: vec![("answer", 1), ("sp", 0)],
            items: vec![item(json!("a\u{1b}"), [("em", json!(1.0)), ("ok", json!(true))])],
        }
    }

    fn written(write: impl Fn(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn json_has_the_documented_keys() {
        assert_eq!(
            written(|out| report().write_json(true, out)),
            "{\"metric\":\"hotpot\",\"n\":2,\"aggregate\":{\"em\":0.5,\"sp_recall\":1.0},\"missing\":{\"answer\":1,\"sp\":0},\
             \"items\":[{\"id\":\"a\\u001b\",\"em\":1.0,\"ok\":true}]}\n"
        );
        let brief: Value = serde_json::from_str(&written(|out| report().write_json(false, out))).expect("JSON");
        assert_eq!(brief.get("items"), None);
    }

    #[test]
    fn the_table_is_aligned_and_harmless() {
        assert_eq!(
            written(|out| report().write_text(true, out)),
            "hotpot: 2 questions\n  em           0.5000\n  sp_recall    1.0000\n  without answer: 1\n\n\
             a\\u{1b}  em 1.0000  ok true\n"
        );
    }
}
