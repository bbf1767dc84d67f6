// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPFIFO entries and pushbuffer headers of the GF100 format (push.h, ram.h name the sources).
 *
 * RAMFC keeps how many data words are still to come, so a channel can be switched out between any
 * two words, and a header's data may continue in the next GPFIFO entry. FORMATS chooses which
 * headers exist: 0 only the old ones, other values all of them (rnndb calls 1 "new", but software
 * pads with the zero word, an old header, then).
 */
#include <linux/bitfield.h>

#include <gk110/push.h>
#include <gk110/ram.h>

#include "decode.h"

static uint32_t make_header(uint32_t old, unsigned int type, unsigned int subc, uint32_t mthd)
{
	return (old & (RAMFC_HEADER_PRIV | RAMFC_HEADER_LEVEL)) |
	       FIELD_PREP(RAMFC_HEADER_TYPE, type) | FIELD_PREP(RAMFC_HEADER_SUBCH, subc) |
	       (mthd & RAMFC_HEADER_METHOD) | RAMFC_HEADER_FIRST;
}

/* methods are dropped while a sub-device mask excludes this device */
static bool subdevice_active(const struct pb_state *s)
{
	return !(s->subdevice & RAMFC_SUBDEVICE_ENABLE) || (s->subdevice & RAMFC_SUBDEVICE_ACTIVE);
}

static void set_active(struct pb_state *s, uint32_t mask)
{
	if (mask & FIELD_GET(RAMFC_SUBDEVICE_ID, s->subdevice))
		s->subdevice |= RAMFC_SUBDEVICE_ACTIVE;
	else
		s->subdevice &= ~RAMFC_SUBDEVICE_ACTIVE;
}

static void subdevice_op(struct pb_state *s, uint32_t word, struct pb_action *a)
{
	uint32_t mask = FIELD_GET(PB_SUBDEVICE_MASK, word);

	if (!(s->subdevice & RAMFC_SUBDEVICE_ENABLE)) {
		a->kind = PB_BAD;
		return;
	}
	switch (FIELD_GET(PB_TERT_OP, word)) {
	case PB_TERT0_SET_MASK:
		set_active(s, mask);
		break;
	case PB_TERT0_STORE_MASK:
		s->subdevice &= ~RAMFC_SUBDEVICE_USER;
		s->subdevice |= FIELD_PREP(RAMFC_SUBDEVICE_USER, mask);
		break;
	case PB_TERT0_USE_MASK:
		set_active(s, FIELD_GET(RAMFC_SUBDEVICE_USER, s->subdevice));
		break;
	}
}

static void start_old(struct pb_state *s, uint32_t word, unsigned int type)
{
	s->header = make_header(s->header, type, FIELD_GET(PB_SUBCH, word), word & PB_METHOD_OLD);
	s->count = FIELD_GET(PB_COUNT_OLD, word);
}

static void start_new(struct pb_state *s, uint32_t word, unsigned int type)
{
	s->header = make_header(s->header, type, FIELD_GET(PB_SUBCH, word),
				FIELD_GET(PB_METHOD, word) << 2);
	s->count = FIELD_GET(PB_COUNT, word);
}

static void send(const struct pb_state *s, uint32_t data, bool last, struct pb_action *a)
{
	a->subc = FIELD_GET(RAMFC_HEADER_SUBCH, s->header);
	a->mthd = s->header & RAMFC_HEADER_METHOD;
	a->data = data;
	a->last = last;
	a->kind = subdevice_active(s) ? PB_SEND : PB_NOTHING;
}

static void step_header(struct pb_state *s, uint32_t word, struct pb_action *a)
{
	unsigned int op = FIELD_GET(PB_SEC_OP, word);
	bool old_only = !FIELD_GET(RAMFC_FORMATS_PB, s->formats);

	if (old_only && op != PB_SEC_TERT0 && op != PB_SEC_TERT2) {
		a->kind = PB_BAD;
		return;
	}
	switch (op) {
	case PB_SEC_TERT0:
		if (FIELD_GET(PB_TERT_OP, word) == PB_TERT0_INC)
			start_old(s, word, PB_SEC_INC);
		else
			subdevice_op(s, word, a);
		break;
	case PB_SEC_TERT2:
		if (FIELD_GET(PB_TERT_OP, word) == PB_TERT2_NON_INC)
			start_old(s, word, PB_SEC_NON_INC);
		else
			a->kind = PB_BAD;
		break;
	case PB_SEC_INC:
	case PB_SEC_NON_INC:
	case PB_SEC_ONE_INC:
		start_new(s, word, op);
		break;
	case PB_SEC_IMMD:
		start_new(s, word, PB_SEC_NON_INC);
		s->count = 0;
		send(s, FIELD_GET(PB_IMMD_DATA, word), true, a);
		break;
	case PB_SEC_END_SEGMENT:
		a->kind = PB_END;
		break;
	default:
		a->kind = PB_BAD;
	}
}

static void step_data(struct pb_state *s, uint32_t word, struct pb_action *a)
{
	unsigned int type = FIELD_GET(RAMFC_HEADER_TYPE, s->header);
	bool first = s->header & RAMFC_HEADER_FIRST;

	send(s, word, s->count == 1, a);
	if (type == PB_SEC_INC || (type == PB_SEC_ONE_INC && first)) {
		uint32_t next = (a->mthd + 4) & RAMFC_HEADER_METHOD;

		s->header = (s->header & ~(uint32_t)RAMFC_HEADER_METHOD) | next;
	}
	s->header &= ~(uint32_t)RAMFC_HEADER_FIRST;
	s->count--;
}

void pb_step(struct pb_state *s, uint32_t word, struct pb_action *a)
{
	*a = (struct pb_action){ .kind = PB_NOTHING };
	s->count &= RAMFC_PB_COUNT_VALUE;
	if (s->count)
		step_data(s, word, a);
	else
		step_header(s, word, a);
}

void gp_decode(uint32_t dw0, uint32_t dw1, struct gp_entry *e)
{
	*e = (struct gp_entry){ .words = FIELD_GET(GP_ENTRY1_LENGTH, dw1) };
	e->control = !e->words;
	if (e->control) {
		e->opcode = FIELD_GET(GP_ENTRY1_OPCODE, dw1);
		e->operand = dw0;
		return;
	}
	e->va = (uint64_t)FIELD_GET(GP_ENTRY1_GET_HI, dw1) << 32 | (dw0 & GP_ENTRY0_GET);
	e->conditional = dw0 & GP_ENTRY0_CONDITIONAL;
	e->priv = dw1 & GP_ENTRY1_PRIV;
	e->subroutine = dw1 & GP_ENTRY1_SUBROUTINE;
	e->sync = dw1 & GP_ENTRY1_SYNC;
}

/*
 * rnndb gf100_pfifo.xml: the polynomial of CRC-32 taken most significant bit first, start value and
 * final xor 0.
 */
uint32_t fifo_crc(uint32_t crc, const uint32_t *words, size_t n)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x04c11db7, 0x09823b6e, 0x0d4326d9, 0x130476dc, 0x17c56b6b,
		0x1a864db2, 0x1e475005, 0x2608edb8, 0x22c9f00f, 0x2f8ad6d6, 0x2b4bcb61,
		0x350c9b64, 0x31cd86d3, 0x3c8ea00a, 0x384fbdbd,
	};
	unsigned int b;

	for (; n--; words++)
		for (b = 0; b < 32; b += 8) {
			crc ^= (*words >> b & 0xff) << 24;
			crc = crc << 4 ^ nibble[crc >> 28];
			crc = crc << 4 ^ nibble[crc >> 28];
		}
	return crc;
}
