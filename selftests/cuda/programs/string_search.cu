// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several patterns in a text: tried at every place, by an automaton (Aho and Corasick) in pieces,
 * and CRC-32 of many lines.
 */
#include <vector>

#include "check.h"

enum { N = 60000, NR_PATTERNS = 5, STATES = 64, PIECE = 128, LINE = 100 };

__constant__ char patterns[NR_PATTERNS][16];
__constant__ int lengths[NR_PATTERNS];

__global__ void everywhere(const char *text, unsigned int *hits)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;

	for (int p = 0; p < NR_PATTERNS; p++) {
		bool found = at + lengths[p] <= N;

		for (int i = 0; found && i < lengths[p]; i++)
			found = text[at + i] == patterns[p][i];
		unsigned int votes = __ballot_sync(0xffffffff, found);
		if (votes && threadIdx.x % 32 == 0)
			atomicAdd(&hits[p], __popc(votes));
	}
}

/*
 * ends[s]: a bit for each pattern. A piece begins longest - 1 letters early and counts what ends
 * within
 */
__global__ void automaton(const char *text, const short *next, const unsigned int *ends,
			  unsigned int *hits, int longest)
{
	__shared__ short table[STATES * 4];
	int begin = (blockIdx.x * blockDim.x + threadIdx.x) * PIECE, state = 0;

	for (int i = threadIdx.x; i < STATES * 4; i += blockDim.x)
		table[i] = next[i];
	__syncthreads();
	for (int i = max(begin - longest + 1, 0); i < begin + PIECE && i < N; i++) {
		state = table[state * 4 + text[i] - 'a'];
		if (i >= begin)
			for (unsigned int left = ends[state]; left; left &= left - 1)
				atomicAdd(&hits[__ffs(left) - 1], 1u);
	}
}

__global__ void crc(const char *text, unsigned int *out)
{
	__shared__ unsigned int table[256];
	int line = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned int v = threadIdx.x, sum = ~0u;

	for (int i = 0; i < 8; i++)
		v = v >> 1 ^ (v & 1 ? 0xedb88320 : 0);
	table[threadIdx.x] = v;
	__syncthreads();
	if (line >= N / LINE)
		return;
	for (int i = 0; i < LINE; i++)
		sum = sum >> 8 ^ table[(sum ^ text[line * LINE + i]) & 255];
	out[line] = ~sum;
}

static unsigned int crc_cpu(const char *p, int n)
{
	unsigned int sum = ~0u;

	for (; n; n--) {
		sum ^= (unsigned char)*p++;
		for (int i = 0; i < 8; i++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

int main(void)
{
	static const char pattern[NR_PATTERNS][16] = { "abca", "ddcb", "cabacad", "bb", "abcabca" };
	static short next[STATES][4];
	static unsigned int ends[STATES], sums[N / LINE];
	int length[NR_PATTERNS], longest = 0, states = 1, fail[STATES] = { 0 }, wrong = 0;
	unsigned int want[NR_PATTERNS] = { 0 }, got[2][NR_PATTERNS], *d_hits, *d_ends, *d_sums;
	std::vector<char> text(N);
	std::vector<int> queue;
	char *d_text;
	short *d_next;
	uint32_t seed = 24;

	for (int i = 0; i < N; i++)
		text[i] = i % 7 ? 'a' + random_bits(&seed) % 4 : pattern[0][i % 4];
	memcpy(&text[PIECE - 3], "abcabca", 7);
	for (int p = 0; p < NR_PATTERNS; p++) {
		int s = 0;

		length[p] = strlen(pattern[p]);
		longest = length[p] > longest ? length[p] : longest;
		for (int i = 0; i < length[p]; i++) {
			short *to = &next[s][pattern[p][i] - 'a'];

			s = *to ? *to : (*to = states++);
		}
		ends[s] |= 1u << p;
		for (int i = 0; i + length[p] <= N; i++)
			want[p] += !memcmp(&text[i], pattern[p], length[p]);
	}
	for (int c = 0; c < 4; c++)
		if (next[0][c])
			queue.push_back(next[0][c]);
	for (size_t i = 0; i < queue.size(); i++)
		for (int s = queue[i], c = 0; c < 4; c++) {
			if (!next[s][c]) {
				next[s][c] = next[fail[s]][c];
				continue;
			}
			fail[next[s][c]] = next[fail[s]][c];
			ends[next[s][c]] |= ends[fail[next[s][c]]];
			queue.push_back(next[s][c]);
		}
	CHECK(cudaMalloc(&d_text, N));
	CHECK(cudaMalloc(&d_hits, sizeof(got)));
	CHECK(cudaMalloc(&d_ends, sizeof(ends)));
	CHECK(cudaMalloc(&d_next, sizeof(next)));
	CHECK(cudaMalloc(&d_sums, sizeof(sums)));
	CHECK(cudaMemcpy(d_text, text.data(), N, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_ends, ends, sizeof(ends), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_next, next, sizeof(next), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(d_hits, 0, sizeof(got)));
	CHECK(cudaMemcpyToSymbol(patterns, pattern, sizeof(pattern)));
	for (int p = 0; p < NR_PATTERNS; p++)
		CHECK(cudaMemcpyToSymbol(lengths, &length[p], sizeof(int), p * sizeof(int)));
	everywhere<<<CEIL_DIV(N, 256), 256>>>(d_text, d_hits);
	automaton<<<CEIL_DIV(N, PIECE * 64), 64>>>(d_text, d_next, d_ends, d_hits + NR_PATTERNS,
						   longest);
	crc<<<CEIL_DIV(N / LINE, 256), 256>>>(d_text, d_sums);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_hits, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost));
	for (int p = 0; p < NR_PATTERNS; p++)
		wrong += (got[0][p] != want[p]) + (got[1][p] != want[p]);
	for (int i = 0; i < N / LINE; i++)
		wrong += sums[i] != crc_cpu(&text[i * LINE], LINE);
	return verdict(!wrong, "%d patterns (%u, %u, %u, ...) in %d letters, %d checksums, %d wrong", NR_PATTERNS, want[0], want[1], want[2],
		       N, N / LINE, wrong);
}
