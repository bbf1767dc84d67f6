/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interfaces that the units of the GK110 model share: configuration, the device, the register
 * dispatch, bus mastering, translation, channels as engines see them, interrupts, time, statistics
 * and messages.
 *
 * Layers, each one built on those to its right:
 *   main, vfio/ (socket, PCI, mapped BARs)  ->  core/  ->  root/ fifo/ ce/ gr/  ->  mmu/
 * Calls in the other direction go by the functions below and by struct bus_ops. A unit keeps its
 * state in registers and in a structure of its own behind a pointer in struct gk110.
 *
 * Threads and locks
 *   - The threads: the socket thread (main()'s, in vfio/), one for each PBDMA and the keeper
 *     (fifo/), helpers for grids (gr/sm/), one for the alarm (root/ptimer.c), one that posts MMU
 *     faults (mmu/fault.c), one for the helper inside QEMU (vfio/barmap_link.c).
 *   - Register handlers run with gk110.lock held. "Lock held" below means this lock. Accesses of
 *     the bus come on the socket thread. Accesses of FECS and of the PMU's scripts come inside of
 *     such an access, or on the thread that switches GR's context, a PBDMA's or the keeper. A
 *     handler must suit each of these threads.
 *   - A PBDMA's thread runs methods of engines without the lock, and takes it for register state,
 *     channel state and interrupts. Long work is done without the lock: copies, grids, waits for
 *     semaphores, sleeps. An invalidate holds the lock while it waits for dma_lock and for the
 *     helper inside QEMU.
 *   - gk110.dma_lock (read side) is held while a pointer from bus->dma_ptr() or mmu_translate() is
 *     in use. The bus takes the write side to add and remove guest memory, the MMU to change what
 *     translates. Hold it for about 1 MiB of work at a time. Recursive read locking is allowed.
 *   - Order: lock, then barmap.lock (vfio/), then dma_lock, then mmu.tlbs_lock and the locks of
 *     gr/sm/. With barmap.lock held, take dma_lock for reading only. mmu.fault_lock, struct wake's
 *     lock (fifo/) and core.note_lock are leaves.
 *   - A thread that takes dma_lock again and again for long work (copies of ce/, grids of gr/) uses
 *     dma_read_lock(), and a writer uses dma_write_lock(): with a plain rwlock, readers that
 *     overlap could keep a writer out for ever. dma_read_lock() is the outermost of a thread's read
 *     locks; a read lock inside of it, or for short work, may be plain pthread_rwlock_rdlock().
 */
#ifndef KVGPU_MODEL_MODEL_H
#define KVGPU_MODEL_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gk110/map.h>

#define GK110_PAGE	  4096u
#define GK110_MAX_PBDMA	  3
#define GK110_MAX_RUNLIST 7
#define GK110_MAX_CHAN	  4096
#define GK110_MAX_TSG	  4096
/* GR, CE0, CE1, CE2: indices into gk110.engine[] */
#define GK110_MAX_ENGINE 4
/* engines that PTOP names: those, and the video engines, which are fused off */
#define GK110_MAX_DEVICE 8
#define GK110_MAX_GPC	 5
/* steps in order after which the GPCs have power */
#define GPC_POWER_STEPS 16

struct gk110;

/* ------------------------------------------------------ configuration (main fills, core checks) */

/* PTOP type codes */
enum engine_type {
	ENGINE_GR = 0,
	ENGINE_CE0 = 1,
	ENGINE_CE1 = 2,
	ENGINE_CE2 = 3,
	ENGINE_MSPDEC = 8,
	ENGINE_MSPPP = 9,
	ENGINE_MSVLD = 10,
	ENGINE_MSENC = 11,
};

/* What differs from board to board and from die to die (root/board.c). */
struct gk110_board {
	char name[16];
	uint16_t chipset; /* of PMC_BOOT_0 */
	uint16_t device, subdevice; /* PCI ids */
	uint8_t ramcfg; /* strap of memory, by which the VBIOS knows it */
	uint64_t vram_size; /* bytes */
	uint8_t tpcs[GK110_MAX_GPC]; /* TPCs of each GPC */
	uint8_t fbp_off; /* bit per memory partition that is switched off */
	uint8_t nr_runlists;
	uint8_t pbdma_runlists[GK110_MAX_PBDMA]; /* bit per runlist that the PBDMA serves */
	uint8_t nr_devices;
	struct gk110_device {
		uint8_t type, id, runlist; /* enum engine_type; number in PFIFO */
	} device_table[GK110_MAX_DEVICE]; /* in PTOP's order */
	/* bytes of a graphics context at least; 0: as many as its register lists need */
	uint32_t ctx_size;
};

/* root/board.c: false if there is no board of that name */
bool board_find(const char *name, struct gk110_board *b);
/* Draw what differs between dies of a board. The same seed gives the same die. */
void board_draw(struct gk110_board *b, unsigned int seed);
/* Correct @b by a JSON file of registers that a card showed. 0, or -EINVAL after gk110_err(). */
int board_correct(struct gk110_board *b, const char *path);
/* 0, or -EINVAL after gk110_err(): a board that GK110 can't be */
int board_check(const struct gk110_board *b);
/* memory partitions that are on; SMX */
unsigned int board_fbps(const struct gk110_board *b);
unsigned int board_tpcs(const struct gk110_board *b);

struct gk110_config {
	struct gk110_board board;
	/* bytes */
	uint64_t vram_size;
	/* PROM image; root/rom_image.c says what it must have */
	const char *vbios_path;
	uint64_t ce_bytes_per_s; /* per copy engine, 0 = as fast as the machine allows */
	/* warp instructions per second over all SMX, 0 = as fast as possible */
	uint64_t gr_warps_per_s;
	bool verbose;
	/* the card is not POSTed, at first and after each reset (root/cold.c) */
	bool unposted;
	/* what is wrong with the card (root/defect.c); NULL: nothing */
	const char *defect;
};

/* ------------------------------------------------------------------ registers */

/*
 * One range of BAR0. Handlers see aligned 32-bit accesses, which core/mmio.c makes of those of the
 * bus. A register of a range without a handler is a word of the register file. @be: bits of @val
 * that were really written (0xff per written byte); the other bits of @val are 0. Handlers are
 * called with lock held and dma_lock not held.
 */
struct mmio_range {
	uint32_t base, size;
	const char *name;
	uint32_t (*read)(struct gk110 *g, uint32_t reg);
	void (*write)(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);
};

/*
 * A unit of the chip. All callbacks may be NULL. init allocates, fini frees. reset gives the state
 * of a POSTed card (but see unposted), after init and at a device reset; the PMU's and PTIMER's
 * also when PMC_ENABLE resets them. stop and fini go through the units in reverse order. start and
 * stop begin and end threads; stop must return within 1 s even when the guest's work never ends.
 * reset is called with lock held, the other callbacks without it. Ranges must not overlap
 * (core/mmio.c checks it).
 */
struct unit_ops {
	const char *name;
	const struct mmio_range *ranges;
	unsigned int nr_ranges;
	int (*init)(struct gk110 *g); /* 0 or -errno */
	void (*reset)(struct gk110 *g);
	int (*start)(struct gk110 *g);
	void (*stop)(struct gk110 *g);
	void (*fini)(struct gk110 *g);
};

/* the units, in the table of core/device.c */
extern const struct unit_ops pmc_unit, ptimer_unit, pbus_unit, ppci_unit, prom_unit, ptop_unit,
	privring_unit, pfuse_unit, therm_unit, pclock_unit, gpio_unit, pfb_unit, ltc_unit, pmu_unit,
	mmu_unit, bar_unit, fifo_unit, ce_unit, gr_unit;

/*
 * root/cold.c: true if the register's unit is off or has no power; *@code: what it reads then. Lock
 * held.
 */
bool cold_unit(struct gk110 *g, uint32_t reg, uint32_t *code);
/*
 * root/absent.c: set range_of[] to 0 for registers that the card does not have; what such a
 * register reads.
 */
void absent_cut(struct gk110 *g);
uint32_t absent_code(uint32_t reg);
/*
 * root/pbus.c: report an access that no unit answered: @val was written, or @code was read. Lock
 * held.
 */
void pbus_access_failed(struct gk110 *g, uint32_t reg, bool write, uint32_t val, uint32_t code);
/*
 * root/defect.c: whether there is a defect of this name; what a register reads on a card with a
 * defect, that has @val without it; and a write to a register of such a card. Lock held, but for
 * the first one.
 */
bool defect_known(const char *name);
uint32_t defect_read(struct gk110 *g, uint32_t reg, uint32_t val);
void defect_write(struct gk110 *g, uint32_t reg);

/* The register file: registers without a handler, and values that handlers keep. Lock held. */
static inline uint32_t reg_get(struct gk110 *g, uint32_t reg);
static inline void reg_set(struct gk110 *g, uint32_t reg, uint32_t val);
/* Merge a partial write into the register file and return the new word. */
static inline uint32_t reg_merge(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);

/*
 * Accesses of the bus to BAR0, from the socket thread; size 1, 2, 4 or 8, any alignment. Take the
 * lock.
 */
uint64_t gk110_mmio_read(struct gk110 *g, uint32_t off, unsigned int size);
void gk110_mmio_write(struct gk110 *g, uint32_t off, unsigned int size, uint64_t val);

/* ------------------------------------------------------- the bus (vfio/ implements, tests fake) */

enum bar_window { WIN_BAR1, WIN_BAR3, WIN_PRAMIN, NR_WIN };

struct bus_ops {
	/*
	 * Host pointer to guest memory at bus address @iova. *@len is cut to what is contiguous.
	 * NULL: no memory there that the device may access so. Caller holds dma_lock for reading.
	 */
	void *(*dma_ptr)(void *bus, uint64_t iova, size_t *len, bool write);
	/*
	 * Interrupt output: @level is the line (INTx), @edge asks for one message (MSI). Lock held.
	 */
	void (*intr)(void *bus, bool level, bool edge);
	/*
	 * Translations of a CPU window, or the place of USERD in BAR1, changed: unmap pages that
	 * show something else than bar_translate() now gives, or USERD. Returns only when no CPU
	 * access can use an old translation. Lock held, dma_lock not held.
	 */
	void (*win_invalidate)(void *bus, enum bar_window win);
};

/* ---------------------------------------------------------------- memory and translation (mmu/) */

/* Where memory is; numbers as in a PTE's aperture (rnndb gf100_vm). */
enum mem_target { MEM_VRAM = 0, MEM_PEER = 1, MEM_SYS_COH = 2, MEM_SYS_NCOH = 3 };

enum mmu_access { ACC_READ, ACC_WRITE, ACC_ATOMIC };

enum mmu_reason { /* fault record reason (nouveau fifo/gk104.c, rnndb gf100_vm.xml) */
		  MMU_PDE = 0,
		  MMU_PDE_SIZE = 1,
		  MMU_PTE = 2,
		  MMU_LIMIT = 3,
		  MMU_UNBOUND_INST = 4,
		  MMU_PRIV = 5,
		  MMU_RO = 6,
		  MMU_WO = 7,
		  MMU_PITCH_MASK = 8,
		  MMU_WORK_CREATION = 9,
		  MMU_APERTURE = 0xa,
		  MMU_COMPRESSION = 0xb,
		  MMU_KIND = 0xc,
		  MMU_REGION = 0xd,
		  MMU_BOTH_PTES = 0xe,
		  MMU_POISONED = 0xf,
};

/*
 * Physical accesses. False: a byte can't be reached; a first part may have been copied. These take
 * dma_lock for reading.
 */
bool mem_read(struct gk110 *g, enum mem_target t, uint64_t addr, void *buf, size_t len);
bool mem_write(struct gk110 *g, enum mem_target t, uint64_t addr, const void *buf, size_t len);
/*
 * Host pointer to physical memory, or NULL. *@len is cut to what is contiguous. Call with dma_lock
 * held for reading.
 */
void *mem_ptr(struct gk110 *g, enum mem_target t, uint64_t addr, size_t *len, bool write);

/* dma_lock, fair to writers (see the top of this file); dma_read_lock() nests in itself */
void dma_read_lock(struct gk110 *g);
void dma_read_unlock(struct gk110 *g);
void dma_write_lock(struct gk110 *g);
void dma_write_unlock(struct gk110 *g);

/* an address space as an instance block names it (dwords 0x200-0x20c) */
struct mmu_space {
	uint64_t pdb; /* page directory, bytes */
	enum mem_target pdb_target;
	uint64_t limit; /* last valid virtual address, inclusive */
	uint64_t inst; /* address of the instance block, bytes */
	bool valid;
};

/*
 * Read the address space that the instance block at @inst names. False (and !valid): it can't be
 * read. Takes dma_lock for reading.
 */
bool mmu_space_load(struct gk110 *g, uint64_t inst, enum mem_target t, struct mmu_space *s);

/*
 * A client of the MMU: its identity in fault records, and a TLB of its own. Several threads may use
 * one client at the same time.
 */
struct mmu_client {
	const char *name;
	/* number of the unit in fault registers */
	uint8_t unit;
	uint8_t client; /* hub client number, or GPC client number when gpc >= 0 */
	int8_t gpc; /* GPC number, -1 for a hub client */
	struct tlb *tlb;
	atomic_uint_least64_t faults;
};

/* No other thread may use @c during these two. They take mmu.tlbs_lock. */
int mmu_client_init(struct gk110 *g, struct mmu_client *c, const char *name, uint8_t unit,
		    uint8_t client, int gpc);
void mmu_client_fini(struct gk110 *g, struct mmu_client *c);

struct mmu_seg {
	void *ptr; /* host pointer, valid while dma_lock is held for reading */
	/* bytes from ptr on, physically contiguous */
	size_t len;
	uint64_t phys;
	enum mem_target target;
	uint8_t kind; /* storage kind of the page (0 = pitch) */
	bool vol, read_only;
};

#define MMU_PRIV_ACCESS 1u /* the access may use PTEs marked privileged */
/* only look: record no fault, raise no interrupt, fill no TLB */
#define MMU_PEEK 2u

/*
 * Translate @va in @s for at most @want bytes. Return 0 and *@seg, or -EFAULT; without MMU_PEEK the
 * fault is recorded. To record a fault it tries to take gk110.lock; a caller that holds that lock
 * gives MMU_PEEK or MMU_LOCKED. Call with dma_lock held for reading.
 */
#define MMU_LOCKED 4u /* caller holds gk110.lock */
int mmu_translate(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		  size_t want, enum mmu_access acc, unsigned int flags, struct mmu_seg *seg);

/*
 * Copy from and to an address space. Take dma_lock. Return 0, or -EFAULT as mmu_translate() does.
 */
int mmu_read(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	     void *buf, size_t len, unsigned int flags);
int mmu_write(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	      const void *buf, size_t len, unsigned int flags);

/*
 * Record a fault that a unit found by itself (no memory there), or that software asked for. Lock
 * not held unless MMU_LOCKED is given.
 */
void mmu_fault(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	       enum mmu_reason why, enum mmu_access acc, unsigned int flags);

/*
 * Drop cached translations, as 0x100cbc (and the host method MEM_OP) does. Returns when no access
 * uses an old translation and the CPU windows concerned were invalidated. @pdb and @t are ignored
 * with ALL_PDB. Lock held, dma_lock not held.
 */
#define MMU_INV_ALL_VA	 1u /* else only the page that 0x100cb4 names */
#define MMU_INV_ALL_PDB	 2u
#define MMU_INV_HUB_ONLY 4u /* TLBs of GPC clients stay as they are */
void mmu_tlb_invalidate(struct gk110 *g, uint64_t pdb, enum mem_target t, unsigned int what);

/*
 * CPU windows (mmu/bar.c). Call the accesses without the lock. A read that is out of range gives
 * all ones, as do the bytes of a read that fault.
 */
uint64_t bar_read(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size);
void bar_write(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size, uint64_t val);
/*
 * Translate a page of a window, for mapping it into the CPU's address space. Return 0 and *@seg, or
 * -EFAULT. @flags: as for mmu_translate(). @want may span pages: seg->len says how far the memory
 * is contiguous. Call with dma_lock held for reading.
 */
int bar_translate(struct gk110 *g, enum bar_window w, uint64_t off, size_t want,
		  enum mmu_access acc, unsigned int flags, struct mmu_seg *seg);

/* ------------------------------------------------------------------ interrupts */

/* Set the level of a unit's line to PMC. Lock held. */
void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level);
/* the same for a unit's line for leaf 1 (0x104) */
void pmc_intr_set_nrhost(struct gk110 *g, unsigned int bit, bool level);
/* MSI re-arm (byte write of 0xff to the config mirror, PPCI). Lock held. */
void pmc_intr_rearm(struct gk110 *g);

/* Set bits of PFIFO_INTR (0x2100) that software clears by writing 1. Lock held. */
void fifo_intr_raise(struct gk110 *g, uint32_t bits);
/* Recompute PFIFO_INTR's bits 28-30 and the lines. Lock held. */
void fifo_intr_update(struct gk110 *g);
/* Reset of PFIFO by PMC_ENABLE: drop all channels and runlists. Lock held. */
void fifo_reset_hw(struct gk110 *g);

/* ----------------------------------------------------------------- channels as engines see them */

struct chan {
	unsigned int id; /* channel id of the chip */
	int tsg; /* TSG id, -1 for a bare channel */
	unsigned int runlist;
	uint64_t inst; /* instance block */
	enum mem_target inst_target;
	struct mmu_space vm; /* loaded with the channel */
	bool hce_priv; /* RAMFC HCE_CTRL bit 5: physical copies allowed */
	bool pb_priv; /* the GPFIFO entry has its PRIV bit set */
	/* RAMFC 0x100-0x17f, the method state of the copy class */
	uint32_t ce_state[32];
	uint32_t subch_class[8]; /* SET_OBJECT of each subchannel */
	/* the channel must stop soon: long operations return ENG_AGAIN */
	atomic_bool stop;
	void *fifo; /* private to fifo/ */
};

enum eng_ret {
	ENG_DONE, /* the method was executed */
	/*
	 * stopped in the middle by chan->stop: fifo/ issues the same method again when the channel
	 * goes on.
	 */
	ENG_AGAIN,
	/* an MMU fault was recorded: the engine holds the channel */
	ENG_FAULT,
	/* CE: HCE_ILLEGAL_MTHD interrupt of the PBDMA */
	ENG_ILLEGAL_MTHD,
	/* CE: physical mode without hce_priv */
	ENG_PRIV,
	/*
	 * an interrupt was raised that halts the engine; engine_ops.stalled says when the engine
	 * goes on
	 */
	ENG_STALL,
	/* CE: render-enable mode that does not exist */
	ENG_RE_ILLEGAL_OP,
	/* CE: render-enable address not aligned */
	ENG_RE_ALIGN,
};

/*
 * An engine that takes methods. PBDMA threads call method, load and save without a lock, one thread
 * at a time per engine. The keeper (fifo/recovery.c) calls save, too. GR keeps a context: fifo/
 * calls load before a channel uses GR, and save when the context has to leave.
 */
struct engine_ops {
	const char *name;
	enum eng_ret (*method)(struct gk110 *g, unsigned int inst, struct chan *c,
			       unsigned int subc, uint32_t mthd, uint32_t data, bool last_of_group);
	/*
	 * load makes @c resident; save writes the resident context to memory and drops it. NULL for
	 * CE. Return 0, -EFAULT, or -EIO.
	 */
	int (*load)(struct gk110 *g, unsigned int inst, struct chan *c);
	int (*save)(struct gk110 *g, unsigned int inst, struct chan *c);
	/*
	 * Reset by PMC_ENABLE (lock held): drop the resident context without saving, clear pending
	 * exceptions.
	 */
	void (*reset)(struct gk110 *g, unsigned int inst);
	/* True while an exception that halts the engine is pending (lock held). NULL: never. */
	bool (*stalled)(struct gk110 *g, unsigned int inst);
	/* Whether SET_OBJECT accepts the class here. */
	bool (*has_class)(uint32_t cls);
};
extern const struct engine_ops ce_engine, gr_engine;

struct engine {
	enum engine_type type;
	unsigned int id; /* number in PFIFO's registers */
	unsigned int inst; /* CE number */
	unsigned int runlist;
	unsigned int intr_bit, reset_bit; /* PMC 0x100 and 0x200 bits */
	uint8_t fault_unit, hub_client;
	uint32_t mmio_base;
	const struct engine_ops *ops;
	void *fifo; /* private to fifo/ */
};

/*
 * BAR1 was written (mmu/bar.c), or may have been while a page of it was mapped (vfio/barmap.c). If
 * the range covers a channel's GP_PUT, that is a doorbell. Lock held.
 */
void fifo_bar1_written(struct gk110 *g, uint64_t bar1_off, unsigned int size);
/*
 * The range of BAR1 that holds USERD (0x2254): the bus must not keep its pages mapped. Size 0: not
 * set. Any thread, with or without lock.
 */
void fifo_userd_window(struct gk110 *g, uint64_t *off, uint64_t *size);
/* Memory that an acquire waits for may have changed: retry soon. Any thread. */
void fifo_kick(struct gk110 *g);
/* An exception that halted the engine is over: PBDMA threads look again. Lock held. */
void fifo_engine_resume(struct gk110 *g, unsigned int engine);
/*
 * PMC_ENABLE resets engine[@engine]. The method in progress and the resident context are lost. Lock
 * held.
 */
void fifo_engine_reset(struct gk110 *g, unsigned int engine);

/* ------------------------------------------------------------------ time */

#define MONO_NEVER UINT64_MAX
uint64_t mono_ns(void); /* the host's monotonic time; core/clock.c */
void mono_sleep_until(uint64_t t);
void mono_cond_init(pthread_cond_t *cond);
/* false when @deadline (MONO_NEVER: none) has passed; @cond was made by mono_cond_init() */
bool mono_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline);

/* the time in ns as PTIMER shows it; any thread, no lock */
uint64_t ptimer_now(struct gk110 *g);

struct pacer {
	uint64_t per_s; /* units per second, 0 = not paced */
	uint64_t busy_until; /* monotonic ns */
	uint64_t rem; /* part of a ns beyond busy_until, times per_s */
	uint64_t last; /* when the engine was last seen working, monotonic ns */
	bool open; /* between pacer_begin and pacer_end */
};
/*
 * Charge @units and sleep until the engine would be done; return early when *@stop turns true. Call
 * on the thread that owns the engine, without any lock.
 */
void pacer_charge(struct pacer *p, uint64_t units, const atomic_bool *stop);
/* Begin and end one job (optional). Its charges count from pacer_begin() on. */
void pacer_begin(struct pacer *p);
void pacer_end(struct pacer *p);

/* ------------------------------------------------------------------ statistics and messages */

struct gk110_stats {
	/* a counter for each 64 KiB of BAR0 */
	atomic_uint_least64_t mmio_rd[256], mmio_wr[256];
	atomic_uint_least64_t bar_rd[NR_WIN], bar_wr[NR_WIN];
	atomic_uint_least64_t bar_faults[NR_WIN], bar_pages_mapped[NR_WIN];
	/* bytes of guest memory; loads and stores of shaders are not counted */
	atomic_uint_least64_t dma_rd_bytes, dma_wr_bytes;
	/* bytes of VRAM, likewise */
	atomic_uint_least64_t vram_rd_bytes, vram_wr_bytes;
	atomic_uint_least64_t doorbells, gp_entries, methods, semaphores, acquires_blocked;
	atomic_uint_least64_t ce_launches, gr_launches, chan_switches, gr_switches, preempts,
		runlist_updates;
	atomic_uint_least64_t tlb_flushes, tlb_hits, tlb_misses, mmu_faults, intr_msgs,
		nonstall_intrs;
	/* accesses of the bus to registers that did not answer */
	atomic_uint_least64_t pri_errors;
	atomic_uint_least64_t engine_busy_ns[GK110_MAX_ENGINE];
};
#define stat_add(g, field, n) \
	atomic_fetch_add_explicit(&(g)->stats.field, (n), memory_order_relaxed)
#define stat_inc(g, field) stat_add(g, field, 1)

/*
 * Messages to stderr with a prefix, printf-like. gk110_err(): errors that the user of the model has
 * to see. gk110_note(): events that a guest, a client or the helper caused, limited in rate. Any
 * thread, with any lock held.
 */
void gk110_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void gk110_note(struct gk110 *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------ the device */

/*
 * All members but the locks, dma_writers, config and stats are constant once gk110_create() has
 * returned; what the pointers lead to is not.
 */
struct gk110 {
	struct gk110_config cfg;
	pthread_mutex_t lock;
	pthread_rwlock_t dma_lock;
	/* for dma_read_lock() and dma_write_lock(); zeroed memory is a valid start */
	pthread_mutex_t dma_gate;
	atomic_uint dma_writers;

	const struct bus_ops *bus;
	void *bus_priv;

	int vram_fd; /* memfd of @vram */
	uint8_t *vram; /* cfg.vram_size bytes */

	uint32_t *regs; /* register file, GK110_BAR0_SIZE bytes */
	uint64_t preempt_written; /* mono_ns(), for root/defect.c; lock */
	uint8_t *range_of; /* per register: index into ranges[], 0 = there is no such register */
	const struct mmio_range **ranges;
	unsigned int nr_ranges;

	struct engine engine[GK110_MAX_ENGINE];
	unsigned int nr_engines, nr_runlists, nr_pbdma;
	uint32_t pbdma_runlists[GK110_MAX_PBDMA]; /* 0x2390 masks */

	/* state of the units, private to the unit's folder */
	struct core *core;
	struct pmc *pmc;
	struct ptimer *ptimer;
	struct prom *prom;
	struct ltc *ltc;
	struct mmu *mmu;
	struct bar *bar;
	struct fifo *fifo;
	struct ce *ce;
	struct gr *gr;
	struct pmu *pmu;

	unsigned int gpc_power_steps; /* root/therm.c; lock held */

	/*
	 * PCI configuration space, shared by vfio/ and root/; lock held. Any thread reads the
	 * command register as one word (vfio/pci.c).
	 */
	uint8_t config[4096];
	struct gk110_stats stats;
};

/*
 * Create and reset the device; NULL: an error, which gk110_err() has told unless memory ran out.
 * The bus must live until the device is stopped. Call this function and those to gk110_destroy()
 * without a lock, on the thread that accesses registers: they take lock.
 */
struct gk110 *gk110_create(const struct gk110_config *cfg, const struct bus_ops *bus,
			   void *bus_priv);
int gk110_start(struct gk110 *g);
void gk110_stop(struct gk110 *g);
/*
 * Reset the device, as a bus reset does: stop, reset all units, and start again if the device ran.
 * VRAM keeps its contents, as on the card.
 */
void gk110_reset(struct gk110 *g);
void gk110_destroy(struct gk110 *g);
/* Write the statistics as JSON. Takes lock, and writes to @fd without it. */
void gk110_stats_json(struct gk110 *g, int fd);

static inline uint32_t reg_get(struct gk110 *g, uint32_t reg)
{
	return g->regs[reg >> 2];
}

static inline void reg_set(struct gk110 *g, uint32_t reg, uint32_t val)
{
	g->regs[reg >> 2] = val;
}

static inline uint32_t reg_merge(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint32_t v = (reg_get(g, reg) & ~be) | (val & be);

	reg_set(g, reg, v);
	return v;
}

#endif
