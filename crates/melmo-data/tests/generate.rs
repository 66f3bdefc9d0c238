//! What is generated has the statistics it claims, and the same bits everywhere.

use melmo_data::generate::{gaussian_noise, hadamard, low_rank, mask, normal};
use melmo_data::{Array, Kind};

fn bits(array: &Array, entries: [usize; 4]) -> [u64; 4] {
    entries.map(|i| array.data[i].to_bits())
}

fn mean_and_deviation(data: &[f64]) -> (f64, f64) {
    let mean = data.iter().sum::<f64>() / data.len() as f64;
    let variance = data.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / data.len() as f64;
    (mean, variance.sqrt())
}

/// These numbers were found by a second implementation, in another language, up to the last bit of its logarithm.
#[test]
fn the_same_numbers_on_every_machine() {
    let expected = [0x3fef_faea_8dd3_1fa3, 0xbff3_50c4_5549_b5bb, 0x4005_3e14_efbe_ec34, 0xbff0_9de5_3c88_ab86];
    assert_eq!(bits(&normal([1000], 1).unwrap(), [0, 1, 2, 999]), expected);
    let expected = [0x4033_9e3a_e1f9_d39f, 0xc022_3558_4fd3_cea1, 0x4017_01d9_acaf_3a91, 0x4022_4df7_12ad_6003];
    assert_eq!(bits(&low_rank(1).unwrap(), [0, 1, 100, 9999]), expected);
    let observed: Vec<u8> = mask(6, 5, 0.4, 1).unwrap().data.iter().map(|&v| v as u8).collect();
    assert_eq!(observed, [1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0]);
}

#[test]
fn normal_numbers() {
    let array = normal([100, 20, 10], 7).unwrap();
    assert_eq!((array.shape.as_slice(), array.kind), (&[100, 20, 10][..], Kind::F64));
    let (mean, deviation) = mean_and_deviation(&array.data);
    assert!(mean.abs() < 0.03 && (deviation - 1.0).abs() < 0.03, "{mean} {deviation}");
    assert_ne!(array, normal([100, 20, 10], 8).unwrap());
}

#[test]
fn a_hadamard_product_of_rank_one_factors_has_rank_one() {
    let (rows, cols) = (7, 5);
    let array = hadamard(rows, cols, 1, 3).unwrap();
    let entry = |i: usize, j: usize| array.data[i * cols + j];
    for (i, j) in (1..rows).flat_map(|i| (1..cols).map(move |j| (i, j))) {
        let minor = entry(0, 0) * entry(i, j) - entry(i, 0) * entry(0, j);
        assert!(minor.abs() <= 1e-12 * (entry(0, 0) * entry(i, j)).abs(), "{i} {j}: {minor}");
    }
    // An entry is the product of two independent numbers of variance 35.
    let (mean, deviation) = mean_and_deviation(&low_rank(5).unwrap().data);
    assert!(mean.abs() < 4.0 && (deviation / 35.0 - 1.0).abs() < 0.15, "{mean} {deviation}");
}

#[test]
fn a_mask_observes_exactly_its_fraction() {
    for (rows, cols, fraction, expected) in
        [(100, 100, 0.3, 3000.0), (7, 3, 0.5, 10.0), (5, 5, 0.0, 0.0), (5, 5, 1.0, 25.0), (0, 4, 0.5, 0.0)]
    {
        for seed in 0..20 {
            let mask = mask(rows, cols, fraction, seed).unwrap();
            assert_eq!((mask.shape.as_slice(), mask.kind), (&[rows, cols][..], Kind::Bool));
            assert_eq!(mask.data.iter().sum::<f64>(), expected);
            mask.check_kind().unwrap();
        }
    }
    let often = (0..2000).fold([0.0; 6], |mut often, seed| {
        let mask = mask(2, 3, 0.5, seed).unwrap();
        often.iter_mut().zip(mask.data).for_each(|(often, v)| *often += v);
        often
    });
    assert!(often.iter().all(|&often| (often - 1000.0_f64).abs() < 120.0), "{often:?}");
}

#[test]
fn noise_is_added() {
    let flat = Array::new([100, 100], vec![0.5; 10_000]).unwrap();
    let (mean, deviation) = mean_and_deviation(&gaussian_noise(&flat, 0.1, 4).unwrap().data);
    assert!((mean - 0.5).abs() < 0.005 && (deviation - 0.1).abs() < 0.005, "{mean} {deviation}");
    assert_eq!(gaussian_noise(&flat, 0.0, 4).unwrap(), flat);
}

#[test]
fn what_cannot_be_generated_is_refused() {
    assert!(normal([1 << 40, 1 << 40], 1).unwrap_err().to_string().contains("entries"));
    assert!(normal([1 << 40], 1).is_err());
    assert!(hadamard(10, 10, usize::MAX, 1).is_err());
    assert_eq!(hadamard(2, 2, 0, 1).unwrap().data, [0.0; 4]);
    assert!(hadamard(0, 3, 2, 1).unwrap().data.is_empty() && hadamard(3, 0, 2, 1).unwrap().data.is_empty());
    for fraction in [-0.1, 1.1, f64::NAN] {
        assert!(mask(2, 2, fraction, 1).unwrap_err().to_string().contains("0 to 1"));
    }
    let flat = Array::new([2], vec![0.0; 2]).unwrap();
    for deviation in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(gaussian_noise(&flat, deviation, 1).unwrap_err().to_string().contains("deviation"));
    }
}
