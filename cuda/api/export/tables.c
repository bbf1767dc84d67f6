// SPDX-License-Identifier: MIT
/*
 * The private tables as data: which there are, how large, and which slots do something. A slot that
 * no runtime was seen to call refuses. Tables that are not here are refused as NVIDIA's driver
 * refuses unknown ones, and tools.c looks who asks; those that runtimes ask for and can do without
 * are f8cff951 (a log) and 69a28e9f (NVML).
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "slots.h"

enum { SLOTS = 5, WORDS = 264 };

/* Who asks: R: each library with a runtime inside, of CUDA 11.8, 12 and 13. */
static const struct {
	const char *id;
	bool bare; /* it does not begin with its size in bytes */
	unsigned int words;
	struct {
		unsigned int at;
		const void *call;
	} slot[SLOTS];
} tables[] = {
	/* R; 6 and 7 by 11.8 alone */
	{ EXPORT_CONTEXTS,
	  false,
	  13,
	  { { EXPORT_PRIMARY, export_primary }, { 6, module_load }, { 7, module_forget } } },
	/* R */
	{ "\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66",
	  false,
	  7,
	  { { 2, tool_calls }, { 6, tool_events } } },
	/* R; called by cuBLAS and cublasLt */
	{ "\x42\xd8\x5a\x81\x23\xf6\xcb\x47\x82\x98\xf6\xe7\x8a\x3a\xec\xdc",
	  false,
	  3,
	  { { 2, current_get } } },
	/* R; the end is a NULL */
	{ "\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93",
	  true,
	  4,
	  { { 0, storage_put }, { 1, storage_delete }, { 2, storage_get } } },
	/* R of 12 and 13 */
	{ "\x26\x3e\x88\x60\x7c\xd2\x61\x43\x92\xf6\xbb\xd5\x00\x6d\xfa\x7e",
	  false,
	  15,
	  { { 2, context_flags }, { 3, no_flags } } },
	/* R */
	{ EXPORT_CHECK, false, 3, { { 1, check_answer } } },
	/* cuBLAS, cublasLt, cuFFT */
	{ "\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2",
	  false,
	  93,
	  { { 4, context_number }, { 39, stream_number }, { 51, stream_object } } },
	/* cublasLt */
	{ "\x17\x34\xdc\x26\x80\x0d\x47\x45\x87\x26\xc0\xf1\xe7\xdd\x8b\xca",
	  false,
	  17,
	  { { 4, places_make }, { 13, places_free } } },
	/* NVRTC, nvJitLink */
	{ "\xda\x91\x51\xd3\x3a\xe6\xcc\x41\xa5\xc0\x4f\x26\xd5\x33\xe3\x28",
	  false,
	  7,
	  { { 1, code_cache_open },
	    { 2, code_cache_close },
	    { 3, code_cache_find },
	    { 4, code_cache_keep },
	    { 6, code_cache_free } } },
	/* cuFFT */
	{ "\x6e\x16\x3f\xbe\xb9\x58\x44\x4d\x83\x5c\xe1\x82\xaf\xf1\x99\x1e",
	  false,
	  99,
	  { { 7, module_functions } } },
};

enum { TABLES = sizeof(tables) / sizeof(*tables) };

static pthread_once_t made = PTHREAD_ONCE_INIT;
static const void *words[WORDS]; /* of all tables, one after the other; written once */

static CUresult slot_refuse(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

static void tables_make(void)
{
	const void **table = words;
	unsigned int t, i;

	for (t = 0; t < TABLES; table += tables[t++].words) {
		for (i = 0; i < tables[t].words && !tables[t].bare; i++)
			table[i] = slot_refuse;
		if (!tables[t].bare)
			table[0] = (void *)(tables[t].words * sizeof(*table));
		for (i = 0; i < SLOTS && tables[t].slot[i].call; i++)
			table[tables[t].slot[i].at] = tables[t].slot[i].call;
	}
}

CUresult cuGetExportTable(const void **out, const CUuuid *id)
{
	const void **table = words;
	unsigned int t;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_once(&made, tables_make);
	for (t = 0; t < TABLES; table += tables[t++].words)
		if (!memcmp(tables[t].id, id->bytes, sizeof(id->bytes)) && tables[t].slot[0].call) {
			*out = table;
			return CUDA_SUCCESS;
		}
	tools_want(id);
	return CUDA_ERROR_INVALID_VALUE;
}
