# SPDX-License-Identifier: MIT
"""kvgpu-remote-run PROGRAM [ARGUMENT...]: starts a CUDA program on the libcuda.so.1 and libnvidia-ml.so.1 of this package."""
import os
import sys


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: kvgpu-remote-run PROGRAM [ARGUMENT...]\nKVGPU_REMOTE or /etc/kvgpu/remote.conf says where its GPU is.")
    libraries = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (libraries, os.environ.get("LD_LIBRARY_PATH"))))
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit(f"kvgpu-remote-run: {sys.argv[1]}: {error.strerror}")


if __name__ == "__main__":
    main()
