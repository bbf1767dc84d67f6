// SPDX-License-Identifier: MIT
/* Reading remote.conf and remoted.conf; folders that nobody else can exchange. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/conf/client.h>
#include <remote/conf/kept.h>
#include <remote/conf/refused.h>
#include <remote/conf/server.h>

static struct remoted_conf server;
static struct conf_error e;

#define HUNDRED \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

static bool read_server(const char *text)
{
	remoted_conf_default(&server);
	return conf_parse(&remoted_conf_form, &server, text, strlen(text), &e);
}

static void refuses(const char *text, unsigned int line, const char *why)
{
	if (read_server(text))
		fail_msg("\"%s\" is taken", text);
	if (e.line != line || !strstr(e.text, why))
		fail_msg("\"%s\": line %u: %s", text, e.line, e.text);
}

TEST(client_file)
{
	static const char text[] =
		"# of this site\n\n  server = tls:gpu.example.org:7411   # the big one\r\ntls-folder=/srv/tls";
	struct remote_conf c = { 0 };

	assert_true(conf_parse(&remote_conf_form, &c, text, strlen(text), &e));
	assert_string_equal(c.server, "tls:gpu.example.org:7411");
	assert_string_equal(c.tls_folder, "/srv/tls");
	c = (struct remote_conf){ 0 };
	assert_true(conf_parse(&remote_conf_form, &c, "", 0, &e));
	assert_string_equal(c.server, "");
	assert_false(conf_parse(&remote_conf_form, &c, "\nserver = gpu\n", 14, &e));
	assert_int_equal(e.line, 2);
	assert_non_null(strstr(e.text, "server is unix:/path"));
	assert_non_null(strstr(e.text, "not \"gpu\""));
	/* several addresses, with blanks between them */
	assert_true(conf_parse(&remote_conf_form, &c, "server = unix:/a  aperture:/b,bell=unix:/c",
			       42, &e));
	assert_string_equal(c.server, "unix:/a  aperture:/b,bell=unix:/c");
	assert_false(conf_parse(&remote_conf_form, &c, "server = vsock:2:1 gpu", 22, &e));
	assert_true(conf_parse(&remote_conf_form, &c, "server = unix:/a gpu", 20, &e)); /* a path */
	assert_false(conf_parse(&remote_conf_form, &c, "server = vsock:*:1", 18, &e));
	assert_false(conf_parse(&remote_conf_form, &c, "[client unix:1]", 15, &e));
	assert_non_null(strstr(e.text, "no sections"));
	assert_false(conf_parse(&remote_conf_form, &c, "listen = unix:/x", 16, &e));
	assert_non_null(strstr(e.text, "there is no key \"listen\""));
}

TEST(everything)
{
	assert_true(read_server(
		"memory = 4G\narena = 64M\nhost-memory = 8G\nweight = 50\nallow = no\nlibrary = /opt/libcuda.so.1\n"
		"listen = unix:/run/a\nlisten = vsock:*:7411\nlisten = tls:*:7411\ntls-folder = /etc/x\nadmin-socket = /run/admin\n"
		"admin-group = adm\nsocket-group = render\nclients = 3\nnewcomers = 2\npatience = 5\ntasks = 99\nusers = 70000\n"
		"groups = render  video\nsystem-calls = log\nidle-suspend = 10min\nsuspend-for = memory\nsuspend-memory = 64G\n"
		"[client tls:lab-1]\nallow = yes\nmemory = 1T\n[ client  vsock:5 ]\nweight = 10000\nidle-suspend = 0\n[client unix:0]\n"));
	assert_int_equal(server.share.memory, 4ull << 30);
	assert_int_equal(server.share.arena, 64 << 20);
	assert_int_equal(server.share.host_memory, 8ull << 30);
	assert_int_equal(server.share.weight, 50);
	assert_false(server.share.allow);
	assert_string_equal(server.library, "/opt/libcuda.so.1");
	assert_int_equal(server.nr_listen, 3);
	assert_string_equal(server.listen[2], "tls:*:7411");
	assert_string_equal(server.tls_folder, "/etc/x");
	assert_string_equal(server.admin, "/run/admin");
	assert_string_equal(server.admin_group, "adm");
	assert_string_equal(server.socket_group, "render");
	assert_int_equal(server.clients, 3);
	assert_int_equal(server.newcomers, 2);
	assert_int_equal(server.patience_s, 5);
	assert_int_equal(server.tasks, 99);
	assert_int_equal(server.users, 70000);
	assert_int_equal(server.nr_groups, 2);
	assert_string_equal(server.groups[1], "video");
	assert_int_equal(server.filter, FILTER_LOG);
	assert_int_equal(server.share.idle_s, 600);
	assert_true(server.suspend_for_memory && server.suspend_memory == 64ull << 30);
	/*
	 * a section inherits the values before the first section, except for those that it sets
	 * itself
	 */
	assert_int_equal(remoted_conf_share(&server, "tls:lab-1")->memory, 1ull << 40);
	assert_int_equal(remoted_conf_share(&server, "tls:lab-1")->weight, 50);
	assert_true(remoted_conf_share(&server, "tls:lab-1")->allow);
	assert_int_equal(remoted_conf_share(&server, "vsock:5")->weight, 10000);
	assert_int_equal(remoted_conf_share(&server, "tls:lab-1")->idle_s, 600);
	assert_int_equal(remoted_conf_share(&server, "vsock:5")->idle_s, 0);
	assert_false(remoted_conf_share(&server, "vsock:5")->allow);
	assert_ptr_equal(remoted_conf_share(&server, "tls:lab-2"), &server.share);
}

/* A client's share by default. */
TEST(shares)
{
	static const uint64_t clients[][2] = {
		{ 1, 1 }, { 3, 3 }, { 4, 3 }, { 64, 48 }, { 1024, 768 }
	};
	char text[64];
	unsigned int i;

	for (i = 0; i < sizeof(clients) / sizeof(*clients); i++) {
		snprintf(text, sizeof(text), "clients = %llu\n", (unsigned long long)clients[i][0]);
		assert_true(read_server(text));
		assert_int_equal(remoted_conf_programs(&server, &server.share), clients[i][1]);
	}
	assert_true(server.share.host_memory);
	assert_true(
		read_server("programs = 5\nhost-memory = 0\n[client vsock:5]\nprograms = 64\n"));
	assert_int_equal(remoted_conf_programs(&server, &server.share), 5);
	assert_int_equal(remoted_conf_programs(&server, remoted_conf_share(&server, "vsock:5")),
			 64);
	assert_int_equal(server.share.host_memory, 0);
	assert_false(read_server("programs = 0\n"));
	assert_false(read_server("programs = 1025\n"));
}

TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} fine[] = {
		{ "0", 0 },	   { "1", 1 },
		{ "4096", 4096 },  { "512K", 512 << 10 },
		{ "1M", 1 << 20 }, { "256T", 1ull << 48 },
	};
	static const char *const wrong[] = { "257T",
					     "-1",
					     "4 G",
					     "4g",
					     "4GB",
					     "G",
					     "0x10",
					     "1.5G",
					     "18446744073709551616",
					     "99999999999999999999T",
					     "17179869184T",
					     "" };
	char line[64];
	size_t i;

	for (i = 0; i < sizeof(fine) / sizeof(*fine); i++) {
		snprintf(line, sizeof(line), "memory = %s", fine[i].text);
		assert_true(read_server(line));
		assert_int_equal(server.share.memory, fine[i].bytes);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(line, sizeof(line), "memory = %s", wrong[i]);
		refuses(line, 1, "memory is bytes");
	}
}

TEST(limits)
{
	static const struct {
		const char *key, *least, *most, *below, *above;
	} numbers[] = {
		{ "weight", "1", "10000", "0", "10001" },
		{ "clients", "1", "1024", "0", "1025" },
		{ "newcomers", "1", "1024", "0", "1025" },
		{ "patience", "1", "3600", "0", "3601" },
		{ "tasks", "16", "65536", "15", "65537" },
		{ "arena", "4M", "1T", "4095K", "2T" },
		{ "users", "1000", "4000000000", "999", "4000000001" },
	};
	char line[64];
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		snprintf(line, sizeof(line), "%s = %s", numbers[i].key, numbers[i].least);
		assert_true(read_server(line));
		snprintf(line, sizeof(line), "%s = %s", numbers[i].key, numbers[i].most);
		assert_true(read_server(line));
		snprintf(line, sizeof(line), "%s = %s", numbers[i].key, numbers[i].below);
		refuses(line, 1, numbers[i].key);
		snprintf(line, sizeof(line), "%s = %s", numbers[i].key, numbers[i].above);
		refuses(line, 1, numbers[i].key);
	}
	assert_true(read_server("users = none\ngroups = none"));
	assert_int_equal(server.users, 0);
	assert_int_equal(server.nr_groups, 0);
}

TEST(mistakes)
{
	char text[CONF_LINE_MAX + 32];

	refuses("x = 1", 1, "no key \"x\"");
	refuses("\n# y\nmemory", 3, "key = value");
	refuses("memory =", 1, "memory is");
	refuses("= 1", 1, "no key");
	refuses("memory = 1\nmemory = 2", 2, "stands twice: \"memory\"");
	refuses("allow = maybe", 1, "yes or no");
	assert_true(read_server("") && server.turns);
	assert_true(read_server("turns = no\n") && !server.turns);
	refuses("[client unix:0]\nturns = no", 2, "for all clients");
	refuses("system-calls = 1", 1, "on, log or off");
	assert_true(read_server("") && !server.suspend_for_memory && !server.share.idle_s &&
		    server.suspend_memory);
	assert_true(read_server("idle-suspend = 2h\nsuspend-for = none") &&
		    server.share.idle_s == 7200);
	assert_true(read_server("idle-suspend = 30s") && server.share.idle_s == 30);
	refuses("idle-suspend = 30", 1, "idle-suspend is a time, as 30s");
	refuses("idle-suspend = 10 min", 1, "a time");
	refuses("idle-suspend = 5124095576030432h", 1, "a time");
	refuses("suspend-for = all", 1, "memory or none");
	refuses("tls-folder = tls", 1, "begins with /");
	refuses("listen = nowhere", 1, "tcp:127.0.0.1:PORT");
	refuses("listen = tcp:192.0.2.1:1", 1, "listen: tcp: neither encrypts");
	refuses("listen = tcp:localhost:1", 1, "takes no name");
	refuses("listen = tls:2001:db8::1:7411", 1, "[2001:db8::1], which has brackets");
	refuses("listen = unix:" HUNDRED "/a_long_path", 1, "has 107 bytes at most");
	refuses("groups = a b c d e f g h i", 1, "8 at most");
	refuses("groups = a,b", 1, "names of groups");
	refuses("admin-group = -x", 1, "name of a group");
	refuses("[client tls:a]\nclients = 3", 2, "before the first section: \"clients\"");
	refuses("[client tls:a]\n[client tls:a]", 2, "has a section already");
	refuses("[client tls:a", 1, "a section is");
	refuses("[]", 1, "a section is");
	refuses("[", 1, "a section is");
	refuses("[host tls:a]", 1, "a section is");
	refuses("[client tls:a b]", 1, "a section is");
	refuses("[client unix:x]", 1, "a section is");
	refuses("[client unix:4294967295]", 1, "a section is");
	refuses("[client vsock:007]", 1, "a section is");
	memset(text, '#', sizeof(text));
	text[CONF_LINE_MAX - 1] = 0;
	assert_true(read_server(text));
	text[CONF_LINE_MAX - 1] = '#';
	text[CONF_LINE_MAX] = 0;
	refuses(text, 1, "too long");
	remoted_conf_default(&server);
	assert_false(conf_parse(&remoted_conf_form, &server, "a\0b = 1", 7, &e));
	assert_non_null(strstr(e.text, "no text"));
	/* a # in the middle of a word begins no comment */
	assert_true(read_server("library = /opt/a#b # c"));
	assert_string_equal(server.library, "/opt/a#b");
}

static void note_wrong_line(const struct conf_error *error, void *of)
{
	char *said = of;

	sprintf(said + strlen(said), "%u:%s\n", error->line, error->text);
}

/* All wrong lines are told; what is right goes on to be taken. */
TEST(wrong_lines)
{
	static const char text[] = "listn = unix:/a\nweight = 0\nclients = 3\nmemory\n"
				   "[cleint unix:1]\nweight = x\nnothing = 1\nweight = 5\n"
				   "[client unix:2]\nweight = 7\nlisten = unix:/b\n[\nallow = x";
	struct conf_form form = remoted_conf_form;
	char said[2048] = "";

	form.wrong = note_wrong_line;
	form.of = said;
	remoted_conf_default(&server);
	assert_false(conf_parse(&form, &server, text, sizeof(text) - 1, &e));
	assert_int_equal(e.line, 12);
	assert_string_equal(
		said,
		"1:there is no key \"listn\"; the nearest is \"listen\"\n"
		"2:weight is a number from 1 to 10000, not \"0\"\n"
		"4:a line is \"key = value\"\n"
		"5:a section is [client unix:UID], [client vsock:CID], [client tls:NAME] or [client aperture:/path]\n"
		"7:there is no key \"nothing\"\n"
		"11:this key is for all clients, so it stands before the first section: \"listen\"\n"
		"12:a section is [KIND NAME]\n");
	assert_int_equal(server.clients, 3);
	assert_int_equal(remoted_conf_share(&server, "unix:2")->weight, 7);
	assert_int_equal(server.share.weight, 100);
}

TEST(too_many)
{
	char *text = calloc(1, CONF_FILE_MAX + 1);
	size_t n = 0;
	int i;

	for (i = 0; i < CONF_LISTEN; i++)
		n += sprintf(text + n, "listen = unix:/%d\n", i);
	assert_true(read_server(text));
	sprintf(text + n, "listen = unix:/x\n");
	refuses(text, CONF_LISTEN + 1, "8 at most");
	for (i = 0, n = 0; i < CONF_RULES; i++)
		n += sprintf(text + n, "[client unix:%d]\n", i);
	assert_true(read_server(text));
	sprintf(text + n, "[client unix:%d]\n", i);
	refuses(text, CONF_RULES + 1, "too many sections");
	memset(text, '\n', CONF_FILE_MAX);
	text[CONF_FILE_MAX] = 0;
	assert_true(read_server(text));
	assert_false(conf_parse(&remoted_conf_form, &server, text, CONF_FILE_MAX + 1, &e));
	free(text);
}

TEST(files)
{
	char path[] = "/tmp/kvgpu-conf-XXXXXX";
	int fd = mkstemp(path);
	bool missing;

	assert_int_equal(write(fd, "clients = 5\n", 12), 12);
	close(fd);
	remoted_conf_default(&server);
	assert_true(conf_load(&remoted_conf_form, &server, path, &missing, &e));
	assert_int_equal(server.clients, 5);
	unlink(path);
	assert_false(conf_load(&remoted_conf_form, &server, path, &missing, &e));
	assert_true(missing);
	assert_false(conf_load(&remoted_conf_form, &server, "/", &missing, &e));
	assert_false(missing);
	/* the files that the packages install */
	remoted_conf_default(&server);
	if (!conf_load(&remoted_conf_form, &server, "remote/conf/remoted.conf", &missing, &e))
		fail_msg("remoted.conf:%u: %s", e.line, e.text);
	if (!conf_load(&remote_conf_form, &(struct remote_conf){ 0 }, "remote/conf/remote.conf",
		       &missing, &e))
		fail_msg("remote.conf:%u: %s", e.line, e.text);
}

#define FOURTEEN "0123456789ABCD"
#define SUM	 FOURTEEN FOURTEEN FOURTEEN FOURTEEN "01234567"
#define SMALL	 "0123456789abcd0123456789abcd0123456789abcd0123456789abcd01234567"

TEST(refused_words)
{
	static const struct {
		const char *line;
		int r;
		const char *word;
	} lines[] = {
		{ "", 0, "" },
		{ " \t# ann\n", 0, "" },
		{ "ann", 1, "ann" },
		{ "\ttls:ann # lost\r\n", 1, "ann" },
		{ "a-n._9\n", 1, "a-n._9" },
		{ SUM, 1, SMALL },
		{ "01:23:45:67:89:AB:CD:" FOURTEEN FOURTEEN FOURTEEN "01:23:45:67", 1, SMALL },
		/* a name of 63 digits at most, a fingerprint of 64 */
		{ SMALL "0", -EINVAL, "" },
		{ ":" SUM, -EINVAL, "" },
		{ SUM ":", -EINVAL, "" },
		{ "0:123456789ABCD" FOURTEEN FOURTEEN FOURTEEN "01234567", -EINVAL, "" },
		{ "01::23456789ABCD" FOURTEEN FOURTEEN FOURTEEN "01234567", -EINVAL, "" },
		{ "ann bob", -EINVAL, "" },
		{ "unix:0", -EINVAL, "" },
		{ "a/n", -EINVAL, "" },
	};
	char word[REFUSED_WORD];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		int r = refused_word(lines[i].line, word);

		if (r != lines[i].r || (r > 0 && strcmp(word, lines[i].word)))
			fail_msg("\"%s\": %d, %s", lines[i].line, r, r > 0 ? word : "");
	}
	assert_true(refused_is_fingerprint(SMALL) && !refused_is_fingerprint(SMALL + 1));
}

/* All that the file can be, but for missing, keeps clients out. */
TEST(refused_files)
{
	char folder[] = "/tmp/kvgpu-conf-XXXXXX", path[64], why[CONF_TEXT];
	static const char text[] = "# lost\nann\n\n" SUM "\nb b\n";
	FILE *f;

	assert_non_null(mkdtemp(folder));
	sprintf(path, "%s/refused", folder);
	assert_int_equal(refused_find(folder, "ann", SMALL, why), 0);
	f = fopen(path, "w");
	fwrite(text, sizeof(text) - 5, 1, f);
	fclose(f);
	assert_int_equal(refused_find(folder, "bob", "", why), 0);
	assert_int_equal(refused_find(folder, "an", "", why), 0);
	assert_int_equal(refused_find(folder, "ann", "", why), 1);
	assert_non_null(strstr(why, "/refused:2"));
	assert_int_equal(refused_find(folder, "bob", SMALL, why), 1);
	f = fopen(path, "w");
	fwrite(text, sizeof(text) - 1, 1, f);
	fclose(f);
	assert_int_equal(refused_find(folder, "bob", "", why), -EINVAL);
	assert_non_null(strstr(why, "/refused:5: neither"));
	f = fopen(path, "w");
	fwrite("\0ann\n", 6, 1, f);
	fclose(f);
	assert_int_equal(refused_find(folder, "bob", "", why), -EINVAL);
	unlink(path);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(refused_find(folder, "bob", "", why), -ENOENT);
	unlink(path);
	mkdir(path, 0700);
	assert_int_equal(refused_find(folder, "bob", "", why), -EISDIR);
	rmdir(path);
	rmdir(folder);
}

enum { OTHER = 12345 };

/* also below a link, and behind another one: who has the link has what is written there */
TEST(links_of_others)
{
	static const struct {
		const char *path, *bad; /* NULL: none */
		int r;
	} rows[] = {
		{ "ours/tls", NULL, 0 },
		{ "./root/../ours//tls/.", NULL, 0 },
		{ "root/tls", NULL, 0 },
		{ "link", "link", 1 },
		{ "link/tls", "link", 1 },
		{ "by/tls", "link", 1 },
		{ "by-theirs/tls", "theirs", 1 },
		{ "theirs/tls", "theirs", 1 },
		{ "theirs/../ours/tls", "theirs", 1 },
		{ "for-all/tls", "for-all", 1 },
		{ "by-for-all/tls", "for-all", 1 },
		{ "sticky/tls", NULL, 0 },
		{ "by-sticky", "sticky", 1 },
		{ "loop/tls", "loop/tls", -ELOOP },
		{ "ours/none", "ours/none", -ENOENT },
	};
	char folder[] = "/tmp/kvgpu-kept-XXXXXX", path[128], bad[PATH_MAX], *cwd;
	unsigned int i;

	if (geteuid())
		skip();
	assert_non_null(mkdtemp(folder));
	cwd = getcwd(NULL, 0);
	assert_int_equal(chdir(folder) || mkdir("ours", 0755) || mkdir("ours/tls", 0755) ||
				 mkdir("theirs", 0755) || symlink("ours", "link") ||
				 symlink("ours", "root") || symlink("link", "by") ||
				 symlink("../ours", "theirs/link") ||
				 symlink("theirs/link", "by-theirs") || symlink("loop", "loop") ||
				 mkdir("for-all", 0755) || chmod("for-all", 0777) ||
				 mkdir("for-all/tls", 0755) || symlink("for-all", "by-for-all") ||
				 mkdir("sticky", 0755) || chmod("sticky", 01777) ||
				 mkdir("sticky/tls", 0755) || symlink("sticky", "by-sticky"),
			 0);
	assert_int_equal(lchown("link", OTHER, OTHER) || chown("theirs", OTHER, OTHER) ||
				 lchown("theirs/link", OTHER, OTHER),
			 0);
	for (i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		const char *end = rows[i / 2].bad;

		snprintf(path, sizeof(path), "%s%s%s", i % 2 ? folder : "", i % 2 ? "/" : "",
			 rows[i / 2].path);
		if (kept_look(path, bad) != rows[i / 2].r ||
		    (end && strcmp(bad + strlen(bad) - strlen(end), end)))
			fail_msg("%s: %s is bad", path, bad);
	}
	assert_int_equal(chdir(cwd), 0);
	free(cwd);
	snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

TEST_MAIN(NULL, NULL)
