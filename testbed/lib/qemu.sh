# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The arguments of the QEMU that runs the server. QEMU runs chrooted in the tools root, where the
# supervisor has mounted /tb/run (sockets), /tb/bed (share/ and log/), /tb/image, /tb/boot
# (kernels), /tb/inside, and /tb/machine or /tb/snapshot and /tb/memory if the bed has them.

# A CPU with SVM, so that the server's own KVM works. erms, fsrm, fzrm and fsrs would make the
# kernel use string instructions for every copy, and TCG is slow at these.
SERVER_CPU=EPYC,+svm,+npt,-erms,-fsrm,-fzrm,-fsrs
SERVER_CPU+=,-fxsr-opt,-misalignsse,-osvw,-topoext,-nrip-save,-xsavec

# All memory but the first 512 MiB lies above 4 GiB. Without any there the firmware of QEMU puts the
# ports' windows for 64-bit BARs below 1 TiB, into what an AMD CPU keeps for HyperTransport, and the
# kernel finds no place for the card's BAR1 and BAR3.
LOW_MEMORY=512M

qemu_arguments()
{
	QEMU=(
		-name "$NAME" -nodefaults -no-user-config -display none -no-reboot
		-machine "q35,memory-backend=mem,max-ram-below-4g=$LOW_MEMORY,sata=off,smbus=off,i8042=off"
		-accel tcg,thread=multi
		-cpu "${KVGPU_TB_CPU:-$SERVER_CPU}" -smp "$CPUS" -m "$MEM"
		-object "$(memory_object),id=mem,size=$MEM,share=on"
		-device virtio-rng-pci
		-netdev user,id=net,hostfwd=tcp:127.0.0.1:0-:22 -device virtio-net-pci,netdev=net,romfile=
		-fsdev local,id=share,path=/tb/bed/share,security_model=none,multidevs=remap
		-device virtio-9p-pci,fsdev=share,mount_tag=share
		-fsdev local,id=inside,path=/tb/inside,security_model=none,readonly=on
		-device virtio-9p-pci,fsdev=inside,mount_tag=inside
		-chardev socket,id=serial,path=/tb/run/serial.sock,server=on,wait=off,logfile=/tb/bed/log/server.log,logappend=on
		-serial chardev:serial
		-chardev socket,id=monitor,path=/tb/run/monitor.sock,server=on,wait=off
		-monitor chardev:monitor
		-qmp unix:/tb/run/qmp.sock,server=on,wait=off
		-d cpu_reset -D /tb/bed/log/reset.log
	)
	case $IOMMU in
	amd) QEMU+=(-device amd-iommu,dma-remap=on,intremap=on) ;;
	intel) QEMU+=(-device intel-iommu,caching-mode=on,intremap=on) ;;
	esac
	if [ -n "$MACHINE" ]; then machine_arguments; else image_arguments; fi
	if [ -n "$SNAPSHOT" ]; then snapshot_arguments; else for_cards card_arguments; fi
	[ -z "$BARMAP" ] || for_cards helper_arguments
}

# memory_object: prints QEMU's object for the server's memory
memory_object()
{
	if [ -n "$SNAPSHOT" ]; then echo memory-backend-file,mem-path=/tb/memory/server; else echo memory-backend-memfd; fi
}

image_arguments()
{
	QEMU+=(
		-kernel "/tb/boot/kernel-$KERNEL" -initrd "/tb/boot/initrd-$KERNEL"
		-append "$(kernel_arguments)"
		-drive file=/tb/image/root.erofs,format=raw,if=none,id=image,readonly=on,file.locking=off
		-device virtio-blk-pci,drive=image
	)
}

card_arguments() # CARD: adds a PCIe port with the card, which the GPU model serves by vfio-user
{
	local port gpu
	port=$(of_card gpu-port "$1") gpu=$(of_card gpu "$1")
	QEMU+=(
		-device "pcie-root-port,id=$port,bus=pcie.0,chassis=$1"
		-device '{"driver":"vfio-user-pci","bus":"'"$port"'","socket":{"path":"/tb/run/'"$gpu"'.sock","type":"unix"}}'
	)
}

helper_arguments() # CARD: adds the plugin by which the GPU model maps BAR pages into QEMU
{
	QEMU+=(-plugin "/tb/run/plugin.so,socket=/tb/run/$(of_card plugin "$1").sock")
}

# kernel_arguments: prints the command line of the server's kernel.
# Mitigations cost time and protect nothing here. no_timer_check: at boot a kernel that is not a
# guest of KVM expects four ticks of its timer within 40 ms of its time stamp counter, and panics
# without them ("IO-APIC + timer doesn't work!").
kernel_arguments()
{
	local arguments="console=ttyS0 panic=-1 tb.role=server net.ifnames=0"
	# name and shared folders must not be part of a snapshot: inside/settle sets them later
	if [ -n "$SNAPSHOT" ]; then arguments+=" tb.hostname=server tb.share=later"; else arguments+=" tb.hostname=$NAME"; fi
	arguments+=" mitigations=off tsc=reliable random.trust_cpu=on nowatchdog systemd.show_status=false systemd.ssh_auto=no"
	arguments+=" systemd.mask=user@0.service"
	[ "$CPUS" = 1 ] || arguments+=" nohz_full=1-$((CPUS - 1)) rcu_nocbs=1-$((CPUS - 1))"
	arguments+=" no_timer_check modprobe.blacklist=nouveau,$(needless_modules)"
	! is_debug_kernel "$KERNEL" || arguments+=" $(slow_arguments)"
	case $IOMMU in
	amd) arguments+=" amd_iommu=on" ;;
	intel) arguments+=" intel_iommu=on" ;;
	esac
	printf '%s %s\n' "$arguments" "$APPEND"
}

# needless_modules: prints modules that udev would load for the chipset and the CPU.
needless_modules()
{
	local -a modules=(lpc_ich iTCO_wdt pcspkr intel_rapl_msr aesni_intel ghash_clmulni_intel sha512_ssse3 sha256_ssse3
		sha1_ssse3 crct10dif_pclmul crc32_pclmul crc32c_intel)
	(IFS=,; printf '%s\n' "${modules[*]}")
}

# monitor_command TEXT: sends a command to QEMU's monitor, and prints its answer
monitor_command()
{
	printf '%s\n' "$1" | socat -t 2 - "UNIX-CONNECT:$(bed_run)/monitor.sock" | tr -d '\r'
}
