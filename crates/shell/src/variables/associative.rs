//! Associative arrays: the same hash table that bash has, because scripts see its order.
//!
//! Keys hash by 32-bit FNV-1 into chained buckets, 1024 at first; a new key goes to the front of its chain; at
//! two keys per bucket the table grows fourfold. `${!map[@]}` walks bucket by bucket.

use std::sync::Arc;

use bstr::{BStr, BString};

/// Keys are listed in the order bash lists them: that of its hash table.
#[derive(Debug, Clone)]
pub struct AssociativeArray {
    table: Arc<Table>,
}

/// What bash makes a new array with.
const BUCKETS: usize = 1024;
const GROWTH: usize = 4;
const KEYS_PER_BUCKET: usize = 2;

#[derive(Debug, Clone)]
struct Table {
    /// Head of each chain; empty until the first key arrives, so that an unused array costs nothing.
    heads: Vec<Link>,
    entries: Vec<Entry>,
    /// Chain of entries that are free again.
    free: Link,
    length: usize,
    buckets: usize,
}

/// Place of an entry plus one; 0 is the end of a chain.
type Link = u32;

#[derive(Debug, Clone)]
struct Entry {
    hash: u32,
    next: Link,
    key: BString,
    value: BString,
}

impl Default for AssociativeArray {
    fn default() -> Self {
        AssociativeArray::with_buckets(BUCKETS)
    }
}

impl AssociativeArray {
    /// For the tables that bash makes smaller: aliases, remembered commands. A power of two.
    pub fn with_buckets(buckets: usize) -> Self {
        let table = Table { heads: Vec::new(), entries: Vec::new(), free: 0, length: 0, buckets };
        AssociativeArray { table: Arc::new(table) }
    }

    pub fn get(&self, key: &BStr) -> Option<&BString> {
        self.table.find(hash(key), key).map(|entry| &entry.value)
    }

    pub fn get_mut(&mut self, key: &BStr) -> Option<&mut BString> {
        Arc::make_mut(&mut self.table).find_mut(hash(key), key)
    }

    pub fn set(&mut self, key: BString, value: BString) {
        Arc::make_mut(&mut self.table).set(key, value);
    }

    pub fn remove(&mut self, key: &BStr) -> Option<BString> {
        let hash = hash(key);
        self.table.find(hash, key)?;
        Arc::make_mut(&mut self.table).remove(hash, key)
    }

    /// `map=()`: bash keeps a table that has grown.
    pub fn clear(&mut self) {
        *self = AssociativeArray::with_buckets(self.table.buckets);
    }

    pub fn len(&self) -> usize {
        self.table.length
    }

    pub fn is_empty(&self) -> bool {
        self.table.length == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = (&BString, &BString)> {
        let table = &*self.table;
        table
            .heads
            .iter()
            .flat_map(move |head| table.chain(*head))
            .map(|entry| (&entry.key, &entry.value))
    }
}

impl PartialEq for AssociativeArray {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, value)| other.get(key.as_ref()) == Some(value))
    }
}

impl Eq for AssociativeArray {}

impl FromIterator<(BString, BString)> for AssociativeArray {
    fn from_iter<I: IntoIterator<Item = (BString, BString)>>(pairs: I) -> Self {
        let mut array = AssociativeArray::default();
        for (key, value) in pairs {
            array.set(key, value);
        }
        array
    }
}

impl Table {
    fn entry(&self, link: Link) -> Option<&Entry> {
        self.entries.get((link as usize).checked_sub(1)?)
    }

    fn entry_mut(&mut self, link: Link) -> Option<&mut Entry> {
        self.entries.get_mut((link as usize).checked_sub(1)?)
    }

    fn chain(&self, head: Link) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.entry(head), |entry| self.entry(entry.next))
    }

    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets - 1)
    }

    fn head(&self, hash: u32) -> Link {
        self.heads.get(self.bucket(hash)).copied().unwrap_or(0)
    }

    fn find(&self, hash: u32, key: &BStr) -> Option<&Entry> {
        self.chain(self.head(hash)).find(|entry| entry.hash == hash && entry.key == key)
    }

    fn find_mut(&mut self, hash: u32, key: &BStr) -> Option<&mut BString> {
        let mut link = self.head(hash);
        loop {
            let entry = self.entry(link)?;
            if entry.hash == hash && entry.key == key {
                break;
            }
            link = entry.next;
        }
        self.entry_mut(link).map(|entry| &mut entry.value)
    }

    fn set(&mut self, key: BString, value: BString) {
        let hash = hash(key.as_ref());
        if let Some(slot) = self.find_mut(hash, key.as_ref()) {
            *slot = value;
            return;
        }
        if self.length >= self.buckets * KEYS_PER_BUCKET {
            self.grow();
        }
        if self.heads.is_empty() {
            self.heads = vec![0; self.buckets];
        }
        let bucket = self.bucket(hash);
        let entry = Entry { hash, next: self.heads[bucket], key, value };
        self.heads[bucket] = self.store(entry);
        self.length += 1;
    }

    fn store(&mut self, entry: Entry) -> Link {
        let place = self.free;
        if let Some(slot) = self.entry_mut(place) {
            let next_free = slot.next;
            *slot = entry;
            self.free = next_free;
            return place;
        }
        self.entries.push(entry);
        self.entries.len() as Link
    }

    /// Moves every entry to the front of its new chain, in the order in which they were listed.
    fn grow(&mut self) {
        self.buckets *= GROWTH;
        let old = std::mem::replace(&mut self.heads, vec![0; self.buckets]);
        for head in old {
            let mut link = head;
            while let Some(hash) = self.entry(link).map(|entry| entry.hash) {
                let bucket = self.bucket(hash);
                let first = std::mem::replace(&mut self.heads[bucket], link);
                let Some(entry) = self.entry_mut(link) else { break };
                link = std::mem::replace(&mut entry.next, first);
            }
        }
    }

    fn remove(&mut self, hash: u32, key: &BStr) -> Option<BString> {
        let bucket = self.bucket(hash);
        let mut before: Link = 0;
        let mut link = self.head(hash);
        loop {
            let entry = self.entry(link)?;
            let next = entry.next;
            if entry.hash == hash && entry.key == key {
                match self.entry_mut(before) {
                    Some(previous) => previous.next = next,
                    None => *self.heads.get_mut(bucket)? = next,
                }
                return self.release(link);
            }
            before = link;
            link = next;
        }
    }

    fn release(&mut self, link: Link) -> Option<BString> {
        let free = std::mem::replace(&mut self.free, link);
        self.length -= 1;
        let entry = self.entry_mut(link)?;
        entry.next = free;
        entry.key.clear();
        Some(std::mem::take(&mut entry.value))
    }
}

/// 32-bit FNV-1 over signed bytes, as bash computes it.
fn hash(key: &BStr) -> u32 {
    key.iter().fold(2_166_136_261, |hash: u32, byte| {
        hash.wrapping_mul(16_777_619) ^ i32::from(*byte as i8) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(array: &AssociativeArray) -> String {
        array.iter().map(|(key, _)| key.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn few_keys_are_listed_as_bash_lists_them() {
        let array: AssociativeArray =
            ["one", "two", "three", "é"].map(|key| (key.into(), "x".into())).into_iter().collect();
        assert_eq!(keys(&array), "two three one é");
    }

    #[test]
    fn removed_keys_make_room() {
        let mut array = AssociativeArray::default();
        for number in 0..10_000 {
            array.set(number.to_string().into(), "v".into());
        }
        for number in 0..10_000 {
            let key = BString::from(number.to_string());
            assert_eq!(array.remove(key.as_ref()), Some("v".into()));
            assert_eq!(array.remove(key.as_ref()), None);
        }
        assert!(array.is_empty() && array.iter().next().is_none());
        array.set("a".into(), "b".into());
        assert_eq!(array.table.entries.len(), 10_000);
        assert_eq!(keys(&array), "a");
    }
}
