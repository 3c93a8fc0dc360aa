//! The APIs of models' providers, as other programs call them.

use serde_json::{Value, json};

/// An API by which programs ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    Chat,
    Completions,
    Responses,
    Messages,
    GenerateContent,
}

impl Api {
    /// The provider, as a model's name begins with it: `openai`, `anthropic` or `gemini`.
    pub fn provider(self) -> &'static str {
        match self {
            Self::Chat | Self::Completions | Self::Responses => "openai",
            Self::Messages => "anthropic",
            Self::GenerateContent => "gemini",
        }
    }

    /// The name under which records have it, which is that of the endpoint.
    pub fn endpoint(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::GenerateContent => "generateContent",
        }
    }

    /// An error as the API's clients read it.
    pub fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Chat | Self::Completions | Self::Responses => {
                json!({ "error": { "message": message, "type": kind(status), "param": null, "code": null } })
            }
            Self::Messages => json!({ "type": "error", "error": { "type": kind(status), "message": message } }),
            Self::GenerateContent => {
                json!({ "error": { "code": status, "message": message, "status": "INVALID_ARGUMENT" } })
            }
        }
    }
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
