# SPDX-License-Identifier: GPL-2.0-only
"""Steps of a program, each a function that raises if something is wrong: TAP. Arguments name steps; all without any."""
import sys
import time

import numpy as np

STEPS = []


def step(f):
    STEPS.append(f)
    return f


def close(found, want, limit=3e-2):
    """how far @found is from @want, relative to it"""
    found, want = (np.asarray(a, np.float64) for a in (found, want))
    far = np.linalg.norm(found - want) / np.linalg.norm(want)
    assert far < limit, f"off by {far}"
    return f"{far:.1e}"


def run(settle=lambda: None):
    """@settle waits for the GPU. The exit code."""
    steps = [f for f in STEPS if f.__name__ in sys.argv[1:] or len(sys.argv) == 1]
    failed = 0
    print(f"1..{len(steps)}", flush=True)
    for i, f in enumerate(steps, 1):
        start = time.monotonic()
        print(f"# {f.__name__}", flush=True)    # a step may not end
        try:
            told = f()
            settle()
            what = "ok", "" if told is None else str(told)
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # pylint: disable=broad-except
            failed += 1
            what = "not ok", f"{type(e).__name__}: " + " ".join(str(e).split())[:200]
        print(f"{what[0]} {i} - {f.__name__} # {(time.monotonic() - start) * 1000:.0f} ms: {what[1]}", flush=True)
    return failed != 0
