//! What instructions read and write.

#[cfg(target_arch = "x86_64")]
use std::collections::{HashMap, hash_map::Entry};

use nix::libc::user_regs_struct as Registers;
use nix::unistd::Pid;

#[cfg(target_arch = "x86_64")]
use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, Register, UsedMemory};

/// Operands in memory of all instructions that were met, by the address of the instruction.
#[derive(Default)]
pub struct Operands {
    #[cfg(target_arch = "x86_64")]
    known: HashMap<u64, Vec<UsedMemory>>,
}

#[cfg(target_arch = "x86_64")]
impl Operands {
    /// Of the instruction that comes next.
    pub fn addresses(
        &mut self,
        process: Pid,
        place: u64,
        registers: &Registers,
    ) -> nix::Result<Vec<u64>> {
        let known = match self.known.entry(place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(operands(process, place)?),
        };
        let value = |register: Register, _: usize, _: usize| value(register, registers);
        Ok(known.iter().filter_map(|it| it.virtual_address(0, value)).collect())
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Operands {
    /// Nothing is known of them.
    pub fn addresses(&mut self, _: Pid, _: u64, _: &Registers) -> nix::Result<Vec<u64>> {
        Ok(Vec::new())
    }
}

#[cfg(target_arch = "x86_64")]
fn operands(process: Pid, place: u64) -> nix::Result<Vec<UsedMemory>> {
    use nix::sys::ptrace;
    let word = |at: u64| ptrace::read(process, at as ptrace::AddressType).map(i64::to_le_bytes);
    // The longest has 15 bytes. What is behind the last page is not needed then.
    let (first, second) = (word(place)?, word(place + 8).unwrap_or_default());
    let code = [first, second].concat();
    let instruction = Decoder::with_ip(64, &code, place, DecoderOptions::NONE).decode();
    Ok(InstructionInfoFactory::new().info(&instruction).used_memory().to_vec())
}

/// Segments other than those of threads begin at 0.
#[cfg(target_arch = "x86_64")]
fn value(register: Register, registers: &Registers) -> Option<u64> {
    Some(match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::FS => registers.fs_base,
        Register::GS => registers.gs_base,
        Register::CS | Register::DS | Register::ES | Register::SS => 0,
        _ => return None,
    })
}
