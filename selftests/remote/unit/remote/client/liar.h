/* SPDX-License-Identifier: MIT */
/*
 * A server that lies, in the place of the client's channels, under all other sources of the client.
 * What it says, and what the program asks, is random: of a seed, or of a fuzzer's bytes. Or a test
 * says it (liar_says). Most words of an answer are what an honest server would say, or no call
 * would come far.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_LIAR_H
#define KVGPU_SELFTESTS_REMOTE_LIAR_H

#include <remote/client/peer_copy.h>

/* LIAR_MORE: so much an arena may grow by */
enum { LIAR_ARENA = 32 << 20, LIAR_MORE = 8 << 20 };
enum { LIAR_WORDS = 160, LIAR_LIST = 6 };
/* what a word of an answer is, beside handles of a class */
enum { LIAR_WIDE, LIAR_NARROW = NR_CLASSES };

/* of each operation, as the tables have it (../server/fake.py) */
struct liar_shape {
	uint16_t words;
	uint8_t behind; /* class of the handles in a list behind the struct; or 0 */
	uint8_t word[LIAR_WORDS];
};
extern const struct liar_shape liar_shapes[];
extern void (*const liar_calls[])(void);
extern const unsigned int liar_nr_calls;

/* a frame, and the answer to it */
struct liar_frame {
	struct kvgpu_remote_channel *channel;
	uint16_t op;
	const void *q; /* with what follows it in the frame */
	uint64_t word[4096 + LIAR_WORDS];
	uint32_t words, result;
};

/*
 * Connect with @servers servers, by cuInit(). The first has an arena in common with the client, the
 * second none. Once for a process.
 */
void liar_begin(unsigned int servers);
/* not NULL: fills in the answer in place of chance. It begins as zeros, as long as it should be. */
extern void (*liar_says)(struct liar_frame *f);
/* hand an event of server @peer to the client */
void liar_tell(unsigned int peer, uint32_t event, uint64_t id, size_t bytes);
/* acks and frames that the client has sent; answers and events that it got */
extern uint64_t liar_acks, liar_sent, liar_told;

/* Chance, of this thread. @data: in its place, until it is used up, and then 0 for ever */
void liar_seed(uint64_t seed, const uint8_t *data, size_t n);
bool liar_has_more(void);
uint64_t liar_random(void);
unsigned int liar_below(unsigned int n);
/* one word in so many is a lie; 0: none */
extern unsigned int liar_lies;
/* this program has managed memory: that costs most of the time of one that has */
extern bool liar_manages;
/* of each server; NULL: clients reach their servers without a relay */
extern const struct kvgpu_remote_relayed *liar_relays;
/* lines for standard error */
extern unsigned int liar_lines;
/* pieces that one server's relay was to get from another server's */
extern unsigned int liar_fetches;

/* program.c: a program's calls; all that it has is given back afterwards */
void liar_program(uint64_t steps);
/* what the program has */
void *liar_handle(unsigned int class);
void liar_take(unsigned int class, void *handle);
void liar_drop(unsigned int class, const void *handle);
uint64_t liar_number(void);
CUdeviceptr liar_address(void);
void liar_bytes(void *to, size_t n);

#endif
