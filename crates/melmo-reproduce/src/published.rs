//! The paper's numbers, as data.

use crate::data::Set;

/// Final F of the factorisation, subgradient / variable smoothing / MELMO (7/12, 1/3) / MELMO (2/3, 1/4), for r = 10, 20, 30.
pub fn objective(set: Set) -> Option<&'static [[f64; 4]; 3]> {
    Some(match set {
        Set::Camera => &[[521.9, 448.5, 390.4, 441.6], [434.6, 383.9, 272.3, 347.8], [406.8, 377.8, 238.4, 322.8]],
        Set::Spectrometer => &[[85.2, 83.6, 52.2, 67.5], [87.4, 78.0, 64.3, 108.1], [87.7, 87.9, 89.7, 113.3]],
        Set::Olivetti => &[
            [11780.0, 12060.0, 11430.0, 128_700.0],
            [8508.0, 10740.0, 8621.0, 121_100.0],
            [6914.0, 10140.0, 7516.0, 93760.0],
        ],
        Set::Football => &[[620.7, 572.3, 569.5, 573.1], [495.2, 400.5, 395.5, 401.3], [420.8, 289.9, 283.5, 291.1]],
        Set::Synthetic => &[[72.7, 87.6, 48.1, 47.9], [71.1, 87.2, 49.1, 50.8], [88.5, 101.3, 70.1, 67.5]],
        Set::Miserables => return None,
    })
}

/// ‖Y − WH‖²/‖Y‖² at the end, in the same order.
pub fn reconstruction(set: Set) -> Option<&'static [[f64; 4]; 3]> {
    Some(match set {
        Set::Camera => &[
            [1.449e-2, 1.454e-2, 1.420e-2, 1.419e-2],
            [8.346e-3, 6.876e-3, 6.648e-3, 6.634e-3],
            [7.158e-3, 4.500e-3, 3.748e-3, 3.727e-3],
        ],
        Set::Spectrometer => &[
            [8.568e-3, 2.310e-3, 7.925e-4, 7.431e-4],
            [7.146e-3, 3.240e-3, 4.781e-4, 4.321e-4],
            [6.592e-3, 3.152e-3, 3.553e-4, 3.186e-4],
        ],
        Set::Olivetti => &[
            [2.074e-2, 2.118e-2, 2.049e-2, 2.375e-1],
            [1.434e-2, 1.850e-2, 1.480e-2, 2.230e-1],
            [1.115e-2, 1.716e-2, 1.243e-2, 1.717e-1],
        ],
        Set::Football => &[
            [4.540e-1, 4.512e-1, 4.499e-1, 4.497e-1],
            [3.208e-1, 2.997e-1, 2.983e-1, 2.980e-1],
            [2.336e-1, 1.991e-1, 1.981e-1, 1.977e-1],
        ],
        Set::Synthetic => &[
            [1.363e-2, 9.610e-3, 9.287e-3, 9.210e-3],
            [1.897e-2, 9.380e-3, 8.115e-3, 8.080e-3],
            [1.619e-2, 5.782e-3, 4.517e-3, 4.476e-3],
        ],
        Set::Miserables => return None,
    })
}

/// Final F of masked recovery, subgradient / variable smoothing / MELMO ℓ2 / epoch-wise / spectral, for ω = 0.3, 0.5, 0.7.
pub fn recovery(set: Set) -> Option<&'static [[f64; 5]; 3]> {
    Some(match set {
        Set::Football => &[
            [386.3, 3.363, 3.262, 3.403, 3.513],
            [511.7, 5.457, 5.394, 5.608, 5.789],
            [645.2, 7.549, 7.442, 7.631, 7.821],
        ],
        Set::Miserables => &[
            [151.0, 1.391, 1.355, 1.390, 1.458],
            [221.8, 2.356, 2.250, 2.335, 2.418],
            [279.1, 3.233, 3.209, 3.283, 3.411],
        ],
        _ => return None,
    })
}

/// (F, SSIM) seen in the authors' run of the denoising, with their noise and 10⁴ steps, in the order of
/// [`crate::experiments::denoising::METHODS`].
pub const DENOISING: [(f64, f64); 5] = [(161.7, 0.651), (162.6, 0.667), (162.6, 0.670), (163.3, 0.672), (163.8, 0.644)];
