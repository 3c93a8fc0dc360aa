use super::{
    Block, Cell, Grid, Heading, Key, Row, Sheet, comment, latex_cell, latex_escaped, markdown_escaped, table, to_latex,
    to_markdown, to_terminal,
};
use unicode_width::UnicodeWidthStr as _;

fn sheet(name: &str) -> Sheet {
    let key = Key { metric: "em".into(), a: name.into(), ..Key::default() };
    let cells = vec![
        Cell::text(name),
        Cell { text: "65.0 [52.4, 75.8]".into(), figures: vec![("mean", 0.65), ("low", 0.524), ("high", 0.758)] },
        Cell::figure("n", 60.0, "60"),
    ];
    let grid = Grid {
        id: "columns",
        title: "means".into(),
        header: vec![Heading::words("column"), Heading::numbers("EM %"), Heading::numbers("n")],
        rows: vec![Row { key, cells }],
    };
    let lines = Block::Lines { title: "verdicts".into(), lines: vec![format!("{name} is ahead")] };
    Sheet { title: "comparison".into(), blocks: vec![Block::Table(grid), lines] }
}

#[test]
fn hostile_names_keep_every_format_whole() {
    let name = "\u{1b}[2J|x\n\\end{tabular}\u{202e}<script>&\r\n% y";
    let sheet = sheet(name);
    let text = to_terminal(&sheet, 80);
    assert!(text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{text:?}");
    let text = to_markdown(&sheet);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(!text.contains("<script>") && !text.contains('\u{202e}'), "{text}");
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(rows.iter().all(|row| bars(row) == 4), "{text}");
    let text = to_latex(&sheet);
    assert_eq!(text.matches("\\end{tabular}").count(), 2, "the second is in a comment: {text}");
    assert!(text.lines().filter(|line| line.contains("\\end{tabular}")).any(|line| line.starts_with("% ")), "{text}");
    assert_eq!(text.matches(" \\\\\n").count(), 2, "{text}");
}

fn text(header: &[&str], rows: &[&[&str]]) -> String {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
    let header: Vec<Heading> = header.iter().copied().map(Heading::words).collect();
    table(&header, &rows, 80)
}

#[test]
fn a_table_is_as_wide_as_a_terminal_or_as_its_words() {
    let short = text(&["name", "n"], &[&["one/two", "1"]]);
    assert!(short.contains(" one/two "), "{short}");
    let name = "prompts-by-protocol/react-paper/temperature=0.7/react->cot-sc";
    let long = text(&["variant", "max_steps", "model"], &[&[name, "7", "openai:gpt-4o-mini-2024-07-18"]]);
    assert!(long.lines().all(|line| line.width() <= 80), "{long}");
    for word in ["prompts-", "protocol/", "paper/", "temperature=0.7/", "max_steps", "openai:gpt-4o-"] {
        assert!(long.contains(word), "{word}\n{long}");
    }
    let unbroken = "x".repeat(90);
    assert!(text(&["variant", "n"], &[&[&unbroken, "1"]]).contains(&unbroken));
}

/// Eight columns of figures at widths in which three, five or all find room.
#[test]
fn columns_without_room_become_a_table_below() {
    let names = ["variant", "steps", "calls", "bad calls", "tokens in", "tokens out", "USD", "time"];
    let header: Vec<Heading> =
        std::iter::once(Heading::words(names[0])).chain(names[1..].iter().copied().map(Heading::numbers)).collect();
    let row = ["react->cot-sc", "7.25", "12,345", "1,234", "123,456,789", "98,765,432", "1234.5678", "2 h 7 min"];
    let rows = vec![row.map(str::to_owned).to_vec(); 2];
    for (width, tables) in [(120, 1), (80, 1), (60, 2), (40, 3)] {
        let text = table(&header, &rows, width);
        assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        assert_eq!(text.matches("variant").count(), tables, "{width}:\n{text}");
        assert!(row[1..].iter().all(|figure| text.matches(figure).count() == 2), "{width}:\n{text}");
    }
}

#[test]
fn figures_stay_whole_and_headings_give_way() {
    let header =
        [Heading::words("column"), Heading::numbers("difference found [95 %]"), Heading::numbers("not measured")];
    let row = ["react/robust and/file", "27.5 [23.7, 31.5]", "3,500"].map(str::to_owned).to_vec();
    for width in [40, 50] {
        let text = table(&header, std::slice::from_ref(&row), width);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert!(text.contains(" 27.5 [23.7, 31.5]     3,500\n"), "{width}:\n{text}");
        assert!(lines[1].ends_with(" difference found       not"), "{width}:\n{text}");
        assert!(lines[2].ends_with("           [95 %]  measured"), "{width}:\n{text}");
    }
    let wide = table(&header, &[row], 120);
    assert!(wide.contains(" column                  difference found [95 %]   not measured\n"), "{wide}");
}

#[test]
fn no_mark_of_a_name_is_one_of_markdowns() {
    assert_eq!(markdown_escaped("a|b\n# c_d*"), "a\\|b \\# c\\_d\\*");
    assert_eq!(markdown_escaped("<b>&[x](y)"), "&lt;b&gt;&amp;\\[x\\](y)");
    assert_eq!(markdown_escaped("http://x `\u{1b}[2J`"), "http&#58;//x \\`\\\\u{1b}\\[2J\\`");
    assert_eq!(markdown_escaped("react 65.0 (-3.1), p = 0.03 %"), "react 65.0 (-3.1), p = 0.03 %");
}

#[test]
fn no_character_of_a_name_is_one_of_texs() {
    let hostile = "\\input{x}$&%#_~^<>|\"[]*`\u{1b}\n--–é東\u{202e}😀";
    let expected = "\\textbackslash{}input\\{x\\}\\$\\&\\%\\#\\_\\textasciitilde{}\\textasciicircum{}\\textless{}\
        \\textgreater{}\\textbar{}{\\char34}{[}{]}{*}{`}  -{}---é東(U+202E)(U+1F600)";
    assert_eq!(latex_escaped(hostile), expected);
    assert_eq!(latex_escaped("-3.1 {x}, 4"), "-3.1 \\{x\\}, 4");
}

#[test]
fn figures_have_minus_signs_and_names_have_hyphens() {
    let figure = |text: &str| latex_cell(&Cell::figure("difference", -1.0, text));
    assert_eq!(figure("-12.1 [-22.1, -3.3]"), "$-$12.1 {[}$-$22.1, $-$3.3{]}");
    assert_eq!(figure("-1.23e-5 and +4"), "$-$1.23e$-$5 and +4");
    assert_eq!(figure("27.4 table 1-2, cot-2"), "27.4 table 1-2, cot-2");
    assert_eq!(latex_cell(&Cell::text("gpt-4 -1 [-2")), "gpt-4 -1 {[}-2");
}

#[test]
fn a_comment_has_one_line() {
    let text = comment("a\nb\r\u{2028}c^^Md");
    assert_eq!(text, "% a b\\r\\u{2028}c  Md\n");
}
