"""What `melmo.torch` and `melmo.optax` share: rules as plain data, and formulas over an array namespace.

A formula takes `xp`, which is `torch`, `jax.numpy` or `numpy`: it uses the names that all three have. A rule (a schedule, a penalty)
is a number, a tuple or a dict of such: it can be saved, compared and traced.
"""
