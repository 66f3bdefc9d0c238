use crate::{refuses, survives};
use melmo_data::y4m::{Frame, Header, Reader, Sampling, Writer, parse};
use melmo_data::{Data, Limits};

const KINDS: [Sampling; 5] = [Sampling::Mono, Sampling::S420, Sampling::S411, Sampling::S422, Sampling::S444];

/// A film whose samples are all different, as far as its bits go.
fn film(header: &Header, frames: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), header).unwrap();
    let levels = (1_usize << header.bits) - 1;
    let mut next = 0;
    let mut plane = |n: usize| -> Vec<f64> {
        (0..n)
            .map(|_| {
                next += 37;
                (next % (levels + 1)) as f64 / levels as f64
            })
            .collect()
    };
    for _ in 0..frames {
        let planes = header.sides().iter().map(|[rows, cols]| plane(rows * cols)).collect();
        writer.frame(&Frame::new(planes)).unwrap();
    }
    writer.into_inner()
}

fn again(bytes: &[u8]) -> Vec<u8> {
    let (header, frames) = parse(bytes, &Limits::default()).unwrap();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    writer.into_inner()
}

fn whole(bytes: &[u8]) -> Result<(Header, Vec<Frame>), melmo_data::Error> {
    parse(bytes, &Limits::default())
}

#[test]
fn what_is_read_is_written_byte_for_byte() {
    for kind in KINDS {
        for (width, height) in [(1, 1), (5, 3), (8, 6)] {
            let bytes = film(&Header::new(width, height, kind).unwrap(), 3);
            assert_eq!(again(&bytes), bytes, "{kind:?}");
        }
    }
    // What is not understood is kept: rate, interlacing, aspect, range of samples, and what a frame says of itself.
    let (says, frame) =
        ("YUV4MPEG2 W2 H1 F30000:1001 It A128:117 C422p10 XYSCSS=422P10 XCOLORRANGE=LIMITED\n", "FRAME Ip\n");
    let samples = [0_u16, 1023, 64, 940].map(u16::to_le_bytes).concat();
    let bytes = [says.as_bytes(), frame.as_bytes(), &samples].concat();
    assert_eq!(again(&bytes), bytes);
    let (header, frames) = whole(&bytes).unwrap();
    assert_eq!((header.bits, header.sampling), (10, Sampling::S422));
    assert_eq!(frames[0].planes, [vec![0.0, 1.0], vec![64.0 / 1023.0], vec![940.0 / 1023.0]]);
    let copy = frames[0].with(frames[0].planes.clone());
    assert_eq!(copy, frames[0]);
}

#[test]
fn planes_are_as_large_as_the_kind_says() {
    let sides = |kind| Header::new(5, 3, kind).unwrap().sides();
    assert_eq!(sides(Sampling::Mono), [[3, 5]]);
    assert_eq!(sides(Sampling::S420), [[3, 5], [2, 3], [2, 3]]);
    assert_eq!(sides(Sampling::S411), [[3, 5], [3, 2], [3, 2]]);
    assert_eq!(sides(Sampling::S422), [[3, 5], [3, 3], [3, 3]]);
    assert_eq!(sides(Sampling::S444), [[3, 5]; 3]);
    // Without a word about planes they are 4:2:0.
    let (header, _) = whole(b"YUV4MPEG2 W2 H2\n").unwrap();
    assert_eq!((header.sampling, header.bits), (Sampling::S420, 8));
}

#[test]
fn a_film_is_read_as_it_comes() {
    let bytes = film(&Header::new(4, 4, Sampling::S420).unwrap(), 2);
    // The second frame has not come: the first is there all the same.
    let mut reader = Reader::new(&bytes[..bytes.len() - 20], &Limits::default()).unwrap();
    assert!(reader.frame().unwrap().is_some());
    let error = reader.frame().unwrap_err().to_string();
    assert!(error.contains("expected 24 bytes of frame 2"), "{error}");
}

#[test]
fn its_light_is_an_array() {
    let path = std::env::temp_dir().join(format!("melmo-film-{}.y4m", std::process::id()));
    std::fs::write(&path, film(&Header::new(3, 2, Sampling::S420).unwrap(), 4)).unwrap();
    let Data::Array(array) = melmo_data::open(&path).unwrap() else { panic!("a film is an array") };
    std::fs::remove_file(&path).unwrap();
    assert_eq!(array.shape, [4, 2, 3]);
    assert_eq!(array.data[0], 37.0 / 255.0);
}

#[test]
fn what_is_no_film_is_refused() {
    refuses(whole, b"", &["line 1", "nothing"]);
    refuses(whole, b"YUV4MPEG2 W4 H4", &["half a line"]);
    refuses(whole, &[b'Y'; 10_000], &["a line that does not end"]);
    refuses(whole, b"YUV4MPEG W4 H4\n", &["no known signature"]);
    refuses(whole, b"YUV4MPEG25 W4 H4\n", &["no known signature"]);
    refuses(whole, b"YUV4MPEG2 H4\n", &["nothing", "a width"]);
    refuses(whole, b"YUV4MPEG2 W0 H4\n", &["`0`", "a width"]);
    refuses(whole, b"YUV4MPEG2 W4 H-4\n", &["`-4`", "a height"]);
    refuses(whole, b"YUV4MPEG2 W4 H99999999999999999999\n", &["a height"]);
    for kind in ["444alpha", "420p7", "420p17", "mono1", "p", "42\u{e9}", "422jpeg"] {
        refuses(whole, format!("YUV4MPEG2 W4 H4 C{kind}\n").as_bytes(), &["C420", "pix_fmt"]);
    }
    refuses(whole, b"YUV4MPEG2 W4 H4\nFRAMES\n", &["something else", "frame 1"]);
    refuses(whole, b"YUV4MPEG2 W4 H4\nFRAME\n123", &["3 bytes", "24 bytes of frame 1"]);
    refuses(whole, b"YUV4MPEG2 W1 H1 Cmono10\nFRAME\n\xff\xff", &["65535", "at most 1023"]);
}

#[test]
fn a_claim_takes_no_memory() {
    refuses(whole, b"YUV4MPEG2 W65536 H65536 C444\nFRAME\n", &["claims", "--max-entries"]);
    refuses(whole, b"YUV4MPEG2 W1000 H1000 C444\nFRAME\n", &["0 bytes", "3000000 bytes of frame 1"]);
    let allowed = Limits::entries(100);
    refuses(|bytes| parse(bytes, &allowed), b"YUV4MPEG2 W10 H11 Cmono\n", &["100 numbers"]);
    let two = film(&Header::new(8, 8, Sampling::Mono).unwrap(), 2);
    refuses(|bytes| parse(bytes, &allowed), &two, &["2 frames", "100 numbers"]);
}

#[test]
fn damage_is_survived() {
    let bytes = film(&Header::new(4, 4, Sampling::S420).unwrap(), 2);
    survives(whole, &bytes, 8 << 20);
}

#[test]
fn frames_that_do_not_fit_are_not_written() {
    let header = Header::new(4, 4, Sampling::S420).unwrap();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let error = writer.frame(&Frame::new(vec![vec![0.0; 16]])).unwrap_err().to_string();
    assert!(error.contains("planes of"), "{error}");
    let nan = Frame::new(vec![vec![f64::NAN; 16], vec![0.0; 4], vec![0.0; 4]]);
    assert!(writer.frame(&nan).unwrap_err().to_string().contains("NaN"));
    // What lies outside the range is at its end.
    let loud = Frame::new(vec![vec![7.0; 16], vec![-1.0; 4], vec![0.5; 4]]);
    writer.frame(&loud).unwrap();
    assert!(writer.into_inner().ends_with(&[[255; 4], [0; 4], [128; 4]].concat()));
}
