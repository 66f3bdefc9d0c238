//! What the page's worker calls. Errors are sentences.

use melmo_tasks::denoise::Prior;
use wasm_bindgen::prelude::*;

use crate::answer::Answer;
use crate::factors::Matrix;
use crate::picture::Picture;
use crate::table::Table;

#[wasm_bindgen]
extern "C" {
    /// The worker's: the page hears how far a job is.
    #[wasm_bindgen(js_name = "melmoProgress")]
    fn progress(step: f64);
}

fn tell(step: u64) {
    progress(step as f64);
}

fn sentence(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// An [`Answer`], as JavaScript reads it.
#[wasm_bindgen]
pub struct Found(Answer);

#[wasm_bindgen]
impl Found {
    /// All facts, as JSON.
    pub fn facts(&self) -> String {
        self.0.facts()
    }

    /// An array by name, copied.
    pub fn array(&self, name: &str) -> Vec<f32> {
        self.0.array(name).to_vec()
    }
}

/// What JavaScript has of a picture: enough for a screen.
fn wide(data: &[f32]) -> Vec<f64> {
    data.iter().map(|&v| f64::from(v)).collect()
}

fn narrow(data: Vec<f64>) -> impl Iterator<Item = f32> {
    data.into_iter().map(|v| v as f32)
}

fn found(answer: Result<Answer, melmo_tasks::Error>) -> Result<Found, String> {
    answer.map(Found).map_err(sentence)
}

/// A grey picture at half its size, with noise of this standard deviation: the arrays `noisy` and `clean`, and their size.
#[wasm_bindgen]
pub fn spoilt(bytes: &[u8], rows: usize, cols: usize, level: f64) -> Result<Found, String> {
    let clean = Picture::halved(bytes, rows, cols).map_err(sentence)?;
    let noisy = clean.noisy(level, 0);
    let answer = Answer::default().with("rows", clean.rows).with("cols", clean.cols).with("psnr", noisy.psnr(&clean));
    Ok(Found(answer.and("noisy", narrow(noisy.data)).and("clean", narrow(clean.data))))
}

/// A picture without its noise: planes of numbers from 0 to 1.
#[wasm_bindgen]
pub fn denoise(data: &[f32], rows: usize, cols: usize, strength: f64, prior: &str) -> Result<Found, String> {
    let channels = data.len() / (rows * cols).max(1);
    let prior: Prior = prior.parse().map_err(sentence)?;
    found(Picture { data: wide(data), rows, cols, channels }.denoised(strength, prior, &mut tell))
}

/// PSNR of two pictures, in decibels.
#[wasm_bindgen]
pub fn psnr(a: &[f32], b: &[f32]) -> f64 {
    let picture = |data: &[f32]| Picture { rows: 1, cols: data.len(), channels: 1, data: wide(data) };
    picture(a).psnr(&picture(b))
}

/// A table that stays while sliders move.
#[wasm_bindgen]
pub struct Rows(Table);

#[wasm_bindgen]
impl Rows {
    /// A text of rows.
    pub fn parse(text: &[u8]) -> Result<Rows, String> {
        Table::parse(text).map(Self).map_err(sentence)
    }

    /// A made-up one.
    pub fn example() -> Self {
        Self(Table::example())
    }

    /// Names, rows and what was left out, as JSON.
    pub fn about(&self) -> String {
        let Table { names, gaps, words, .. } = &self.0;
        let (names, words) = (names.clone(), words.clone());
        Answer::default()
            .with("names", names)
            .with("rows", self.0.rows())
            .with("gaps", *gaps)
            .with("words", words)
            .facts()
    }

    /// Coefficients along λ.
    pub fn path(&self, target: usize, penalty: &str) -> Result<Found, String> {
        found(self.0.path(target, penalty))
    }

    /// The solution for one λ.
    pub fn fit(&self, target: usize, penalty: &str, lambda: f64) -> Result<Found, String> {
        found(self.0.fit(target, penalty, lambda))
    }

    /// The table as a product of two.
    pub fn factorize(&self, rank: usize, lambda: f64) -> Result<Found, String> {
        found(self.0.matrix().factorized(rank, lambda, &mut tell))
    }
}

/// Who played whom, as a product of two.
#[wasm_bindgen]
pub fn football(rank: usize, lambda: f64) -> Result<Found, String> {
    found(Matrix::football().map_err(sentence)?.factorized(rank, lambda, &mut tell))
}
