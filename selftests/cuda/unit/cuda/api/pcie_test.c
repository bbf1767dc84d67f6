// SPDX-License-Identifier: MIT
/* What sysfs tells of a GPU's PCIe link. */
#include <selftests/unit_test.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda/api/pcie.h>

static char devices[] = "/tmp/kvgpu-pcie-XXXXXX";
static const char *const files[] = { "max_link_speed", "max_link_width", "0000:0a:1f.0/vendor",
				     "0000:0a:1f.0/max_link_speed", "0000:0a:1f.0/max_link_width" };
enum { PORT_SPEED, PORT_WIDTH, VENDOR, SPEED, WIDTH, FILES };

/* NULL: there is no such file */
static void write_file(int which, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", devices, files[which]);
	if (!text) {
		unlink(path);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0 && !fclose(f));
}

static void is(const char *speed, const char *width, uint32_t generation, uint32_t lanes)
{
	struct pcie_link l;

	write_file(SPEED, speed);
	write_file(WIDTH, width);
	l = pcie_link(devices, "0000:0A:1F.0");
	assert_int_equal(l.generation, generation);
	assert_int_equal(l.width, lanes);
}

TEST(links)
{
	char folder[128];
	int i;

	assert_non_null(mkdtemp(devices));
	snprintf(folder, sizeof(folder), "%s/0000:0a:1f.0", devices);
	assert_int_equal(mkdir(folder, 0700), 0);
	write_file(VENDOR, "0x10de\n");
	is("2.5 GT/s PCIe\n", "1\n", 1, 1);
	is("5.0 GT/s PCIe\n", "4\n", 2, 4);
	is("8.0 GT/s PCIe\n", "8\n", 3, 8);
	is("16.0 GT/s PCIe\n", "16\n", 4, 16);
	is("32.0 GT/s PCIe\n", "16\n", 5, 16);
	is("64.0 GT/s PCIe\n", "16\n", 6, 16);
	is("Unknown\n", "255\n", 0, 255);
	is(NULL, NULL, 0, 0);
	/* the port can do less, more, or does not say */
	write_file(PORT_SPEED, "8.0 GT/s PCIe\n");
	write_file(PORT_WIDTH, "4\n");
	is("32.0 GT/s PCIe\n", "16\n", 3, 4);
	is("5.0 GT/s PCIe\n", "2\n", 2, 2);
	write_file(PORT_SPEED, "Unknown\n");
	is("32.0 GT/s PCIe\n", "16\n", 5, 4);
	assert_int_equal(pcie_link(devices, "nowhere").generation, 0);
	assert_int_equal(pcie_link(devices, "0001:0a:1f.0").generation, 0);
	write_file(VENDOR, "0x8086\n");
	is("32.0 GT/s PCIe\n", "16\n", 0, 0);
	for (i = 0; i < FILES; i++)
		write_file(i, NULL);
	rmdir(folder);
	rmdir(devices);
}

TEST_MAIN(NULL, NULL)
