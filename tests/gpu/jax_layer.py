# SPDX-License-Identifier: GPL-2.0
# jax_layer.py [STEPS]: a feed-forward layer with JAX, compiled by XLA, so many times.
import sys

import jax
import jax.numpy as jnp


@jax.jit
def layer(x, up, down):
    y = jax.nn.gelu(x @ up) @ down
    return x + (y - y.mean(-1, keepdims=True)) / (y.std(-1, keepdims=True) + 1e-5)


def main():
    key = jax.random.PRNGKey(0)
    x = jax.random.normal(key, (128, 256))
    up = jax.random.normal(key, (256, 1024))
    down = jax.random.normal(key, (1024, 256))
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        x = layer(x, up, down)
    print("sum %f" % float(jnp.sum(x)))


main()
