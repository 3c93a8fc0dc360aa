use super::{Block, Cell, Grid, Heading, Key, Row, Sheet, latex, markdown, terminal};

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
    let text = terminal::to_terminal(&sheet, 80);
    assert!(text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')), "{text:?}");
    let text = markdown::to_markdown(&sheet);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3, "{text}");
    assert!(!text.contains("<script>") && !text.contains('\u{202e}'), "{text}");
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(rows.iter().all(|row| bars(row) == 4), "{text}");
    let text = latex::to_latex(&sheet);
    assert_eq!(text.matches("\\end{tabular}").count(), 2, "the second is in a comment: {text}");
    assert!(text.lines().filter(|line| line.contains("\\end{tabular}")).any(|line| line.starts_with("% ")), "{text}");
    assert_eq!(text.matches(" \\\\\n").count(), 2, "{text}");
}
