//! What init is told about a program that is to be started, with the descriptors that go with it.
//!
//! Usually a jail stands when it is told. The first program can be ordered [early](First): the order then waits for init, which
//! takes it as soon as its walls are up, while the engine still hears that they are. The program itself does not run before:
//! whatever is executed in a jail asks the engine, which answers only when it has taken the jail over.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::descriptors::{self, Directories};
use super::outside::Outside;
use crate::messages::{Order, Report};
use crate::outcome::{AtStep, Failure};
use crate::plan::{Limits, Manner, Program};
use crate::wire;

/// What could not be done with an order that came too early: nobody could be asked.
const EARLY: &str = "take an early order";

/// Longer orders are sent to somebody who reads them: the socket would be full before.
const LONGEST_EARLY: usize = 48 << 10;
/// Of directories the path is sent.
const LONGEST_PATH: usize = 4 << 10;

/// A program that is to be the first one in a jail.
#[derive(Clone, Copy)]
pub struct First<'a> {
    pub program: &'a Program,
    pub descriptors: &'a [(u32, BorrowedFd<'a>)],
    pub manner: Manner,
}

impl First<'_> {
    /// Whether it can wait in a socket.
    pub(crate) fn is_short(&self) -> bool {
        let Program { argv, environment, .. } = self.program;
        let words = argv.iter().map(|word| word.len() + 8);
        let variables = environment.iter().map(|(name, value)| name.len() + value.len() + 16);
        let given = self.descriptors.len() * LONGEST_PATH;
        words.chain(variables).sum::<usize>() + given <= LONGEST_EARLY
    }

    /// What is handed over as it is, and what init is to open; the former made the jail's own where it needs that.
    pub(crate) fn divided(
        &self,
        outside: Option<Outside>,
    ) -> Result<(Vec<(u32, BorrowedFd<'_>)>, Directories), Failure> {
        let (given, directories) = descriptors::divided(self.descriptors);
        if let Some(outside) = outside {
            for (_, descriptor) in &given {
                outside.give(*descriptor).at("give a pipe to the jail")?;
            }
        }
        Ok((given, directories))
    }

    /// Sends the order. Gives the socket for reports about it.
    pub(crate) fn send(
        &self,
        orders: &OwnedFd,
        outside: Option<Outside>,
        terms: Terms,
    ) -> Result<OwnedFd, Failure> {
        let (ours, theirs) = wire::pair().at("make a socket for reports")?;
        let (given, directories) = self.divided(outside)?;
        let (numbers, given): (Vec<u32>, Vec<BorrowedFd<'_>>) = given.into_iter().unzip();
        let Terms { limits, tasks, changed, early } = terms;
        let (program, manner) = (self.program.clone(), self.manner);
        let order =
            Order::Start { program, manner, limits, tasks, changed, early, numbers, directories };
        let all: Vec<_> = [theirs.as_fd()].into_iter().chain(given).collect();
        wire::send(orders, &order, &all).at("order a program")?;
        Ok(ours)
    }
}

/// On what terms a program is started, besides what it is.
pub struct Terms {
    pub limits: Limits,
    pub tasks: Option<u32>,
    pub changed: bool,
    pub early: bool,
}

/// Nobody could be asked before it is executed, so it was not taken.
pub fn refused_early() -> Report {
    Report::Failed(Failure::new(EARLY, Errno::AGAIN))
}

/// Whether that is what was answered: then it can be ordered again.
pub fn was_early(report: &Report) -> bool {
    matches!(report, Report::Failed(failure) if failure.step == EARLY)
}
