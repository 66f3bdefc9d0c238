//! What the targets share: a refusal has a short message, and what was read, written and read again is the same.

use melmo_data::{Array, Error};

/// What was read; a refusal is checked to have a message of its own size, not of the input's.
pub fn read<T>(answer: Result<T, Error>) -> Option<T> {
    match answer {
        Ok(value) => Some(value),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 3000, "{message}");
            None
        }
    }
}

/// Equal shapes and kinds, and entries that are equal or both NaN.
pub fn assert_same(first: &Array, second: &Array) {
    assert_eq!((&first.shape, first.kind), (&second.shape, second.kind));
    assert_same_numbers(&first.data, &second.data);
}

/// Equal lengths, and entries that are equal or both NaN.
pub fn assert_same_numbers(first: &[f64], second: &[f64]) {
    assert_eq!(first.len(), second.len());
    for (i, (a, b)) in first.iter().zip(second).enumerate() {
        assert!(a == b || (a.is_nan() && b.is_nan()), "entry {i}: {a:?}, then {b:?}");
    }
}
