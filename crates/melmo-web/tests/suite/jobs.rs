//! The jobs, without a browser.

use melmo_data::bundled;
use melmo_tasks::denoise::Prior;
use melmo_web::factors::Matrix;
use melmo_web::picture::Picture;
use melmo_web::table::Table;

fn wide(data: &[f32]) -> Vec<f64> {
    data.iter().map(|&v| f64::from(v)).collect()
}

/// The photograph as the page hands it over: bytes, before it is halved.
fn camera() -> Picture {
    let array = bundled::camera().unwrap().to_array();
    let bytes: Vec<u8> = array.data.iter().map(|v| (255.0 * v).round() as u8).collect();
    Picture::halved(&bytes, array.shape[0], array.shape[1]).unwrap()
}

#[test]
fn the_photograph_is_the_programs() {
    assert_eq!(camera().data, bundled::camera256().unwrap().data);
    assert!(Picture::halved(&[1, 2, 3], 1, 3).is_err() && Picture::halved(&[1, 2, 3], 9, 9).is_err());
}

#[test]
fn a_photograph_loses_its_noise_and_the_certificate_holds() {
    let clean = camera();
    let noisy = clean.noisy(0.1, 0);
    let mut steps = 0;
    let answer = noisy.denoised(1.0, Prior::Differences, &mut |k| steps = k).unwrap();
    let found = Picture { data: wide(answer.array("image")), ..clean.clone() };
    assert!(found.psnr(&clean) > 29.5 && noisy.psnr(&clean) < 20.1);
    assert_eq!(answer.fact("certificate")["verified"], true);
    assert_eq!(answer.fact("steps").as_u64(), Some(steps - 1)); // points but the first
    assert!(answer.fact("trace").as_array().unwrap().len() > 10);
}

#[test]
fn a_strength_of_nothing_changes_nothing() {
    let noisy = Picture { data: vec![0.5, 0.25, 0.75, 0.1, 0.9, 0.3], rows: 2, cols: 3, channels: 1 };
    let answer = noisy.denoised(0.0, Prior::Differences, &mut |_| ()).unwrap();
    assert_eq!(wide(answer.array("image")), wide(&noisy.data.iter().map(|&v| v as f32).collect::<Vec<_>>()));
    assert!(noisy.denoised(f64::NAN, Prior::Differences, &mut |_| ()).is_err());
    assert!(Picture { rows: 7, ..noisy }.denoised(1.0, Prior::Differences, &mut |_| ()).is_err());
}

#[test]
fn a_path_finds_the_three_columns_and_a_fit_agrees_with_it() {
    let (table, target) = (Table::example(), 12);
    let path = table.path(target, "l1").unwrap();
    let lambdas = path.fact("lambdas").as_array().unwrap();
    assert_eq!(path.array("coefficients").len(), lambdas.len() * 12);
    let at = 25;
    let fit = table.fit(target, "l1", lambdas[at].as_f64().unwrap()).unwrap();
    let found: Vec<f64> = fit.fact("coefficients").as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!(found[..3].iter().all(|b| *b != 0.0) && found[0] > 40.0, "{found:?}");
    // The path tells what a column of spread 1 is worth.
    let x: Vec<f64> = (0..table.rows()).map(|i| table.data[13 * i]).collect();
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let spread = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt();
    assert!((f64::from(path.array("coefficients")[at * 12]) / (found[0] * spread) - 1.0).abs() < 1e-3);
    assert_eq!(fit.fact("certificate")["verified"], true);
    assert!(fit.fact("certificate")["gap"].as_f64().unwrap() < 1e-3 * fit.fact("objective").as_f64().unwrap());
}

#[test]
fn a_table_loses_words_and_gaps_and_refuses_what_is_none() {
    let table = Table::parse(b"town,a,b\nBonn,1,2\nUlm,NA,3\nBonn,4,5\nUlm,6,7\n").unwrap();
    assert_eq!(
        (table.names.join(","), table.rows(), table.gaps, table.words.join(",")),
        ("a,b".into(), 3, 1, "town".into())
    );
    assert!(Table::parse(b"").is_err() || Table::parse(b"").unwrap().path(0, "l1").is_err());
    assert!(table.path(9, "l1").is_err() && table.path(0, "l7").is_err() && table.fit(0, "l1", -1.0).is_err());
    assert!(Table::parse(b"a\n1\n2\n3\n").unwrap().path(0, "l1").is_err());
}

#[test]
fn factors_are_sparse_and_come_near() {
    let matrix = Matrix::football().unwrap();
    let answer = matrix.factorized(10, 1.0, &mut |_| ()).unwrap();
    assert!(answer.fact("zeros").as_u64().unwrap() > 200, "{}", answer.facts());
    assert!(answer.fact("error").as_f64().unwrap() < 0.6, "{}", answer.facts());
    assert_eq!(answer.array("product").len(), 115 * 115);
    assert!(matrix.factorized(0, 1.0, &mut |_| ()).is_err() && matrix.factorized(116, 1.0, &mut |_| ()).is_err());
}
