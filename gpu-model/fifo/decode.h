/* SPDX-License-Identifier: GPL-2.0-only */
/* Pure decoding of GPFIFO entries and pushbuffer words: no device, no memory, no clock. */
#ifndef KVGPU_MODEL_FIFO_DECODE_H
#define KVGPU_MODEL_FIFO_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb_state {
	uint32_t header; /* RAMFC_PB_HEADER */
	uint32_t count; /* RAMFC_PB_COUNT: data words still to come */
	uint32_t subdevice; /* RAMFC_SUBDEVICE */
	uint32_t formats; /* RAMFC_FORMATS, never changed here */
};

enum pb_kind {
	PB_NOTHING, /* the word only changed the state */
	PB_SEND, /* a method to execute */
	PB_END,
	PB_BAD, /* no such header */
};

struct pb_action {
	enum pb_kind kind;
	unsigned int subc;
	uint32_t mthd; /* byte offset */
	uint32_t data;
	bool last; /* last data word of its header */
};

/* Consumes one word. */
void pb_step(struct pb_state *s, uint32_t word, struct pb_action *a);

struct gp_entry {
	bool control; /* length 0: @opcode and @operand are set, the rest is not */
	uint8_t opcode;
	uint32_t operand;
	uint64_t va;
	uint32_t words;
	bool conditional, priv, subroutine, sync;
};

void gp_decode(uint32_t dw0, uint32_t dw1, struct gp_entry *e);

/* running CRC over little-endian words; start value 0 */
uint32_t fifo_crc(uint32_t crc, const uint32_t *words, size_t n);

#endif
