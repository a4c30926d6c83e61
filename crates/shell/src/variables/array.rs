//! Indexed arrays. Copies share their elements until one is changed.

use std::collections::{BTreeMap, btree_map};
use std::iter::Enumerate;
use std::slice;
use std::sync::Arc;

use bstr::BString;

use crate::long;
use crate::release::Heavy;
use crate::status::Stop;

/// Sparse, in order of the index.
#[derive(Debug, Clone, Default)]
pub struct IndexedArray {
    elements: Arc<Elements>,
}

/// Almost every array is filled from 0 without holes: a vector is smaller and faster than a tree.
#[derive(Debug, Clone)]
enum Elements {
    Dense(Heavy<Vec<BString>>),
    Sparse(BTreeMap<u64, BString>),
}

impl Default for Elements {
    fn default() -> Self {
        Elements::Dense(Heavy::default())
    }
}

impl IndexedArray {
    pub fn get(&self, index: u64) -> Option<&BString> {
        match &*self.elements {
            Elements::Dense(values) => values.get(usize::try_from(index).ok()?),
            Elements::Sparse(values) => values.get(&index),
        }
    }

    pub fn get_mut(&mut self, index: u64) -> Option<&mut BString> {
        match self.elements_mut() {
            Elements::Dense(values) => values.get_mut(usize::try_from(index).ok()?),
            Elements::Sparse(values) => values.get_mut(&index),
        }
    }

    pub fn set(&mut self, index: u64, value: BString) {
        match self.elements_mut() {
            Elements::Dense(values) => {
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                if let Some(slot) = values.get_mut(at) {
                    *slot = value;
                } else if at == values.len() {
                    values.push(value);
                } else {
                    self.make_sparse();
                    self.set(index, value);
                }
            }
            Elements::Sparse(values) => {
                values.insert(index, value);
            }
        }
    }

    pub fn push(&mut self, value: BString) {
        self.set(self.next_index(), value);
    }

    pub fn remove(&mut self, index: u64) -> Option<BString> {
        self.get(index)?;
        match self.elements_mut() {
            Elements::Dense(values) if index + 1 == values.len() as u64 => values.pop(),
            Elements::Dense(_) => {
                self.make_sparse();
                self.remove(index)
            }
            Elements::Sparse(values) => values.remove(&index),
        }
    }

    /// All of these after the last element.
    pub fn append(&mut self, mut values: Heavy<Vec<BString>>) -> Result<(), Stop> {
        self.own()?;
        match self.elements_mut() {
            Elements::Dense(all) => all.append(&mut values),
            Elements::Sparse(_) => values.drain(..).for_each(|value| self.push(value)),
        }
        Ok(())
    }

    /// After the last element: where `a+=(x)` puts it.
    pub fn next_index(&self) -> u64 {
        match &*self.elements {
            Elements::Dense(values) => values.len() as u64,
            Elements::Sparse(values) => values.last_key_value().map_or(0, |(index, _)| index + 1),
        }
    }

    pub fn len(&self) -> usize {
        match &*self.elements {
            Elements::Dense(values) => values.len(),
            Elements::Sparse(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> Iter<'_> {
        match &*self.elements {
            Elements::Dense(values) => Iter::Dense(values.iter().enumerate()),
            Elements::Sparse(values) => Iter::Sparse(values.iter()),
        }
    }

    /// `-1` is the last element. `None`: before the first.
    pub fn resolve_index(&self, index: i64) -> Option<u64> {
        if index >= 0 {
            Some(index as u64)
        } else {
            self.next_index().checked_sub(index.unsigned_abs())
        }
    }

    /// Before a change: copies what is shared, unless the request is stopped first.
    pub fn own(&mut self) -> Result<(), Stop> {
        if Arc::get_mut(&mut self.elements).is_none()
            && let Elements::Dense(values) = &*self.elements
        {
            self.elements = Arc::new(Elements::Dense(long::collect(values.iter())?));
        }
        Ok(())
    }

    fn elements_mut(&mut self) -> &mut Elements {
        Arc::make_mut(&mut self.elements)
    }

    /// Turns the vector into a tree, when the first hole appears.
    fn make_sparse(&mut self) {
        let elements = self.elements_mut();
        if let Elements::Dense(values) = elements {
            let values = std::mem::take(&mut **values);
            *elements = Elements::Sparse((0..).zip(values).collect());
        }
    }
}

impl From<Heavy<Vec<BString>>> for IndexedArray {
    fn from(values: Heavy<Vec<BString>>) -> Self {
        IndexedArray { elements: Arc::new(Elements::Dense(values)) }
    }
}

impl FromIterator<BString> for IndexedArray {
    fn from_iter<I: IntoIterator<Item = BString>>(values: I) -> Self {
        IndexedArray {
            elements: Arc::new(Elements::Dense(Heavy::new(values.into_iter().collect()))),
        }
    }
}

impl PartialEq for IndexedArray {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for IndexedArray {}

impl<'a> IntoIterator for &'a IndexedArray {
    type Item = (u64, &'a BString);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Index and value of every element that is set.
#[derive(Debug, Clone)]
pub enum Iter<'a> {
    Dense(Enumerate<slice::Iter<'a, BString>>),
    Sparse(btree_map::Iter<'a, u64, BString>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (u64, &'a BString);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Dense(values) => values.next().map(|(index, value)| (index as u64, value)),
            Iter::Sparse(values) => values.next().map(|(index, value)| (*index, value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Iter::Dense(values) => values.size_hint(),
            Iter::Sparse(values) => values.size_hint(),
        }
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Dense(values) => values.next_back().map(|(index, value)| (index as u64, value)),
            Iter::Sparse(values) => values.next_back().map(|(index, value)| (*index, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(array: &IndexedArray) -> Vec<(u64, &[u8])> {
        array.iter().map(|(index, value)| (index, value.as_slice())).collect()
    }

    #[test]
    fn holes_keep_the_order_of_indices() {
        let mut array: IndexedArray = ["a", "b", "c"].map(BString::from).into_iter().collect();
        array.set(7, "h".into());
        array.remove(1);
        array.push("i".into());
        assert_eq!(pairs(&array), [(0, &b"a"[..]), (2, b"c"), (7, b"h"), (8, b"i")]);
        assert_eq!(array.resolve_index(-1), Some(8));
        assert_eq!(array.resolve_index(-10), None);
    }

    #[test]
    fn copies_do_not_see_each_other() {
        let mut one: IndexedArray = ["a"].map(BString::from).into_iter().collect();
        let other = one.clone();
        one.set(0, "z".into());
        assert_eq!(other.get(0), Some(&BString::from("a")));
        assert_ne!(one, other);
    }
}
