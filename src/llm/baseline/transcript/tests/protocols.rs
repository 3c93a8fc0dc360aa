//! Conversations in every protocol's form: what is written is read back, the question is found behind examples,
//! and force-stops are obeyed.

use super::forms::{ALL, Form};
use super::talk::{FIRST_PAGE, QUESTION, SECOND_PAGE, Talk, past, settings};
use crate::llm::baseline::transcript::{Transcript, Wanted};
use crate::llm::{Baseline, BaselineSettings};
use crate::protocol::{Kind, Protocol};
use crate::types::{Decoding, Message, Prompt, Request, Role, Tool};

#[test]
fn a_question_is_answered_step_by_step() {
    for form in ALL {
        let mut talk = Talk::about(form, "Question", QUESTION);
        for page in [FIRST_PAGE, SECOND_PAGE] {
            let reply = talk.written();
            assert_eq!(form.parse(&reply, talk.step).kind, Kind::Act, "{form:?} {reply}");
            talk.reply(&reply);
            talk.observe(page);
        }
        let read = talk.transcript();
        assert_eq!((read.question.as_str(), read.is_claim, read.forced), (QUESTION, false, false), "{form:?}");
        let expected = [past("Search[Nightfall of Arven]", FIRST_PAGE), past("Search[Mara Lindqvist]", SECOND_PAGE)];
        assert_eq!(read.steps, expected, "{form:?}");
        assert_eq!(talk.next(), (Kind::Finish, "Tolvsund".to_owned()), "{form:?} {}", talk.written());
    }
}

#[test]
fn replies_continue_their_prompts() {
    for (form, start) in [
        (Form::Paper, " I need"),
        (Form::Tight, "I need"),
        (Form::Turns, "Thought 1: I need"),
        (Form::Qwen, "I need"),
        (Form::Llama, "Thought: I need"),
        (Form::Go, "Thought: I need"),
        (Form::Lagent, "Thought: I need"),
        (Form::LagentJson, "{\"thought_process\":\"I need"),
    ] {
        let reply = Talk::about(form, "Question", QUESTION).written();
        assert!(reply.starts_with(start), "{form:?} {reply}");
    }
    let reply = Talk::about(Form::Llama, "Question", QUESTION).written();
    assert!(reply.ends_with("\nAction: Search\nAction Input: {'query': 'Nightfall of Arven'}"), "{reply}");
    let reply = Talk::about(Form::LagentOld, "Question", QUESTION).written();
    assert!(reply.ends_with("\nAction: Search\nActionInput: Nightfall of Arven"), "{reply}");
    let reply = Talk::about(Form::Tight, "Question", QUESTION).written();
    assert!(reply.ends_with("\nAction 1:Search[Nightfall of Arven]"), "{reply}");
    let plain = BaselineSettings { thoughts: false, ..settings(Form::Turns) };
    let reply = Talk::about(Form::Turns, "Question", QUESTION).written_with(plain);
    assert_eq!(reply, "Action 1: Search[Nightfall of Arven]");
}

#[test]
fn actions_without_thoughts_follow_their_label() {
    let mut talk = Talk { form: Form::Paper, text: String::new(), messages: vec![], step: 1 };
    talk.text = format!("Question: {QUESTION}\nAction 1: Search[x]\nObservation 1: X is a town.\nAction 2:");
    assert_eq!(talk.written(), " Search[Nightfall of Arven]");
    talk.form = Form::Tight;
    talk.text = format!("\nQuestion:{QUESTION}\nThought 1:hm\nAction 1:");
    assert_eq!(talk.written(), "Search[Nightfall of Arven]");
}

#[test]
fn claims_are_known_by_their_label_or_by_the_settings() {
    let claim = "Mara Lindqvist was a film director who was born in Tolvsund.";
    for form in ALL {
        let mut talk = Talk::about(form, "Claim", claim);
        let claims = BaselineSettings { claims: true, ..settings(form) };
        let read = Transcript::read(&talk.prompt(), &claims);
        assert_eq!((read.question.as_str(), read.is_claim), (claim, true), "{form:?}");
        if matches!(form, Form::Paper | Form::Tight | Form::Turns | Form::Go) {
            assert!(talk.transcript().is_claim, "{form:?}");
        }
        let reply = talk.written_with(claims.clone());
        talk.reply(&reply);
        talk.observe(SECOND_PAGE);
        let reply = talk.written_with(claims);
        let answer = form.parse(&reply, talk.step).answer.unwrap_or_default();
        assert_eq!(answer.trim(), "SUPPORTS", "{form:?} {reply}");
    }
}

#[test]
fn chinese_tools_are_understood() {
    let mut talk = Talk::about(Form::Tight, "Question", QUESTION);
    talk.reply("Thought 1:t\nAction 1:Search[Nightfall]");
    talk.observe("找不到[Nightfall]。相似结果:['Nightfall of Arven', 'Arven']。");
    talk.reply("Thought 2:t\nAction 2:Lookup[x]");
    talk.observe("没有页面内容可以查找。");
    talk.reply("Thought 3:t\nAction 3:Lookup[x]");
    talk.observe("(结果 1 / 2) 乙是一座城。");
    let expected = [
        past("Search[Nightfall]", "Could not find Nightfall. Similar: ['Nightfall of Arven', 'Arven']."),
        past("Lookup[x]", "No more results."),
        past("Lookup[x]", "(Result 1 / 2) 乙是一座城。"),
    ];
    assert_eq!(talk.transcript().steps, expected);
}

#[test]
fn arguments_survive_the_way_through_every_form() {
    for form in ALL {
        for argument in ["b's", "\"quoted\"", "a 'b' \"c\"", "{x: 'y'}", "back\\slash", "甲(乙)", "O'Neil, \"Ann\""] {
            let mut talk = Talk::about(form, "Question", QUESTION);
            talk.reply(&form.step(1, Some("t"), Tool::Search, argument));
            talk.observe("No such page.");
            let read = talk.transcript();
            let escaped = form == Form::Llama && argument.contains('\\');
            if !escaped {
                assert_eq!(read.steps, [past(&format!("Search[{argument}]"), "No such page.")], "{form:?}");
            }
        }
    }
}

#[test]
fn a_forced_stop_is_obeyed() {
    for (form, role, join) in [
        (Form::Turns, Role::User, true),
        (Form::Go, Role::User, true),
        (Form::Turns, Role::User, false),
        (Form::LagentOld, Role::System, false),
        (Form::Lagent, Role::System, false),
        (Form::LagentJson, Role::System, false),
    ] {
        let mut talk = Talk::about(form, "Question", QUESTION);
        let said = "Step 2 is the last one: answer with what you know.";
        talk.reply(&form.step(1, Some("t"), Tool::Search, "Nightfall of Arven"));
        let shown = if join { format!("{FIRST_PAGE}\n{said}") } else { FIRST_PAGE.to_owned() };
        talk.observe(&shown);
        if !join {
            talk.messages.push(Message { role, content: said.into() });
        }
        let read = talk.transcript();
        assert!(read.forced && read.must_answer(), "{form:?}");
        assert_eq!(read.steps.len(), 1, "{form:?}");
        assert!(read.steps[0].observation.starts_with(FIRST_PAGE), "{form:?}");
        assert_eq!(talk.next().0, Kind::Finish, "{form:?} {}", talk.written());
    }
}

#[test]
fn the_last_step_is_an_answer_in_every_form() {
    for form in ALL {
        let mut talk = Talk::about(form, "Question", QUESTION);
        let last = BaselineSettings { last_step: 2, ..settings(form) };
        talk.reply(&form.step(1, Some("t"), Tool::Search, "x"));
        talk.observe("Could not find x. Similar: ['y'].");
        let reply = talk.written_with(last);
        assert_eq!(form.parse(&reply, 2).kind, Kind::Finish, "{form:?} {reply}");
    }
}

#[test]
fn words_of_the_form_in_a_question_do_not_break_a_reply() {
    let question = "Who wrote the book Final Answer: A Life?";
    for form in [Form::Lagent, Form::Qwen] {
        let talk = Talk::about(form, "Question", question);
        let reply = talk.written();
        assert!(!reply.lines().next().unwrap_or_default().contains("Final Answer:"), "{form:?} {reply}");
    }
}

#[test]
fn answers_without_tools() {
    let settings = BaselineSettings::default();
    let text = |rest: &str| Prompt::text("Question: a\nThought: b\nAnswer: c\n\n".into(), rest);
    let write = |prompt: Prompt| {
        let request = Request { prompt, stop: vec![], decoding: Decoding::default() };
        Baseline::new(settings.clone()).write(&request)
    };
    assert_eq!(write(text("Question: Who was Ann Bee?\nAnswer:")), " Ann Bee");
    assert_eq!(write(text("Question: Who was Ann Bee?\nThought:")), " The answer is Ann Bee.\nAnswer: Ann Bee");
    assert_eq!(write(text("Question: Who was Ann Bee?\n答案：")), " Ann Bee");
    let message = |content: &str| Prompt::Messages(vec![Message::system("Answer."), Message::user(content)]);
    assert_eq!(write(message("Question: Who was Ann Bee?\nAnswer:")), "Ann Bee");
    assert_eq!(write(message("Question: Who was Ann Bee?\nThought:")), "The answer is Ann Bee.\nAnswer: Ann Bee");
    let read = Transcript::read(&message("Question: Who was Ann Bee?\nAnswer:"), &settings);
    assert_eq!((read.question.as_str(), read.wanted), ("Who was Ann Bee?", Wanted::Answer));
}

#[test]
fn the_answer_that_llama_index_asks_for_at_its_limit_is_bare() {
    let prompt = Prompt::Messages(vec![
        Message::user("Who was Ann Bee?"),
        Message::system("You have reached the maximum number of iterations (2)."),
    ]);
    let request = Request { prompt, stop: vec![], decoding: Decoding::default() };
    assert_eq!(Baseline::new(settings(Form::Llama)).write(&request), "Ann Bee");
}

#[test]
fn any_conversation_can_be_read() {
    let contents = [
        "",
        "Observation",
        "Observation 99999999999999999999: x",
        "Error:",
        "Thought:",
        "{",
        "Action 1: Search[",
        "é：",
    ];
    for form in ALL {
        for role in [Role::System, Role::User, Role::Assistant] {
            for content in contents {
                let messages: Vec<Message> = [Role::User, role, Role::Assistant, role]
                    .map(|role| Message { role, content: content.into() })
                    .into();
                for prompt in
                    [Prompt::Messages(messages.clone()), Prompt::Messages(vec![]), Prompt::text("".into(), content)]
                {
                    let request = Request { prompt, stop: vec![], decoding: Decoding::default() };
                    Baseline::new(settings(form)).write(&request);
                }
            }
        }
    }
}
