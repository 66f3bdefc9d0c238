# %% [markdown]
# # Background subtraction
#
# A video as a matrix, a frame a row: what stays is of low rank, what moves is sparse. `RobustPCA` separates the two and estimates
# the noise by itself.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from melmo import RobustPCA

rng = np.random.default_rng(0)
frames, height, width = 40, 48, 64
still = np.add.outer(np.linspace(0.2, 0.6, height), 0.2 * np.sin(np.linspace(0, 9, width)))
video = np.repeat(still[None], frames, axis=0) * np.linspace(0.9, 1.1, frames)[:, None, None]
for t in range(frames):
    video[t, 18:28, t + 5 : t + 15] = 1.0
video += 0.02 * rng.normal(size=video.shape)

# %%
model = RobustPCA().fit(video.reshape(frames, -1))
background = model.low_rank_.reshape(video.shape)
foreground = model.sparse_.reshape(video.shape)
print(f"noise {model.noise_:.4f} (true 0.02), rank {model.n_components_}, {np.mean(foreground != 0):.1%} of the pixels move")

# %%
figure, axes = plt.subplots(3, 3, figsize=(9, 7))
for row, t in zip(axes, (5, 20, 35)):
    for axis, (name, part) in zip(row, {"frame": video, "background": background, "foreground": foreground}.items()):
        axis.imshow(part[t], cmap="gray", vmin=0, vmax=1)
        axis.set_title(f"{name} {t}")
        axis.axis("off")
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/background.png", dpi=80)
