#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs as root in a fresh minimal Debian without a GPU, in a folder with the packages
# kvgpu-remote-client and kvgpu-remote-server, newer versions of both, kvgpu-aperture, kvgpu-cuda
# (this.deb), and a libcuda.so.1 with a GPU model in the process. Tests installing the packages, setting them up as
# docs/remote-setup.md says, using, upgrading and removing them. Prints TAP. There is no systemd, so
# this starts what the unit would start. Client and server are both on this machine.
set -u
cd "$(dirname "$0")" || exit 1
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
lib=/usr/lib/x86_64-linux-gnu
unit=/usr/lib/systemd/system/kvgpu-remoted.service
# shellcheck source=selftests/system/install/inside/steps.sh
. ./steps.sh

# as_packed: true if all files are as in the packages, except the two of /etc/kvgpu that this test
# has changed
as_packed() { ! dpkg --verify kvgpu-remote-client kvgpu-remote-server | grep -v ' c /etc/kvgpu/remoted\?\.conf$'; }
whole() { ! ldd -r $lib/libcuda.so.1 $lib/libcudart.so.11.0 /usr/bin/cuda-info /usr/bin/kvgpu-remotectl /usr/sbin/kvgpu-remoted \
	/usr/sbin/kvgpu-remotectl 2>&1 |
	grep 'not found\|undefined'; }
known() { [ "$(ldconfig -p | grep -c '^\s*\(libcuda\.so\.1\|libcudart\.so\.11\.0\) ')" = "$1" ]; }
is_installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

# as_the_page_says LINE: fails if docs/remote-setup.md has no such line; else runs it, with what has
# to differ here replaced
as_the_page_says()
{
	local line=$1

	grep -qxF "    $line" remote-setup.md || { echo "docs/remote-setup.md has no line '$line'"; return 1; }
	case $line in
	'apt install '*) line=${line/apt install/apt-get -q -y install} line=${line/_0.4_/_*_} ;;
	'systemctl enable kvgpu-remoted') return ;;
	'systemctl restart kvgpu-remoted') start_service; return ;;
	'scp -r '*) line='cp -r /etc/kvgpu/tls/clients/lab-1 .' ;;
	esac
	eval "$line"
}

start_service()
{
	local -a command

	mkdir -p /run/kvgpu-remoted
	read -ra command < <(sed -n 's/^ExecStart=//p' $unit)
	"${command[@]}" >/tmp/service.log 2>&1 &
	service=$!
	for _ in $(seq 100); do
		kvgpu-remotectl list --interval 0 >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	cat /tmp/service.log
	return 1
}

# In the place of systemd, which runs here no more than elsewhere: the unit's reload, where a package's script asks for it
with_systemctl()
{
	mkdir -p /run/systemd/system
	cat > /usr/sbin/systemctl <<-S
	#!/bin/sh
	echo "systemctl \$*" >> /tmp/asked
	[ "\$1" != reload ] || exec \$(sed -n 's/^ExecReload=//p' $unit)
	S
	chmod 755 /usr/sbin/systemctl
	"$@"
	set -- $?
	rm -r /run/systemd/system /usr/sbin/systemctl
	return "$1"
}

computes() { ./reloads /tmp/over kernels.cubin > /tmp/computed 2>&1 & computing=$!; for _ in $(seq 100); do grep -q ready /tmp/computed && return; sleep 0.1; done; cat /tmp/computed; return 1; }
goes_on() { kvgpu-remotectl list --interval 0.5 --json | tee /tmp/list | tr ',' '\n' | grep '^"calls_per_s":[1-9]'; }
ends_well() { touch /tmp/over; wait "$computing" && grep -q 'rounds, ' /tmp/computed || { cat /tmp/computed; false; }; }
runs() { [ "$(sha256sum < "/proc/$service/exe")" = "$(sha256sum < /usr/sbin/kvgpu-remoted)" ] && ! readlink "/proc/$service/exe" | grep deleted; }

sees_a_gpu() { cuda-info | tee /tmp/info; grep -q 'K20m' /tmp/info; }
as_somebody() { su -s /bin/sh -c cuda-info "$1"; }
refused_to() { local said; said=$(as_somebody "$1" 2>&1); echo "$said"; grep -qF "$2" <<<"$said"; }
purges_all() { apt purge kvgpu-cuda kvgpu-aperture kvgpu-remote-client kvgpu-remote-server >/tmp/purged; }
purge_says() { grep -qF "$1: certificates and keys are left in /etc/kvgpu/tls" /tmp/purged || { cat /tmp/purged; false; }; }
keeps_what_the_admin_wrote() { grep -qx 'listen = tls:\*:7411' /etc/kvgpu/remoted.conf && grep -q '^server = ' /etc/kvgpu/remote.conf; }

mkdir next
mv ./*+next_amd64.deb next/
# libidn2-0, which GnuTLS needs, would stay after the purge: install it before the first lists
step "what the in-process library wants" apt install libelf1 libidn2-0
packages >/tmp/packages
files >/tmp/before
[ ! -e /etc/hosts ] || cp -p /etc/hosts /tmp/hosts
echo '127.0.0.1 gpu.example.org' >> /etc/hosts
step "the server's package, as the page says" as_the_page_says "apt install ./kvgpu-remote-server_0.4_amd64.deb"
step "the service is not enabled by that" test ! -e /etc/systemd/system/multi-user.target.wants/kvgpu-remoted.service
install -D -m 644 inprocess.so /opt/gpu/libcuda.so.1
sed -i 's,^library = .*,library = /opt/gpu/libcuda.so.1,' /etc/kvgpu/remoted.conf
step "certificates for the server" as_the_page_says "kvgpu-remotectl certs server gpu.example.org"
step "and for a client" as_the_page_says "kvgpu-remotectl certs client lab-1"
step "where to listen" as_the_page_says "sed -i '1a listen = tls:*:7411' /etc/kvgpu/remoted.conf"
step "the service is enabled" as_the_page_says "systemctl enable kvgpu-remoted"
step "and started" as_the_page_says "systemctl restart kvgpu-remoted"
step "the client's certificate goes to it" as_the_page_says "scp -r /etc/kvgpu/tls/clients/lab-1 lab-1.example.org:"
step "the client's package" as_the_page_says "apt install ./kvgpu-remote-client_0.4_amd64.deb"
step "its certificate in place" as_the_page_says "install -D -g video -m 640 -t /etc/kvgpu/tls lab-1/*"
step "the key goes from where it was copied to" as_the_page_says "rm -r lab-1"
step "where its server is" as_the_page_says "echo 'server = tls:gpu.example.org:7411' >> /etc/kvgpu/remote.conf"
step "cuda-info shows the GPU" sees_a_gpu
useradd -G video one && useradd two
step "also to a user of the group" as_somebody one
step "and to nobody else" refused_to two "/etc/kvgpu/tls/ca.crt: you may not open it: users in its group may, mostly video"
step "all files are as they were packed" as_packed
step "each library and each function that they want is there" whole
step "the loader knows libcuda.so.1 and libcudart.so.11.0" known 2
step "libcuda.so is a name of it, as with NVIDIA's driver" test /usr/lib/x86_64-linux-gnu/libcuda.so -ef /usr/lib/x86_64-linux-gnu/libcuda.so.1
step "the manual pages" gzip -t /usr/share/man/man8/kvgpu-remoted.8.gz /usr/share/man/man8/kvgpu-remotectl.8.gz /usr/share/man/man1/kvgpu-remotectl.1.gz /usr/share/man/man5/remote.conf.5.gz
step "a container's specification of what is installed" bash -c '/usr/bin/kvgpu-remotectl cdi > /tmp/cdi && grep "\"/usr/lib/x86_64-linux-gnu/libcuda.so.1\"" /tmp/cdi'
step "a program computes" computes
step "newer ones in their place" with_systemctl apt install -o Dpkg::Options::=--force-confold ./next/*.deb
step "which reload the service" grep -qx 'systemctl reload kvgpu-remoted.service' /tmp/asked
step "what the admin wrote is still there" keeps_what_the_admin_wrote
step "what runs is what is installed" runs
step "under the program, which goes on" goes_on
step "the GPU for another one" sees_a_gpu
echo 'memroy = 1G' >> /etc/kvgpu/remoted.conf
step "with a wrong line the older package comes, and the service stays as it is" with_systemctl apt install --allow-downgrades \
	-o Dpkg::Options::=--force-confold ./kvgpu-remote-server_*.deb
step "under the program" goes_on
sed -i '$d' /etc/kvgpu/remoted.conf
step "the older one in its place" kvgpu-remotectl reload
step "runs" runs
step "under the program" goes_on
step "the GPU for another one" sees_a_gpu
step "newer ones again" with_systemctl apt install -o Dpkg::Options::=--force-confold ./next/*.deb
step "the program has right bytes until its end" ends_well
step "a drain" kvgpu-remotectl drain
wait "$service"
result $? "the service ends"
step "the service again" start_service
step "and the GPU" sees_a_gpu
kill "$service"
wait "$service" 2>/dev/null
step "kvgpu-cuda takes the client's place" apt install ./this.deb
step "which is gone" bash -c '! dpkg-query -W -f "\${db:Status-Status}" kvgpu-remote-client | grep -qx installed'
step "and back" apt install ./kvgpu-remote-client_*.deb
step "which kvgpu-cuda gave way to" bash -c '! dpkg-query -W -f "\${db:Status-Status}" kvgpu-cuda 2>/dev/null | grep -qx installed'
step "kvgpu-aperture beside it" apt install ./kvgpu-aperture_*.deb
# as "systemctl enable" makes them, also where no systemd runs
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -s $unit /etc/systemd/system/multi-user.target.wants/
step "apt purges all" purges_all
step "the service is not enabled any more" test ! -L /etc/systemd/system/multi-user.target.wants/kvgpu-remoted.service
rmdir /etc/systemd/system/multi-user.target.wants 2>/dev/null
step "the client's package says where keys are" purge_says kvgpu-remote-client
step "so does the server's" purge_says kvgpu-remote-server
step "certificates are the admin's" test -e /etc/kvgpu/tls/ca.key
rm -r /etc/kvgpu /opt/gpu
userdel one
userdel two
mv /tmp/hosts /etc/hosts 2>/dev/null || rm /etc/hosts
apt autoremove --purge >/dev/null 2>&1
packages >/tmp/packages.after
step "the packages are those from before" diff /tmp/packages /tmp/packages.after
files >/tmp/after
step "and so are the files" diff <(grep -v '^/etc/\(sub[ug]id\|passwd\|group\|g\?shadow\)-\?$\|^/run' /tmp/before) \
	<(grep -v '^/etc/\(sub[ug]id\|passwd\|group\|g\?shadow\)-\?$\|^/run' /tmp/after)
if grep -q trixie /etc/os-release; then
	step "lintian comes" apt install lintian
	for p in next/*.deb; do
		step "lintian finds no error in ${p#next/}" lintian --allow-root --fail-on error "$p"
	done
fi
printf '1..%d\n' $results
[ $failures -eq 0 ]
