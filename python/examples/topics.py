# %% [markdown]
# # Sparse topics from a factorisation
#
# A table of word counts, documents by words, is about WH: each document (a row of W) has few topics, each topic (a row of H) is a
# mixture of words. With `nonnegative=True` and a penalty on W most entries of W are exactly zero.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from melmo import SparseFactorization

rng = np.random.default_rng(0)
vocabulary = {
    "sea": "ship harbour tide sail wave captain".split(),
    "kitchen": "oven butter flour sugar spoon recipe".split(),
    "night sky": "star orbit comet lens telescope moon".split(),
}
words = [word for group in vocabulary.values() for word in group]
mixtures = np.kron(np.eye(3), rng.uniform(0.5, 1.5, size=(1, 6))) + 0.05
weights = rng.uniform(2, 6, size=(90, 3)) * (rng.random((90, 3)) < 0.45)
counts = rng.poisson(weights @ mixtures).astype(float)

# %%
model = SparseFactorization(3, penalty="l1", lam=2.0, ridge=1.0, nonnegative=True, random_state=1)
topics = model.fit_transform(counts)
for number, topic in enumerate(model.components_):
    print(f"topic {number}:", ", ".join(words[i] for i in np.argsort(topic)[::-1][:6]))
print(f"zeros in W: {np.mean(topics == 0):.0%}; in the truth: {np.mean(weights == 0):.0%}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(13, 4))
for axis, (name, table) in zip(axes, {"counts": counts, "W": topics, "H": model.components_}.items()):
    axis.imshow(table, aspect="auto", cmap="magma")
    axis.set_title(name)
axes[2].set_xticks(range(len(words)), words, rotation=90)
figure.tight_layout()
Path("pictures").mkdir(exist_ok=True)
figure.savefig("pictures/topics.png", dpi=80)
