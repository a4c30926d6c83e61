//! What `tr` does to each byte, worked out once from its two sets.

use super::set::{Element, Set};

/// Three tables, applied in this order.
pub struct Plan {
    pub deleted: [bool; 256],
    pub translated: [u8; 256],
    pub squeezed: [bool; 256],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    pub complement: bool,
    pub delete: bool,
    pub squeeze: bool,
    pub truncate: bool,
}

const IDENTITY: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u8;
        byte += 1;
    }
    table
};

impl Plan {
    /// The error is GNU's message.
    pub fn new(modes: Modes, first: &Set, second: Option<&Set>) -> Result<Self, &'static str> {
        if first.has(is_fill) {
            return Err("the [c*] repeat construct may not appear in string1");
        }
        let mut domain = first.bytes();
        if modes.complement {
            let members = members(&domain);
            domain = (0..=255).filter(|byte| !contains(&members, *byte)).collect();
        }
        let mut plan = Plan { deleted: [false; 256], translated: IDENTITY, squeezed: [false; 256] };
        match (modes.delete, second) {
            (true, _) => plan.deleted = members(&domain),
            (false, Some(second)) => {
                let image = image(modes, first, second, domain.len())?;
                for (from, to) in domain.iter().zip(&image) {
                    if let Some(slot) = plan.translated.get_mut(usize::from(*from)) {
                        *slot = *to;
                    }
                }
                if modes.squeeze {
                    plan.squeezed = members(&image);
                }
            }
            (false, None) => plan.squeezed = members(&domain),
        }
        if let (true, Some(second)) = (modes.delete, second) {
            if second.has(is_fill) {
                return Err("the [c*] construct may appear in string2 only when translating");
            }
            plan.squeezed = members(&second.bytes());
        }
        Ok(plan)
    }
}

fn is_fill(element: &Element) -> bool {
    matches!(element, Element::Fill(_))
}

fn members(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    for byte in bytes {
        if let Some(slot) = table.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    table
}

fn contains(table: &[bool; 256], byte: u8) -> bool {
    table.get(usize::from(byte)).copied().unwrap_or(false)
}

/// The bytes that the first set's are translated to, in order.
fn image(modes: Modes, first: &Set, second: &Set, length: usize) -> Result<Vec<u8>, &'static str> {
    check_second(modes, first, second)?;
    let known: usize = second.elements.iter().map(Element::length).sum();
    let mut bytes = Vec::new();
    for element in &second.elements {
        match element {
            Element::Fill(byte) => {
                bytes.extend(std::iter::repeat_n(*byte, length.saturating_sub(known)));
            }
            other => other.expand(&mut bytes),
        }
    }
    if length > bytes.len() && !modes.truncate {
        let Some(&last) = bytes.last() else {
            return Err("when not truncating set1, string2 must be non-empty");
        };
        if matches!(second.elements.last(), Some(Element::Class(_))) {
            return Err(
                "when translating with string1 longer than string2,\nthe latter string must \
                        not end with a character class",
            );
        }
        bytes.resize(length, last);
    }
    let is_uniform = bytes.len() == length && bytes.windows(2).all(|two| two.first() == two.last());
    if modes.complement && first.has(|element| matches!(element, Element::Class(_))) && !is_uniform
    {
        return Err("when translating with complemented character classes,\nstring2 must map all \
                    characters in the domain to one");
    }
    Ok(bytes)
}

fn check_second(modes: Modes, first: &Set, second: &Set) -> Result<(), &'static str> {
    if second.elements.iter().filter(|element| is_fill(element)).count() > 1 {
        return Err("only one [c*] repeat construct may appear in string2");
    }
    if second.has(|element| matches!(element, Element::Equivalence(_))) {
        return Err("[=c=] expressions may not appear in string2 when translating");
    }
    if second.has(|element| matches!(element, Element::Class(class) if !class.is_case())) {
        return Err(
            "when translating, the only character classes that may appear in\nstring2 are \
                    'upper' and 'lower'",
        );
    }
    if !modes.complement && !are_cases_aligned(first, second) {
        return Err("misaligned [:upper:] and/or [:lower:] construct");
    }
    Ok(())
}

/// A class in the second set changes the case of one that begins at the same place in the first.
fn are_cases_aligned(first: &Set, second: &Set) -> bool {
    let first_length: usize = first.elements.iter().map(Element::length).sum();
    let second_length: usize = second.elements.iter().map(Element::length).sum();
    let starts: Vec<usize> = case_starts(first, 0).collect();
    let fill = first_length.saturating_sub(second_length);
    // What begins further behind the end of the first set is not looked at.
    let mut used = case_starts(second, fill).take_while(|start| *start <= first_length);
    used.all(|start| starts.contains(&start))
}

fn case_starts(set: &Set, fill: usize) -> impl Iterator<Item = usize> {
    let mut position = 0;
    set.elements.iter().filter_map(move |element| {
        let start = position;
        position += if is_fill(element) { fill } else { element.length() };
        matches!(element, Element::Class(class) if class.is_case()).then_some(start)
    })
}
