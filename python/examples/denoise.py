# %% [markdown]
# # Denoising an image
#
# Total variation removes noise and keeps edges. With ℓ1 it also lowers them; a penalty that levels off (MCP) does not. The last
# picture needs no weight at all: `melmo.denoise` estimates the noise.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import melmo

clean = melmo.data.load("camera")[60:188, 180:308]
clean = clean / clean.max()
noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)

# %%
answers = {
    "noisy": noisy,
    "ℓ1-TV, weight 0.1": melmo.denoise_tv(noisy, 0.1),
    "MCP-TV, weight 0.2": melmo.denoise_tv(noisy, 0.2, penalty="mcp:mu=4"),
    "melmo.denoise": melmo.denoise(noisy),
}
for name, image in answers.items():
    print(f"{name:20} SSIM {melmo.data.ssim(clean, np.ascontiguousarray(image)):.3f}")

# %%
figure, axes = plt.subplots(1, len(answers) + 1, figsize=(15, 3.4))
for axis, (name, image) in zip(axes, {"clean": clean, **answers}.items()):
    axis.imshow(image, cmap="gray", vmin=0, vmax=1)
    axis.set_title(name)
    axis.axis("off")
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/denoise.png", dpi=80)
