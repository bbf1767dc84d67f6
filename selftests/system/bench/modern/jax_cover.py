#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""jax_cover.py [STEP...]: what JAX asks of CUDA, in breadth; right or wrong by numpy's result. TAP."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

from steps import close, run, step

KEY = jax.random.PRNGKey(0)


def x():
    return jax.random.normal(KEY, (256, 256))


@step
def devices():
    assert jax.devices()[0].platform == "gpu", jax.devices()
    return jax.devices()


@step
def matmul():
    return close(jax.jit(lambda a: a @ a)(x()), np.asarray(x()) @ np.asarray(x()))


@step
def matmul_bf16():
    return close(jax.jit(lambda a: a @ a)(x().astype(jnp.bfloat16)), np.asarray(x()) @ np.asarray(x()))


@step
def conv():
    found = jax.lax.conv(jnp.ones((2, 3, 16, 16)), jnp.ones((4, 3, 3, 3)), (1, 1), "SAME")
    assert found.shape == (2, 4, 16, 16) and found[0, 0, 5, 5] == 27 and found[0, 0, 0, 0] == 12


@step
def grad_scan():
    def f(a):
        return jax.lax.scan(lambda c, _: (jnp.tanh(c * a), None), 1.0, None, 50)[0]
    found = float(jax.jit(jax.grad(f))(1.5))
    return close(found, (float(f(1.501)) - float(f(1.499))) / 0.002)


@step
def linalg():
    a = x()
    s = a @ a.T + 256 * jnp.eye(256)
    for f in (jnp.linalg.svd, jnp.linalg.eigh, jnp.linalg.qr):
        jax.block_until_ready(f(s[:64, :64]))
    close(jnp.linalg.cholesky(s), np.linalg.cholesky(np.asarray(s)))
    return close(s @ jnp.linalg.solve(s, a), a)


@step
def fft():
    return close(jnp.abs(jnp.fft.fft2(x())), np.abs(np.fft.fft2(np.asarray(x()))))


@step
def sort_random():
    a = jax.random.uniform(KEY, (10000,))
    assert (np.asarray(jnp.sort(a)) == np.sort(np.asarray(a))).all()
    jax.random.categorical(KEY, jnp.ones((10, 10))).block_until_ready()


@step
def while_cond():
    assert jax.jit(lambda a: jax.lax.while_loop(lambda c: c < 100, lambda c: c * 2 + 1, a))(1) == 127


@step
def attention():
    q = jnp.ones((2, 64, 4, 64), jnp.bfloat16)
    assert jnp.allclose(jax.nn.dot_product_attention(q, q, q, implementation="cudnn").astype(jnp.float32), 1, atol=0.02)


@step
def pmap():
    assert jax.pmap(lambda a: jax.lax.psum(a, "i"), "i")(jnp.ones((1, 4)))[0, 0] == 1


@step
def pallas():
    from jax.experimental import pallas as pl

    def f(a, o):
        o[...] = a[...] + 1
    assert (pl.pallas_call(f, out_shape=jax.ShapeDtypeStruct((128,), jnp.float32))(jnp.ones(128)) == 2).all()


@step
def callbacks():
    def f(a):
        return jax.pure_callback(lambda b: np.asarray(b) + 1, jax.ShapeDtypeStruct((), jnp.float32), a)
    assert jax.jit(f)(jnp.float32(1)) == 2


@step
def big_copy():
    a = np.arange(1 << 24, dtype=np.float32)
    assert (np.asarray(jax.device_put(a)) == a).all()


@step
def flax_train():
    import flax.linen as nn
    import optax
    m = nn.Sequential([nn.Conv(8, (3, 3)), nn.relu, lambda a: a.reshape(a.shape[0], -1), nn.Dense(10)])
    a, o = jnp.ones((4, 16, 16, 1)), optax.adam(1e-3)
    p = m.init(KEY, a)

    @jax.jit
    def train(p, s):
        loss, g = jax.value_and_grad(lambda q: m.apply(q, a).sum())(p)
        u, s = o.update(g, s)
        return optax.apply_updates(p, u), s, loss
    s, losses = o.init(p), []
    for _ in range(3):
        p, s, loss = train(p, s)
        losses.append(float(loss))
    assert losses[0] > losses[1] > losses[2], losses


if __name__ == "__main__":
    sys.exit(run())
