#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# admin.sh CARD VGPU: what an admin has beside the module, in a machine with kvgpu installed and VGPU, a kvgpu-512m: profile,
# metrics, report. Leaves the machine as it was. The first command that fails ends it.
set -eux
card=/sys/bus/pci/drivers/kvgpu/$1 vgpu=/sys/bus/mdev/devices/$2 profile=/etc/kvgpu/profile.conf
another=5d0f3c7e-2a41-4f0e-9b7d-0c3b6a1d5e02
cp $profile /root/profile.before
printf '[card]\npolicy = equal-share\ntypes = 512m 1g\n[type 512m]\nweight = 250\n' >$profile
systemctl daemon-reload
udevadm control --reload
systemctl start kvgpu-profile
[ "$(cat $card/kvgpu/policy)" = equal-share ]
[ "$(cat $vgpu/kvgpu/weight)" = 250 ]

: a wrong line is named, and nothing changes
sed -i 's/250/many/' $profile
if systemctl reload kvgpu-profile; then exit 1; fi
journalctl --sync
journalctl -u kvgpu-profile -o cat | grep "$profile:5: weight takes a number from 1 to 10000, not 'many'"
[ "$(cat $vgpu/kvgpu/weight)" = 250 ]

: a reload, and a vGPU that is made later
sed -i 's/many/300/' $profile
systemctl reload kvgpu-profile
[ "$(cat $vgpu/kvgpu/weight)" = 300 ]
mdevctl start --uuid $another --parent "$1" --type kvgpu-512m
udevadm settle
[ "$(cat /sys/bus/mdev/devices/$another/kvgpu/weight)" = 300 ]
mdevctl stop --uuid $another
if mdevctl start --uuid $another --parent "$1" --type kvgpu-2g; then exit 1; fi
[ ! -e /sys/bus/mdev/devices/$another ]

: metrics
systemctl start kvgpu-prometheus.socket
exec 3<>/dev/tcp/127.0.0.1/9479
printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3
timeout 60 cat <&3 >/root/metrics
exec 3>&-
grep "kvgpu_vgpu_weight{gpu=\"$1\",vgpu=\"$2\"} 300" /root/metrics
grep 'kvgpu_firmware_present{kernel=".*"} 1' /root/metrics
grep "kvgpu_gpu_available_vgpus{gpu=\"$1\",type=\"kvgpu-512m\"}" /root/metrics
grep "kvgpu_gpu_lost{gpu=\"$1\"} 0" /root/metrics
systemctl stop kvgpu-prometheus.socket

: report and plan
kvgpu-report >/root/report
grep "== card $1" /root/report
grep '== vGPU vgpu-1 of kvgpu-512m' /root/report
if grep "$2" /root/report; then exit 1; fi
kvgpu-top --plan 512m=4,2g=1 | grep "$1: yes"
if kvgpu-top --plan 512m=20; then exit 1; fi

: as it was
mv /root/profile.before $profile
echo best-effort >$card/kvgpu/policy
echo 100 >$vgpu/kvgpu/weight
systemctl stop kvgpu-profile
rm /root/metrics /root/report
