//! Answers of tools and systems, in one wording.
//!
//! The Chinese tool says the same as the English one. Systems report errors in different words; the policy only needs to
//! know that there is no observation.

use super::labels::COLONS;

/// An observation in the words of the English tool; text of pages is unchanged.
pub(super) fn worded(text: &str) -> String {
    if let Some(missed) = missed(text) {
        return missed;
    }
    if let Some(rest) = text.strip_prefix("(结果") {
        return format!("(Result{rest}");
    }
    if matches!(text.trim_end_matches('。'), "没有更多结果" | "没有页面内容可以查找") {
        return "No more results.".to_owned();
    }
    text.to_owned()
}

/// `找不到[X]。相似结果:['A', 'B']。`
fn missed(text: &str) -> Option<String> {
    let (name, list) = text.strip_prefix("找不到")?.split_once("。相似结果")?;
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let list = list.trim_start_matches(COLONS).trim_end_matches(['。', '.']);
    Some(format!("Could not find {name}. Similar: {list}."))
}

/// Whether this reports that a step failed. `input` is the input of the tool, as the model wrote it.
pub(super) fn is_complaint(text: &str, input: Option<&str>) -> bool {
    const STARTS: [&str; 12] = [
        "Invalid action:",
        "无效动作",
        "搜索出错",
        "There was an error in parsing my reasoning:",
        "An error occurred when calling tool",
        "Error calling tool ",
        "Please follow the format",
        "The action is invalid, please check the action name.",
        "invalid json format:",
        "unknown arguments:",
        "missing required arguments:",
        "invalid API:",
    ];
    const UNKNOWN_TOOL: [&str; 3] =
        [" does not exists.", " does not exist", " not found. Please select a tool that is available."];
    let unknown = || text.starts_with("Tool ") && UNKNOWN_TOOL.iter().any(|end| text.ends_with(end));
    // lagent returns the arguments of an unknown tool as its result.
    let echo = || input.map(str::trim).is_some_and(|input| input.starts_with('{') && input == text);
    STARTS.iter().any(|start| text.starts_with(start)) || is_error(text) || unknown() || echo()
}

/// Whether a message rejects the last reply.
pub(super) fn is_error(message: &str) -> bool {
    const STARTS: [&str; 2] = ["Error while parsing the output:", "FAILURE:"];
    let message = message.trim_start();
    let labelled = ["Error", "错误"]
        .iter()
        .any(|label| message.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with(COLONS)));
    labelled || STARTS.iter().any(|start| message.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{is_complaint, is_error, worded};

    #[test]
    fn the_chinese_tool_says_what_the_english_one_does() {
        for (chinese, english) in [
            ("找不到[甲]。相似结果:['乙', \"b's\"]。", "Could not find 甲. Similar: ['乙', \"b's\"]."),
            ("找不到[甲]。相似结果：[]。", "Could not find 甲. Similar: []."),
            ("找不到[[甲]]。相似结果:['乙']。", "Could not find [甲]. Similar: ['乙']."),
            ("(结果 1 / 2) 乙是一座城。", "(Result 1 / 2) 乙是一座城。"),
            ("没有更多结果。", "No more results."),
            ("没有页面内容可以查找。", "No more results."),
            ("乙是一座城。", "乙是一座城。"),
            ("X is a town.", "X is a town."),
        ] {
            assert_eq!(worded(chinese), english);
        }
    }

    #[test]
    fn complaints_are_distinguished_from_pages() {
        for text in [
            "Invalid action: search x",
            "无效动作:查找",
            "搜索出错:timeout",
            "Tool Look does not exists.",
            "Tool Look does not exist",
            "Tool Look not found. Please select a tool that is available.",
            "Please follow the format",
            "Error: no such tool",
        ] {
            assert!(is_complaint(text, None), "{text}");
        }
        for text in ["Tool is a band.", "Errors were made.", "The tool does not exist", "{}", "No more results."] {
            assert!(!is_complaint(text, None), "{text}");
        }
        assert!(is_complaint("{\"q\": 1}", Some(" {\"q\": 1}")));
        assert!(!is_complaint("Paris", Some("Paris")));
        assert!(is_error("错误：工具不存在") && is_error("Error: x") && is_error("FAILURE: Your previous response"));
        assert!(!is_error("Errors") && !is_error("Observation: x"));
    }
}
