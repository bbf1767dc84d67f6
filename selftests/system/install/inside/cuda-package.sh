#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs as root in a fresh minimal Debian without a GPU, in a folder with this.deb (kvgpu-cuda),
# next.deb (a newer version) and, if there is a CUDA toolkit, a CUDA program. Tests installing,
# upgrading and removing kvgpu-cuda by apt, and that programs find it. Prints TAP.
set -u
cd "$(dirname "$0")" || exit 1
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
lib=/usr/lib/x86_64-linux-gnu
# shellcheck source=selftests/system/install/inside/steps.sh
. ./steps.sh

# known 2|0: true if the loader's cache has both libraries, or neither
known() { [ "$(ldconfig -p | grep -c '^\s*\(libcuda\.so\.1\|libcudart\.so\.11\.0\) ')" = "$1" ]; }
whole() { ! ldd -r $lib/libcuda.so.1 $lib/kvgpu/libcudart.so.11.0 /usr/bin/cuda-info /usr/bin/kvgpu-persist 2>&1 | grep 'not found\|undefined\|not a dynamic'; }
as_packed() { [ -z "$(dpkg --verify kvgpu-cuda)" ]; }

# without_gpu COMMAND...: true if COMMAND ends with an exit code from 1 to 123 and says that there
# is no CUDA-capable device
without_gpu()
{
	local said rc
	said=$("$@" 2>&1)
	rc=$?
	echo "exit code $rc: $said"
	[ $rc -gt 0 ] && [ $rc -lt 124 ] && grep -qi 'no CUDA-capable device' <<<"$said"
}

files >/tmp/before
packages >/tmp/packages
step "apt installs it, and all it wants is Debian's" apt install ./this.deb
step "its files are as they were packed" as_packed
step "the loader knows libcuda.so.1 and libcudart.so.11.0" known 2
step "libcuda.so is a name of it, as with NVIDIA's driver" test $lib/libcuda.so -ef $lib/libcuda.so.1
step "each library and each function that they want is there" whole
for form in '' -L --json; do
	# shellcheck disable=SC2086
	step "cuda-info${form:+ $form} says that there is no GPU" without_gpu cuda-info $form
done
step "the manual pages" gzip -t /usr/share/man/man1/cuda-info.1.gz /usr/share/man/man8/kvgpu-persist.8.gz
step "kvgpu-persist says which node it can't use" refuses /dev/dri/renderD128 kvgpu-persist /dev/dri/renderD128
if [ -e program ]; then
	step "a program of nvcc's starts, and is told that there is no GPU" without_gpu ./program
fi
# as nvidia-cuda-toolkit brings it
mkdir -p debian/DEBIAN debian$lib
printf 'Package: libcudart11.0\nVersion: 11.8.89~11.8.0-5~deb12u1\nArchitecture: amd64\nMaintainer: none\nDescription: none\n' > debian/DEBIAN/control
cp $lib/kvgpu/libcudart.so.11.0 debian$lib/
echo 'activate-noawait ldconfig' > debian/DEBIAN/triggers
dpkg-deb --build debian libcudart.deb > /dev/null
step "Debian's own runtime comes beside it" apt install ./libcudart.deb
step "and is the one that the loader finds first" bash -c "ldconfig -p | grep -m 1 'libcudart.so.11.0 ' | grep -q '> \(/usr\)\?${lib#/usr}/libcudart.so.11.0'"
step "and goes again" apt purge libcudart11.0
# as nvidia-cuda-toolkit and PyCUDA want the driver's libraries
mkdir -p wants/DEBIAN
printf 'Package: wants\nVersion: 1\nArchitecture: amd64\nMaintainer: none\nDescription: none\nDepends: %s, %s\n' \
	'libcuda1 (>= 450.66) | libcuda.so.1 (>= 450.66)' 'libnvidia-ml1 (>= 520) | libnvidia-ml.so.1 (>= 520)' > wants/DEBIAN/control
dpkg-deb --build wants wants.deb > /dev/null
step "what wants a version of the driver's libraries is content with it" apt install ./wants.deb
step "and goes again" apt purge wants
step "the same again" apt install --reinstall ./this.deb
step "a newer one in its place" apt install ./next.deb
step "it is that one" grep -qx 'kvgpu-cuda .*+next installed' <(packages)
step "its files are as they were packed, too" as_packed
step "and the older one back" apt install --allow-downgrades ./this.deb
# a systemd that fails, as it may in a container, where apt lets packages' scripts look for it
mkdir -p /run/systemd/system
printf '#!/bin/sh\necho "$@" >>/tmp/asked\nexit 1\n' >/usr/bin/systemctl
chmod 755 /usr/bin/systemctl
step "apt removes it" apt remove kvgpu-cuda
step "systemd is told so" grep -qx daemon-reload /tmp/asked
rm -r /run/systemd /usr/bin/systemctl
step "the loader knows neither library" known 0
step "apt purges it" apt purge kvgpu-cuda
step "it left no configuration" bash -c '! dpkg-query -W kvgpu-cuda'
step "apt purges what came with it" apt autoremove --purge
packages >/tmp/packages.after
step "the packages are those from before" diff /tmp/packages /tmp/packages.after
files >/tmp/after
step "and so are the files" diff /tmp/before /tmp/after
if grep -q trixie /etc/os-release; then
	step "lintian comes" apt install lintian
	step "lintian finds no error" lintian --allow-root --fail-on error this.deb
fi
printf '1..%d\n' $results
[ $failures -eq 0 ]
