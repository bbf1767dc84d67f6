# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tb help, which tb also prints for --help and -h as the first word after a command. Every command
# and option for a person must be here; selftests/system/documents checks documents against this text.

cmd_help()
{
	cat <<'EOF'
tb: a server with a Tesla K20m in it, made of QEMU and the GPU model

  tb setup [--refresh] [--prune] [--debug-kernel]
                                   make everything that is made once (up, build-exec, machine, kernels
                                   and kernel-tree do it first);
                                   --refresh takes newer packages, --prune drops old results;
                                   --debug-kernel builds the debug kernel, too (9 minutes of CPU time, once)
  tb up [options]                  boot the server; returns when it is ready
      --driver nouveau|kvgpu|vfio-pci|none   what holds the GPU (default none)
      --kernel KERNEL              a suite that "tb kernels" lists, or its role: base (default), oldest,
                                   newest; or debug (KASAN, lockdep, kmemleak)
      --mem SIZE  --cpus N         of the server (default 4G, 2; its guests use all but CPU 0)
      --cards N                    GPUs, each with a model of its own (default 1, at most 8)
      --no-gpu                     no GPU at all
      --no-barmap                  do not map BAR pages into QEMU (slower, same results)
      --model-args "..."           further arguments for the GPU model, of each card
      --iommu none|amd|intel       (default none; amd with --driver vfio-pci)
      --boot                       boots in any case; else the server goes on from a snapshot of one that
                                   has booted (the first of its kind saves it)
      --append "..."               further arguments for the server's kernel
  tb run [-- CMD...]               run CMD as root in the server; a shell without CMD
                                   exit status: that of CMD; 125 if there is no bed to run it in
  tb share                         print the folder that the server sees as /share
  tb status                        exit status 0 up, 1 starting, 3 down, 4 dead
  tb log [server|model|model-N|qemu|supervisor] [-f]   model-N: of the Nth card, from the second on
  tb console                       the server's serial console
  tb down                          end it all

  tb guest start GUEST [--mem SIZE] [--cpus N] [--full] [--type 512m|1g|2g|4g|card] [--reboots]
                 [--busy] [--aperture FILE] a guest in the server, under KVM; with a vGPU of that type, or with
                                   the card (--driver vfio-pci); --type 512m@2: of the second card,
                                   512m@1,512m@2: one of each; --reboots: it comes back when it reboots,
                                   else that is its end; --busy: it has work most of the time (its timer
                                   ticks always, which is cheaper then); --aperture: with a file of the
                                   server as memory that it shares (virtio-pmem)
  tb guest run GUEST -- CMD...     run CMD in it        tb guest stop GUEST
  tb guest list                    tb guest stats       starts, deaths by cause, restarts

  tb build-exec -- CMD...          run CMD in the root in which programs for the server are built
  tb machine [--secure-boot] [--from ROOT] DIR
                                   an ordinary Debian 13 on a disk of its own, kept from boot to boot:
                                   tb up --machine DIR (its own kernel, initramfs and drivers); with
                                   --secure-boot its firmware boots Debian's shim and GRUB from the disk;
                                   --from: made of another root file system than the one whose path
                                   tb machine --root prints
  tb image                         print the folder of the server's image, kernels and initramfs (for guests
                                   that a machine starts by itself)
  tb kernels                       suite, release and role of each of the server's kernels
  tb kernel-tree [--key] KERNEL    where modules for that kernel are built, in that root; --key: and what
                                   stands for the kernel and its compiler

Every command on a bed takes --name NAME between the command and its other words: tb up --name NAME,
tb guest --name NAME start g1. Without it the bed is $KVGPU_TB_NAME, or "default".
EOF
}
