//! The primaries of `test` and `[[ … ]]`: questions about files, texts, variables and options.

use std::io;

use bstr::{BStr, ByteSlice};
use exacta_syntax::ast::ConditionalOperator;

use crate::filesystem::{Access, FileKind, Follow, Metadata};
use crate::options::SET_SWITCHES;
use crate::shell::{Shell, own_descriptor};
use crate::status::Running;
use crate::variables::{ElementKey, Value, parse_reference};

/// The letters of `-e file` and its kin.
pub(crate) fn is_unary(letter: u8) -> bool {
    b"abcdefghknoprstuvwxzGLNORS".contains(&letter)
}

impl Shell {
    /// `-f operand`; the operator is the letter.
    pub(crate) fn unary_condition(&mut self, operator: u8, operand: &BStr) -> Running<bool> {
        Ok(match operator {
            b'n' => !operand.is_empty(),
            b'z' => operand.is_empty(),
            b'v' => return self.is_set(operand),
            b'R' => self
                .variables
                .get(operand)
                .is_some_and(|variable| variable.attributes.nameref && variable.value.is_some()),
            b'o' => {
                let switch = SET_SWITCHES.iter().find(|switch| switch.name.as_bytes() == *operand);
                switch.is_some_and(|switch| (switch.get)(&self.options))
            }
            b't' => {
                let number = operand.trim_ascii().to_str().ok().and_then(|text| text.parse().ok());
                number.and_then(|number| self.file(number)).is_some_and(|file| file.is_terminal())
            }
            b'r' => self.may(operand, Access::Read),
            b'w' => self.may(operand, Access::Write),
            b'x' => self.may(operand, Access::Execute),
            b'h' | b'L' => {
                self.metadata_of(operand, Follow::No).is_ok_and(|metadata| metadata.is_symlink())
            }
            _ => self
                .metadata_of(operand, Follow::Yes)
                .is_ok_and(|metadata| self.file_condition(operator, &metadata)),
        })
    }

    fn file_condition(&self, operator: u8, metadata: &Metadata) -> bool {
        let identity = self.host.identity();
        match operator {
            b'a' | b'e' => true,
            b'f' => metadata.is_file(),
            b'd' => metadata.is_directory(),
            b's' => metadata.size > 0,
            b'p' => metadata.kind == FileKind::Fifo,
            b'S' => metadata.kind == FileKind::Socket,
            b'b' => metadata.kind == FileKind::BlockDevice,
            b'c' => metadata.kind == FileKind::CharacterDevice,
            b'k' => metadata.permissions & 0o1000 != 0,
            b'g' => metadata.permissions & 0o2000 != 0,
            b'u' => metadata.permissions & 0o4000 != 0,
            b'O' => metadata.user == identity.user_id,
            b'G' => metadata.group == identity.group_id,
            b'N' => metadata.modified > metadata.accessed,
            _ => false,
        }
    }

    /// `-nt`, `-ot`, `-ef`
    pub(crate) fn file_comparison(
        &self,
        operator: ConditionalOperator,
        left: &BStr,
        right: &BStr,
    ) -> bool {
        let left = self.metadata_of(left, Follow::Yes).ok();
        let right = self.metadata_of(right, Follow::Yes).ok();
        match (operator, left, right) {
            (ConditionalOperator::SameFile, Some(left), Some(right)) => {
                left.device == right.device && left.inode == right.inode
            }
            (ConditionalOperator::Newer, Some(left), Some(right)) => left.modified > right.modified,
            (ConditionalOperator::Older, Some(left), Some(right)) => left.modified < right.modified,
            (ConditionalOperator::Newer, Some(_), None)
            | (ConditionalOperator::Older, None, Some(_)) => true,
            _ => false,
        }
    }

    fn metadata_of(&self, path: &BStr, follow: Follow) -> io::Result<Metadata> {
        let absolute = self.absolute(path);
        match own_descriptor(absolute.as_bstr()).and_then(|descriptor| self.file(descriptor)) {
            Some(file) if follow == Follow::Yes => file.metadata(),
            _ => self.host.files().metadata(absolute.as_bstr(), follow),
        }
    }

    fn may(&self, path: &BStr, wanted: Access) -> bool {
        let absolute = self.absolute(path);
        match own_descriptor(absolute.as_bstr()) {
            Some(descriptor) => self.file(descriptor).is_some() && wanted != Access::Execute,
            None => self.host.files().access(absolute.as_bstr(), wanted).is_ok(),
        }
    }

    /// `-v name`, `-v name[subscript]`, `-v 1`
    fn is_set(&mut self, text: &BStr) -> Running<bool> {
        if let Ok(number) = text.to_str_lossy().parse::<usize>()
            && text.iter().all(u8::is_ascii_digit)
        {
            return Ok(number <= self.positional.len());
        }
        let Some(reference) = parse_reference(text) else { return Ok(false) };
        let Some(subscript) = reference.subscript else {
            return Ok(self.scalar_of(text).is_some() && !self.refers_to_element(text));
        };
        let whole = matches!(subscript.as_bytes(), b"@" | b"*");
        if whole && !self.is_associative(reference.name) {
            return Ok(match self.value_of(reference.name).as_deref() {
                None => false,
                Some(Value::Indexed(array)) => !array.is_empty(),
                Some(_) => true,
            });
        }
        let key = if whole {
            ElementKey::Key(subscript.into())
        } else {
            self.element_key_of_text(reference.name, subscript)?
        };
        Ok(self.element_or_complain(reference.name, &key)?.is_some())
    }
}
