// SPDX-License-Identifier: MIT
/*
 * Of a fat binary without other devices' code a driver takes what it takes of all. Two say what is
 * taken: the rules of the CUDA C++ Programming Guide, for all devices, and our own libcuda.
 */
#include <selftests/unit_test.h>

#include <cuda/api/fatbin.h>
#include <remote/wire/image.h>

enum { PTX = 1, CUBIN = 2, OTHER = 8, ENTRIES = 6 };

/* as fatbinary of CUDA 11.8 writes them */
struct entry {
	uint16_t kind, version;
	uint32_t header;
	uint64_t bytes;
	uint32_t packed, unknown;
	uint16_t minor, major;
	uint32_t arch;
	uint64_t name, flags, zero, unpacked;
	uint64_t number; /* the payload */
};

struct fat {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes;
	struct entry entry[ENTRIES];
};

static const uint32_t archs[] = { 20, 30, 32, 35, 37, 50, 52, 53, 60,  61,  62,
				  70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 120 };
enum { ARCHS = sizeof(archs) / sizeof(*archs) };

static size_t bytes_of(const struct fat *fat)
{
	return fat->header + fat->bytes;
}

static struct fat any_fat_binary(void)
{
	struct fat fat = { .magic = 0xba55ed50, .version = 1, .header = 16 };
	static const uint16_t kinds[] = { PTX, CUBIN, CUBIN, CUBIN, OTHER };
	unsigned int i, n = random() % (ENTRIES + 1);

	for (i = 0; i < n; i++)
		fat.entry[i] = (struct entry){ .kind = kinds[random() % 5],
					       .version = 0x101,
					       .header = offsetof(struct entry, number),
					       .bytes = sizeof(uint64_t),
					       .arch = archs[random() % ARCHS],
					       .number = 0x3031323334353637 + i };
	fat.bytes = n * sizeof(struct entry);
	return fat;
}

/* "a cubin is compatible with devices of the same major and a minor that is not less" */
static bool runs(const struct entry *e, uint32_t arch)
{
	return e->kind == CUBIN && e->arch / 10 == arch / 10 && e->arch <= arch;
}

/* the first of the best cubins, else the first of the best PTX: its number; 0: there is no code */
static uint64_t taken(const struct fat *fat, uint32_t arch)
{
	const struct entry *e, *best = NULL, *end = fat->entry + fat->bytes / sizeof(*e);

	for (e = fat->entry; e < end; e++)
		if (runs(e, arch) && (!best || e->arch > best->arch))
			best = e;
	for (e = fat->entry; e < end && !(best && best->kind == CUBIN); e++)
		if (e->kind == PTX && e->arch <= arch && (!best || e->arch > best->arch))
			best = e;
	return best ? best->number : 0;
}

static bool has_other_kind(const struct fat *fat, uint64_t number)
{
	unsigned int i;

	for (i = 0; i < fat->bytes / sizeof(struct entry); i++)
		if (fat->entry[i].kind == OTHER && fat->entry[i].number == number)
			return true;
	return false;
}

static void must_be_as_whole(const struct fat *fat, const struct fat *fit, uint32_t arch)
{
	unsigned int i, n = fit->bytes / sizeof(struct entry);

	assert_int_equal(kvgpu_remote_image_bytes(fit, bytes_of(fit)), bytes_of(fit));
	assert_int_equal(taken(fit, arch), taken(fat, arch));
	for (i = 0; i < n; i++)
		if (fit->entry[i].kind == CUBIN && arch < 100)
			assert_true(runs(&fit->entry[i], arch));
		else if (fit->entry[i].kind == PTX)
			assert_true(fit->entry[i].arch <= arch);
	for (i = 0; i < fat->bytes / sizeof(struct entry); i++)
		if (fat->entry[i].kind == OTHER)
			assert_true(has_other_kind(fit, fat->entry[i].number));
}

/* what our own libcuda, for 3.5, does with each */
static void must_be_as_whole_here(const struct fat *fat, const struct fat *fit)
{
	struct image_pick all, some;

	assert_int_equal(image_pick(fat, bytes_of(fat), &all),
			 image_pick(fit, bytes_of(fit), &some));
	assert_int_equal(all.size, some.size);
	assert_int_equal(all.ptx_size, some.ptx_size);
	if (all.size)
		assert_memory_equal(all.cubin, some.cubin, all.size);
	if (all.ptx_size)
		assert_memory_equal(all.ptx, some.ptx, all.ptx_size);
	image_pick_free(&all);
	image_pick_free(&some);
}

TEST(code_that_is_taken_stays)
{
	unsigned int i, k, fewer = 0;
	size_t n;

	srandom(7);
	for (i = 0; i < 20000; i++) {
		struct fat fat = any_fat_binary(), fit;

		for (k = 0; k < ARCHS; k++) {
			n = kvgpu_remote_image_fit(&fat, bytes_of(&fat), archs[k], NULL);
			assert_true(n <= bytes_of(&fat));
			if (n == bytes_of(&fat))
				continue;
			fewer++;
			memset(&fit, 0, sizeof(fit));
			assert_int_equal(
				kvgpu_remote_image_fit(&fat, bytes_of(&fat), archs[k], &fit), n);
			assert_int_equal(bytes_of(&fit), n);
			must_be_as_whole(&fat, &fit, archs[k]);
			if (archs[k] == 35)
				must_be_as_whole_here(&fat, &fit);
		}
	}
	assert_true(fewer > 100000);
}

/* what nothing can be taken of is sent as it is, as its error tells of all of it */
TEST(without_code_all_stays)
{
	struct fat fat = any_fat_binary();

	fat.bytes = 2 * sizeof(struct entry);
	fat.entry[0] = fat.entry[1] = (struct entry){
		.kind = CUBIN, .header = offsetof(struct entry, number), .bytes = 8, .arch = 80
	};
	assert_int_equal(kvgpu_remote_image_fit(&fat, bytes_of(&fat), 35, NULL), bytes_of(&fat));
	fat.entry[1].kind = PTX;
	assert_int_equal(kvgpu_remote_image_fit(&fat, bytes_of(&fat), 35, NULL), bytes_of(&fat));
	fat.entry[1].arch = 30;
	assert_int_equal(kvgpu_remote_image_fit(&fat, bytes_of(&fat), 35, NULL),
			 bytes_of(&fat) - sizeof(struct entry));
	/* no number of a device that is known here */
	fat.entry[0].arch = 0x8050;
	assert_int_equal(kvgpu_remote_image_fit(&fat, bytes_of(&fat), 35, NULL), bytes_of(&fat));
	/* a device of 11.0 was one of 10.1 for earlier drivers */
	fat.entry[0].arch = 101;
	assert_int_equal(kvgpu_remote_image_fit(&fat, bytes_of(&fat), 110, NULL), bytes_of(&fat));
}

TEST_MAIN(NULL, NULL)
