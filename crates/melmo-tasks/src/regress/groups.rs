use crate::error::Error;

/// Groups of columns as people write them: `3,3,4` (sizes, in order) that have to add up to the number of columns.
pub fn parse(text: &str, columns: usize) -> Result<Vec<Vec<usize>>, Error> {
    let wrong = |found: String| {
        let expected = format!("sizes such as 3,3,4 that add up to the {columns} columns");
        Error::input("groups", found, expected)
    };
    let mut groups = Vec::new();
    let mut start = 0usize;
    for part in text.split(',') {
        let size: usize = part.trim().parse().map_err(|_| wrong(format!("`{part}`")))?;
        if size == 0 || size > columns - start {
            return Err(wrong(format!("`{text}`")));
        }
        groups.push((start..start + size).collect());
        start += size;
    }
    if start == columns { Ok(groups) } else { Err(wrong(format!("`{text}`, {start} columns in all"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_add_up() {
        assert_eq!(parse("2, 1", 3).unwrap(), [vec![0, 1], vec![2]]);
        for text in ["", "2", "2,2", "0,3", "a", "3,", "9999999999999999999999"] {
            assert!(parse(text, 3).is_err(), "{text}");
        }
    }
}
