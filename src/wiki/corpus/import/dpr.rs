//! The passages of DPR, `psgs_w100.tsv`: id, text and title, separated by tabs, quoted as in CSV.

use super::lines::Parsed;
use super::passage_record;

/// The columns, as the first line names them.
const DPR_COLUMNS: [&str; 3] = ["id", "text", "title"];

/// Reads a line. The first one may say that the columns are in another order.
pub(super) fn dpr_parser() -> impl FnMut(&[u8]) -> Parsed {
    let mut order = [0, 1, 2];
    move |line| {
        let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let fields = dpr_fields(line.trim_end_matches(['\r', '\n']))?;
        let at = DPR_COLUMNS.map(|column| fields.iter().position(|field| field == column));
        if let [Some(id), Some(text), Some(title)] = at {
            order = [id, text, title];
            return Ok(Vec::new());
        }
        let [id, text, title] = order.map(|at| fields[at].as_str());
        passage_record(title, id.to_owned(), text)
    }
}

/// The fields of a line. One that begins with a quotation mark goes to the next that is not doubled, and may hold tabs.
fn dpr_fields(line: &str) -> Result<[String; 3], String> {
    let mut fields = Vec::with_capacity(DPR_COLUMNS.len());
    let mut rest = Some(line);
    while let Some(mut field) = rest.filter(|_| fields.len() < DPR_COLUMNS.len()) {
        let mut text = String::new();
        if let Some(mut quoted) = field.strip_prefix('"') {
            loop {
                let closed = quoted.split_once('"').ok_or("a quotation mark is not closed on its line")?;
                text.push_str(closed.0);
                field = closed.1;
                let Some(doubled) = field.strip_prefix('"') else { break };
                text.push('"');
                quoted = doubled;
            }
        }
        let (own, after) = field.split_once('\t').map_or((field, None), |(own, after)| (own, Some(after)));
        fields.push(text + own);
        rest = after;
    }
    let expected = || "three fields are expected: id, text and title, with tabs between them".to_owned();
    if rest.is_some() {
        return Err(expected());
    }
    fields.try_into().map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::dpr_parser;
    use crate::wiki::corpus::import::tests::shown;

    #[test]
    fn quoted_fields_are_read_as_written_and_broken_lines_named() {
        let mut parse = dpr_parser();
        let mut read = |line: &str| shown(parse(line.as_bytes()));
        assert_eq!(read("id\ttext\ttitle\r\n"), "");
        assert_eq!(read("1\t\"Ada \"\"the\"\" Countess,\ttab\"\tAda\r\n"), "Ada #1 Ada \"the\" Countess,\ttab");
        assert_eq!(read("2\ta \"word\" inside\t\"\"\"Heroes\"\" (song)\"\n"), "\"Heroes\" (song) #2 a \"word\" inside");
        assert_eq!(read("3\t\"ended\" early\tAda"), "Ada #3 ended early");
        let three = "three fields are expected: id, text and title, with tabs between them";
        assert_eq!([read("4\ttext"), read("4\ta\tb\t")], [three, three]);
        assert_eq!(read("5\t\"open\tAda"), "a quotation mark is not closed on its line");
        assert_eq!(read("6\ttext\t \n"), "the title is empty");
        assert_eq!(read("title\tid\ttext"), "");
        assert_eq!(read("Ada\t7\tShe wrote."), "Ada #7 She wrote.");
    }
}
