//! One test a rule: how replies are read, and how the conversation goes.

mod conversation;
mod replies;
