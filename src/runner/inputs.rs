//! The files that an experiment names, looked at before anything is built: all that is wrong with them is said at once,
//! each with the line of the value that names it.

use super::error::RunError;
use super::questions::{absent, ids};
use crate::prompting::{self, Problem, Problems, PromptError, texts};
use crate::runner::experiment::{Assignment, ExperimentFile, Overrides, shipped};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

const MAX_PROBLEMS: usize = 100;
const HELP: &str =
    "a path is tried from the working folder, from the experiment file's own, and among the shipped files";

/// Looks at every file that an experiment file names. All that is wrong is one error.
pub(super) fn check(file: &ExperimentFile, overrides: &Overrides) -> Result<(), RunError> {
    let mut inputs = Inputs { file, problems: Vec::new(), seen: HashSet::new() };
    for dataset in &file.datasets {
        if !overrides.datasets.contains_key(&dataset.name) {
            inputs.dataset(dataset.path_line, Path::new(&file.resolved(&dataset.path)));
        }
        inputs.settings(&file.settings_of(dataset));
        for variant in file.variants_on(dataset, overrides) {
            inputs.settings(&variant.settings);
        }
    }
    inputs.checked()
}

struct Inputs<'f> {
    file: &'f ExperimentFile,
    problems: Vec<Problem>,
    /// What was looked at: variants share most of it.
    seen: HashSet<(usize, String, Option<String>)>,
}

impl Inputs<'_> {
    fn dataset(&mut self, line: usize, path: &Path) {
        if !path.exists() && shipped::file(&path.display().to_string()).is_none() {
            self.note(line, &absent(path));
        }
    }

    fn settings(&mut self, settings: &[Assignment]) {
        let named = |name: &str| {
            // What was typed is not in the file.
            let assignment = settings.iter().find(|set| set.setting.name == name && set.line > 0)?;
            Some((assignment.line, assignment.value.as_str()?))
        };
        let instruction = named("instruction");
        if let Some((line, spec)) = named("prompt") {
            self.prompt(line, spec, instruction);
        }
        if let Some((line, path)) = named("texts")
            && self.is_new(line, path, None)
            && let Err(error) = texts::load_file(path, &shipped::file)
        {
            self.refused(line, error);
        }
        if let Some((line, path)) = named("ids")
            && let Err(wrong) = ids(Path::new(path))
        {
            self.note(line, &wrong);
        }
        for assignment in settings.iter().filter(|set| set.setting.only_typed && set.line > 0) {
            let message = format!("`{}` says where a key is, which no file may say", assignment.setting.name);
            let hint = format!("remove it, and give {} on the command line", assignment.setting.flag());
            self.note(assignment.line, &RunError::input(message, hint));
        }
        if let Some((line, wiki)) = named("wiki") {
            self.corpus(line, wiki);
        }
    }

    fn checked(mut self) -> Result<(), RunError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let elsewhere = |problem: &Problem| problem.file != self.file.path;
        self.problems.sort_by_key(|problem| (elsewhere(problem), problem.file.clone(), problem.line));
        self.problems.truncate(MAX_PROBLEMS);
        let problems = Problems { list: self.problems, help: HELP };
        Err(RunError::input(&problems, problems.hint()))
    }

    fn prompt(&mut self, line: usize, spec: &str, instruction: Option<(usize, &str)>) {
        if self.is_new(line, spec, None)
            && let Err(error) = prompting::load(spec, None, &shipped::file)
        {
            self.refused(line, error);
        }
        let Some((line, path)) = instruction.filter(|(line, path)| self.is_new(*line, spec, Some(path))) else {
            return;
        };
        match File::open(path) {
            Err(source) => self.refused(line, PromptError::ReadInstruction { file: path.to_owned(), source }),
            Ok(_) if prompting::load(spec, None, &shipped::file).is_err() => {}
            Ok(_) => {
                if let Err(error) = prompting::load(spec, Some(path), &shipped::file) {
                    self.refused(line, error);
                }
            }
        }
    }

    /// Whether the folder of a corpus is there; it may be large, and is read when it is needed.
    fn corpus(&mut self, line: usize, wiki: &str) {
        let Some(folder) = wiki.strip_prefix("corpus:").filter(|folder| !folder.is_empty()) else { return };
        let articles = format!("{}/articles.jsonl", folder.trim_end_matches('/'));
        if !Path::new(folder).exists() && shipped::file(&articles).is_none() {
            self.note(line, &RunError::input(format!("`{folder}` does not exist"), "check the path"));
        }
    }

    fn is_new(&mut self, line: usize, file: &str, with: Option<&str>) -> bool {
        self.seen.insert((line, file.to_owned(), with.map(str::to_owned)))
    }

    /// Problems inside a file have their own lines.
    fn refused(&mut self, line: usize, error: PromptError) {
        let PromptError::Invalid(problems) = error else {
            let hint = error.hint();
            return self.note(line, &RunError::input(error, hint));
        };
        for problem in problems.list {
            self.add(Problem { hint: problem.hint.or_else(|| Some(problems.help.to_owned())), ..problem });
        }
    }

    fn note(&mut self, line: usize, error: &RunError) {
        let (message, hint) = (error.to_string(), Some(error.hint().to_owned()));
        self.add(Problem { file: self.file.path.clone(), line, message, hint });
    }

    /// One file may be named for many variants.
    fn add(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}
