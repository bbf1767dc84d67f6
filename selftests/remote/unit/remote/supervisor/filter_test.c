// SPDX-License-Identifier: MIT
/*
 * Things that a client's process can't do any more, and those that it still can. They are tried in
 * child processes, because the filter can't be removed.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/supervisor/supervisor.h>

#include "selftests/own_folder.h"

/* exit code of the child: 0, or a number made of the line at which the condition was false */
#define WANT(condition)                             \
	do {                                        \
		if (!(condition))                   \
			_exit(__LINE__ % 200 + 20); \
	} while (0)
#define DENIED(call) WANT((call) == -1 && errno == EPERM)

static int in_child(void (*body)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		WANT(!filter_install(FILTER_ON));
		body();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return 1000 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

static void refused(void)
{
	char *const none[] = { NULL };
	int pair[2];

	DENIED(execve("/bin/true", none, none));
	DENIED(fork());
	DENIED(vfork());
	DENIED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0));
	WANT(syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS);
	DENIED(ptrace(PTRACE_TRACEME, 0, 0, 0));
	DENIED(kill(getppid(), 0));
	DENIED(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
	DENIED(socket(AF_INET, SOCK_STREAM, 0));
	DENIED(socket(AF_INET6, SOCK_DGRAM, 0));
	DENIED(socket(AF_NETLINK, SOCK_RAW, 0));
	DENIED(socketpair(AF_INET, SOCK_STREAM, 0, pair));
	DENIED(socketpair(AF_TIPC, SOCK_RDM, 0, pair));
	DENIED(syscall(SYS_unshare, 0));
	DENIED(syscall(SYS_setns, 0, 0));
	DENIED(syscall(SYS_mount, "x", "/", "tmpfs", 0, NULL));
	DENIED(syscall(SYS_bpf, 0, NULL, 0));
	DENIED(syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0));
	DENIED(syscall(SYS_userfaultfd, 0));
	DENIED(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	DENIED(syscall(SYS_io_uring_setup, 1, NULL));
	DENIED(syscall(SYS_setuid, 0));
	DENIED(syscall(SYS_chroot, "/"));
	DENIED(syscall(SYS_personality, 0));
	DENIED(ioctl(0, TIOCSTI, "x"));
	DENIED(syscall(SYS_memfd_secret, 0));
}

/*
 * The process can't harm the first process, or other clients' processes if all run as one user: not
 * by signals, directly or for input, not by their limits, and not by a close() that waits.
 */
static void others_are_left_alone(void)
{
	struct rlimit none = { 0 };
	struct f_owner_ex owner = { F_OWNER_PID, getppid() };
	struct sched_param idle = { 0 };
	struct linger wait = { 1, 1000 };
	int pair[2], me = getppid();
	cpu_set_t cpus = { { 1 } };

	WANT(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	DENIED(syscall(SYS_tgkill, getppid(), getppid(), 0));
	DENIED(fcntl(pair[0], F_SETOWN, getppid()));
	DENIED(fcntl(pair[0], F_SETOWN_EX, &owner));
	DENIED(fcntl(pair[0], F_SETSIG, SIGKILL));
	DENIED(ioctl(pair[0], FIOSETOWN, &me));
	DENIED(ioctl(pair[0], SIOCSPGRP, &me));
	DENIED(setsockopt(pair[0], SOL_SOCKET, SO_LINGER, &wait, sizeof(wait)));
	/* another level's option of that number, and another option */
	WANT(setsockopt(pair[0], IPPROTO_TCP, SO_LINGER, "", 1) == -1 && errno == EOPNOTSUPP);
	WANT(!setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &(int){ 9999 }, sizeof(int)));
	DENIED(prlimit(getppid(), RLIMIT_CPU, NULL, &none));
	DENIED(sched_setaffinity(getppid(), sizeof(cpus), &cpus));
	DENIED(sched_setscheduler(getppid(), SCHED_IDLE, &idle));
	DENIED(setpriority(PRIO_PROCESS, getppid(), 19));
	DENIED(setpriority(PRIO_USER, 0, 19));
	/* to itself it can */
	WANT(!sched_getaffinity(0, sizeof(cpus), &cpus) &&
	     !sched_setaffinity(0, sizeof(cpus), &cpus));
	WANT(!setpriority(PRIO_PROCESS, 0, 1) && !sched_setscheduler(getpid(), SCHED_IDLE, &idle));
	WANT(!syscall(SYS_tgkill, getpid(), gettid(), 0) && !prlimit(0, RLIMIT_CORE, NULL, &none));
	WANT(!prlimit(getpid(), RLIMIT_CORE, NULL, &none) && fcntl(pair[0], F_GETFD) >= 0 &&
	     !fcntl(pair[0], F_SETFL, O_NONBLOCK));
}

/*
 * The process goes before the first process if memory is used up, and does not outlive it. To write
 * its own oom_score_adj it would have to be dumpable.
 */
static void stays_as_it_was_made(void)
{
	char name[16] = "";

	DENIED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	DENIED(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
	WANT(!prctl(PR_SET_NAME, "library", 0, 0, 0) && !prctl(PR_GET_NAME, name, 0, 0, 0));
	WANT(!strcmp(name, "library") && !prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0));
}

static void *add_one(void *arg)
{
	++*(int *)arg;
	return NULL;
}

static void goes_on(void)
{
	int one = 0, pair[2], fd;
	pthread_t t;
	char byte;
	void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	WANT(p != MAP_FAILED && !mprotect(p, 4096, PROT_READ | PROT_EXEC) && !munmap(p, 1 << 20));
	WANT(!pthread_create(&t, NULL, add_one, &one) && !pthread_join(t, NULL) && one == 1);
	WANT(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && send(pair[0], "x", 1, 0) == 1 &&
	     recv(pair[1], &byte, 1, 0) == 1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	WANT(fd >= 0);
	fd = open("/dev/null", O_RDWR);
	WANT(fd >= 0 && ioctl(fd, TIOCGWINSZ, pair) == -1 && errno == ENOTTY);
	fd = memfd_create("x", 0);
	WANT(fd >= 0 && !ftruncate(fd, 4096) && !fallocate(fd, 0, 0, 4096));
	WANT(!usleep(1) && getpid() > 0);
}

/*
 * NVIDIA's library listens at UNIX sockets, and reads its own memory to find out whether it is
 * mapped.
 */
static void as_nvidias_library_does(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char from[8] = "mapped", to[8] = "";
	struct iovec a = { to, 8 }, b = { from, 8 }, nothing = { (void *)4096, 8 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	WANT(fd >= 0 && !bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t)) && !listen(fd, 1));
	/* then names that other processes need stay theirs; who has come is let in */
	WANT(!filter_tighten(FILTER_ON));
	DENIED(bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t)));
	DENIED(listen(fd, 1));
	WANT(accept4(fd, NULL, NULL, SOCK_NONBLOCK) == -1 && errno == EAGAIN);
	WANT(process_vm_readv(getpid(), &a, 1, &b, 1, 0) == 8 && !strcmp(to, "mapped"));
	WANT(process_vm_readv(getpid(), &a, 1, &nothing, 1, 0) == -1 && errno == EFAULT);
	DENIED(process_vm_readv(getppid(), &a, 1, &b, 1, 0));
	DENIED(process_vm_writev(getpid(), &a, 1, &b, 1, 0));
}

/*
 * a socket that another process of this machine would listen at, with a name that the kernel picks
 */
static int listener(int type, struct sockaddr_un *at, socklen_t *bytes)
{
	int fd = socket(AF_UNIX, type, 0);

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*bytes = sizeof(*at);
	WANT(fd >= 0 && !bind(fd, (struct sockaddr *)at, sizeof(sa_family_t)));
	WANT(!getsockname(fd, (struct sockaddr *)at, bytes));
	WANT(type == SOCK_DGRAM || !listen(fd, 1));
	return fd;
}

/* The process reaches no daemon: the journal listens for streams and for datagrams. */
static void reaches_no_daemon(void)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
	struct sockaddr_un at;
	struct sockaddr *to = (struct sockaddr *)&at;
	struct iovec part = { "x", 1 };
	struct msghdr m = { .msg_name = to, .msg_iov = &part, .msg_iovlen = 1 };
	unsigned int i;
	int fd, pair[2];

	for (i = 0; i < 3; i++) {
		WANT(listener(types[i], &at, &m.msg_namelen) >= 0);
		fd = socket(AF_UNIX, types[i], 0);
		WANT(connect(fd, to, m.msg_namelen) == -1 && errno == ENOENT);
		DENIED(sendto(fd, "x", 1, MSG_NOSIGNAL, to, m.msg_namelen));
	}
	DENIED(sendto(fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)(1ull << 32), 16));
	WANT(listener(SOCK_DGRAM, &at, &m.msg_namelen) >= 0);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	WANT(!filter_tighten(FILTER_ON));
	DENIED(sendmsg(fd, &m, MSG_NOSIGNAL));
	WANT(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) && send(pair[0], "x", 1, 0) == 1);
}

/* one byte, and a descriptor with it */
static ssize_t send_descriptor(int to)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { "x", 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };

	memcpy(CMSG_DATA(&with.head), &to, sizeof(to));
	return sendmsg(to, &m, MSG_NOSIGNAL);
}

/* a thread that was made before filter_tighten() */
static void *send_when_told(void *arg)
{
	int *pair = arg;
	char byte;

	WANT(read(pair[0], &byte, 1) == 1);
	DENIED(send_descriptor(pair[0]));
	return NULL;
}

/* After the welcome no thread gives a descriptor away; bytes go on. */
static void gives_no_descriptor(void)
{
	static struct sock_filter all = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	static struct sock_fprog further = { 1, &all };
	struct iovec parts[2] = { { "x", 1 }, { "y", 1 } };
	int pair[2];
	pthread_t t;

	WANT(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	WANT(!pthread_create(&t, NULL, send_when_told, pair));
	WANT(send_descriptor(pair[0]) == 1);
	DENIED(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &further, 0, 0));
	DENIED(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &further));
	WANT(!filter_tighten(FILTER_ON));
	DENIED(send_descriptor(pair[0]));
	DENIED(syscall(SYS_sendmmsg, pair[0], NULL, 0, 0));
	DENIED(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &further));
	WANT(writev(pair[1], parts, 2) == 2 && !pthread_join(t, NULL));
	WANT(send(pair[1], "x", 1, MSG_NOSIGNAL) == 1);
}

static void dies(void)
{
	abort();
}

TEST(filter)
{
	assert_int_equal(in_child(refused), 0);
	assert_int_equal(in_child(others_are_left_alone), 0);
	assert_int_equal(in_child(stays_as_it_was_made), 0);
	assert_int_equal(in_child(goes_on), 0);
	assert_int_equal(in_child(as_nvidias_library_does), 0);
	assert_int_equal(in_child(reaches_no_daemon), 0);
	assert_int_equal(in_child(gives_no_descriptor), 0);
	assert_int_equal(in_child(dies), 1000 + SIGABRT);
}

TEST(off)
{
	assert_int_equal(filter_install(FILTER_OFF), 0);
	assert_int_equal(filter_tighten(FILTER_OFF), 0);
	assert_true(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
}

/*
 * Files that the next client's process with the same user would find can't be made. A file that is
 * there can be opened with O_CREAT: NVIDIA's library does so to name its threads.
 */
static void nothing_is_left(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/file", own_folder());
	WANT(open(path, O_RDWR | O_CREAT, 0600) < 0 && errno == EACCES);
	WANT(mkdir(path, 0700) && symlink("/", path) && mknod(path, S_IFIFO | 0600, 0) &&
	     errno == EACCES);
	WANT(access(path, F_OK) && errno == ENOENT);
	WANT((fd = open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0600)) >= 0 &&
	     write(fd, "x", 1) == 1);
	WANT(memfd_create("x", 0) >= 0);
}

/* As root: the process gets a user of its own, only the configured groups, and no way back. */
TEST(own_user)
{
	static struct remoted_conf conf;
	const char *what = "";
	gid_t groups[8];
	pid_t pid;
	int status;

	if (geteuid())
		skip();
	remoted_conf_default(&conf);
	conf.nr_groups = 1;
	strcpy(conf.groups[0], "daemon");
	/* all may write there, so that the filter alone forbids it */
	assert_int_equal(chmod(own_folder(), 01777), 0);
	pid = fork();
	if (!pid) {
		WANT(!confine(&conf, 5, &what));
		WANT(getuid() == conf.users + 5 && getgid() == conf.users + 5 &&
		     geteuid() == getuid());
		WANT(getgroups(8, groups) == 1 && groups[0] == 1);
		WANT(setuid(0) && setgid(0) && setgroups(0, NULL));
		WANT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && !prctl(PR_GET_DUMPABLE));
		WANT(open("/etc/shadow", O_RDONLY) < 0);
		if (folders_can_be_kept())
			nothing_is_left();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("status %x: %s", status, what);
}

/* as the driver does: no folder of its own, a file that the client's other processes may write */
static void compiles(const struct remoted_conf *conf, int fd, unsigned int slot)
{
	char path[64], text[5] = "";
	const char *what = "";

	WANT(!confine(conf, slot, &what));
	compiled_use(fd, 4096);
	WANT(!filter_install(FILTER_ON) && !filter_tighten(FILTER_ON));
	snprintf(path, sizeof(path), "%s/a/2/it", getenv("CUDA_CACHE_PATH"));
	WANT(mkdir(getenv("CUDA_CACHE_PATH"), 0700) && errno == EEXIST);
	fd = open(path, O_RDWR | O_CREAT, 0666);
	WANT(fd >= 0 && read(fd, text, 4) == (slot == 5 ? 0 : 4) && write(fd, "code", 4) == 4);
	WANT(!strcmp(text, slot == 5 ? "" : "code"));
	WANT(!fcntl(fd, F_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET }));
	strcat(path, "s");
	WANT(mkdir(path, 0700) && errno == EACCES);
	WANT((fd = open(path, O_WRONLY | O_CREAT, 0666)) >= 0 && !unlink(path));
	/* not by its name */
	WANT(access(conf->compiled_folder, X_OK) && errno == EACCES);
}

/* What the library compiles for a client is there for its next process, whose user is another. */
TEST(compiled)
{
	static struct remoted_conf conf;
	unsigned int slot;
	int fd, status;
	pid_t pid;

	if (geteuid() || !folders_can_be_kept())
		skip();
	remoted_conf_default(&conf);
	strcpy(conf.compiled_folder, own_folder());
	assert_int_equal(chmod(conf.compiled_folder, 0755), 0);
	assert_true(compiled_make(&conf) < 0);
	assert_int_equal(chmod(conf.compiled_folder, 0700), 0);
	fd = compiled_make(&conf);
	assert_true(fd > 0);
	for (slot = 5; slot < 7; slot++) {
		pid = fork();
		if (!pid) {
			compiles(&conf, fd, slot);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	compiled_drop(fd);
	assert_true(wait(&status) > 0);
}

/*
 * All processes are of one user: Landlock's rules keep a client's process out of the first
 * process's memory.
 */
TEST(one_user)
{
	static struct remoted_conf conf;
	const char *what = "";
	char path[64];
	pid_t pid;
	int status;

	if (!folders_can_be_kept())
		skip();
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)getpid());
	pid = fork();
	if (!pid) {
		WANT(!confine(&conf, 0, &what));
		WANT(!prctl(PR_SET_DUMPABLE, 1));
		WANT(open(path, O_RDWR) < 0 && errno == EACCES);
		WANT(open("/proc/self/mem", O_RDWR) >= 0);
		WANT(memfd_create("x", 0) >= 0 && access("/proc/self/fd", R_OK) == 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("status %x: %s", status, what);
}

static int tcp_listener(struct sockaddr_in *at)
{
	socklen_t bytes = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (struct sockaddr *)at, bytes), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)at, &bytes), 0);
	return fd;
}

/*
 * A process that was taken over wants to end the connection that it has, and to connect its socket
 * to another listener: by connect(), by a message that connects; or to listen itself. @kept: the
 * kernel has rules for ports; the filter does not let this process ask.
 */
static void elsewhere(int fd, const struct sockaddr_in *at, bool kept)
{
	static const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	const struct sockaddr *to = (const struct sockaddr *)at;
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(40404) };
	struct iovec part = { "x", 1 };
	struct msghdr m = { .msg_name = (void *)to,
			    .msg_namelen = sizeof(*at),
			    .msg_iov = &part,
			    .msg_iovlen = 1 };

	WANT(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
	WANT(connect(fd, &nowhere, sizeof(nowhere)) == -1 && errno == ENOENT);
	WANT(connect(fd, to, sizeof(*at)) == -1 && errno == ENOENT);
	DENIED(sendto(fd, "x", 1, MSG_FASTOPEN, NULL, 0));
	DENIED(sendmsg(fd, &m, MSG_FASTOPEN | MSG_NOSIGNAL));
	shutdown(fd, SHUT_RDWR);
	WANT(!kept || (bind(fd, (struct sockaddr *)&here, sizeof(here)) == -1 && errno == EACCES));
	WANT(listen(fd, 1) == -1 && errno == EINVAL);
}

TEST(network)
{
	static struct remoted_conf conf;
	struct sockaddr_in own, others;
	int a = tcp_listener(&own), b = tcp_listener(&others), here, fd, status;
	bool kept = network_can_be_kept();
	const char *what = "";
	pid_t pid;

	here = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(here, (struct sockaddr *)&own, sizeof(own)), 0);
	fd = accept(a, NULL, NULL);
	conf.filter = FILTER_ON;
	pid = fork();
	if (!pid) {
		close(here);
		WANT(!confine(&conf, 0, &what) && !filter_install(conf.filter));
		elsewhere(fd, &others, kept);
		_exit(0);
	}
	close(here);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	close(a);
	close(b);
	if (status)
		fail_msg("status %x: %s", status, what);
	if (!kept)
		print_message("# network: no rules of Landlock here, bind() not tried\n");
}

void say(const char *format, ...)
{
}

TEST_MAIN(NULL, NULL)
