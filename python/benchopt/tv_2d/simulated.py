"""A picture of blocks, with noise: what jumps now and then, as in benchopt's."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "Simulated"
    parameters = {"size": [128], "std_noise": [0.3]}

    def get_data(self):
        rng = np.random.default_rng(27)
        jumps = [np.cumsum(rng.normal(size=self.size) * (rng.random(self.size) < 10 / self.size)) for _ in range(2)]
        return {"y": jumps[0][:, None] + jumps[1] + rng.normal(0, self.std_noise, (self.size, self.size))}
