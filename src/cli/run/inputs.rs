//! The files that an experiment names, looked at before anything is built: all that is wrong with them is said at once,
//! each with the line of the value that names it.

use super::experiment::Source;
use super::load;
use crate::cli::builtin;
use crate::cli::dataset_args::absent;
use crate::cli::failure::Failure;
use crate::cli::model_args::{ModelArgsError, key_from};
use crate::experiment::{DatasetSpec, Setting, Value};
use crate::prompt::{self, Problem, Problems, PromptError, texts};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

/// At most this many problems are said.
const MOST: usize = 100;

/// What is wrong with a file, and what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) message: String,
    pub(super) hint: String,
}

/// Where paths are looked up.
const HELP: &str =
    "a path is tried from the working folder, from the experiment file's own, and among the shipped files";

impl From<PromptError> for Wrong {
    fn from(error: PromptError) -> Self {
        Self { message: error.to_string(), hint: error.hint().unwrap_or_else(|| HELP.to_owned()) }
    }
}

impl From<ModelArgsError> for Wrong {
    fn from(error: ModelArgsError) -> Self {
        Self { message: error.to_string(), hint: error.hint() }
    }
}

impl Wrong {
    /// The same where no line names the file.
    pub(super) fn failure(self) -> anyhow::Error {
        Failure::bad_input(self.message, self.hint)
    }
}

/// Looks at the files of an experiment, whose paths are found already.
pub(super) struct Inputs<'s> {
    source: &'s Source,
    /// Whether servers will be asked, so that keys are needed.
    online: bool,
    problems: Vec<Problem>,
    /// What was looked at: cells share most of it.
    seen: HashSet<(usize, String, Option<String>)>,
}

impl<'s> Inputs<'s> {
    pub(super) fn new(source: &'s Source, online: bool) -> Self {
        Self { source, online, problems: Vec::new(), seen: HashSet::new() }
    }

    /// Looks at a dataset's file.
    pub(super) fn dataset(&mut self, dataset: &DatasetSpec, path: &Path) {
        if !path.exists() && builtin::file(&path.display().to_string()).is_none() {
            let (message, hint) = absent(path);
            self.note(dataset.path_line, Wrong { message, hint });
        }
    }

    /// Looks at the files that a cell's or a dataset's settings name.
    pub(super) fn settings(&mut self, settings: &[Setting]) {
        let named = |name: &str| {
            // What was typed stands in no line of the file.
            let setting = settings.iter().find(|setting| setting.key.name == name && setting.line > 0)?;
            match &setting.value {
                Value::One(value) => Some((setting.line, value.as_str())),
                _ => None,
            }
        };
        let instruction = named("instruction");
        if let Some((line, spec)) = named("prompt") {
            self.prompt(line, spec, instruction);
        }
        if let Some((line, path)) = named("texts")
            && self.is_new(line, path, None)
            && let Err(error) = texts::load_file(path, &builtin::file)
        {
            self.refused(line, error);
        }
        if let Some((line, path)) = named("ids")
            && let Err(wrong) = load::ids(Path::new(path))
        {
            self.note(line, wrong);
        }
        if let Some((line, path)) = named("key_file").filter(|_| self.online)
            && let Err(error) = key_from(Path::new(path))
        {
            self.note(line, error.into());
        }
        if let Some((line, wiki)) = named("wiki") {
            self.corpus(line, wiki);
        }
    }

    /// What is wrong, if anything is.
    pub(super) fn checked(mut self) -> anyhow::Result<()> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let elsewhere = |problem: &Problem| problem.file != self.source.shown();
        self.problems.sort_by_key(|problem| (elsewhere(problem), problem.file.clone(), problem.line));
        self.problems.truncate(MOST);
        let problems = Problems { list: self.problems, help: HELP };
        Err(Failure::bad_input(&problems, problems.hint()))
    }

    fn prompt(&mut self, line: usize, spec: &str, instruction: Option<(usize, &str)>) {
        if self.is_new(line, spec, None)
            && let Err(error) = prompt::load(spec, None, &builtin::file)
        {
            self.refused(line, error);
        }
        let Some((line, path)) = instruction.filter(|(line, path)| self.is_new(*line, spec, Some(path))) else {
            return;
        };
        match File::open(path) {
            Err(source) => self.refused(line, PromptError::ReadInstruction { file: path.to_owned(), source }),
            Ok(_) if prompt::load(spec, None, &builtin::file).is_err() => {}
            Ok(_) => {
                if let Err(error) = prompt::load(spec, Some(path), &builtin::file) {
                    self.refused(line, error);
                }
            }
        }
    }

    /// Whether the folder of a corpus is there; it may be large, and is read when it is needed.
    fn corpus(&mut self, line: usize, wiki: &str) {
        let Some(folder) = wiki.strip_prefix("corpus:").filter(|folder| !folder.is_empty()) else { return };
        let articles = format!("{}/articles.jsonl", folder.trim_end_matches('/'));
        if !Path::new(folder).exists() && builtin::file(&articles).is_none() {
            let message = format!("cannot read `{articles}`: there is no such file");
            let hint = "a corpus is a folder with a file articles.jsonl (or articles.jsonl.gz) in it".to_owned();
            self.note(line, Wrong { message, hint });
        }
    }

    fn is_new(&mut self, line: usize, file: &str, with: Option<&str>) -> bool {
        self.seen.insert((line, file.to_owned(), with.map(str::to_owned)))
    }

    /// Problems inside a file have their own lines.
    fn refused(&mut self, line: usize, error: PromptError) {
        let PromptError::Invalid(problems) = error else { return self.note(line, error.into()) };
        for problem in problems.list {
            self.add(Problem { hint: problem.hint.or_else(|| Some(problems.help.to_owned())), ..problem });
        }
    }

    fn note(&mut self, line: usize, Wrong { message, hint }: Wrong) {
        self.add(Problem { file: self.source.shown().to_owned(), line, message, hint: Some(hint) });
    }

    /// One file may be named for many cells.
    fn add(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}
