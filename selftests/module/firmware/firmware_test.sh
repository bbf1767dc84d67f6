#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# firmware_test.sh TOOL NOUVEAU.ko[.xz]...: kvgpu-firmware on real modules and on damaged ones. TAP on stdout.
set -u
tool=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

ok() { n=$((n + 1)); printf 'ok %d - %s\n' "$n" "$1"; }
not_ok() { n=$((n + 1)); printf 'not ok %d - %s\n' "$n" "$1"; sed 's/^/# /' "$work/err"; }

# refuses NAME ARGS...: exit code 1, says something, writes nothing
refuses()
{
	local name=$1 rc
	shift
	rm -f "$work/out"
	"$tool" --output "$work/out" "$@" >"$work/log" 2>"$work/err"
	rc=$?
	if [ "$rc" -eq 1 ] && [ -s "$work/err" ] && [ ! -e "$work/out" ] && grep -q '^kvgpu-firmware: ' "$work/err"; then
		ok "refused: $name"
	else
		not_ok "refused: $name (exit code $rc)"
	fi
}

sums=""
for ko in "$@"; do
	if "$tool" --quiet --module "$ko" --output "$work/fw" 2>"$work/err" && "$tool" --check "$work/fw" >"$work/log" 2>&1; then
		ok "extracted from $(sed -n 's/.*nouveau of \([^,]*\),.*/\1/p' "$work/log")"
	else
		not_ok "extracted from $ko"
	fi
	sums+="$(sed -n 's/.*crc32 //p' "$work/log")"$'\n'
done
# nouveau may correct its lists in one kernel
echo "# crc32 of the contents: $(sort <<<"${sums%$'\n'}" | uniq -c | xargs)"

ko=$work/nouveau.ko
case $1 in *.xz) xz -dc "$1" >"$ko" ;; *) cp "$1" "$ko" ;; esac
refuses "a file that does not exist" --module "$work/none.ko"
head -c 100000 "$ko" >"$work/cut.ko"; refuses "a module cut short" --module "$work/cut.ko"
head -c 70000 /dev/urandom >"$work/noise.ko"; refuses "noise" --module "$work/noise.ko"
cp /bin/true "$work/true.ko"; refuses "an ordinary program" --module "$work/true.ko"
objcopy --strip-all "$ko" "$work/stripped.ko" 2>/dev/null; refuses "a stripped module" --module "$work/stripped.ko"
for sym in gk110_grhub_code gk110_grctx_pack_hub gk110_gr_pack_mmio gk110b_grctx_pack_tpc; do
	objcopy --redefine-sym $sym=renamed "$ko" "$work/renamed.ko"
	refuses "a module without $sym" --module "$work/renamed.ko"
done
xz -kc "$ko" | head -c 200000 >"$work/cut.ko.xz"; refuses "damaged xz data" --module "$work/cut.ko.xz"
refuses "a kernel that is not installed" --kernel 0.0.0-none

# an object whose .modinfo ends the file without a NUL: kvgpu-firmware must not read beyond its end
python3 - "$work/open.ko" <<'END'
import struct
import sys
names = b"\0.symtab\0.strtab\0.shstrtab\0.modinfo\0"
sections = [(b".symtab", 2, 2, 24, bytes(24)), (b".strtab", 3, 0, 0, b"\0"), (b".shstrtab", 3, 0, 0, names),
            (b".modinfo", 1, 0, 0, b"vermagic=6.1.0")]
heads, body, start = bytes(64), b"", 64 + 64 * (len(sections) + 1)
for name, kind, link, entsize, data in sections:
    heads += struct.pack("<IIQQQQIIQQ", names.index(name), kind, 0, 0, start + len(body), len(data), link, 0, 1, entsize)
    body += data
head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 5, 3)
with open(sys.argv[1], "wb") as f:
    f.write(head + heads + body)
END
refuses "a module whose .modinfo does not end" --module "$work/open.ko"

# the count in a list's first entry becomes 0, as if entries had another size: that must be noticed
off=$(nm -S "$ko" | awk '$4 == "gk110_grctx_init_icmd_0" { print $1 }')
sec=$(readelf -SW "$ko" | awk '$2 == ".rodata" || $3 == ".rodata" { for (i = 1; i <= NF; i++) if ($i == "PROGBITS") print $(i + 2) }' | head -n 1)
cp "$ko" "$work/odd.ko"
printf '\0' | dd of="$work/odd.ko" bs=1 seek=$((0x$sec + 0x$off + 4)) conv=notrunc 2>/dev/null
refuses "a list that ends in its middle" --module "$work/odd.ko"

# the written file: a changed byte is noticed, at each of these places
"$tool" --quiet --module "$ko" --output "$work/fw" 2>"$work/err"
size=$(stat -c %s "$work/fw") bad=0
for i in 0 9 13 17 21 25 30 200 500 $((size / 2)) $((size - 1)); do
	cp "$work/fw" "$work/flip"
	printf '\xa5' | dd of="$work/flip" bs=1 seek="$i" conv=notrunc 2>/dev/null
	cmp -s "$work/fw" "$work/flip" && continue
	"$tool" --check "$work/flip" >/dev/null 2>"$work/err" && bad=$((bad + 1))
done
if [ "$bad" -eq 0 ]; then ok "a damaged firmware file is noticed"; else not_ok "$bad damaged firmware files pass"; fi
# the checksum does not cover the origin (at byte 32), which its maker chose
cp "$work/fw" "$work/sent"
printf 'a\033]0;b\007\303\251' | dd of="$work/sent" bs=1 seek=32 conv=notrunc 2>/dev/null
"$tool" --check "$work/sent" >"$work/log" 2>"$work/err"
if grep -q 'nouveau of a?\]0;b???' "$work/log" && ! LC_ALL=C grep -q '[^ -~]' "$work/log"; then
	ok "an origin reaches no terminal but as what can be printed"
else
	not_ok "an origin reaches no terminal but as what can be printed"
fi
"$tool" --check /dev/null >/dev/null 2>"$work/err"
if [ $? -eq 1 ]; then ok "an empty firmware file is refused"; else not_ok "an empty firmware file is refused"; fi

if "$tool" --quiet --module "$ko" --output "$work/a/b/c/fw" 2>"$work/err" && [ -s "$work/a/b/c/fw" ]; then
	ok "missing directories are made"
else
	not_ok "missing directories are made"
fi

# another user of the output's folder made a link of the name that was written first
mkdir "$work/shared" && echo kept >"$work/victim" && ln -s "$work/victim" "$work/shared/fw.new"
if "$tool" --quiet --module "$ko" --output "$work/shared/fw" 2>"$work/err" && [ "$(cat "$work/victim")" = kept ] &&
	"$tool" --check "$work/shared/fw" >/dev/null && [ "$(ls "$work/shared")" = $'fw\nfw.new' ] &&
	[ "$(stat -c '%F %a' "$work/shared/fw")" = "regular file 644" ]; then
	ok "no link is followed in the output's folder"
else
	not_ok "no link is followed in the output's folder"
fi

# installed: runs the tool with --installed where /lib/modules has the folders of $work/lib/modules; a machine may have no /lib/modules
installed()
{
	# shellcheck disable=SC2016
	unshare --mount sh -c 'lib=$(realpath /lib) && mount -t overlay overlay -o "lowerdir=$1:$lib" "$lib" && mount --bind "$1/modules" "$lib/modules" &&
		exec "$2" --installed --output "$3"' sh "$work/lib" "$tool" "$work/fw" >"$work/log" 2>"$work/err"
}
rm -f "$work/fw"
# 6.9 is older than 6.12; of 6.20 only the headers are there
mkdir -p "$work"/lib/modules/{6.9.1-amd64,6.12.1-amd64}/kernel/drivers/gpu/drm/nouveau "$work/lib/modules/6.13.1-cloud-amd64/kernel" "$work/lib/modules/6.20.1-amd64/build"
installed
if [ $? -eq 1 ] && [ "$(grep -c 'has no nouveau.ko$' "$work/err")" -eq 3 ] && grep -q 'install linux-image-amd64' "$work/err" && [ ! -e "$work/fw" ]; then
	ok "--installed says that no kernel has a nouveau.ko"
else
	not_ok "--installed says that no kernel has a nouveau.ko"
fi
for release in 6.9.1-amd64 6.12.1-amd64; do cp "$ko" "$work/lib/modules/$release/kernel/drivers/gpu/drm/nouveau/nouveau.ko"; done
if installed && [ "$(cat "$work/err")" = "kvgpu-firmware: kernel 6.13.1-cloud-amd64 has no nouveau.ko" ] && "$tool" --check "$work/fw" >/dev/null; then
	ok "--installed goes on where the newest kernel has none"
else
	not_ok "--installed goes on where the newest kernel has none"
fi
rm -f "$work/fw"
cp "$work/stripped.ko" "$work/lib/modules/6.12.1-amd64/kernel/drivers/gpu/drm/nouveau/nouveau.ko"
if installed && [ "$(wc -l <"$work/err")" -eq 2 ] && "$tool" --check "$work/fw" >/dev/null; then
	ok "--installed goes on to the kernel before one whose nouveau.ko it can't read"
else
	not_ok "--installed goes on to the kernel before one whose nouveau.ko it can't read"
fi

"$tool" --installed --module y >/dev/null 2>"$work/err"
if [ $? -eq 2 ]; then ok "two sources give exit code 2"; else not_ok "two sources give exit code 2"; fi
"$tool" --kernel x --module y >/dev/null 2>"$work/err"
if [ $? -eq 2 ]; then ok "wrong usage gives exit code 2"; else not_ok "wrong usage gives exit code 2"; fi
printf '1..%d\n' "$n"
