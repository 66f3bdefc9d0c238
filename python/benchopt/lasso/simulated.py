"""benchopt's correlated data: a few columns of many explain y."""

from benchopt import BaseDataset
from benchopt.datasets import make_correlated_data


class Dataset(BaseDataset):
    name = "Simulated"
    parameters = {"n_samples, n_features": [(100, 5000), (500, 5000)], "rho": [0.6]}

    def get_data(self):
        X, y, _ = make_correlated_data(self.n_samples, self.n_features, rho=self.rho, random_state=27)
        return {"X": X, "y": y}
