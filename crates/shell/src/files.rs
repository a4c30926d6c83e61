//! The shell's table of file descriptors.

use std::sync::Arc;

use crate::filesystem::OpenFile;

#[derive(Clone, Default)]
pub struct FileTable {
    slots: Vec<Option<Arc<dyn OpenFile>>>,
}

impl FileTable {
    pub fn standard(
        input: Arc<dyn OpenFile>,
        output: Arc<dyn OpenFile>,
        errors: Arc<dyn OpenFile>,
    ) -> Self {
        FileTable { slots: vec![Some(input), Some(output), Some(errors)] }
    }

    pub fn get(&self, descriptor: u32) -> Option<&Arc<dyn OpenFile>> {
        self.slots.get(descriptor as usize)?.as_ref()
    }

    /// Opens, replaces or (with `None`) closes a descriptor; gives back what was there.
    pub fn set(
        &mut self,
        descriptor: u32,
        file: Option<Arc<dyn OpenFile>>,
    ) -> Option<Arc<dyn OpenFile>> {
        let at = descriptor as usize;
        if at >= self.slots.len() {
            file.as_ref()?;
            self.slots.resize_with(at + 1, || None);
        }
        self.slots.get_mut(at).and_then(|slot| std::mem::replace(slot, file))
    }

    /// The first free descriptor from `start` on: `{fd}>file` starts at 10.
    pub fn first_free(&self, start: u32) -> u32 {
        let mut descriptor = start;
        while self.get(descriptor).is_some() {
            descriptor += 1;
        }
        descriptor
    }

    pub fn close_all(&mut self) {
        self.slots.clear();
    }

    pub fn open_count(&self) -> usize {
        self.slots.iter().filter(|slot| slot.is_some()).count()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arc<dyn OpenFile>)> {
        self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at as u32, slot.as_ref()?)))
    }
}
