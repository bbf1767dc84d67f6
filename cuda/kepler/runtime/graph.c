// SPDX-License-Identifier: MIT
/* Graph functions that only call the driver's. */
#include "runtime.h"

#define SAME(runtime, driver, ok, params, ...)                                   \
	cudaError_t runtime params                                               \
	{                                                                        \
		cudaError_t e = (ok) ? use_context() : cudaErrorInvalidValue;    \
                                                                                 \
		return set_last_error(e ? e : from_driver(driver(__VA_ARGS__))); \
	}

SAME(cudaGraphCreate, cuGraphCreate, graph, (cudaGraph_t * graph, unsigned int flags), graph, flags)
SAME(cudaGraphDestroy, cuGraphDestroy, graph, (cudaGraph_t graph), graph)
SAME(cudaGraphDestroyNode, cuGraphDestroyNode, node, (cudaGraphNode_t node), node)
SAME(cudaGraphClone, cuGraphClone, clone, (cudaGraph_t * clone, cudaGraph_t graph), clone, graph)
SAME(cudaGraphNodeFindInClone, cuGraphNodeFindInClone, node,
     (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone), node, original, clone)
SAME(cudaGraphGetNodes, cuGraphGetNodes, n, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n),
     graph, nodes, n)
SAME(cudaGraphGetRootNodes, cuGraphGetRootNodes, n,
     (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n), graph, nodes, n)
SAME(cudaGraphGetEdges, cuGraphGetEdges, n,
     (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n), graph, from, to, n)
SAME(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies, n,
     (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n), node, nodes, n)
SAME(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes, n,
     (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n), node, nodes, n)
SAME(cudaGraphAddDependencies, cuGraphAddDependencies, graph,
     (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n), graph,
     from, to, n)
SAME(cudaGraphRemoveDependencies, cuGraphRemoveDependencies, graph,
     (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n), graph,
     from, to, n)
SAME(cudaGraphDebugDotPrint, cuGraphDebugDotPrint, path,
     (cudaGraph_t graph, const char *path, unsigned int flags), graph, path, flags)
SAME(cudaGraphInstantiate, cuGraphInstantiate_v2, exec,
     (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphNode_t *bad, char *log, size_t size),
     exec, graph, bad, log, size)
SAME(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, exec,
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph, flags)
SAME(cudaGraphExecDestroy, cuGraphExecDestroy, exec, (cudaGraphExec_t exec), exec)
SAME(cudaGraphLaunch, cuGraphLaunch, exec, (cudaGraphExec_t exec, cudaStream_t stream), exec,
     stream)
SAME(cudaGraphLaunch_ptsz, cuGraphLaunch, exec, (cudaGraphExec_t exec, cudaStream_t stream), exec,
     OWN_IF_0(stream))
SAME(cudaGraphUpload, cuGraphUpload, exec, (cudaGraphExec_t exec, cudaStream_t stream), exec,
     stream)
SAME(cudaGraphUpload_ptsz, cuGraphUpload, exec, (cudaGraphExec_t exec, cudaStream_t stream), exec,
     OWN_IF_0(stream))
SAME(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode, node, (RT_ADD, cudaGraph_t child), node,
     graph, dependencies, n, child)
SAME(cudaGraphAddEmptyNode, cuGraphAddEmptyNode, node, (RT_ADD), node, graph, dependencies, n)
SAME(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode, node, (RT_ADD, cudaEvent_t event),
     node, graph, dependencies, n, event)
SAME(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode, node, (RT_ADD, cudaEvent_t event), node,
     graph, dependencies, n, event)
SAME(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, graph,
     (cudaGraphNode_t node, cudaGraph_t *graph), node, graph)
SAME(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, event,
     (cudaGraphNode_t node, cudaEvent_t *event), node, event)
SAME(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, event,
     (cudaGraphNode_t node, cudaEvent_t event), node, event)
SAME(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, event,
     (cudaGraphNode_t node, cudaEvent_t *event), node, event)
SAME(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, event,
     (cudaGraphNode_t node, cudaEvent_t event), node, event)
SAME(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, exec,
     (RT_EXEC, cudaGraph_t child), exec, node, child)
SAME(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, exec,
     (RT_EXEC, cudaEvent_t event), exec, node, event)
SAME(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, exec,
     (RT_EXEC, cudaEvent_t event), exec, node, event)
SAME(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled, exec, (RT_EXEC, unsigned int enabled), exec,
     node, enabled)
SAME(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled, exec, (RT_EXEC, unsigned int *enabled), exec,
     node, enabled)
SAME(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, src,
     (cudaGraphNode_t src, cudaGraphNode_t dst), dst, src)
SAME(cudaUserObjectCreate, cuUserObjectCreate, object,
     (cudaUserObject_t * object, void *ptr, cudaHostFn_t destroy, unsigned int count,
      unsigned int flags),
     object, ptr, destroy, count, flags)
SAME(cudaUserObjectRetain, cuUserObjectRetain, object,
     (cudaUserObject_t object, unsigned int count), object, count)
SAME(cudaUserObjectRelease, cuUserObjectRelease, object,
     (cudaUserObject_t object, unsigned int count), object, count)
SAME(cudaGraphRetainUserObject, cuGraphRetainUserObject, graph,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags), graph,
     object, count, flags)
SAME(cudaGraphReleaseUserObject, cuGraphReleaseUserObject, graph,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), graph, object, count)

/* types have the same numbers as in the driver API */
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	CUgraphNodeType t;
	cudaError_t e = type ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuGraphNodeGetType(node, &t));
	if (!e)
		*type = (enum cudaGraphNodeType)t;
	return set_last_error(e);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *bad,
				enum cudaGraphExecUpdateResult *result)
{
	CUgraphExecUpdateResult r = CU_GRAPH_EXEC_UPDATE_ERROR;
	cudaError_t e = result ? use_context() : cudaErrorInvalidValue;

	if (!e) {
		e = from_driver(cuGraphExecUpdate(exec, graph, bad, &r));
		*result = (enum cudaGraphExecUpdateResult)r;
	}
	return set_last_error(e);
}
