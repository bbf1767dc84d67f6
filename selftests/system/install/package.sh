# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154
# Sourced by run.sh: tests this project's packages in fresh minimal roots of Debian 12 and 13, which
# mmdebstrap makes from the archive of this machine's apt, and removes

package_cell()
{
	local version out=$work/package program='' suite
	cell_name=kvgpu-cuda
	version=$(make -s print-version)
	make -s cuda-package >"$work/log" 2>&1
	result $? "make cuda-package" "$(tail -n 1 "$work/log")"
	mkdir -p "$out" "$work/next"
	cp "$(tail -n 1 "$work/log")" "$out/this.deb"
	cp "$(dirname "$(make -s print-cuda)")"/{libcuda.so.1,libcudart.so.11.0,libnvidia-ml.so.1,cuda-info,kvgpu-persist} "$work/next/"
	cp "$(cuda/package.sh "$work/next" "$version+next")" "$out/next.deb"
	result $? "a newer package of it"
	if selftests/cuda/toolkit.sh >/dev/null 2>&1; then
		program=$(make -s cuda-programs PROGRAMS=vector_add)/vector_add
		cp "$program" "$out/program"
		result $? "a program is compiled"
	fi
	for suite in bookworm trixie; do
		cell_name="kvgpu-cuda on $suite"
		package_in_root "$suite" cuda-package.sh "$out"
	done
	remote_packages "$version"
}

# remote_packages VERSION: tests kvgpu-remote-client and -server, and that kvgpu-aperture comes and goes; the server uses a libcuda with the
# GPU model in its process
remote_packages()
{
	local out=$work/remote-package suite which
	cell_name=remoting
	make -s remote-package >"$work/log" 2>&1
	result $? "make remote-package" "$(tail -n 1 "$work/log")"
	mkdir -p "$out" "$work/next"
	cp build/kvgpu-{aperture,remote-client,remote-server}_"$1"_amd64.deb "$work/package/this.deb" "$out/"
	for which in client server; do
		remote/package.sh $which "$work/next" "$(dirname "$(make -s print-cuda)")" "$(make -s print-remote-package)" "$1+next" >/dev/null
		result $? "a newer package of kvgpu-remote-$which"
	done
	mv "$work/next"/kvgpu-remote-*.deb "$out/"
	cp "$(make -s cuda-inprocess | tail -n 1)/libcuda.so.1" "$out/inprocess.so" || result 1 "the library with the GPU model builds"
	cp docs/remote-setup.md selftests/cuda/driver/kernels.cubin "$out/"
	# Debian 12's glibc has what this calls
	gcc -std=gnu11 -O2 -I. "-I$(make -s print-remote)/gen" -D_GNU_SOURCE -include include/user/older_libc.h selftests/remote/reloads.c -o "$out/reloads" \
		"$(make -s print-remote)/libcuda.so.1"
	result $? "a program that runs through an upgrade is compiled"
	for suite in bookworm trixie; do
		cell_name="remoting on $suite"
		package_in_root "$suite" remote-package.sh "$out"
	done
}

# Makes a root of SUITE, with PACKAGES beside the minimal ones, copies FOLDER's files and inside/SCRIPT into
# it, and runs SCRIPT there. SCRIPT's TAP goes to a file of its own, apart from mmdebstrap's messages.
package_in_root() # SUITE SCRIPT FOLDER [PACKAGES]
{
	local suite=$1 script=$2 out=$3 packages=${4-} option source rc
	local -a options=()
	source=$(testbed_archive source_line "$suite") && while read -r option; do
		options+=("--aptopt=$option")
	done < <(testbed_archive root_apt_options)
	# shellcheck disable=SC2016
	timeout --kill-after=10 2400 mmdebstrap --variant=minbase --mode=root --architectures=amd64 --format=null "${options[@]}" ${packages:+"--include=$packages"} \
		--aptopt='Acquire::Languages "none"' --aptopt='APT::Sandbox::User "root"' --dpkgopt=force-unsafe-io --keyring=/usr/share/keyrings/ \
		--customize-hook='mkdir "$1/root/test"' \
		--customize-hook="cp -r '$out'/* selftests/system/install/inside/$script selftests/system/install/inside/steps.sh \"\$1/root/test/\"" \
		--customize-hook="chroot \"\$1\" /root/test/$script >'$work/tap'; echo \$? >'$work/rc'" \
		"$suite" /dev/null "$source" >"$work/log" 2>&1 </dev/null
	rc=$?
	if [ $rc -ne 0 ] || [ ! -e "$work/rc" ]; then
		tail -n 10 "$work/log" | sed 's/^/# /'
		result 1 "a minimal root" "mmdebstrap: exit code $rc"
		return
	fi
	relay "in a minimal root" "$(cat "$work/rc")" <"$work/tap"
	rm -f "$work/rc" "$work/tap"
}

# calls a function of the test bed's archive.sh or fetch.sh
testbed_archive() # FUNCTION...
{
	(
		# shellcheck source=testbed/lib/messages.sh
		. testbed/lib/messages.sh
		# shellcheck source=testbed/lib/archive.sh
		. testbed/lib/archive.sh
		# shellcheck source=testbed/lib/fetch.sh
		. testbed/lib/fetch.sh
		"$@"
	)
}
