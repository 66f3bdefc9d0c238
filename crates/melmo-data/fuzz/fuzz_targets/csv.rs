#![no_main]
//! What csv reads is written and read again as the same table.

use libfuzzer_sys::fuzz_target;
use melmo_data::csv::{encode, parse};
use melmo_data_fuzz::{assert_same, read};

fuzz_target!(|bytes: &[u8]| {
    let Some(table) = read(parse(bytes)) else { return };
    table.array.check_shape().unwrap();
    let again = parse(&encode(&table).unwrap()).unwrap();
    assert_eq!(table.names, again.names);
    assert_same(&table.array, &again.array);
});
