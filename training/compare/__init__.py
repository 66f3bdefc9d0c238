"""The parts of `networks.py`."""
