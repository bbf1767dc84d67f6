// SPDX-License-Identifier: MIT
/*
 * The system calls that a client's process may make: memory, files, threads, time, waiting, devices
 * (ioctl), and UNIX sockets, but no connection. It can't start, trace or signal another process.
 * Other calls fail with EPERM, as for a user without permission; with FILTER_LOG they are carried
 * out, and the kernel's log has them. clone3() fails with ENOSYS, connect() with ENOENT. A call of
 * another architecture ends the process.
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor.h"

static const int allowed[] = {
	/* memory */
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_madvise,
	SYS_mincore,
	SYS_mlock,
	SYS_mlock2,
	SYS_munlock,
	SYS_msync,
	SYS_brk,
	SYS_memfd_create,
	SYS_membarrier,
	SYS_mbind,
	SYS_get_mempolicy,
	SYS_set_mempolicy,
	/* files, as its user may */
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_preadv,
	SYS_pwritev,
	SYS_lseek,
	SYS_openat,
	SYS_close,
	SYS_close_range,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_statfs,
	SYS_fstatfs,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_flock,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fadvise64,
	SYS_fchmod,
	SYS_dup,
	SYS_dup3,
	SYS_pipe2,
	SYS_mkdirat,
	SYS_unlinkat,
	SYS_umask,
	/* waiting */
	SYS_ppoll,
	SYS_pselect6,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_eventfd2,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_timerfd_gettime,
	SYS_futex,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_restart_syscall,
	/* threads; clone() is below */
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_rseq,
	SYS_set_tid_address,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
	SYS_getpriority,
	SYS_getcpu,
	SYS_exit,
	SYS_exit_group,
	/* the process's own signals */
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend,
	SYS_sigaltstack,
	/* questions about the process and the machine */
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getresuid,
	SYS_getresgid,
	SYS_getgroups,
	SYS_uname,
	SYS_sysinfo,
	SYS_getrlimit,
	SYS_getrusage,
	SYS_times,
	SYS_getrandom,
	SYS_capget,
	/* the client's connection */
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_shutdown,
	SYS_getsockopt,
	SYS_getsockname,
	SYS_getpeername,
	/* NVIDIA's library listens at UNIX sockets, for memory that processes share: in cuInit() */
	SYS_bind,
	SYS_listen,
	SYS_accept4,
	SYS_symlinkat,
#ifdef __x86_64__
	SYS_arch_prctl,
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_dup2,
	SYS_pipe,
	SYS_mkdir,
	SYS_rmdir,
	SYS_unlink,
	SYS_symlink,
	SYS_accept,
	SYS_poll,
	SYS_select,
	SYS_epoll_create,
	SYS_epoll_wait,
	SYS_eventfd,
	SYS_time,
#endif
};

enum { NR_ALLOWED = sizeof(allowed) / sizeof(*allowed), OTHERS = 128 };

#ifdef __x86_64__
#define ARCH	AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u
#else
#define ARCH	AUDIT_ARCH_AARCH64
#define X32_BIT 0xffffffffu
#endif

struct code {
	struct sock_filter at[2 * NR_ALLOWED + OTHERS];
	unsigned int n;
};

static void put_instruction(struct code *c, uint16_t what, uint32_t k, uint8_t yes, uint8_t no)
{
	c->at[c->n++] = (struct sock_filter){ what, yes, no, k };
}

static void load_word(struct code *c, size_t at)
{
	put_instruction(c, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
}

static void give_result(struct code *c, uint32_t result)
{
	put_instruction(c, BPF_RET | BPF_K, result, 0, 0);
}

/* the offset of the low word of an argument */
static size_t argument(unsigned int i)
{
	return offsetof(struct seccomp_data, args) + 8 * i;
}

/*
 * call @nr is allowed where the low word of its first argument is @what (BPF_JEQ), or has one of
 * its bits (BPF_JSET)
 */
static void put_argument(struct code *c, uint32_t nr, uint16_t how, uint32_t what, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4);
	load_word(c, argument(0));
	put_instruction(c, BPF_JMP | how | BPF_K, what, 0, 1);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/* call @nr is allowed if its first argument is 0 or this process's number */
static void put_self(struct code *c, uint32_t nr, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 5);
	load_word(c, argument(0));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, getpid(), 0, 1);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/* setpriority(PRIO_PROCESS, 0): of the calling thread */
static void put_priority(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_setpriority, 0, 6);
	load_word(c, argument(0));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, PRIO_PROCESS, 0, 3);
	load_word(c, argument(1));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/*
 * fork() fails, a new thread does not. clone3() has its flags in memory: it gives ENOSYS, and the C
 * library falls back to clone().
 */
static void put_clone(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	give_result(c, SECCOMP_RET_ERRNO | ENOSYS);
	put_argument(c, SYS_clone, BPF_JSET, CLONE_THREAD, refused);
}

/* call @nr is allowed, but not where the low word of its argument @arg is one of @not */
static void put_but(struct code *c, uint32_t nr, unsigned int arg, const uint32_t * not,
		    unsigned int n, uint32_t refused)
{
	unsigned int i;

	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, n + 3);
	load_word(c, argument(arg));
	for (i = 0; i < n; i++)
		put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, not [i], n - i, 0);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/*
 * No new connection: neither to a daemon of this machine, such as the journal, nor of the client's
 * TCP socket to another machine. To a library that looks for a daemon there seems to be none.
 */
static void put_connect(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1);
	give_result(c, refused == SECCOMP_RET_LOG ? refused : SECCOMP_RET_ERRNO | ENOENT);
}

/* The first process has the client's socket, too: a close() of its own must not wait (rights.h). */
static void put_setsockopt(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 6);
	load_word(c, argument(1));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SOL_SOCKET, 0, 2);
	load_word(c, argument(2));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SO_LINGER, 1, 0);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/* sendto() is allowed, but not with an address, nor with MSG_FASTOPEN, which connects */
static void put_sendto(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 0, 8);
	load_word(c, argument(3));
	put_instruction(c, BPF_JMP | BPF_JSET | BPF_K, MSG_FASTOPEN, 5, 0);
	load_word(c, argument(4));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	load_word(c, argument(4) + 4);
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/* the same of sendmsg(), but its address is in memory; filter_tighten() refuses the call */
static void put_sendmsg(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 4);
	load_word(c, argument(2));
	put_instruction(c, BPF_JMP | BPF_JSET | BPF_K, MSG_FASTOPEN, 1, 0);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

/*
 * ioctl() is for devices, not to type into a terminal. Neither ioctl() nor fcntl() may make a
 * descriptor send signals.
 */
static void put_commands(struct code *c, uint32_t refused)
{
	static const uint32_t ioctls[] = { TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP };
	static const uint32_t fcntls[] = { F_SETOWN, F_SETOWN_EX, F_SETSIG };

	put_but(c, SYS_ioctl, 1, ioctls, sizeof(ioctls) / sizeof(*ioctls), refused);
	put_but(c, SYS_fcntl, 1, fcntls, sizeof(fcntls) / sizeof(*fcntls), refused);
}

/*
 * What child.c and confine.c have set stays. A process that is dumpable may write its own files in
 * /proc, such as oom_score_adj.
 */
static void put_prctl(struct code *c, uint32_t refused)
{
	static const uint32_t options[] = { PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_SECCOMP };

	put_but(c, SYS_prctl, 0, options, sizeof(options) / sizeof(*options), refused);
}

/* a further filter for all threads, which filter_tighten() installs */
static void put_seccomp(struct code *c, uint32_t refused)
{
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 6);
	load_word(c, argument(0));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_SET_MODE_FILTER, 0, 3);
	load_word(c, argument(1));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_FILTER_FLAG_TSYNC, 0, 1);
	give_result(c, SECCOMP_RET_ALLOW);
	give_result(c, refused);
}

static void write_code(struct code *c, uint32_t refused)
{
	unsigned int i;

	load_word(c, offsetof(struct seccomp_data, arch));
	put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	give_result(c, SECCOMP_RET_KILL_PROCESS);
	load_word(c, offsetof(struct seccomp_data, nr));
	put_instruction(c, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	give_result(c, SECCOMP_RET_KILL_PROCESS);
	for (i = 0; i < NR_ALLOWED; i++) {
		put_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
		give_result(c, SECCOMP_RET_ALLOW);
	}
	put_commands(c, refused);
	put_prctl(c, refused);
	put_clone(c, refused);
	/* no socket of a network; socketpair() makes sockets of families that have no pairs, too */
	put_argument(c, SYS_socket, BPF_JEQ, AF_UNIX, refused);
	put_argument(c, SYS_socketpair, BPF_JEQ, AF_UNIX, refused);
	put_connect(c, refused);
	put_setsockopt(c, refused);
	put_sendto(c, refused);
	put_sendmsg(c, refused);
	put_seccomp(c, refused);
	/* NVIDIA's library reads its own memory by this call */
	put_argument(c, SYS_process_vm_readv, BPF_JEQ, getpid(), refused);
	/* of this process: abort() and raise(), limits, CPUs, priorities */
	put_argument(c, SYS_tgkill, BPF_JEQ, getpid(), refused);
	put_self(c, SYS_prlimit64, refused);
	put_self(c, SYS_sched_setaffinity, refused);
	put_self(c, SYS_sched_setscheduler, refused);
	put_priority(c, refused);
	give_result(c, refused);
}

static uint32_t refusal(enum conf_filter filter)
{
	return filter == FILTER_LOG ? SECCOMP_RET_LOG : SECCOMP_RET_ERRNO | EPERM;
}

int filter_install(enum conf_filter filter)
{
	static struct code code;
	struct sock_fprog program;

	if (filter == FILTER_OFF)
		return 0;
	code.n = 0;
	write_code(&code, refusal(filter));
	program = (struct sock_fprog){ code.n, code.at };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/*
 * A message can carry a descriptor, for one of a GPU's nodes, which stays open when this process
 * has ended. What a message carries is in memory, which a filter can't see: so sendmsg() is
 * refused. Names of sockets are refused, as other clients' processes need theirs. Threads that the
 * library has made are there by now.
 */
int filter_tighten(enum conf_filter filter)
{
	static const uint32_t calls[] = { SYS_sendmsg, SYS_seccomp, SYS_bind, SYS_listen };
	enum { CALLS = sizeof(calls) / sizeof(*calls) };
	struct code code = { .n = 0 };
	struct sock_fprog program = { .filter = code.at };
	unsigned int i;
	long r;

	if (filter == FILTER_OFF)
		return 0;
	load_word(&code, offsetof(struct seccomp_data, nr));
	for (i = 0; i < CALLS; i++)
		put_instruction(&code, BPF_JMP | BPF_JEQ | BPF_K, calls[i], CALLS - i, 0);
	give_result(&code, SECCOMP_RET_ALLOW);
	give_result(&code, refusal(filter));
	program.len = code.n;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	/* more than 0: the number of a thread that has another filter */
	return r < 0 ? -errno : r ? -EINVAL : 0;
}
