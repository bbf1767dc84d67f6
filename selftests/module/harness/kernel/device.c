// SPDX-License-Identifier: GPL-2.0-only
/* The card's PCI function, its BARs as the CPU sees them, its interrupt, and small services. */
#include <sys/mman.h>

#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"
#include "selftests/module/unit/hw/fwbuild.h"

#define BAR1_AT (32u << 20)
#define BAR3_AT (320u << 20)
#define SPACE	(384u << 20)
#define HOST	(~0ull) /* in place of an address in video memory */
#define IRQ_NS	2000 /* time to enter and leave the handler and its thread */

struct pci_driver *the_pci_driver;
struct mdev_driver *the_mdev_driver;
struct mdev_parent *the_parent;
static u8 *space; /* the BARs' addresses for the CPU: nothing is stored there */
u32 host_reads;

/* ------------------------------------------------------------------ words */

void harness_log(const struct device *dev, const char *level, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text[strcspn(text, "\n")] = 0;
	harness_trace("%s: %s", level, text);
}

int kstrtouint(const char *text, unsigned int base, unsigned int *out)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	v = strtoull(text, &end, base);
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (v > U32_MAX)
		return -ERANGE;
	*out = v;
	return 0;
}

bool sysfs_streq(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text, name, len) && (!text[len] || !strcmp(text + len, "\n"));
}

int request_firmware(const struct firmware **fw, const char *name, struct device *dev)
{
	static struct fwbuild made;
	static struct firmware blob;

	fwbuild_make(&made);
	blob = (struct firmware){ .size = made.size, .data = made.data };
	*fw = &blob;
	return 0;
}

void release_firmware(const struct firmware *fw)
{
}

/* ------------------------------------------------------------------ stores and loads */

/* Return the number of the BAR that has @at. *@off: the offset there. */
static unsigned int where(const void *at, u64 *off)
{
	u64 o = (const u8 *)at - space;

	*off = o;
	if (o < BAR0_SIZE)
		return 0;
	*off = o - BAR1_AT;
	if (*off < BAR1_SIZE)
		return 1;
	*off = o - BAR3_AT;
	if (*off < BAR3_SIZE)
		return 3;
	harness_fail("%p is no address of the card's", at);
}

/*
 * Return what is behind address @at of a BAR. *@vram: its address in video memory, or HOST. A card
 * that was cut off reaches no memory of the host's, whatever its tables and TLBs say.
 */
static u8 *behind(const void *at, u64 *vram)
{
	static u8 nowhere[PAGE_SIZE];
	u64 off;
	unsigned int bar = where(at, &off);
	u8 *page;

	FAIL_ON(!bar, "register 0x%llx taken for memory", off);
	switch (chip_show(bar, off, vram)) {
	case SHOWS_VRAM:
		return chip_vram(*vram);
	case SHOWS_HOST:
		page = chip.no_master ? nowhere :
					oracle_host_page(*vram & PAGE_MASK, "a CPU uses a BAR");
		*vram = HOST;
		return page + offset_in_page(off);
	default:
		harness_fail("BAR%u faults at 0x%llx", bar, off);
	}
}

/* Where @n is a constant, the sanitizers' memcpy() need not be called. */
static __always_inline void put(void *at, const void *from, size_t n)
{
	u64 vram, off;
	u8 *to = behind(at, &vram);

	memcpy(to, from, n);
	if (vram != HOST) {
		chip_wrote(vram, n);
		flush_stored(vram, n);
	}
	if (n == 4 && where(at, &off) == 1 && off < PAGE_SIZE)
		chip_doorbell(off, *(const u32 *)from);
}

struct irq the_irq;
void (*irq_has_read)(u32 reg);

u32 ioread32(const void *at)
{
	u64 off, vram;
	u32 val;

	harness_now += 100 + harness_read_ns();
	host_reads += !task_mm();
	harness_point("ioread32");
	if (!where(at, &off)) {
		val = chip_read(off);
		if (current == the_irq.task && irq_has_read)
			irq_has_read(off);
		return val;
	}
	chip_read(0);
	if (chip.memory_end && chip_bar_inst(1) >= chip.memory_end)
		return ~0u; /* BAR1's own tables are in memory that does not answer */
	memcpy(&val, behind(at, &vram), 4);
	return val;
}

u8 ioread8(const void *at)
{
	harness_point("ioread8");
	return 0;
}

void iowrite32(u32 val, void *at)
{
	u64 off;

	if (where(at, &off)) {
		put(at, &val, 4);
		return;
	}
	harness_point("iowrite32");
	chip_write(off, val);
	harness_point("iowrite32, done");
}

void iowrite8(u8 val, void *at)
{
	harness_point("iowrite8");
}

void writeq(u64 val, void *at)
{
	put(at, &val, 8);
}

/* page by page, in which all BARs begin */
static size_t step(const void *at, size_t n)
{
	return min_t(size_t, n, PAGE_SIZE - offset_in_page(at));
}

void memset_io(void *at, int c, size_t n)
{
	u64 vram;
	size_t len;
	u8 *to;

	for (; n; n -= len, at += len) {
		len = step(at, n);
		to = behind(at, &vram);
		if (c || vram == HOST || chip_pages[vram >> 12])
			memset(to, c, len);
		if (vram == HOST)
			continue;
		if (c)
			chip_wrote(vram, len);
		else if (len == PAGE_SIZE)
			chip_pages[vram >> 12] = 0;
		flush_stored(vram, len);
	}
}

void memcpy_fromio(void *to, const void *from, size_t n)
{
	u64 vram;
	size_t len;

	for (; n; n -= len, from += len, to += len) {
		len = step(from, n);
		memcpy(to, behind(from, &vram), len);
	}
}

/* Stores may have any width, so the chip sees memory once with one half of a word stored. */
void memcpy_toio(void *to, const void *from, size_t n)
{
	size_t len, cut;
	u64 vram;

	for (; n; n -= len, from += len, to += len) {
		len = step(to, n);
		cut = (len / 2 & ~7ul) + 4;
		behind(to, &vram);
		if (vram != HOST && pool_find(vram) && cut < len) {
			put(to, from, cut);
			chip_look("half of a word was stored");
		}
		put(to, from, len);
	}
}

void __iowrite64_copy(void *to, const void *from, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		writeq(((const u64 *)from)[i], to + 8 * i);
		if (i + 1 < nr)
			harness_point("between two entries");
	}
}

void *ioremap(resource_size_t at, size_t n)
{
	if (alloc_fails())
		return NULL;
	if (at >= BAR3_PHYS)
		return space + BAR3_AT + (at - BAR3_PHYS);
	return space + BAR1_AT + (at - BAR1_PHYS);
}

/* ------------------------------------------------------------------ PCI */

int mdev_register_parent(struct mdev_parent *p, struct device *d, struct mdev_driver *drv,
			 struct mdev_type **types, unsigned int nr)
{
	unsigned int i;

	p->dev = d;
	p->mdev_driver = drv;
	p->types = types;
	p->nr_types = nr;
	for (i = 0; i < nr; i++)
		types[i]->parent = p;
	the_parent = p;
	return 0;
}

void mdev_unregister_parent(struct mdev_parent *p)
{
	the_parent = NULL;
}

/* how long an access to configuration space takes, and whether a write of one is posted */
u64 config_ns;
static bool config_posted;

/* Other CPUs run while a thread waits for configuration space. */
static void config_access(const char *what)
{
	harness_point(what);
	if (config_ns)
		harness_sleep(config_ns);
}

static void config_arrives(struct pci_dev *p)
{
	if (config_posted)
		chip.no_master = !p->master;
	config_posted = false;
}

int pci_enable_device_mem(struct pci_dev *p)
{
	p->enabled = true;
	return 0;
}

void pci_disable_device(struct pci_dev *p)
{
	config_arrives(p);
	p->enabled = false;
}

void pci_set_master(struct pci_dev *p)
{
	p->master = true;
	config_posted = false;
	chip.no_master = false;
}

/* The write reaches the card at the latest when the card answers a read (PCI Express, 7.2.2). */
void pci_clear_master(struct pci_dev *p)
{
	config_access("pci_clear_master");
	p->master = false;
	config_posted = true;
}

int pci_read_config_word(struct pci_dev *p, int where, u16 *val)
{
	config_access("pci_read_config_word");
	config_arrives(p);
	*val = p->master ? PCI_COMMAND_MASTER : 0;
	return 0;
}

int pcie_capability_clear_word(struct pci_dev *p, int pos, u16 clear)
{
	FAIL_ON(pos != PCI_EXP_DEVCTL || clear != PCI_EXP_DEVCTL_NOSNOOP_EN,
		"an unknown bit of the card's configuration is cleared");
	p->no_snoop = false;
	return 0;
}

resource_size_t pci_resource_start(struct pci_dev *p, int bar)
{
	return bar == 1 ? BAR1_PHYS : BAR3_PHYS;
}

resource_size_t pci_resource_len(struct pci_dev *p, int bar)
{
	return bar == 1 ? BAR1_SIZE : BAR3_SIZE;
}

void *pci_iomap(struct pci_dev *p, int bar, unsigned long max)
{
	if (!space)
		space = mmap(NULL, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);
	return space;
}

int pci_alloc_irq_vectors(struct pci_dev *p, unsigned int min_vecs, unsigned int max_vecs,
			  unsigned int flags)
{
	p->msi_enabled = true;
	return 1;
}

/* ------------------------------------------------------------------ the interrupt */

static void irq_main(void *arg)
{
	u64 began, slept;

	while (!the_irq.stop) {
		if (!the_irq.wake && !chip_intr()) {
			harness_wait(&the_irq, NEVER);
			continue;
		}
		began = harness_now;
		slept = task_slept(the_irq.task);
		the_irq.runs++;
		if (the_irq.wake || the_irq.hard(33, the_irq.arg) == IRQ_WAKE_THREAD) {
			the_irq.wake = false;
			the_irq.thread(33, the_irq.arg);
		}
		the_irq.ran += harness_now - began + IRQ_NS;
		the_irq.worked += harness_now - began + IRQ_NS - (task_slept(the_irq.task) - slept);
		harness_now += IRQ_NS;
		harness_point("interrupt");
	}
}

void irq_line(void)
{
	harness_wake(&the_irq);
}

void irq_wake_thread(int n, void *arg)
{
	the_irq.wake = true;
	harness_wake(&the_irq);
}

int request_threaded_irq(int n, irqreturn_t (*hard)(int, void *),
			 irqreturn_t (*thread)(int, void *), unsigned long flags, const char *name,
			 void *arg)
{
	the_irq = (struct irq){ .hard = hard, .thread = thread, .arg = arg };
	irq_has_read = NULL;
	the_irq.task = task_new("interrupt", irq_main, NULL);
	sched_set_fifo_low(the_irq.task);
	return 0;
}

void free_irq(int n, void *arg)
{
	the_irq.stop = true;
	harness_wake(&the_irq);
	while (!task_done(the_irq.task))
		harness_wait(the_irq.task, NEVER);
}
