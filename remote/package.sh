#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# package.sh client|server|aperture|run OUT CUDA REMOTE VERSION: kvgpu-remote-client, kvgpu-remote-server, kvgpu-aperture or
# kvgpu-run in OUT, of what "make remote" (for kvgpu-run "make cluster") put into REMOTE, and, for the client alone, "make cuda" into
# CUDA. For Debian 12 or newer; kvgpu-run for the Debian and the MPIs of this machine. The client's takes the place of
# kvgpu-cuda: the same runtime on a libcuda.so.1 without a GPU.
set -eu
which=$1 out=$(realpath "$2") cuda=$(realpath "$3") remote=$(realpath "$4")
cd "$(dirname "$0")/.."
# shellcheck source=cuda/deb.sh
. cuda/deb.sh

client()
{
	install -D -m 644 -t "$lib" "$remote"/{libcuda.so.1,libnvidia-ml.so.1} "$cuda/libcudart.so.11.0"
	strip --strip-unneeded "$lib"/*
	deb_plain_name
	# the server's package, which may be beside this one, has kvgpu-remotectl in /usr/sbin and section 8
	install -D -m 755 -t "$tmp/usr/bin" "$cuda/cuda-info" "$remote/kvgpu-remotectl"
	strip "$tmp/usr/bin"/*
	install -D -m 644 -t "$tmp/etc/kvgpu" remote/conf/remote.conf
	install -D -m 644 -t "$doc" docs/remote-containers.md docs/remote-setup.md docs/remote-update.md docs/remote-use.md
	sed 's/^\.TH KVGPU-REMOTECTL 8/.TH KVGPU-REMOTECTL 1/' remote/ctl/kvgpu-remotectl.8 | install -D -m 644 /dev/stdin "$man/man1/kvgpu-remotectl.1"
	install -D -m 644 -t "$doc/examples" remote/ctl/kubernetes.yaml
	install -D -m 644 -t "$man/man1" cuda/info/cuda-info.1
	install -D -m 644 -t "$man/man5" remote/conf/remote.conf.5
	printf '%s kvgpu-remote-client\n' 'libcuda 1' 'libcudart 11.0' 'libnvidia-ml 1' > "$tmp/DEBIAN/shlibs"
	echo 'activate-noawait ldconfig' > "$tmp/DEBIAN/triggers"
	install -m 755 -t "$tmp/DEBIAN" remote/conf/postrm
	overrides+=('# all of CUDA'"'"'s libraries in one' "kvgpu-remote-client: package-name-doesnt-match-sonames *")
	deb_build "$out" libs <<-C
	Depends: libc6 (>= $(deb_glibc "$lib"/* "$tmp/usr/bin"/*)), libgnutls30 (>= 3.7.9)
	Suggests: kvgpu-aperture
	Provides: libcuda1, libcuda.so.1 (= 580), libcudart11.0, libnvidia-ml1, libnvidia-ml.so.1 (= 580)
	Conflicts: libcuda1, libcudart11.0, libnvidia-ml1, kvgpu-cuda
	Replaces: libcuda1, libcudart11.0, libnvidia-ml1, kvgpu-cuda
	Description: CUDA on the GPU of another machine or VM
	 A driver library (libcuda.so.1) that has no GPU: what programs ask of it is
	 carried out by kvgpu-remoted elsewhere, reached by memory that two VMs share,
	 by a UNIX socket, by vsock or by TLS. /etc/kvgpu/remote.conf says where.
	 .
	 For programs of CUDA 11 to 13, as PyTorch, JAX and CuPy, up to the CUDA of
	 the server's library. The CUDA 11.8 runtime library (libcudart.so.11.0) is
	 for those that nvcc 11 linked with -cudart shared.
	C
}

server()
{
	install -D -m 755 -t "$tmp/usr/sbin" "$remote/kvgpu-remoted" "$remote/kvgpu-remotectl"
	strip "$tmp/usr/sbin"/*
	# for kvgpu-remotectl bundle
	install -D -m 644 -t "$tmp/usr/lib/kvgpu-remoted/client" "$remote"/{libcuda.so.1,libnvidia-ml.so.1}
	strip --strip-unneeded "$tmp/usr/lib/kvgpu-remoted/client"/*
	install -D -m 640 -t "$tmp/etc/kvgpu" remote/conf/remoted.conf
	install -d -m 755 "$tmp/etc/kvgpu/tls"
	install -D -m 644 -t "$tmp/usr/lib/systemd/system" remote/supervisor/kvgpu-remoted.service remote/supervisor/kvgpu-remoted.socket
	install -D -m 644 -t "$doc" docs/remote-containers.md docs/remote-setup.md docs/remote-update.md docs/remote-use.md
	install -D -m 644 -t "$man/man8" remote/supervisor/kvgpu-remoted.8 remote/ctl/kvgpu-remotectl.8
	install -m 755 -t "$tmp/DEBIAN" remote/supervisor/{postinst,prerm,postrm}
	deb_build "$out" admin <<-C
	Depends: libc6 (>= $(deb_glibc "$tmp/usr/sbin"/*)), libgnutls30 (>= 3.7.9)
	Recommends: kvgpu-cuda | libcuda1
	Suggests: kvgpu-aperture
	Description: gives CUDA programs of other machines or VMs this one's GPU
	 kvgpu-remoted carries out on this machine's libcuda.so.1 what programs on
	 the one of kvgpu-remote-client ask for: one process for each client, each
	 with a user of its own. kvgpu-remotectl shows and ends clients, and makes
	 the certificates with which they come by TLS.
	C
}

# for hosts, and for VMs on both sides
aperture()
{
	install -D -m 755 -t "$tmp/usr/sbin" "$remote/kvgpu-aperture"
	strip "$tmp/usr/sbin"/*
	install -D -m 644 -t "$tmp/usr/lib/udev/rules.d" remote/pmem/70-kvgpu-aperture.rules
	install -D -m 644 -t "$tmp/usr/lib/systemd/system" remote/pmem/kvgpu-aperture@.service
	install -D -m 644 -t "$man/man8" remote/pmem/kvgpu-aperture.8
	mkdir -p "$doc"
	install -m 755 -t "$tmp/DEBIAN" remote/pmem/{postinst,postrm}
	deb_build "$out" admin <<-C
	Depends: libc6 (>= $(deb_glibc "$tmp/usr/sbin"/*))
	Recommends: kmod, udev
	Description: memory that two VMs share, for CUDA programs and their GPU
	 On a host, kvgpu-aperture makes a file that two VMs get as memory, and
	 libvirt's XML for it. In a VM, udev makes a device of such memory, through
	 which programs on kvgpu-remote-client reach kvgpu-remote-server without
	 leaving their VM.
	C
}

# for the program's machine and for those with GPUs; a relay for GPUs of one machine, and one for each MPI that it was built with
run()
{
	install -D -m 755 -t "$tmp/usr/bin" "$remote/kvgpu-run"
	install -D -m 755 -t "$tmp/usr/lib/kvgpu-run" "$remote"/kvgpu-relay-*
	# the program's, put in front of its path: on a machine with a GPU there is another one
	install -D -m 644 -t "$tmp/usr/lib/kvgpu-run" "$remote/libcuda.so.1" "$remote/libnvidia-ml.so.1"
	strip --strip-unneeded "$tmp"/usr/bin/* "$tmp"/usr/lib/kvgpu-run/*
	ln -s libcuda.so.1 "$tmp/usr/lib/kvgpu-run/libcuda.so"
	install -D -m 644 -t "$doc" docs/cluster.md
	install -D -m 644 -t "$man/man1" remote/cluster/run/kvgpu-run.1
	overrides=("# each relay is for one MPI, and none is needed for one machine" "kvgpu-run: undeclared-elf-prerequisites *")
	deb_build "$out" science <<-C
	Depends: libc6 (>= $(deb_glibc "$tmp"/usr/bin/* "$tmp"/usr/lib/kvgpu-run/*))
	Recommends: openmpi-bin | mpich
	Suggests: kvgpu-remote-client
	Description: runs a CUDA program with the GPUs of several machines
	 kvgpu-run starts a program and a proxy for each GPU of the machines that it
	 is given. The program, which is not changed, sees these GPUs as its own
	 devices. For GPUs of other machines it needs Open MPI or MPICH, and Slurm or
	 a network whose users are all trusted.
	C
}

case $which in
aperture|run) name=kvgpu-$which ;;
*) name=kvgpu-remote-$which ;;
esac
deb_begin "$name" "$5" remote cuda include
"$which"
