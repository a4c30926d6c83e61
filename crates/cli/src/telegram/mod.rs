//! Questions on a phone: each is sent to a chat of the operator's with buttons, and whoever presses one decides it, if the
//! operator's list has them. What is sent has no secrets in it: questions are kept without.
//!
//! - [`api`]: the Bot API, with its limits and its failures.
//! - [`messages`]: what is said.
//! - [`memory`]: which message is about which question, also after a restart.

mod api;
mod memory;
mod messages;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use exacta::approvals::{Pending, State, Who};
use exacta::configuration::Telegram;
use serde_json::{Value, json};

use api::{Api, ApiError};
use memory::{Memory, Message};

use crate::service::{Decision, Project, Service};
use crate::{launch, output};

/// How often it is looked for questions that nobody was told of yet.
const LOOK: Duration = Duration::from_millis(500);
/// Seconds that a call waits for something to happen.
const LONG_POLL: u64 = 25;
/// After a failure, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

pub struct Bot {
    api: Api,
    settings: Telegram,
    service: Arc<Service>,
    memory: Mutex<Memory>,
    ended: AtomicBool,
}

/// The two threads of it.
pub struct Working {
    bot: Arc<Bot>,
    threads: Vec<JoinHandle<()>>,
}

impl Working {
    /// Ends it. A call that waits for Telegram is left to itself: it ends with the process.
    pub fn end(self) {
        self.bot.ended.store(true, Ordering::Release);
        drop(self.threads);
    }
}

impl Bot {
    /// Starts to tell and to listen. An error: what is missing for that.
    pub fn start(
        settings: Telegram,
        service: Arc<Service>,
        folder: &std::path::Path,
    ) -> Result<Working, String> {
        let token = launch::text(&settings.token_env).ok_or_else(|| {
            format!("telegram: {} is not set: it has the bot's token", settings.token_env)
        })?;
        let memory = Memory::open(folder).map_err(|error| format!("telegram: {error}"))?;
        let bot = Arc::new(Bot {
            api: Api::new(&settings.api, &token),
            settings,
            service,
            memory: Mutex::new(memory),
            ended: AtomicBool::new(false),
        });
        let start = |name: &str, work: fn(&Bot)| {
            let bot = Arc::clone(&bot);
            thread::Builder::new().name(name.to_owned()).spawn(move || work(&bot))
        };
        let threads = [start("telegram-tells", Bot::tell), start("telegram-hears", Bot::listen)];
        let threads = threads.into_iter().collect::<Result<Vec<_>, _>>();
        let threads = threads.map_err(|error| format!("telegram: {error}"))?;
        Ok(Working { bot, threads })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Sends what waits, and says below what was sent what became of it.
    fn tell(&self) {
        let mut pause = Pause::default();
        while !self.has_ended() {
            match self.tell_once() {
                Ok(()) => pause.reset(),
                Err(error) => pause.after(&error, self),
            }
            thread::sleep(LOOK);
        }
    }

    fn tell_once(&self) -> Result<(), ApiError> {
        for project in self.service.projects.all() {
            // What cannot be read now is there the next time.
            let Ok(all) = project.approvals() else { continue };
            for pending in &all {
                let sent = self.memory().find(&pending.id);
                match (pending.state, sent) {
                    (State::Pending, None) => self.send(project, pending)?,
                    (State::Pending, Some(_)) | (_, None) => {}
                    (_, Some(message)) if message.settled => {}
                    (_, Some(message)) => self.settle(pending, &message)?,
                }
            }
            self.memory().forget_but(&all);
        }
        Ok(())
    }

    fn send(&self, project: &Project, pending: &Pending) -> Result<(), ApiError> {
        let sent = self.api.call(
            "sendMessage",
            &json!({
                "chat_id": self.settings.chat,
                "text": messages::question(project, pending),
                "reply_markup": { "inline_keyboard": messages::buttons(pending) },
                "link_preview_options": { "is_disabled": true },
            }),
        )?;
        let number = sent["message_id"].as_i64().unwrap_or_default();
        self.memory().remember(&pending.id, Message { number, settled: false });
        Ok(())
    }

    /// The buttons go, and what became of it is there instead.
    fn settle(&self, pending: &Pending, message: &Message) -> Result<(), ApiError> {
        let edited = self.api.call(
            "editMessageText",
            &json!({
                "chat_id": self.settings.chat,
                "message_id": message.number,
                "text": messages::decided(pending),
                "link_preview_options": { "is_disabled": true },
            }),
        );
        match edited {
            // Somebody has deleted it, or it says so already.
            Ok(_) | Err(ApiError::Rejected(_)) => {}
            Err(error) => return Err(error),
        }
        self.memory().remember(&pending.id, Message { settled: true, ..*message });
        Ok(())
    }

    fn listen(&self) {
        let mut pause = Pause::default();
        while !self.has_ended() {
            let offset = self.memory().offset();
            let asked = json!({
                "offset": offset, "timeout": LONG_POLL, "allowed_updates": ["callback_query"],
            });
            match self.api.call_for("getUpdates", &asked, Duration::from_secs(LONG_POLL + 10)) {
                Ok(updates) => {
                    pause.reset();
                    for update in updates.as_array().into_iter().flatten() {
                        self.hear(update);
                    }
                }
                Err(error) => pause.after(&error, self),
            }
        }
    }

    fn hear(&self, update: &Value) {
        if let Some(number) = update["update_id"].as_i64() {
            self.memory().seen(number);
        }
        let pressed = &update["callback_query"];
        if pressed.is_null() {
            return;
        }
        let said = self.decide(pressed);
        // Without an answer the button goes on turning; nobody is hurt by that.
        let _only_a_courtesy = self.api.call(
            "answerCallbackQuery",
            &json!({
                "callback_query_id": pressed["id"], "text": said,
            }),
        );
    }

    /// What whoever has pressed it is told.
    fn decide(&self, pressed: &Value) -> String {
        let from = pressed["from"]["id"].as_i64().unwrap_or_default();
        if !self.settings.allow.contains(&from) {
            output::error(&format!(
                "exacta: telegram: {from} has pressed a button and is not on the list\n"
            ));
            return "you are not on the list of those who decide".to_owned();
        }
        let data = pressed["data"].as_str().unwrap_or_default();
        let Some((choice, id)) = data.split_once(' ') else {
            return "this is none of my buttons".to_owned();
        };
        let name = pressed["from"]["username"].as_str().unwrap_or_default();
        let who = Who { door: "telegram", name: format!("@{name} ({from})") };
        let (decision, scope) = match choice {
            "once" => ("approve", "once"),
            "session" => ("approve", "session"),
            "always" => ("approve", "always"),
            "no" => ("deny", "once"),
            _ => return "this is none of my buttons".to_owned(),
        };
        let mut last = "that question is not known here any more".to_owned();
        for project in self.service.projects.all() {
            let decided = Decision::parse(decision, Some(scope), who.clone())
                .and_then(|decision| self.service.decide(project, id, &decision));
            match decided {
                Ok(pending) => return pending.state.name().to_owned(),
                Err(problem) if problem.code == crate::service::Code::UnknownApproval => {}
                Err(problem) => last = problem.message,
            }
        }
        last
    }
}

/// Failures come further and further apart, and are told once.
#[derive(Default)]
struct Pause {
    next: Option<Duration>,
}

impl Pause {
    fn reset(&mut self) {
        if self.next.take().is_some() {
            output::error("exacta: telegram answers again\n");
        }
    }

    fn after(&mut self, error: &ApiError, bot: &Bot) {
        if self.next.is_none() {
            output::error(&format!("exacta: telegram: {error}; it is tried again\n"));
        }
        let usual = self.next.unwrap_or(FIRST_PAUSE);
        self.next = Some((usual * 2).min(LONGEST_PAUSE));
        let mut left = match error {
            ApiError::TooFast(wait) => *wait,
            _ => usual,
        };
        while !left.is_zero() && !bot.has_ended() {
            let piece = left.min(LOOK);
            thread::sleep(piece);
            left -= piece;
        }
    }
}
