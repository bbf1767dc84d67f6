/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls about graphs whose arguments are not the same in CUDA 11, 12 and 13. */
#ifndef KVGPU_SELFTESTS_CUDA_GRAPH_FORMS_H
#define KVGPU_SELFTESTS_CUDA_GRAPH_FORMS_H

static inline cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
#if CUDART_VERSION >= 12000
	return cudaGraphInstantiate(exec, graph, 0);
#else
	return cudaGraphInstantiate(exec, graph, NULL, NULL, 0);
#endif
}

/* true: all of it is in force */
static inline bool update(cudaGraphExec_t exec, cudaGraph_t graph, int *result)
{
	cudaError_t e;
#if CUDART_VERSION >= 12000
	cudaGraphExecUpdateResultInfo info;

	e = cudaGraphExecUpdate(exec, graph, &info);
	*result = info.result;
#else
	enum cudaGraphExecUpdateResult r;
	cudaGraphNode_t bad;

	e = cudaGraphExecUpdate(exec, graph, &bad, &r);
	*result = r;
#endif
	if (e)
		cudaGetLastError();
	return !e && *result == cudaGraphExecUpdateSuccess;
}

static inline cudaError_t append_child(cudaStream_t stream, cudaGraph_t child)
{
	enum cudaStreamCaptureStatus status;
	const cudaGraphNode_t *after;
	unsigned long long id;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	cudaError_t e;
	size_t n;

#if CUDART_VERSION >= 13000
	e = cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &after, NULL, &n);
#else
	e = cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &after, &n);
#endif
	if (!e)
		e = cudaGraphAddChildGraphNode(&node, graph, after, n, child);
	if (e)
		return e;
#if CUDART_VERSION >= 13000
	return cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
						   cudaStreamSetCaptureDependencies);
#else
	return cudaStreamUpdateCaptureDependencies(stream, &node, 1,
						   cudaStreamSetCaptureDependencies);
#endif
}

static inline cudaError_t depend(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to)
{
#if CUDART_VERSION >= 13000
	return cudaGraphAddDependencies(graph, &from, &to, NULL, 1);
#else
	return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}

static inline cudaError_t part(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to)
{
#if CUDART_VERSION >= 13000
	return cudaGraphRemoveDependencies(graph, &from, &to, NULL, 1);
#else
	return cudaGraphRemoveDependencies(graph, &from, &to, 1);
#endif
}

static inline cudaError_t count_edges(cudaGraph_t graph, size_t *n)
{
#if CUDART_VERSION >= 13000
	return cudaGraphGetEdges(graph, NULL, NULL, NULL, n);
#else
	return cudaGraphGetEdges(graph, NULL, NULL, n);
#endif
}

#endif
