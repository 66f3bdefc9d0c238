//! How near a picture comes to the clean one.

use melmo_data::metrics;

use crate::error::Error;
use crate::picture::Picture;
use crate::render::Summary;

/// PSNR over all channels, and the mean of their SSIM as scikit-image has it by default.
fn measured(clean: &Picture, picture: &Picture) -> Result<(f64, f64), Error> {
    let range = clean.range();
    let all = |picture: &Picture| picture.planes.concat();
    let psnr = metrics::psnr(&all(clean), &all(picture), range)?;
    let mut ssim = 0.0;
    for (clean_plane, plane) in clean.planes.iter().zip(&picture.planes) {
        ssim += metrics::ssim(clean_plane, plane, clean.rows, clean.cols, range)?;
    }
    Ok((psnr, ssim / clean.planes.len() as f64))
}

/// Before and after.
pub fn tell(clean: &Picture, before: &Picture, after: &Picture, summary: &mut Summary) -> Result<(), Error> {
    let ((psnr_before, ssim_before), (psnr, ssim)) = (measured(clean, before)?, measured(clean, after)?);
    summary.add("psnr", psnr, "PSNR", format!("{psnr_before:.2} dB before, {psnr:.2} dB after"));
    summary.silent("psnr_before", psnr_before);
    summary.add("ssim", ssim, "SSIM", format!("{ssim_before:.4} before, {ssim:.4} after"));
    summary.silent("ssim_before", ssim_before);
    Ok(())
}

/// After alone, where what was given has another size.
pub fn tell_after(clean: &Picture, after: &Picture, summary: &mut Summary) -> Result<(), Error> {
    let (psnr, ssim) = measured(clean, after)?;
    summary.add("psnr", psnr, "PSNR", format!("{psnr:.2} dB"));
    summary.add("ssim", ssim, "SSIM", format!("{ssim:.4}"));
    Ok(())
}
