//! The paper's numbered transcript: how a question, a step and an exemplar are written, in one place.
//!
//! Prompts and dialogues write the same lines; a model that was shown one form in its examples and meets
//! another in its own transcript answers worse, and two copies of the form would drift apart.

/// `{label}: {text}` and a newline: the line that puts a question (or a claim).
pub fn question_line(label: &str, text: &str) -> String {
    format!("{label}: {text}\n")
}

/// Thought and action of step `n` (from 1), each on its line: a step that the tool has not answered, or the
/// last step of an exemplar.
pub fn action_text(n: usize, thought: &str, action: &str) -> String {
    format!("Thought {n}: {thought}\nAction {n}: {action}\n")
}

/// Step `n` (from 1) whole: thought, action and observation, each on its line.
pub fn step_text(n: usize, thought: &str, action: &str, observation: &str) -> String {
    format!("Thought {n}: {thought}\nAction {n}: {action}\nObservation {n}: {observation}\n")
}

#[cfg(test)]
mod tests {
    use super::{action_text, question_line, step_text};

    #[test]
    fn lines_stand_as_in_the_paper() {
        assert_eq!(question_line("Claim", "It is so."), "Claim: It is so.\n");
        assert_eq!(action_text(3, "Done.", "Finish[yes]"), "Thought 3: Done.\nAction 3: Finish[yes]\n");
        assert_eq!(
            step_text(1, "Look.", "Search[x]", "No more results.\n"),
            "Thought 1: Look.\nAction 1: Search[x]\nObservation 1: No more results.\n\n"
        );
    }
}
