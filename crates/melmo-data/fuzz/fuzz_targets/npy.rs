#![no_main]
//! What npy reads is written and read again as the same array.

use libfuzzer_sys::fuzz_target;
use melmo_data::npy::{encode, parse};
use melmo_data_fuzz::{assert_same, read};

fuzz_target!(|bytes: &[u8]| {
    let Some(array) = read(parse(bytes)) else { return };
    array.check_shape().unwrap();
    assert_same(&array, &parse(&encode(&array).unwrap()).unwrap());
});
