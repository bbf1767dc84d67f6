// SPDX-License-Identifier: MIT
/*
 * Slurm's lists of nodes and generic resources, what a job's shards are of a GPU, and the steps
 * that start proxies. Lists and lines are as slurmctld 22.05.8 of Debian 12 writes them.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <remote/cluster/run/slurm.h>
#include <remote/cluster/run/step.h>

static struct host hosts[HOSTS_MAX];
static struct place places[DEVICES_MAX];
static const char *why;

/* the names with blanks between; "none": it is no list */
static const char *names(const char *list, const char *self)
{
	int n = slurm_nodes(list, self, hosts, &why), i;
	static char text[HOSTS_MAX * 20];

	text[0] = 0;
	for (i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", hosts[i].name);
	return n < 0 ? "none" : text;
}

TEST(lists_of_nodes)
{
	assert_string_equal(names("node1", "node1"), "node1");
	assert_true(hosts[0].local && hosts[0].gpus == GPUS_UNKNOWN);
	assert_string_equal(names("node[1-3]", "x"), "node1 node2 node3");
	assert_false(hosts[0].local);
	assert_string_equal(names("node[1-2,7],gpu-[08-10]", "gpu-09"),
			    "gpu-09 node1 node2 node7 gpu-08 gpu-10");
	assert_true(hosts[0].local && !hosts[1].local);
	assert_string_equal(names("a,b.example,c[5]", "c5"), "c5 a b.example");
	assert_string_equal(names("n[098-101]", ""), "n098 n099 n100 n101");
}

TEST(wrong_lists)
{
	static const char *const wrong[] = {
		"",	  ",",	  "a,",	   ",a", "n[", "n[]", "n[1",   "n[1-",	    "n[1-2",
		"n[1,]",  "n[a]", "n[1]x", "n]", "-a", "a b", "[1-2]", "n[1-2][3]", "n[1234567890]",
		"n[1-65]"
	};
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_string_equal(names(wrong[i], "n1"), "none");
	assert_non_null(strstr(why, "64"));
}

static struct slurm_gres gres_of(const char *line)
{
	struct slurm_gres g = { 99, 99 };

	assert_true(slurm_gres(line, &g));
	return g;
}

TEST(resources)
{
	struct slurm_gres g = gres_of(
		"NodeName=node1 Arch=x86_64 Gres=gpu:k20m:2,shard:k20m:8 NodeAddr=10.77.0.2\n");

	assert_true(g.gpus == 2 && g.shards == 8);
	g = gres_of("NodeName=a Gres=gpu:a:2(S:0,1),gpu:b:1(S:0),shard:12(S:0-1) Version=22");
	assert_true(g.gpus == 3 && g.shards == 12);
	g = gres_of("NodeName=a Gres=(null) Version=22");
	assert_true(!g.gpus && !g.shards);
	g = gres_of("NodeName=a Gres=gpu:4");
	assert_true(g.gpus == 4 && !g.shards);
	assert_false(slurm_gres("NodeName=a Version=22", &g));
}

TEST(parts_of_a_gpu)
{
	struct slurm_gres node = { 2, 8 };
	uint64_t gib = 1 << 30;

	assert_int_equal(slurm_part(&node, 1, 4 * gib), gib);
	assert_int_equal(slurm_part(&node, 3, 4 * gib), 3 * gib);
	/* all of it, or no shards: no limit */
	assert_int_equal(slurm_part(&node, 4, 4 * gib), 0);
	assert_int_equal(slurm_part(&node, 0, 4 * gib), 0);
	node.shards = 6;
	assert_int_equal(slurm_part(&node, 1, 5ull << 20), 1 << 20);
	node = (struct slurm_gres){ 0, 8 };
	assert_int_equal(slurm_part(&node, 1, gib), 0);
}

/* a job of @nr_places whose broker is on @node, with the settings of no option */
static struct job job_on(const struct run_options *o, const char *node, unsigned int nr_places)
{
	return (struct job){ .o = o,
			     .relay = "relay",
			     .folder = "/f",
			     .hosts = hosts,
			     .places = places,
			     .nr_places = nr_places,
			     .node = node };
}

TEST(steps)
{
	struct run_options o = { .mpi = MPI_KIND_OPENMPI,
				 .library = "gpu.so",
				 .eager = UINT64_MAX,
				 .spin_us = UINT64_MAX };
	struct job j = job_on(&o, "node1", 3);
	struct command c = { .n = 0 };
	char text[1024] = "", *file;
	unsigned int i;

	j.label = "7:prog";
	names("node[1-2]", "node1");
	places[0] = (struct place){ 0, 0, 0, "" };
	places[1] = (struct place){ 1, 0, 1 << 20, "" };
	places[2] = (struct place){ 1, 1, 0, "ab" };
	assert_true(step_job(&j, "/f/programs0", &c));
	for (i = 0; i < c.n; i++)
		sprintf(text + strlen(text), "%s ", c.word[i]);
	command_free(&c);
	assert_string_equal(
		text,
		"srun --overlap --overcommit --mem=0 --input=none --export=ALL --mpi=pmix --ntasks=4 "
		"--kill-on-bad-exit=0 --wait=0 --distribution=arbitrary --multi-prog /f/programs0 ");
	file = step_hosts(&j);
	assert_string_equal(file, "node1\nnode1\nnode2\nnode2\n");
	free(file);
	file = step_programs(&j);
	assert_string_equal(
		file,
		"0 relay broker --folder /f --first 0 --step\n"
		"1 relay proxy --library gpu.so --device 0 --label 7:prog --step\n"
		"2 relay proxy --library gpu.so --device 0 --memory 1048576 --label 7:prog --step\n"
		"3 relay proxy --library gpu.so --device 1 --gpu ab --label 7:prog --step\n");
	free(file);
	/* srun would read it as two words */
	o.library = "a gpu.so";
	assert_null(step_programs(&j));
}

/* a broker here, and all proxies on another node */
TEST(broker_apart)
{
	struct run_options o = { .mpi = MPI_KIND_MPICH,
				 .library = "gpu.so",
				 .eager = UINT64_MAX,
				 .spin_us = UINT64_MAX };
	struct job j = job_on(&o, "node9", 1);
	struct command c = { .n = 0 };
	bool pmi = false, unbound = false;
	unsigned int i;

	j.binds = true;
	names("node1", "node9");
	places[0] = (struct place){ 0, 0, 0, "" };
	assert_true(step_job(&j, "p", &c));
	for (i = 0; i < c.n; i++) {
		pmi |= !strcmp(c.word[i], "--mpi=pmi2");
		unbound |= !strcmp(c.word[i], "--cpu-bind=none");
	}
	assert_true(pmi && unbound);
	command_free(&c);
}

TEST(variables_of_steps)
{
	assert_true(step_is_foreign("SLURM_NTASKS=3"));
	assert_true(step_is_foreign("SLURM_HOSTFILE=/x"));
	assert_true(step_is_foreign("SLURM_JOB_NODELIST=a"));
	assert_false(step_is_foreign("SLURM_JOB_ID=3"));
	assert_false(step_is_foreign("SLURM_CONF=/etc/slurm/slurm.conf"));
	assert_false(step_is_foreign("PATH=/bin"));
}

TEST_MAIN(NULL, NULL)
