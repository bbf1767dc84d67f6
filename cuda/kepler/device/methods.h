/* SPDX-License-Identifier: MIT */
/*
 * What is written into pushbuffers. Sources: NVIDIA's class headers (open-gpu-doc): cla16f.h
 * (host), cla0b5.h (copies), cla1c0.h (compute). Subchannels: as Mesa's drivers use them on this
 * chip.
 *
 * Includes libc alone: qmd.c, cuda/persist/ and tests use this header without the rest of the
 * folder.
 */
#ifndef KVGPU_CUDA_METHODS_H
#define KVGPU_CUDA_METHODS_H

#include <stdint.h>

#define CLASS_COPY	     0xa0b5
#define CLASS_COMPUTE	     0xa1c0
#define OBJECT_HANDLE(class) (0xbeef0000u | (class))

enum subchannel { SUBC_HOST = 0, SUBC_COMPUTE = 1, SUBC_COPY = 4 };

/* @count words for methods from @mthd on */
static inline uint32_t push_header(enum subchannel subc, uint32_t mthd, uint32_t count)
{
	return 1u << 29 | count << 16 | (uint32_t)subc << 13 | mthd >> 2;
}

#define SET_OBJECT 0x0000

/* methods of host */
#define HOST_SEMAPHORE_A	 0x0010 /* address high, low, payload, operation */
#define SEMAPHORE_RELEASE	 0x2u
#define SEMAPHORE_ACQUIRE_GEQ	 0x4u
#define SEMAPHORE_ACQUIRE_SWITCH (1u << 12)
#define SEMAPHORE_4BYTE		 (1u << 24)

#define COPY_LAUNCH_DMA	   0x0300
#define COPY_NON_PIPELINED 0x2u
#define COPY_FLUSH	   0x4u
#define COPY_SRC_PITCH	   (1u << 7)
#define COPY_DST_PITCH	   (1u << 8)
#define COPY_MULTI_LINE	   (1u << 9)
#define COPY_REMAP	   (1u << 10)
/* in high, low, out high, low, pitch in, out, line length, count */
#define COPY_OFFSET_IN_UPPER		 0x0400
#define COPY_SET_DST_BLOCK_SIZE		 0x070c /* block, width, height, depth, layer, origin */
#define COPY_SET_SRC_BLOCK_SIZE		 0x0728
#define COPY_BLOCK_HEIGHT_AT		 4
#define COPY_BLOCK_DEPTH_AT		 8
#define COPY_GOBS_OF_8_ROWS		 (1u << 12)
#define COPY_ORIGIN_Y_AT		 16
#define COPY_SET_REMAP_CONST_A		 0x0700 /* A, B, components */
#define COPY_REMAP_DST_X_CONST_A	 (4u << 0)
#define COPY_REMAP_DST_NOTHING		 (6u << 4 | 6u << 8 | 6u << 12)
#define COPY_REMAP_COMPONENT_SIZE(bytes) ((uint32_t)((bytes)-1) << 16)

#define COMPUTE_WAIT_FOR_IDLE	      0x0110
#define COMPUTE_SHARED_WINDOW	      0x0214
#define COMPUTE_SEND_PCAS_A	      0x02b4
#define COMPUTE_SEND_SIGNALING_PCAS_B 0x02bc
#define PCAS_INVALIDATE		      0x1u
#define PCAS_SCHEDULE		      0x2u
#define COMPUTE_LOCAL_NON_THROTTLED_A 0x02e4 /* bytes of an SM: high, low; number of SMs */
#define COMPUTE_LOCAL_THROTTLED_A     0x02f0
#define LOCAL_ALL_SMS		      0xffu
#define COMPUTE_LOCAL_WINDOW	      0x077c
#define COMPUTE_LOCAL_MEMORY_A	      0x0790 /* address high, low */
#define COMPUTE_SAMPLER_POOL_A	      0x155c /* address high, low, highest index */
#define COMPUTE_HEADER_POOL_A	      0x1574
#define COMPUTE_BINDLESS_TEXTURE      0x2608 /* the constant bank that handles are in */
#define COMPUTE_PROGRAM_REGION_A      0x1608 /* address high, low */

/* Generic addresses in these windows mean shared and local memory: buffers must not lie there. */
#define SHARED_WINDOW 0xfe000000u
#define LOCAL_WINDOW  0xff000000u
#define WINDOWS_END   0x100000000ull

#endif
