#![no_main]
//! What Matrix Market reads is written in the array layout and read again as the same matrix.

use libfuzzer_sys::fuzz_target;
use melmo_data::matrix_market::{encode, parse, parse_sparse};
use melmo_data_fuzz::{assert_same_numbers, read};

/// A coordinate file may say that nearly all of its matrix is 0. This many entries are spread out here, so that a run
/// spends its time on parsing; the reader's own limit has a test.
const MOST: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some(sparse) = read(parse_sparse(bytes)) else { return };
    let Some(array) = read(sparse.dense(MOST)) else { return };
    array.check_shape().unwrap();
    // Truth values are written as integers.
    let again = parse(&encode(&array).unwrap()).unwrap();
    assert_eq!(array.shape, again.shape);
    assert_same_numbers(&array.data, &again.data);
});
