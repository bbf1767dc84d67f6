// SPDX-License-Identifier: GPL-2.0-only
/* Managed memory: a list and a tree that CPU and GPU follow and change in turns. */
#include "check.h"

enum { NODES = 2000, WORDS = 100000 };

struct node {
	struct node *left, *right, *next;
	int key, count;
};

__device__ struct node *find(struct node *n, int key)
{
	while (n && n->key != key)
		n = key < n->key ? n->left : n->right;
	return n;
}

__global__ void count(struct node *root, const int *words, int n, int *missed)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		struct node *found = find(root, words[i]);

		atomicAdd(found ? &found->count : missed, 1);
	}
}

__global__ void reverse(struct node **first)
{
	struct node *done = NULL, *at = *first;

	while (at) {
		struct node *next = at->next;

		at->next = done;
		done = at;
		at = next;
	}
	*first = done;
}

static struct node *insert(struct node *root, struct node *n)
{
	struct node **at = &root;

	while (*at)
		at = n->key < (*at)->key ? &(*at)->left : &(*at)->right;
	*at = n;
	return root;
}

int main(void)
{
	struct node *nodes, *root = NULL, **first, *at;
	int *words, *missed, *copy, has = 0, wrong = 0, expected = 0, i;
	unsigned int seed = 12345;
	cudaPointerAttributes a;
	size_t chain = 0;

	CHECK(cudaDeviceGetAttribute(&has, cudaDevAttrManagedMemory, 0));
	CHECK(cudaMallocManaged(&nodes, NODES * sizeof(*nodes)));
	CHECK(cudaMallocManaged(&words, WORDS * sizeof(*words)));
	CHECK(cudaMallocManaged(&first, sizeof(*first), cudaMemAttachHost));
	CHECK(cudaMallocManaged(&missed, sizeof(*missed)));
	CHECK(cudaMemset(nodes, 0, NODES * sizeof(*nodes)));
	wrong += !has || nodes[NODES - 1].count;
	for (i = 0; i < NODES; i++) {
		nodes[i].key = i * 7919 % NODES * 2;
		nodes[i].next = i ? &nodes[i - 1] : NULL;
		root = insert(root, &nodes[i]);
	}
	for (i = 0; i < WORDS; i++) {
		words[i] = (seed = seed * 1664525 + 1013904223) % (NODES * 2);
		expected += words[i] & 1;
	}
	*missed = 0;
	count<<<16, 128>>>(root, words, WORDS, missed);
	CHECK_LAUNCH();
	*first = &nodes[NODES - 1];
	reverse<<<1, 1>>>(first);
	CHECK(cudaDeviceSynchronize());
	wrong += *missed != expected;
	for (i = 0; i < WORDS; i++) {
		for (at = root; at && at->key != words[i];)
			at = words[i] < at->key ? at->left : at->right;
		if (at)
			at->count--;
	}
	for (i = 0; i < NODES; i++)
		wrong += nodes[i].count != 0;
	for (at = *first; at && chain < NODES; at = at->next)
		wrong += at != &nodes[chain++];
	wrong += chain != NODES;

	CHECK(cudaPointerGetAttributes(&a, words + 10));
	wrong += a.type != cudaMemoryTypeManaged || a.devicePointer != words + 10 ||
		 a.hostPointer != words + 10;
	/* a copy and a fill of what the CPU sees are over when they return */
	CHECK(cudaMalloc(&copy, WORDS * sizeof(*words)));
	CHECK(cudaMemcpy(copy, words, WORDS * sizeof(*words), cudaMemcpyDefault));
	seed = words[WORDS - 1];
	CHECK(cudaMemset(words, 0xff, WORDS * sizeof(*words)));
	wrong += words[0] != -1 || words[WORDS - 1] != -1;
	CHECK(cudaMemcpy(words, copy, WORDS * sizeof(*words), cudaMemcpyDeviceToDevice));
	wrong += (unsigned int)words[WORDS - 1] != seed;
	CHECK(cudaFree(copy));
	CHECK(cudaFree(nodes));
	CHECK(cudaFree(words));
	CHECK(cudaFree(first));
	CHECK(cudaFree(missed));
	return verdict(!wrong, "%d words counted in a tree, a list of %zu nodes reversed, %d wrong", WORDS, chain, wrong);
}
