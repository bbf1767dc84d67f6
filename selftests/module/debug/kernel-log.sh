# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced after cell.sh, by run.sh and ../vfio/run.sh: what the server's kernel has to complain of, and what kmemleak finds
# shellcheck disable=SC2154

# patterns of lines in reports of the kernel
COMPLAINTS='WARNING:|BUG:|Oops|Call Trace|KASAN:|possible circular|possible recursive|inconsistent lock state|suspicious RCU|invalid wait context|ODEBUG:|leaked|hung_task|blocked for more'

# without_core: leaves out the kernel's own report that VFIO's core makes where it has no memory for the group of a new vGPU: it drops the
# group with its IOMMU group still in it (vfio_create_group(), drivers/vfio/group.c). A report of another path stays.
without_core()
{
	awk '
		/WARNING: .*vfio_group_release/ { held = 1; own = 1; text = "" }
		!held { print; next }
		{ text = text $0 "\n" }
		/vfio_create_group\+/ { own = 0 }
		/end trace/ { if (own) printf "%s", text; held = 0 }
		END { if (held) printf "%s", text }'
}

# kernel_says: prints its log; with failed_on_purpose set, without the stacks of failed allocations and without_core
kernel_says()
{
	if [ -n "${failed_on_purpose-}" ]; then
		in_server dmesg | without_core | awk '/vmalloc error:|page allocation failure:/ { own = 1 } own && /Call Trace:/ { own = 0; next } { print }'
	else
		in_server dmesg
	fi
}

quiet_kernel()
{
	local said found

	said=$(kernel_says)
	found=$(grep -E "$COMPLAINTS" <<<"$said" | head -n 5)
	[ -z "$found" ] || grep -E -m 1 -A 60 "$COMPLAINTS" <<<"$said" | sed 's/^/# kernel: /'
	result "$([ -z "$found" ]; echo $?)" "the server's kernel has nothing to complain of: $1" "$found"
}

# lockdep_on: one test: lockdep still works. It goes silent after its first report.
lockdep_on()
{
	case $kernel in debug) ;; *) return 0 ;; esac
	in_server grep -q '^ *debug_locks: *1' /proc/lockdep_stats
	result $? "lockdep watched to the end"
}

# one test or more: kmemleak knows no lost memory of kvgpu, VFIO or mdev. It reports what two scans
# find unchanged.
no_leaks()
{
	local found

	case $kernel in debug) ;; *) return 0 ;; esac
	lockdep_on
	LIMIT=900 in_server sh -c 'echo scan > /sys/kernel/debug/kmemleak; sleep 6; echo scan > /sys/kernel/debug/kmemleak'
	result $? "kmemleak looks"
	found=$(in_server cat /sys/kernel/debug/kmemleak | grep -B 12 -A 3 -E 'kvgpu|vfio|mdev' | head -n 60)
	[ -z "$found" ] || printf '%s\n' "$found" | sed 's/^/# kmemleak: /'
	result "$([ -z "$found" ]; echo $?)" "no memory of kvgpu, VFIO or mdev is lost"
}
