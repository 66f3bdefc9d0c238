#![no_main]
//! A film that is read is written again byte for byte, but for blanks and words of its first line.

use libfuzzer_sys::fuzz_target;
use melmo_data::Limits;
use melmo_data::y4m::{Writer, parse};
use melmo_data_fuzz::read;

fuzz_target!(|bytes: &[u8]| {
    let Some((header, frames)) = read(parse(bytes, &Limits::default())) else { return };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    assert_eq!((header, frames), parse(&writer.into_inner(), &Limits::default()).unwrap());
});
