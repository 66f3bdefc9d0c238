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

/// Refuses groups that do not hold every one of the columns once: a column in none would not be penalised, and nobody would say
/// so.
pub(super) fn check(groups: &[Vec<usize>], columns: usize) -> Result<(), Error> {
    let wrong = |found: String| {
        let expected = format!("each of the columns 0 to {} in one group", columns.saturating_sub(1));
        Err(Error::input("groups", found, expected))
    };
    let mut seen = vec![false; columns];
    for (at, group) in groups.iter().enumerate() {
        if group.is_empty() {
            return wrong(format!("group {at} without a column"));
        }
        for &column in group {
            match seen.get_mut(column) {
                None => return wrong(format!("column {column} in group {at}")),
                Some(true) => return wrong(format!("column {column} twice")),
                Some(seen) => *seen = true,
            }
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(column) => wrong(format!("column {column} in no group")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_in_one_group() {
        assert!(check(&[vec![1], vec![2, 0]], 3).is_ok());
        let wrong = [
            (vec![vec![0, 1]], "column 2 in no group"),
            (vec![vec![0, 1], vec![2, 3]], "column 3 in group 1"), // where the intercept would be
            (vec![vec![0, 1], vec![1, 2]], "column 1 twice"),
            (vec![vec![0, 1, 2], vec![]], "group 1 without"),
        ];
        for (groups, told) in wrong {
            let error = check(&groups, 3).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn sizes_add_up() {
        assert_eq!(parse("2, 1", 3).unwrap(), [vec![0, 1], vec![2]]);
        for text in ["", "2", "2,2", "0,3", "a", "3,", "9999999999999999999999"] {
            assert!(parse(text, 3).is_err(), "{text}");
        }
    }
}
