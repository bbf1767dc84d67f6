# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The options of tb up, and --name, which all commands on a bed take.

NAME=${KVGPU_TB_NAME:-default}
REST=()
MOST_CARDS=8

# bed_options ARG...: takes --name from the front of the arguments, and leaves all others in REST
bed_options()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--name) need_value "$1" $#; NAME=$2; shift 2 ;;
		--name=*) NAME=${1#*=}; shift ;;
		*) break ;;
		esac
	done
	check_name
	REST=("$@")
}

no_more_arguments() # COMMAND: ends tb if arguments are left in REST
{
	[ ${#REST[@]} -eq 0 ] || usage_error "$1: unknown argument '${REST[0]}'"
}

check_size() # OPTION VALUE: ends tb if VALUE is no size of memory
{
	[[ $2 =~ ^[1-9][0-9]*[MG]$ ]] || usage_error "$1 wants a size such as 512M or 4G, not '$2'"
}

check_count() # OPTION VALUE [MOST]: ends tb if VALUE is not a number from 1 to MOST (99)
{
	{ [[ $2 =~ ^[1-9][0-9]?$ ]] && [ "$2" -le "${3:-99}" ]; } ||
		usage_error "$1 wants a number from 1 to ${3:-99}, not '$2'"
}

# up_defaults: sets the options of tb up. BED_PARAMETERS (bed.sh) must have those that the supervisor
# or a later command reads, and help.sh all that a person can give.
up_defaults()
{
	KERNEL=$(default_kernel) DRIVER=none MEM=4G CPUS=2 GPU=yes CARDS=1 BARMAP=yes IOMMU='' MODEL='' MODEL_ARGS=''
	PLUGIN='' APPEND='' MACHINE='' SNAPSHOT=''
	# KVGPU_TB_BOOT=yes in the environment is --boot for all beds that a program starts
	BOOTS=${KVGPU_TB_BOOT-}
}

up_options()
{
	up_defaults
	while [ $# -gt 0 ]; do
		case $1 in
		--no-gpu) GPU='' ; shift; continue ;;
		--no-barmap) BARMAP=''; shift; continue ;;
		--boot) BOOTS=yes; shift; continue ;;
		--*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
		esac
		need_value "$1" $#
		case $1 in
		--name) NAME=$2 ;;
		--driver) DRIVER=$2 ;;
		--kernel) KERNEL=$2 ;;
		--mem) MEM=$2 ;;
		--cpus) CPUS=$2 ;;
		--cards) CARDS=$2 ;;
		--iommu) IOMMU=$2 ;;
		--model-args) MODEL_ARGS=$2 ;;
		--append) APPEND=$2 ;;
		--machine) MACHINE=$2 ;;
		*) usage_error "up: unknown option '$1'" ;;
		esac
		shift 2
	done
	check_up_options
}

check_up_options()
{
	local wanted=$KERNEL
	check_name
	check_size --mem "$MEM"
	check_count --cpus "$CPUS"
	check_count --cards "$CARDS" $MOST_CARDS
	[ -n "$GPU" ] || [ "$CARDS" = 1 ] || usage_error "--cards $CARDS needs the GPUs that --no-gpu leaves out"
	case $DRIVER in
	nouveau | kvgpu | vfio-pci)
		[ -n "$GPU" ] || usage_error "--driver $DRIVER needs the GPU that --no-gpu leaves out" ;;
	none) ;;
	*) usage_error "--driver is one of nouveau, kvgpu, vfio-pci, none; not '$DRIVER'" ;;
	esac
	KERNEL=$(kernel_label "$wanted") || usage_error "--kernel is one of $(kernel_names); not '$wanted'"
	if [ -n "$MACHINE" ]; then
		! is_debug_kernel "$KERNEL" || usage_error "a machine has no kernel $KERNEL"
		[ "$DRIVER" = none ] || usage_error "a machine loads its drivers itself: --machine goes with --driver none"
		[ -f "$MACHINE/disk.img" ] || usage_error "no machine in '$MACHINE'; make one: tb machine $MACHINE"
		MACHINE=$(readlink -f "$MACHINE")
	fi
	if [ -z "$IOMMU" ]; then
		# vfio-pci binds only to a device that is in an IOMMU group
		IOMMU=none
		[ "$DRIVER" != vfio-pci ] || IOMMU=amd
	fi
	case $IOMMU in
	none | amd | intel) ;;
	*) usage_error "--iommu is one of none, amd, intel; not '$IOMMU'" ;;
	esac
}
