// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic programs: the knapsack, a launch for each item; the likeliest path of a hidden Markov
 * model.
 */
#include "check.h"

enum { ITEMS = 60, CAPACITY = 5000, STATES = 64, STEPS = 100 };

__global__ void item(const int *in, int *out, int weight, int value)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x;

	if (c <= CAPACITY)
		out[c] = c >= weight ? max(in[c], in[c - weight] + value) : in[c];
}

/* costs are integers: least sum wins, then the lowest state */
__global__ void path(const int *move, const int *emit, const int *seen, unsigned char *from,
		     int *cost_out)
{
	__shared__ int cost[2][STATES];
	int s = threadIdx.x;

	cost[0][s] = emit[s * 4 + seen[0]];
	__syncthreads();
	for (int t = 1; t < STEPS; t++) {
		int best = 1 << 30, where = 0;

		for (int p = 0; p < STATES; p++) {
			int c = cost[~t & 1][p] + move[p * STATES + s];

			if (c < best) {
				best = c;
				where = p;
			}
		}
		cost[t & 1][s] = best + emit[s * 4 + seen[t]];
		from[t * STATES + s] = where;
		__syncthreads();
	}
	cost_out[s] = cost[~STEPS & 1][s];
}

int main(void)
{
	static int weight[ITEMS], value[ITEMS], best[CAPACITY + 1], got[CAPACITY + 1],
		move[STATES][STATES], emit[STATES][4], seen[STEPS];
	static int cost[2][STATES], last[STATES];
	static unsigned char from[STEPS][STATES], traced[STEPS][STATES];
	int *d[2], *d_move, *d_emit, *d_seen, *d_cost, wrong = 0;
	unsigned char *d_from;
	uint32_t seed = 16;

	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&d[i], sizeof(best)));
		CHECK(cudaMemset(d[i], 0, sizeof(best)));
	}
	for (int i = 0; i < ITEMS; i++) {
		weight[i] = 20 + random_bits(&seed) % 300;
		value[i] = 1 + random_bits(&seed) % 1000;
		item<<<CEIL_DIV(CAPACITY + 1, 256), 256>>>(d[i % 2], d[1 - i % 2], weight[i],
							   value[i]);
		CHECK_LAUNCH();
		for (int c = CAPACITY; c >= weight[i]; c--)
			if (best[c - weight[i]] + value[i] > best[c])
				best[c] = best[c - weight[i]] + value[i];
	}
	CHECK(cudaMemcpy(got, d[ITEMS % 2], sizeof(got), cudaMemcpyDeviceToHost));
	for (int c = 0; c <= CAPACITY; c++)
		wrong += got[c] != best[c];

	for (int i = 0; i < STATES * STATES; i++)
		move[i / STATES][i % STATES] = random_bits(&seed) % 5000;
	for (int i = 0; i < STATES * 4; i++)
		emit[i / 4][i % 4] = random_bits(&seed) % 3000;
	for (int i = 0; i < STEPS; i++)
		seen[i] = random_bits(&seed) % 4;
	for (int s = 0; s < STATES; s++)
		cost[0][s] = emit[s][seen[0]];
	for (int t = 1; t < STEPS; t++)
		for (int s = 0; s < STATES; s++) {
			int least = 1 << 30;

			for (int p = 0; p < STATES; p++)
				if (cost[~t & 1][p] + move[p][s] < least) {
					least = cost[~t & 1][p] + move[p][s];
					from[t][s] = p;
				}
			cost[t & 1][s] = least + emit[s][seen[t]];
		}
	CHECK(cudaMalloc(&d_move, sizeof(move)));
	CHECK(cudaMalloc(&d_emit, sizeof(emit)));
	CHECK(cudaMalloc(&d_seen, sizeof(seen)));
	CHECK(cudaMalloc(&d_cost, sizeof(last)));
	CHECK(cudaMalloc(&d_from, sizeof(from)));
	CHECK(cudaMemset(d_from, 0, sizeof(from)));
	CHECK(cudaMemcpy(d_move, move, sizeof(move), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_emit, emit, sizeof(emit), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_seen, seen, sizeof(seen), cudaMemcpyHostToDevice));
	path<<<1, STATES>>>(d_move, d_emit, d_seen, d_from, d_cost);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(last, d_cost, sizeof(last), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(traced, d_from, sizeof(traced), cudaMemcpyDeviceToHost));
	wrong += memcmp(last, cost[(STEPS - 1) & 1], sizeof(last)) != 0;
	wrong += memcmp(traced, from, sizeof(from)) != 0;
	return verdict(!wrong, "knapsack of %d items (%d), Viterbi of %d states in %d steps, %d wrong", ITEMS, best[CAPACITY], STATES,
		       STEPS, wrong);
}
