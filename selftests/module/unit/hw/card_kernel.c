// SPDX-License-Identifier: GPL-2.0-only
/* card_kernel.h has the contracts. */
#include <sys/mman.h>
#include <time.h>

#include "card_kernel.h"
#include "card_model.h"
#include "fwbuild.h"
#include "gk110/map.h"
#include "hw/hw.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/task.h"

#define BAR1_AT	 (32u << 20)
#define BAR3_AT	 (320u << 20)
#define SPACE	 (384u << 20)
#define NAP_NS	 200000 /* most ns between two looks for a message */
#define BEGAN_NS 1000000000ull /* as harness_begin() */

static u8 *space; /* the BARs' addresses for the CPU; nothing is stored there */
static bool log_on;
static struct pci_dev *dev;
static struct fwbuild built;
static struct firmware blob;
static unsigned int errors;
static u64 since; /* the machine's clock at kernel_begin() */

static struct {
	irqreturn_t (*hard)(int, void *), (*thread)(int, void *);
	void *arg;
	struct task_struct *task;
	bool due, wake, stop, runs;
	u32 taken;
} irq;

/* ------------------------------------------------------------------ time, messages of the card */

static u64 machine_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void look_at_card(void)
{
	harness_now = max(harness_now, machine_ns() - since + BEGAN_NS);
	if (!card_message())
		return;
	irq.due = true;
	harness_wake(&irq);
}

static void idle(u64 until)
{
	u64 ns = min_t(u64, until - harness_now, NAP_NS);
	struct timespec nap = { .tv_nsec = ns };

	nanosleep(&nap, NULL);
	look_at_card();
}

/* ------------------------------------------------------------------ words, firmware */

void harness_log(const struct device *d, const char *level, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text[strcspn(text, "\n")] = 0;
	errors += *level == 'e' || *level == 'w';
	harness_trace("%s: %s", level, text);
	if (log_on)
		fprintf(stderr, "# %s: %s\n", level, text);
}

void kernel_firmware(const u8 *data, size_t size)
{
	blob = (struct firmware){ .data = data, .size = size };
}

int request_firmware(const struct firmware **fw, const char *name, struct device *d)
{
	*fw = &blob;
	return 0;
}

void release_firmware(const struct firmware *fw)
{
}

/* ------------------------------------------------------------------ registers and windows */

/* Returns 0, 1 or 3: the BAR that has address @at. *@off: the offset there. */
static int where(const void *at, u64 *off)
{
	u64 o = (const u8 *)at - space;

	*off = o;
	if (o < GK110_BAR0_SIZE)
		return 0;
	*off = o - BAR1_AT;
	if (o >= BAR1_AT && *off < GK110_BAR1_SIZE)
		return CARD_BAR1;
	*off = o - BAR3_AT;
	if (o >= BAR3_AT && *off < GK110_BAR3_SIZE)
		return CARD_BAR3;
	harness_fail("%p is no address of the card's", at);
}

static u64 load(const void *at, unsigned int size)
{
	u64 off, val = 0;
	int bar = where(at, &off);

	harness_point("load");
	look_at_card();
	if (bar)
		card_load(bar, off, &val, size);
	else
		val = card_read(off, size);
	look_at_card();
	return val;
}

static void store(void *at, u64 val, unsigned int size)
{
	u64 off;
	int bar = where(at, &off);

	harness_point("store");
	if (!bar)
		card_write(off, size, val);
	else if (bar == CARD_BAR1 && off < KVGPU_USERD_SIZE && size == 4)
		card_doorbell(off, val);
	else
		card_store(bar, off, &val, size);
	look_at_card();
}

u32 ioread32(const void *at)
{
	return load(at, 4);
}

u8 ioread8(const void *at)
{
	return load(at, 1);
}

void iowrite32(u32 val, void *at)
{
	store(at, val, 4);
}

void iowrite8(u8 val, void *at)
{
	store(at, val, 1);
}

void writeq(u64 val, void *at)
{
	store(at, val, 8);
}

void memcpy_toio(void *to, const void *from, size_t n)
{
	u64 off;
	int bar = where(to, &off);

	if (!bar)
		harness_fail("register 0x%llx taken for memory", (unsigned long long)off);
	card_store(bar, off, from, n);
}

void memset_io(void *at, int c, size_t n)
{
	u8 *bytes = malloc(n);

	if (!bytes)
		abort();
	memset(bytes, c, n);
	memcpy_toio(at, bytes, n);
	free(bytes);
}

void memcpy_fromio(void *to, const void *from, size_t n)
{
	u64 off;
	int bar = where(from, &off);

	if (!bar)
		harness_fail("register 0x%llx taken for memory", (unsigned long long)off);
	card_load(bar, off, to, n);
}

void *ioremap(resource_size_t at, size_t n)
{
	return space + (at >= BAR3_PHYS ? BAR3_AT + (at - BAR3_PHYS) : BAR1_AT + (at - BAR1_PHYS));
}

/* ------------------------------------------------------------------ PCI */

int pci_enable_device_mem(struct pci_dev *p)
{
	p->enabled = true;
	return 0;
}

void pci_disable_device(struct pci_dev *p)
{
	p->enabled = false;
}

void pci_set_master(struct pci_dev *p)
{
	p->master = true;
	card_master(true);
}

void pci_clear_master(struct pci_dev *p)
{
	p->master = false;
	card_master(false);
}

int pci_read_config_word(struct pci_dev *p, int at, u16 *val)
{
	*val = p->master ? PCI_COMMAND_MASTER : 0;
	return 0;
}

int pcie_capability_clear_word(struct pci_dev *p, int pos, u16 clear)
{
	p->no_snoop = false;
	return 0;
}

resource_size_t pci_resource_start(struct pci_dev *p, int bar)
{
	return bar == CARD_BAR1 ? BAR1_PHYS : BAR3_PHYS;
}

resource_size_t pci_resource_len(struct pci_dev *p, int bar)
{
	return bar == CARD_BAR1 ? GK110_BAR1_SIZE : GK110_BAR3_SIZE;
}

void *pci_iomap(struct pci_dev *p, int bar, unsigned long most)
{
	return space;
}

void *card_host_memory(uint64_t at, size_t *len)
{
	const struct dma_entry *e = iommu_find(at);

	if (!e || !e->cpu)
		return NULL;
	*len = min_t(size_t, *len, e->at + e->size - at);
	return e->cpu + (at - e->at);
}

/* ------------------------------------------------------------------ the interrupt */

int pci_alloc_irq_vectors(struct pci_dev *p, unsigned int least, unsigned int most,
			  unsigned int flags)
{
	p->msi_enabled = true;
	card_msi(true);
	return 1;
}

/* The handler and its thread are one thread: with IRQF_ONESHOT neither interrupts the other. */
static void irq_main(void *arg)
{
	while (!irq.stop) {
		if (!irq.due && !irq.wake) {
			irq.runs = false;
			harness_wake(&irq.runs);
			harness_wait(&irq, NEVER);
			continue;
		}
		irq.runs = true;
		if (irq.due) {
			irq.due = false;
			irq.taken++;
			irq.wake |= irq.hard(33, irq.arg) == IRQ_WAKE_THREAD;
		}
		if (irq.wake) {
			irq.wake = false;
			irq.thread(33, irq.arg);
		}
	}
}

void irq_wake_thread(int n, void *arg)
{
	irq.wake = true;
	harness_wake(&irq);
}

int request_threaded_irq(int n, irqreturn_t (*hard)(int, void *),
			 irqreturn_t (*thread)(int, void *), unsigned long flags, const char *name,
			 void *arg)
{
	irq.hard = hard;
	irq.thread = thread;
	irq.arg = arg;
	irq.due = irq.wake = irq.stop = false;
	irq.task = task_new("interrupt", irq_main, NULL);
	return 0;
}

void free_irq(int n, void *arg)
{
	irq.stop = true;
	harness_wake(&irq);
	while (!task_done(irq.task))
		harness_wait(irq.task, NEVER);
}

/* ------------------------------------------------------------------ a run */

void kernel_begin(struct pci_dev *pdev)
{
	const struct policy calm = { .seed = 1 };

	log_on = getenv("KVGPU_TEST_LOG");
	dev = pdev;
	memset(dev, 0, sizeof(*dev));
	dev->no_snoop = true;
	memset(&irq, 0, sizeof(irq));
	errors = 0;
	if (!blob.data) {
		fwbuild_make(&built);
		kernel_firmware(built.data, built.size);
	}
	space = mmap(NULL, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (space == MAP_FAILED)
		abort();
	since = machine_ns();
	harness_begin(&calm);
	harness_idle = idle;
}

void kernel_end(void)
{
	if (dev->enabled || dev->master)
		harness_fail("the card is not given back");
	iommu_end();
	harness_end();
	harness_idle = NULL;
	munmap(space, SPACE);
}

unsigned int kernel_errors(void)
{
	return errors;
}

u32 kernel_interrupts(void)
{
	return irq.taken;
}
