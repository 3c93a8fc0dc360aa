//! One test a rule: how replies are read, and how the conversation goes.

mod chat_models;
mod conversation;
mod replies;
