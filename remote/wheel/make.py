#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py OUT LIBRARIES VERSION: a Python wheel of the client's libraries in the folder LIBRARIES, in the folder OUT; prints where it
is. Its tag says glibc 2.28 and newer on x86-64, and what does not fit that is refused. The same again of the same libraries."""
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile

TAG = "py3-none-manylinux_2_28_x86_64"
HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")
X86_64 = b"\x3e\0"
METADATA = """Metadata-Version: 2.1
Name: kvgpu-remote
Version: {}
Summary: CUDA on the GPU of another machine or VM
License: MIT
Requires-Python: >=3.8

`kvgpu-remote-run PROGRAM` starts a CUDA program whose GPU is elsewhere, behind kvgpu-remoted. KVGPU_REMOTE names that server.
"""
WHEEL = f"Wheel-Version: 1.0\nGenerator: kvgpu\nRoot-Is-Purelib: false\nTag: {TAG}\n"
SCRIPT = "[console_scripts]\nkvgpu-remote-run = kvgpu_remote.__main__:main\n"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def stripped(path):
    """the library without what only debuggers read"""
    if read(path)[18:20] != X86_64:
        sys.exit(f"wheel: {path} is not for x86-64")
    subprocess.run([f"{HERE}/../older/floor.sh", path], check=True)
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run(["strip", "--strip-unneeded", "-o", f.name, path], check=True)
        return read(f.name)


def main():
    out, libraries, version = sys.argv[1:]
    info = f"kvgpu_remote-{version}.dist-info"
    files = {"kvgpu_remote/__init__.py": b"", "kvgpu_remote/__main__.py": read(f"{HERE}/launch.py")}
    files.update((f"kvgpu_remote/lib/{name}", stripped(f"{libraries}/{name}")) for name in LIBRARIES)
    files.update({f"{info}/METADATA": METADATA.format(version).encode(), f"{info}/WHEEL": WHEEL.encode(),
                  f"{info}/entry_points.txt": SCRIPT.encode(), f"{info}/LICENSE": read(f"{HERE}/../../LICENSES/MIT.txt")})
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
              for name, data in files.items()]
    files[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode()
    path = f"{out}/kvgpu_remote-{version}-{TAG}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if ".so." in name else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    print(path)


try:
    main()
except subprocess.CalledProcessError:
    sys.exit(1)
