//! What changes in a file, for a person who is asked about it: one piece with the lines around it.

use std::path::Path;

/// Lines before and after that stay.
const AROUND: usize = 3;

pub fn unified(file: &Path, old: Option<&str>, new: &str) -> Vec<String> {
    let from = if old.is_some() { file.display().to_string() } else { "/dev/null".to_owned() };
    let before: Vec<&str> = old.unwrap_or_default().lines().collect();
    let after: Vec<&str> = new.lines().collect();
    let pairs =
        |one: &[&str], other: &[&str]| one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let start = pairs(&before, &after);
    let behind = |lines: &[&str]| -> Vec<String> {
        lines.iter().skip(start).rev().map(|line| (*line).to_owned()).collect()
    };
    let (old_tail, new_tail) = (behind(&before), behind(&after));
    let same = old_tail.iter().zip(&new_tail).take_while(|(a, b)| a == b).count();
    let (removed, added) = (before.len() - start - same, after.len() - start - same);
    let first = start.saturating_sub(AROUND);
    let last = same.min(AROUND);
    let counts = |changed: usize| changed + (start - first) + last;
    let number = |lines: usize| if lines == 0 { 0 } else { first + 1 };
    let mut lines = vec![
        format!("--- {from}"),
        format!("+++ {}", file.display()),
        format!(
            "@@ -{},{} +{},{} @@",
            number(counts(removed)),
            counts(removed),
            number(counts(added)),
            counts(added)
        ),
    ];
    let part = |lines: &[&str], from: usize, count: usize, sign: char| -> Vec<String> {
        lines.iter().skip(from).take(count).map(|line| format!("{sign}{line}")).collect()
    };
    lines.extend(part(&before, first, start - first, ' '));
    lines.extend(part(&before, start, removed, '-'));
    lines.extend(part(&after, start, added, '+'));
    lines.extend(part(&after, start + added, last, ' '));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_with_its_surroundings() {
        let lines = unified(Path::new("f"), Some("1\n2\n3\n4\n5\n"), "1\n2\n3\n4,\nx\n5\n");
        assert_eq!(
            lines,
            ["--- f", "+++ f", "@@ -1,5 +1,6 @@", " 1", " 2", " 3", "-4", "+4,", "+x", " 5"]
        );
        let lines = unified(Path::new("f"), None, "a\nb\n");
        assert_eq!(lines, ["--- /dev/null", "+++ f", "@@ -0,0 +1,2 @@", "+a", "+b"]);
    }
}
