// SPDX-License-Identifier: MIT
/*
 * The hosts that are named, the GPUs that a program gets, the command lines that start its proxies,
 * and environment variables that tell of another job.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <remote/cluster/run/command.h>
#include <remote/cluster/run/plan.h>

static struct host hosts[HOSTS_MAX];
static struct place places[DEVICES_MAX];
static const char *why;

TEST(local_ones_first)
{
	assert_int_equal(plan_hosts("far,near.example:3,other:2", "near", hosts, &why), 3);
	assert_string_equal(hosts[0].name, "near.example");
	assert_true(hosts[0].local && hosts[0].gpus == 3);
	assert_string_equal(hosts[1].name, "far");
	assert_true(!hosts[1].local && hosts[1].gpus == GPUS_UNKNOWN);
	assert_string_equal(hosts[2].name, "other");
	assert_int_equal(plan_hosts("localhost", "near", hosts, &why), 1);
	assert_true(hosts[0].local);
	/* the same name in two domains */
	assert_int_equal(plan_hosts("near.one", "near.two", hosts, &why), 1);
	assert_false(hosts[0].local);
}

TEST(wrong_hosts)
{
	static const char *const wrong[] = { "",     ",",  "a,",    ",a",  "a:0", "a:",	    "a:65",
					     "a:2x", "-a", "--mca", "a b", "a;b", "a:1,a:2" };
	char many[HOSTS_MAX * 6 + 6] = "";
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(plan_hosts(wrong[i], "near", hosts, &why), -1);
	for (i = 0; i <= HOSTS_MAX; i++)
		sprintf(many + strlen(many), "%sh%u", i ? "," : "", i);
	assert_int_equal(plan_hosts("near,::1", "near", hosts, &why), -1);
	assert_non_null(strstr(why, "IPv6"));
	assert_int_equal(plan_hosts("[2001:db8::1]:2", "near", hosts, &why), -1);
	assert_non_null(strstr(why, "IPv6"));
	assert_int_equal(plan_hosts(many, "near", hosts, &why), -1);
}

static struct gpu gpus[GPUS_MAX];
static bool later;

/* GPUs of hosts whose numbers were said */
static unsigned int assumed(unsigned int nr_hosts)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_hosts; i++)
		n += plan_assume(&hosts[i], i, gpus + n);
	return n;
}

static int places_for(unsigned int nr, unsigned int n, bool share)
{
	struct wish w = { .gpus = n, .share = share, .load = LOAD_ANY };

	return plan_places(gpus, nr, &w, places, DEVICES_MAX, &why, &later);
}

TEST(one_after_the_other)
{
	struct wish five = { .gpus = 5, .share = true, .load = LOAD_ANY };

	plan_hosts("a:2,b:1,c:2", "near", hosts, &why);
	assert_int_equal(assumed(3), 5);
	assert_int_equal(places_for(5, 0, false), 5);
	assert_true(places[1].host == 0 && places[1].device == 1);
	assert_true(places[2].host == 1 && places[2].device == 0);
	assert_true(places[4].host == 2 && places[4].device == 1);
	assert_int_equal(places_for(5, 3, false), 3);
	assert_int_equal(places_for(5, 6, false), -1);
	assert_non_null(strstr(why, "--share"));
	assert_false(later);
	assert_int_equal(places_for(5, 7, true), 7);
	assert_true(places[5].host == 0 && places[5].device == 0);
	assert_true(places[6].host == 0 && places[6].device == 1);
	assert_int_equal(plan_places(gpus, 5, &five, places, 4, &why, &later), -1);
	assert_int_equal(places_for(0, 1, true), -1);
}

/*
 * three hosts with two GPUs each of 4096 bytes: b/0 has one other run, c/0 has two and little
 * memory
 */
static void busy_cluster(void)
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		gpus[i] = (struct gpu){
			.host = i / 2, .device = i % 2, .total = 4096, .left = 4096, .uuid = "-"
		};
	gpus[2].load = 1;
	gpus[4].load = 2;
	gpus[4].left = 1000;
}

static const char *placed(const struct wish *w)
{
	static char line[256];
	int n = plan_places(gpus, 6, w, places, DEVICES_MAX, &why, &later), i;

	line[0] = 0;
	for (i = 0; i < n; i++)
		sprintf(line + strlen(line), "%s%c%u", i ? " " : "", 'a' + places[i].host,
			places[i].device);
	return n < 0 ? "none" : line;
}

TEST(by_memory_and_load)
{
	busy_cluster();
	assert_string_equal(placed(&(struct wish){ .load = LOAD_ANY }), "a0 a1 b0 b1 c0 c1");
	assert_string_equal(placed(&(struct wish){ .memory = 1001, .load = LOAD_ANY }),
			    "a0 a1 b0 b1 c1");
	assert_int_equal(places[4].memory, 1001);
	assert_string_equal(placed(&(struct wish){ .load = 1 }), "a0 a1 b0 b1 c1");
	assert_string_equal(placed(&(struct wish){ .load = 0 }), "a0 a1 b1 c1");
	assert_string_equal(placed(&(struct wish){ .gpus = 5, .load = 0 }), "none");
	assert_true(later && strstr(why, "--wait"));
	assert_string_equal(placed(&(struct wish){ .gpus = 5, .load = 0, .share = true }),
			    "a0 a1 b1 c1 a0");
	/* no run that ends brings a seventh GPU; one may free memory */
	assert_string_equal(placed(&(struct wish){ .gpus = 7, .load = 0 }), "none");
	assert_false(later);
	assert_string_equal(placed(&(struct wish){ .memory = 5000, .load = LOAD_ANY }), "none");
	assert_true(later);
}

TEST(spread_over_hosts)
{
	busy_cluster();
	assert_string_equal(placed(&(struct wish){ .gpus = 1, .spread = true, .load = LOAD_ANY }),
			    "a0");
	assert_string_equal(placed(&(struct wish){ .gpus = 2, .spread = true, .load = LOAD_ANY }),
			    "a0 b1");
	assert_string_equal(placed(&(struct wish){ .gpus = 4, .spread = true, .load = LOAD_ANY }),
			    "a0 a1 b1 c1");
	assert_string_equal(placed(&(struct wish){ .gpus = 5, .spread = true, .load = LOAD_ANY }),
			    "a0 a1 b1 b0 c1");
	gpus[2].load = gpus[4].load = 0;
	assert_string_equal(placed(&(struct wish){ .gpus = 3, .spread = true, .load = LOAD_ANY }),
			    "a0 b0 c0");
	assert_string_equal(placed(&(struct wish){ .gpus = 3, .load = LOAD_ANY }), "a0 a1 b0");
}

static char text[4096];

static const char *line_of_version(enum mpi_kind kind, unsigned int major, unsigned int n)
{
	struct run_options o = { .mpi = kind,
				 .library = "gpu.so",
				 .eager = UINT64_MAX,
				 .spin_us = UINT64_MAX,
				 .staging = 65536 };
	struct job j = { .o = &o,
			 .mpirun = "mpirun",
			 .mpi_major = major,
			 .relay = "relay",
			 .folder = "/folder",
			 .hosts = hosts,
			 .places = places,
			 .nr_places = n,
			 .here = "near",
			 .number = "77" };
	struct command c = { .n = 0 };
	unsigned int i;

	assert_true(command_job(&j, &c));
	text[0] = 0;
	for (i = 0; i < c.n; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", c.word[i]);
	assert_null(c.word[c.n]);
	command_free(&c);
	return text;
}

static const char *line_of(enum mpi_kind kind, unsigned int n)
{
	return line_of_version(kind, 4, n);
}

#define BROKER	 "relay broker --folder /folder --first 0 --number 77 --staging 65536"
#define AT(host) " -n 1 --host " #host " "
#define PROXY(n) "relay proxy --library gpu.so --device " #n " --gpu - --number 77 --staging 65536"

TEST(command_lines)
{
	plan_hosts("near:1,far:2", "near", hosts, &why);
	places_for(assumed(2), 0, false);
	assert_string_equal(line_of(MPI_KIND_OPENMPI, 3),
			    "mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 0" AT(
				    localhost) BROKER " :" AT(localhost) PROXY(0) " :" AT(far)
				    PROXY(0) " :" AT(far) PROXY(1));
	assert_string_equal(
		line_of(MPI_KIND_MPICH, 2),
		"mpirun -localhost near -hosts localhost:1,localhost:1,far:1 -n 1 " BROKER
		" : -n 1 " PROXY(0) " : -n 1 " PROXY(0));
}

/* Only who asks for it is told who uses the GPUs. */
TEST(who_uses_gpus_is_asked_seldom)
{
	static const struct {
		struct run_options o;
		bool asks;
	} rows[] = {
		{ { .load = LOAD_ANY }, false },
		{ { .load = LOAD_ANY, .memory = 1 }, false },
		{ { .load = LOAD_ANY, .list = true }, true },
		{ { .load = LOAD_ANY, .spread = true }, true },
		{ { .load = 0 }, true },
		{ { .load = 3 }, true },
	};
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct job j = { .o = &rows[i].o, .relay = "relay" };
		struct command c = { .n = 0 };

		assert_true(command_counts(&j, &c));
		assert_int_equal(!strcmp(c.word[c.n - 1], "--users"), rows[i].asks);
		command_free(&c);
	}
}

/* no mpirun */
TEST(this_machine_alone)
{
	plan_hosts("localhost:2", "near", hosts, &why);
	places_for(assumed(1), 0, false);
	assert_string_equal(
		line_of(MPI_KIND_LOCAL, 2),
		"relay ranks relay broker --folder /folder --first 0 --number 77 --step --staging 65536"
		" --next relay proxy --library gpu.so --device 0 --gpu - --number 77 --step --staging 65536"
		" --next relay proxy --library gpu.so --device 1 --gpu - --number 77 --step --staging 65536");
}

/* Open MPI 5 of Debian 13 crashes where its command line has two programs */
TEST(one_command_for_all_ranks)
{
	plan_hosts("near:1,far:2", "near", hosts, &why);
	places_for(assumed(2), 0, false);
	assert_string_equal(
		line_of_version(MPI_KIND_OPENMPI, 5, 3),
		"mpirun --with-ft ulfm --oversubscribe --bind-to none --mca mpi_yield_when_idle 0 --map-by seq"
		" --host localhost,localhost,far,far -n 4 relay ranks " BROKER
		" --next " PROXY(0) " --next " PROXY(0) " --next " PROXY(1));
}

TEST(another_job_around)
{
	assert_true(command_is_foreign("PMI_RANK=1", false));
	assert_true(command_is_foreign("PMIX_NAMESPACE=x", false));
	assert_true(command_is_foreign("KVGPU_REMOTE=unix:/x", false));
	assert_false(command_is_foreign("OMPI_MCA_btl=tcp,self", false));
	assert_false(command_is_foreign("HYDRA_LAUNCHER_EXEC=ssh", false));
	assert_true(command_is_foreign("OMPI_MCA_ess=pmi", true));
	assert_false(command_is_foreign("OMPI_ALLOW_RUN_AS_ROOT=1", true));
	assert_false(command_is_foreign("PATH=/bin", true));
}

TEST(what_launchers_get)
{
	assert_true(command_is_named("PATH=/bin") && command_is_named("SSH_AUTH_SOCK=/x"));
	assert_true(command_is_named("OMPI_MCA_btl=tcp,self") &&
		    command_is_named("CUDA_VISIBLE_DEVICES=1"));
	assert_false(command_is_named("AWS_SECRET_ACCESS_KEY=x") || command_is_named("PATHS=x"));
	assert_false(command_is_named("XDG_RUNTIME_DIR=/run/user/1") ||
		     command_is_named("HOMEPAGE=x"));
}

TEST_MAIN(NULL, NULL)
