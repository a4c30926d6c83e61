//! A small assembler for the kernel's filter machine: one register, tests, jumps forward, and an end.

use crate::system::seccomp::instruction;

/// A place in a program. It may be used before it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    Equal(u32),
    AtLeast(u32),
    /// Any of these bits.
    Any(u32),
}

/// Where a test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Next,
    To(Label),
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Load(u32),
    And(u32),
    Branch { test: Test, yes: Target, no: Target },
    Return(u32),
}

#[derive(Debug, Default)]
pub struct Program {
    steps: Vec<Step>,
    /// For each label the step it stands before.
    places: Vec<Option<usize>>,
}

impl Program {
    pub fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// The label means the step that comes next.
    pub fn place(&mut self, label: Label) {
        if let Some(place) = self.places.get_mut(label.0) {
            *place = Some(self.steps.len());
        }
    }

    /// Loads a word of the description of the call.
    pub fn load(&mut self, offset: u32) {
        self.steps.push(Step::Load(offset));
    }

    pub fn and(&mut self, mask: u32) {
        self.steps.push(Step::And(mask));
    }

    pub fn branch(&mut self, test: Test, yes: Target, no: Target) {
        self.steps.push(Step::Branch { test, yes, no });
    }

    pub fn end(&mut self, verdict: u32) {
        self.steps.push(Step::Return(verdict));
    }

    /// Chooses among ranges by halves. Each begins at its number and lasts until the next; the first begins at 0.
    pub fn choose(&mut self, ranges: &[(u32, Label)]) {
        let (left, right) = ranges.split_at(ranges.len() / 2);
        let Some((middle, _)) = right.first().filter(|_| !left.is_empty()) else { return };
        let mut half = |ranges: &[(u32, Label)]| match ranges {
            [(_, only)] => *only,
            _ => self.label(),
        };
        let (below, above) = (half(left), half(right));
        self.branch(Test::AtLeast(*middle), Target::To(above), Target::To(below));
        for (ranges, label) in [(left, below), (right, above)] {
            if ranges.len() > 1 {
                self.place(label);
                self.choose(ranges);
            }
        }
    }

    /// `None`: it does not fit the machine, whose tests jump at most 255 steps, or a label was never placed.
    pub fn finish(&self) -> Option<Vec<libc::sock_filter>> {
        let distance = |from: usize, target: Target| match target {
            Target::Next => Some(0),
            Target::To(label) => {
                let place = (*self.places.get(label.0)?)?;
                u8::try_from(place.checked_sub(from + 1)?).ok()
            }
        };
        let assemble = |(place, step): (usize, &Step)| {
            Some(match *step {
                Step::Load(offset) => {
                    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
                }
                Step::And(mask) => instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask),
                Step::Return(verdict) => instruction(libc::BPF_RET | libc::BPF_K, verdict),
                Step::Branch { test, yes, no } => {
                    let (code, value) = match test {
                        Test::Equal(value) => (libc::BPF_JEQ, value),
                        Test::AtLeast(value) => (libc::BPF_JGE, value),
                        Test::Any(bits) => (libc::BPF_JSET, bits),
                    };
                    libc::sock_filter {
                        jt: distance(place, yes)?,
                        jf: distance(place, no)?,
                        ..instruction(libc::BPF_JMP | code | libc::BPF_K, value)
                    }
                }
            })
        };
        self.steps.iter().enumerate().map(assemble).collect()
    }
}
