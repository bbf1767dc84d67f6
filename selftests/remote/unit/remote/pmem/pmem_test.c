// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-aperture: files and their labels; a memory disk that becomes a device, on a made-up /sys;
 * memory types as Linux lists them; the list of devices.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/channel/label.h>
#include <remote/pmem/pmem.h>

static char said[512];

void report_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

#define assert_said(text)                                                \
	do {                                                             \
		if (!strstr(said, text))                                 \
			fail_msg("said \"%s\", not \"%s\"", said, text); \
		said[0] = 0;                                             \
	} while (0)

static char dir[64];

static const char *at(const char *format, ...)
{
	static char paths[4][PATH_MAX];
	static unsigned int turn;
	char *to = paths[turn++ % 4];
	int n = snprintf(to, PATH_MAX, "%s/", dir);
	va_list args;

	va_start(args, format);
	vsnprintf(to + n, PATH_MAX - n, format, args);
	va_end(args);
	return to;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Returns what the program wrote into the file, which was empty before. */
static const char *told(const char *path)
{
	static char text[256];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	memset(text, 0, sizeof(text));
	(void)!fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	return text;
}

static int set_up(void **state)
{
	char command[512];

	strcpy(dir, "/tmp/kvgpu-pmem-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(
		command, sizeof(command),
		"cd %s && mkdir -p dev sys/class/block sys/bus/nd/drivers/nd_pmem sys/bus/nd/drivers/dax_pmem "
		"sys/bus/nd/drivers/other sys/devices/region0/namespace0.0/block/pmem0 sys/devices/region0/dax0.1 sys/bus/dax/devices",
		dir);
	return system(command);
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* ------------------------------------------------------------------ files */

TEST_WITH(sizes, NULL, NULL)
{
	assert_int_equal(file_size("14M"), 14 << 20);
	assert_int_equal(file_size("256M"), 256 << 20);
	assert_int_equal(file_size("2G"), 2ull << 30);
	assert_int_equal(file_size("1024G"), 1ull << 40);
	assert_string_equal(said, "");
	assert_int_equal(file_size("12M"), 0);
	assert_said("14 or more");
	assert_int_equal(file_size("15M"), 0);
	assert_said("even number");
	static const char *const none[] = { "",	    "M",     "64",
					    "64K",  "64MB",  "-64M",
					    " 64M", "1025G", "99999999999999999999M",
					    "0x40M" };

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_int_equal(file_size(none[i]), 0);
		assert_said("is no size");
	}
}

TEST_WITH(programs, NULL, NULL)
{
	assert_int_equal(file_endpoints(NULL, 14 << 20), 1);
	assert_int_equal(file_endpoints(NULL, 66 << 20), 2);
	assert_int_equal(file_endpoints(NULL, 256 << 20), 4);
	assert_int_equal(file_endpoints(NULL, 64ull << 30), 4);
	assert_int_equal(file_endpoints("1", 14 << 20), 1);
	assert_int_equal(file_endpoints("64", 64ull << 30), 64);
	assert_int_equal(file_endpoints("21", 256 << 20), 21);
	assert_string_equal(said, "");
	assert_int_equal(file_endpoints("22", 256 << 20), 0);
	assert_said("1 to 21");
	assert_int_equal(file_endpoints("65", 64ull << 30), 0);
	assert_said("1 to 64");
	assert_int_equal(file_endpoints("0", 256 << 20), 0);
	assert_said("no number");
	assert_int_equal(file_endpoints("4x", 256 << 20), 0);
	assert_said("no number");
}

static bool label_at(const char *path, off_t offset, struct shmem_label *l)
{
	uint8_t text[SHMEM_LABEL_BYTES];
	int fd = open(path, O_RDONLY);

	assert_int_equal(pread(fd, text, sizeof(text), offset), sizeof(text));
	close(fd);
	return shmem_label_read(text, l);
}

TEST(a_file_is_made_once)
{
	const char *path = at("one"), *why;
	struct shmem_label l;
	struct stat st;

	assert_int_equal(file_make(path, 16 << 20, 1), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 16 << 20);
	assert_int_equal(st.st_blocks * 512 >= st.st_size, 1);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(label_at(path, 0, &l));
	assert_int_equal(l.bytes, 16 << 20);
	assert_int_equal(l.data, 2 << 20);
	assert_true(label_at(path, (2 << 20) + 4096 - 64, &l));
	assert_true(probe_has_label(path, &why));
	assert_null(why);
	/* a unit makes it at each boot */
	assert_int_equal(file_make(path, 16 << 20, 1), 0);
	assert_int_equal(file_make(path, 18 << 20, 1), 1);
	assert_said("another file is there already");
	assert_int_equal(file_make(at("own/two"), 16 << 20, 1), 0);
	assert_int_equal(stat(at("own"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0711);
	assert_int_equal(file_make(at("no/such/folder"), 16 << 20, 1), 1);
	assert_said("No such file");
}

/* Who can make or exchange the file has what the two VMs say to each other. */
TEST(others_can_not_write)
{
	assert_int_equal(file_make(at("one"), 16 << 20, 1), 0);
	assert_int_equal(chmod(at("one"), 0666), 0);
	assert_int_equal(file_make(at("one"), 16 << 20, 1), 1);
	assert_said("all users may write it");
	assert_int_equal(file_xml(at("one"), stdout), 1);
	assert_said("all users may write it");
	assert_int_equal(chmod(at("one"), 0600), 0);
	/* as QEMU's user has it while a VM runs */
	assert_true(geteuid() || !chown(at("one"), 12345, 12345));
	assert_int_equal(file_make(at("one"), 16 << 20, 1), 0);
	assert_int_equal(symlink(at("one"), at("link")), 0);
	assert_int_equal(file_make(at("link"), 16 << 20, 1), 1);
	assert_said("another file");
	for (mode_t mode = 01777; mode; mode = mode == 01777 ? 0770 : 0) {
		assert_int_equal(chmod(dir, mode), 0);
		assert_int_equal(file_make(at("two"), 16 << 20, 1), 1);
		assert_said("others may write there");
		assert_int_equal(file_xml(at("one"), stdout), 1);
		assert_said("others may write there");
	}
	/* a folder in one for all, as /dev/shm is */
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(file_make(at("own/two"), 16 << 20, 1), 0);
	if (geteuid())
		skip();
	assert_int_equal(chown(at("own"), 12345, 12345), 0);
	assert_int_equal(file_make(at("own/two"), 16 << 20, 1), 1);
	assert_said("others may write there");
}

TEST(labels_of_others)
{
	struct shmem_label good = shmem_label_make(16 << 20, 1), l;
	const char *why;

	assert_true(shmem_label_read(&good, &l));
	for (unsigned int i = 0; i < 8 * offsetof(struct shmem_label, zero); i++) {
		l = good;
		((uint8_t *)&l)[i / 8] ^= 1 << i % 8;
		assert_false(shmem_label_read(&l, &l));
	}
	l = good;
	l.data = 0;
	assert_false(shmem_label_read(&l, &l));
	l = good;
	l.bytes = l.data;
	assert_false(shmem_label_read(&l, &l));
	l = shmem_label_make(16 << 20, 0);
	assert_false(shmem_label_read(&l, &l));
	l = shmem_label_make(16 << 20, 65);
	assert_false(shmem_label_read(&l, &l));
	write_file(at("short"), "kvgpu aperture\n");
	assert_false(probe_has_label(at("short"), &why));
	write_file(at("data"),
		   "kvgpu apertures are not this, which is somebody's own data, and long enough");
	assert_false(probe_has_label(at("data"), &why));
	assert_null(why);
	assert_false(probe_has_label(at("nothing"), &why));
	assert_string_equal(why, "No such file or directory");
}

TEST(xml)
{
	char text[512] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	assert_int_equal(file_make(at("one"), 16 << 20, 1), 0);
	assert_int_equal(file_xml(at("dev/../one"), to), 0);
	fclose(to);
	assert_non_null(strstr(text, "<memory model='virtio-pmem' access='shared'>"));
	assert_non_null(strstr(text, at("one")));
	assert_null(strstr(text, ".."));
	assert_non_null(strstr(text, "<size unit='MiB'>16</size>"));
	assert_int_equal(truncate(at("one"), 15 << 20), 0);
	assert_int_equal(file_xml(at("one"), stdout), 1);
	assert_said("it was cut");
	write_file(at("two"), "");
	assert_int_equal(file_xml(at("two"), stdout), 1);
	assert_said("it is no aperture");
	assert_int_equal(file_make(at("a'b"), 16 << 20, 1), 0);
	assert_int_equal(file_xml(at("a'b"), stdout), 1);
	assert_said("can't be put into XML");
}

/* ------------------------------------------------------------------ from a disk to a device */

static bool modules = true;
static bool fake_modules(void)
{
	return modules;
}

static int up(const char *disk)
{
	char sys[96], dev[96];

	snprintf(sys, sizeof(sys), "%s/sys", dir);
	snprintf(dev, sizeof(dev), "%s/dev", dir);
	return nd_up(&(struct nd){ sys, dev, fake_modules }, disk);
}

static void make_disk(const char *driver)
{
	static const char *const asked[] = { "uuid", "align", "mode", "namespace" };

	assert_int_equal(symlink("../../devices/region0/namespace0.0/block/pmem0",
				 at("sys/class/block/pmem0")),
			 0);
	assert_int_equal(symlink("../../../namespace0.0",
				 at("sys/devices/region0/namespace0.0/block/pmem0/device")),
			 0);
	assert_int_equal(symlink(at("sys/bus/nd/drivers/%s", driver),
				 at("sys/devices/region0/namespace0.0/driver")),
			 0);
	write_file(at("sys/devices/region0/dax_seed"), "dax0.1\n");
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		write_file(at("sys/devices/region0/dax0.1/%s", asked[i]), "");
	write_file(at("sys/bus/nd/drivers/nd_pmem/unbind"), "");
	write_file(at("sys/bus/nd/drivers/nd_pmem/bind"), "");
	write_file(at("sys/bus/nd/drivers/dax_pmem/bind"), "");
	write_file(at("dev/pmem0"), "");
}

TEST(becomes_a_device)
{
	const char *uuid;

	make_disk("nd_pmem");
	assert_int_equal(up("pmem0"), 0);
	assert_string_equal(told(at("sys/bus/nd/drivers/nd_pmem/unbind")), "namespace0.0");
	uuid = told(at("sys/devices/region0/dax0.1/uuid"));
	assert_int_equal(strlen(uuid), 36);
	assert_int_equal(uuid[14], '4');
	assert_string_equal(told(at("sys/devices/region0/dax0.1/align")), "2097152");
	assert_string_equal(told(at("sys/devices/region0/dax0.1/mode")), "ram");
	assert_string_equal(told(at("sys/devices/region0/dax0.1/namespace")), "namespace0.0");
	assert_string_equal(told(at("sys/bus/nd/drivers/dax_pmem/bind")), "dax0.1");
	assert_string_equal(told(at("sys/bus/nd/drivers/nd_pmem/bind")), "");
	assert_string_equal(said, "");
}

/* Whichever step fails, the disk's driver gets its namespace back. */
TEST(is_a_disk_again)
{
	static const char *const fails[] = { "devices/region0/dax0.1/uuid",
					     "devices/region0/dax0.1/align",
					     "devices/region0/dax0.1/mode",
					     "devices/region0/dax0.1/namespace",
					     "bus/nd/drivers/dax_pmem/bind" };

	for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
		if (i) {
			tear_down(NULL);
			set_up(NULL);
		}
		make_disk("nd_pmem");
		unlink(at("sys/%s", fails[i]));
		assert_int_equal(up("pmem0"), 1);
		assert_said("No such file");
		assert_string_equal(told(at("sys/bus/nd/drivers/nd_pmem/bind")), "namespace0.0");
		if (i != 3)
			assert_string_equal(told(at("sys/devices/region0/dax0.1/namespace")),
					    i == 4 ? "\namespace0.0" : "");
	}
	/* the first step fails: there is nothing to undo */
	tear_down(NULL);
	set_up(NULL);
	make_disk("nd_pmem");
	unlink(at("sys/bus/nd/drivers/nd_pmem/unbind"));
	assert_int_equal(up("pmem0"), 1);
	assert_string_equal(told(at("sys/bus/nd/drivers/nd_pmem/bind")), "");
	said[0] = 0;
}

TEST(left_alone)
{
	make_disk("other");
	assert_int_equal(up("pmem0"), 1);
	assert_said("another driver than nd_pmem");
	assert_int_equal(up("pmem1"), 1);
	assert_said("no disk 'pmem1'");
	assert_int_equal(up("../block/pmem0"), 1);
	assert_said("no disk's name");
	unlink(at("sys/devices/region0/namespace0.0/driver"));
	assert_int_equal(symlink(at("sys/bus/nd/drivers/nd_pmem"),
				 at("sys/devices/region0/namespace0.0/driver")),
			 0);
	modules = false;
	assert_int_equal(up("pmem0"), 1);
	modules = true;
	unlink(at("dev/pmem0"));
	assert_int_equal(up("pmem0"), 1);
	assert_said("No such file");
	write_file(at("dev/pmem0"), "");
	write_file(at("sys/devices/region0/dax_seed"), "../dax0.1\n");
	assert_int_equal(up("pmem0"), 1);
	assert_said("is no name");
	write_file(at("sys/devices/region0/dax_seed"), "");
	assert_int_equal(up("pmem0"), 1);
	assert_said("it is empty");
	assert_string_equal(told(at("sys/bus/nd/drivers/nd_pmem/unbind")), "");
	/* a disk that is not made of memory */
	assert_int_equal(rename(at("sys/devices/region0/namespace0.0"),
				at("sys/devices/region0/0:0:0:0")),
			 0);
	unlink(at("sys/class/block/pmem0"));
	assert_int_equal(symlink("../../devices/region0/0:0:0:0/block/pmem0",
				 at("sys/class/block/pmem0")),
			 0);
	unlink(at("sys/devices/region0/0:0:0:0/block/pmem0/device"));
	assert_int_equal(symlink("../../../0:0:0:0",
				 at("sys/devices/region0/0:0:0:0/block/pmem0/device")),
			 0);
	assert_int_equal(up("pmem0"), 1);
	assert_said("no disk made of memory");
}

/* ------------------------------------------------------------------ how it is mapped */

static bool type_at(uint64_t address, char *to)
{
	static char list[] = "PAT memtype list:\n"
			     "PAT: [mem 0x00000000bffe0000-0x00000000bffe2000] write-back\n"
			     "PAT: [mem 0x00000000fd000000-0x00000000fe000000] uncached-minus\n"
			     "PAT: [mem 0x0000000100000000-0x0000000104000000] write-back\n"
			     "garbage\n"
			     "PAT: [mem 0x0000000500000000-0x0000000504000000] write-combining\n";
	FILE *f = fmemopen(list, sizeof(list) - 1, "r");
	bool found = probe_memory_type(f, address, to, 32);

	fclose(f);
	return found;
}

TEST_WITH(memory_types, NULL, NULL)
{
	char type[32] = "";

	assert_true(type_at(0x100000000, type));
	assert_string_equal(type, "write-back");
	assert_true(type_at(0x103ffffff, type));
	assert_false(type_at(0x104000000, type));
	assert_true(type_at(0xfd200000, type));
	assert_string_equal(type, "uncached-minus");
	assert_true(type_at(0x500000000, type));
	assert_string_equal(type, "write-combining");
	assert_false(type_at(0, type));
}

TEST(none_to_list)
{
	char sys[96], dev[96], text[256] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	snprintf(sys, sizeof(sys), "%s/sys", dir);
	snprintf(dev, sizeof(dev), "%s/dev", dir);
	assert_int_equal(probe_list(&(struct nd){ sys, dev, fake_modules }, to), 0);
	/* a device without a label, and a device with one */
	write_file(at("dev/dax0.0"), "");
	assert_int_equal(file_make(at("dev/dax1.0"), 16 << 20, 1), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(mkdir(at("sys/bus/dax/devices/dax%u.0", i), 0755), 0);
	write_file(at("sys/bus/dax/devices/dax1.0/size"), "14680064\n");
	assert_int_equal(probe_list(&(struct nd){ sys, dev, fake_modules }, to), 1);
	fclose(to);
	assert_non_null(strstr(text, "dax1.0\t14 MiB\t?\n"));
}

TEST_MAIN(set_up, tear_down)
