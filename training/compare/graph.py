"""A training step that is captured once and replayed: on a GPU the launches of its small kernels no longer cost anything."""

import torch

WARM = 2


class Step:
    """`body` makes one step and has no host work in it; on a CPU it is called as it is."""

    def __init__(self, body, params, device):
        self.body, self.params, self.cuda = body, list(params), device.type == "cuda"
        self.side = torch.cuda.Stream() if self.cuda else None
        self.changed()

    def changed(self):
        """What a step does is another thing from now on: it is captured anew."""
        self.graph, self.taken = None, 0

    def __call__(self):
        if self.graph is not None:
            return self.graph.replay()
        for p in self.params:
            p.grad = None
        if not self.cuda:
            return self.body()
        if self.taken < WARM:
            self.taken += 1
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                self.body()
            torch.cuda.current_stream().wait_stream(self.side)
            return None
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.body()
        return self.graph.replay()
