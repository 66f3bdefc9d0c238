# %% [markdown]
# # Completing a table of ratings
#
# Sixty people have rated a third of forty films. Their tastes are two-dimensional. `MatrixCompletion` chooses its model and its
# weights by a tenth of the known ratings, and fills in the rest.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from melmo import MatrixCompletion

rng = np.random.default_rng(0)
people, films = 60, 40
taste = rng.normal(size=(people, 2)) @ rng.normal(size=(2, films))
truth = np.clip(3 + 0.4 * rng.normal(size=(people, 1)) + 0.4 * rng.normal(size=films) + 0.7 * taste, 1, 5)
known = rng.random(truth.shape) < 0.35
ratings = np.where(known, np.round(truth + 0.2 * rng.normal(size=truth.shape)).clip(1, 5), np.nan)

# %%
model = MatrixCompletion().fit(ratings)
filled = model.transform(ratings)


def error(guess):
    return np.sqrt(np.mean((guess - truth)[~known] ** 2))


print(f"the mean of all ratings        {error(np.full_like(truth, np.nanmean(ratings))):.3f}")
offsets = model.mean_ + model.row_offsets_[:, None] + model.column_offsets_
print(f"offsets of people and films    {error(offsets):.3f}")
print(f"with a low-rank part           {error(filled):.3f}   ({model.penalty_ or f'rank {model.rank_}, ridge {model.ridge_:.3g}'})")

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 5))
for axis, (name, table) in zip(axes, {"known": ratings, "filled in": filled, "true": truth}.items()):
    axis.imshow(table, vmin=1, vmax=5, cmap="viridis")
    axis.set_title(name)
    axis.set_xlabel("film")
axes[0].set_ylabel("person")
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/ratings.png", dpi=80)
