//! Arrays. Copies share their elements until one is changed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bstr::{BStr, BString};

/// Sparse, in order of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexedArray {
    elements: Arc<BTreeMap<u64, BString>>,
}

impl IndexedArray {
    pub fn get(&self, index: u64) -> Option<&BString> {
        self.elements.get(&index)
    }

    pub fn set(&mut self, index: u64, value: BString) {
        Arc::make_mut(&mut self.elements).insert(index, value);
    }

    pub fn remove(&mut self, index: u64) -> Option<BString> {
        Arc::make_mut(&mut self.elements).remove(&index)
    }

    /// After the last element: where `a+=(x)` puts it.
    pub fn next_index(&self) -> u64 {
        self.elements.last_key_value().map_or(0, |(index, _)| index + 1)
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &BString)> {
        self.elements.iter().map(|(index, value)| (*index, value))
    }

    /// `-1` is the last element. `None`: before the first.
    pub fn resolve_index(&self, index: i64) -> Option<u64> {
        if index >= 0 {
            Some(index as u64)
        } else {
            self.next_index().checked_sub(index.unsigned_abs())
        }
    }
}

impl FromIterator<BString> for IndexedArray {
    fn from_iter<I: IntoIterator<Item = BString>>(values: I) -> Self {
        let elements =
            values.into_iter().enumerate().map(|(index, value)| (index as u64, value)).collect();
        IndexedArray { elements: Arc::new(elements) }
    }
}

/// Keys are listed in the order bash lists them: that of its hash table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssociativeArray {
    elements: Arc<HashMap<BString, BString>>,
}

impl AssociativeArray {
    pub fn get(&self, key: &BStr) -> Option<&BString> {
        self.elements.get::<[u8]>(key.as_ref())
    }

    pub fn set(&mut self, key: BString, value: BString) {
        Arc::make_mut(&mut self.elements).insert(key, value);
    }

    pub fn remove(&mut self, key: &BStr) -> Option<BString> {
        Arc::make_mut(&mut self.elements).remove::<[u8]>(key.as_ref())
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&BString, &BString)> {
        self.elements.iter()
    }
}
