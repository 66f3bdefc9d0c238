//! The paper's experiments, as lists of instances.

pub mod denoising;
pub mod factorisation;
pub mod oracle;
pub mod rates;
pub mod recovery;

use crate::data::Library;
use crate::instance::Instance;
use crate::setting::Options;

/// Everything that is run.
pub fn all(options: &Options, library: &Library) -> Vec<Instance> {
    let lists = [
        factorisation::instances(options, library),
        oracle::instances(options, library),
        denoising::instances(options, library),
        recovery::instances(options, library),
        rates::instances(options, library),
    ];
    lists.concat()
}
