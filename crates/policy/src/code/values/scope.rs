//! Where each name of the code is given a value.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use super::{MOST, Value};

/// How a name comes by its values.
#[derive(Debug, Clone)]
pub(super) enum Given {
    Assigned(Range<usize>),
    /// One after the other of what the expression holds.
    Each(Range<usize>),
}

/// Where each name of the code is given a value.
#[derive(Debug, Default)]
pub(in crate::code) struct Scope<'t> {
    pub(super) given: HashMap<&'t [u8], Option<Vec<Given>>>,
    pub(super) known: RefCell<HashMap<&'t [u8], Value>>,
    pub(super) forgotten: bool,
    /// Names of lists that are nothing but written down and gone through.
    pub(super) listed: HashMap<&'t [u8], bool>,
}

impl<'t> Scope<'t> {
    pub fn assigned(&mut self, name: &'t [u8], range: Range<usize>) {
        self.give(name, Given::Assigned(range));
    }

    pub fn each(&mut self, name: &'t [u8], range: Range<usize>) {
        self.give(name, Given::Each(range));
    }

    /// A list may be changed wherever its name stands, except where it is only gone through.
    pub fn mentioned(&mut self, name: &'t [u8], only_read: bool) {
        *self.listed.entry(name).or_insert(true) &= only_read;
    }

    /// Does the code give the name a value of its own?
    pub fn is_given(&self, name: &[u8]) -> bool {
        self.given.contains_key(name)
    }

    /// Nothing is known of any name.
    pub fn forget(&mut self) {
        self.forgotten = true;
    }

    /// The name is given something that is not understood.
    pub fn lost(&mut self, name: &'t [u8]) {
        self.given.insert(name, None);
    }

    fn give(&mut self, name: &'t [u8], given: Given) {
        let entry = self.given.entry(name).or_insert_with(|| Some(Vec::new()));
        if let Some(all) = entry {
            all.push(given);
            if all.len() > MOST {
                *entry = None;
            }
        }
    }
}
