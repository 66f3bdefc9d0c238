"""benchopt's correlated data, of which the sign of y is taken."""

import numpy as np
from benchopt import BaseDataset
from benchopt.datasets import make_correlated_data


class Dataset(BaseDataset):
    name = "Simulated"
    parameters = {"n_samples, n_features": [(500, 2000)]}

    def get_data(self):
        X, y, _ = make_correlated_data(self.n_samples, self.n_features, random_state=42)
        return {"X": X, "y": np.where(y > 0, 1, -1)}
