//! The simulated tables of docs/statistics-tables.md: `scripts/simulate.sh` prints them. A figure that leaves its band is marked, and
//! makes the program fail.
//!
//! A new table is a function in a file of its own and a line in [`TABLES`].

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people prints")]

mod agreement;
mod attempts;
mod branches;
mod draw;
mod fixed;
mod power;
mod spread;
mod stopping;
mod within;

use std::process::ExitCode;

/// Every table by its name.
const TABLES: &[Table] = &[
    Table {
        name: "error",
        title: "Variants that are equal: how often they are called distinguishable, and the interval holds 0",
        rows: fixed::error,
    },
    Table {
        name: "coverage",
        title: "Variants that differ: how often the interval holds the difference",
        rows: fixed::coverage,
    },
    Table { name: "words", title: "How often each word is said of variants that differ", rows: fixed::words },
    Table { name: "means", title: "Means of one variant's F1: coverage and width of the interval", rows: fixed::means },
    Table {
        name: "attempts",
        title: "Accuracy given attempted and SimpleQA's F1: coverage and width of their intervals",
        rows: attempts::attempts,
    },
    Table { name: "power", title: "Power where the true difference is the minimum detectable one", rows: power::power },
    Table {
        name: "stopping",
        title: "Stopping when decided, looked at after every one of 500 questions",
        rows: stopping::stopping,
    },
    Table {
        name: "agreement",
        title: "Agreement of two who judge the same questions: how often the intervals hold κ and AC1",
        rows: agreement::agreement,
    },
    Table {
        name: "branches",
        title: "Branches of a greedy model: how often an edit of wrong answers is found to repair",
        rows: branches::branches,
    },
    Table {
        name: "within",
        title: "Two prompts in a matrix: their difference over all models, and under any model among all pairs",
        rows: within::within,
    },
    Table {
        name: "spread",
        title: "Prompts that mean the same: how often the intervals of their SD, range and mean hold the truth",
        rows: spread::spread,
    },
];

struct Table {
    name: &'static str,
    title: &'static str,
    rows: fn(&Effort) -> Vec<Row>,
}

/// How much is simulated.
struct Effort {
    /// Comparisons of each case.
    simulations: u64,
    /// Resamples of each comparison.
    resamples: usize,
}

/// A case and its figures.
struct Row {
    case: String,
    figures: Vec<Figure>,
}

/// A column of a table and its value, which is empty where it does not apply.
struct Figure {
    column: &'static str,
    shown: String,
    /// Why the value is marked.
    outside: Option<String>,
}

impl Figure {
    fn none(column: &'static str) -> Self {
        Self::text(column, "–".to_owned())
    }

    fn text(column: &'static str, shown: String) -> Self {
        Self { column, shown, outside: None }
    }

    /// A ratio, and the most that it may be.
    fn at_most(column: &'static str, value: f64, limit: Option<f64>) -> Self {
        let outside = limit.filter(|limit| value > *limit).map(|limit| format!("{value:.3} is more than {limit}"));
        Self { column, shown: format!("{value:.2}"), outside }
    }

    /// The share of the simulations, whose true value lies in the band: three standard errors around it are chance.
    fn share(column: &'static str, hits: u64, effort: &Effort, band: Option<(f64, f64)>) -> Self {
        let n = float(effort.simulations);
        let share = float(hits) / n;
        let chance = |limit: f64| 3.0 * (limit * (1.0 - limit) / n).sqrt();
        let outside = band.filter(|(low, high)| share < low - chance(*low) || share > high + chance(*high));
        let outside = outside.map(|(low, high)| format!("{share:.3} is not in {low} to {high}"));
        Self { column, shown: format!("{share:.3}"), outside }
    }
}

fn main() -> ExitCode {
    let mut effort = Effort { simulations: 2000, resamples: 10_000 };
    let mut wanted = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--short" => effort = Effort { simulations: 200, resamples: 1000 },
            name if TABLES.iter().any(|table| table.name == name) => wanted.push(argument),
            other => {
                let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
                eprintln!("error: unknown table `{other}`\nhint: the tables are {}", names.join(", "));
                return ExitCode::from(2);
            }
        }
    }
    let mut outside = 0;
    for table in TABLES.iter().filter(|table| wanted.is_empty() || wanted.iter().any(|name| name == table.name)) {
        println!("\n### {}\n\n{} simulations a case.\n", table.title, effort.simulations);
        outside += print(&(table.rows)(&effort));
    }
    if outside > 0 {
        eprintln!("error: {outside} figures leave their bands; they are marked with `!`");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints the rows as Markdown and returns how many figures leave their bands.
fn print(rows: &[Row]) -> usize {
    let columns: Vec<&str> =
        rows.first().map(|row| row.figures.iter().map(|figure| figure.column).collect()).unwrap_or_default();
    println!("| case | {} |\n|---|{}", columns.join(" | "), "--:|".repeat(columns.len()));
    for row in rows {
        let mark = |figure: &Figure| if figure.outside.is_some() { "!" } else { "" };
        let cells: Vec<String> = row.figures.iter().map(|figure| format!("{}{}", figure.shown, mark(figure))).collect();
        println!("| {} | {} |", row.case, cells.join(" | "));
    }
    let outside =
        rows.iter().flat_map(|row| row.figures.iter().filter_map(move |figure| Some((row, figure.outside.as_ref()?))));
    outside.inspect(|(row, reason)| eprintln!("{}: {reason}", row.case)).count()
}

/// What each simulation gives, in order; all processors share the work, and the result depends on the seeds alone.
fn simulate<T: Send>(effort: &Effort, one: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        let one = &one;
        let part = |from: u64, to: u64| scope.spawn(move || (from..to).map(one).collect::<Vec<T>>());
        let n = effort.simulations;
        let parts: Vec<_> = (0..threads).map(|at| part(n * at / threads, n * (at + 1) / threads)).collect();
        parts.into_iter().flat_map(|part| part.join().expect("a simulation")).collect()
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn float(n: u64) -> f64 {
    n as f64
}
