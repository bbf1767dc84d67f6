// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vulkan through the card: buffers copied and filled, every byte checked. No other device will do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "pattern.h"
#include "tap.h"

enum { BYTES = 8 << 20, MAX_DEVICES = 8 };

#define FILL_WORD 0x89abcdefu
static const uint64_t wait_ns = 60ull * 1000000000;

struct buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	uint8_t *map;
};

struct vk {
	VkInstance instance;
	VkPhysicalDevice phys;
	VkDevice dev;
	VkQueue queue;
	VkCommandPool pool;
	VkCommandBuffer cmd;
	VkFence fence;
	VkPhysicalDeviceMemoryProperties memory;
};

static void must(VkResult r, const char *what)
{
	if (r == VK_SUCCESS)
		return;
	printf("Bail out! %s: VkResult %d\n", what, r);
	exit(1);
}

static void open_instance(struct vk *v)
{
	VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
				  .apiVersion = VK_API_VERSION_1_0 };
	VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
				      .pApplicationInfo = &app };

	must(vkCreateInstance(&info, NULL, &v->instance), "vkCreateInstance");
}

static bool find_device(struct vk *v)
{
	VkPhysicalDevice devices[MAX_DEVICES];
	VkPhysicalDeviceProperties props;
	uint32_t n = MAX_DEVICES, i;

	must(vkEnumeratePhysicalDevices(v->instance, &n, devices), "vkEnumeratePhysicalDevices");
	for (i = 0; i < n; i++) {
		vkGetPhysicalDeviceProperties(devices[i], &props);
		tap_diag("device: %s (%x:%x)", props.deviceName, props.vendorID, props.deviceID);
		if (props.vendorID == 0x10de && strstr(props.deviceName, "K20m")) {
			v->phys = devices[i];
			tap_result(strstr(props.deviceName, "NVK"),
				   "Vulkan names the card: Tesla K20m by NVK", "%s",
				   props.deviceName);
			return true;
		}
	}
	tap_result(false, "Vulkan names the card: Tesla K20m by NVK", "%u devices, none of them",
		   n);
	return false;
}

static uint32_t transfer_family(struct vk *v)
{
	VkQueueFamilyProperties families[8];
	uint32_t n = 8, i;

	vkGetPhysicalDeviceQueueFamilyProperties(v->phys, &n, families);
	for (i = 0; i < n; i++)
		if (families[i].queueFlags &
		    (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT))
			return i;
	must(VK_ERROR_FEATURE_NOT_PRESENT, "a queue that copies");
	return 0;
}

static void open_device(struct vk *v)
{
	float priority = 1;
	VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
					  .queueFamilyIndex = transfer_family(v),
					  .queueCount = 1,
					  .pQueuePriorities = &priority };
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queue };
	VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
					 .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
					 .queueFamilyIndex = queue.queueFamilyIndex };
	VkCommandBufferAllocateInfo cmd = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
					    .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
					    .commandBufferCount = 1 };
	VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };

	must(vkCreateDevice(v->phys, &info, NULL, &v->dev), "vkCreateDevice");
	vkGetDeviceQueue(v->dev, queue.queueFamilyIndex, 0, &v->queue);
	must(vkCreateCommandPool(v->dev, &pool, NULL, &v->pool), "vkCreateCommandPool");
	cmd.commandPool = v->pool;
	must(vkAllocateCommandBuffers(v->dev, &cmd, &v->cmd), "vkAllocateCommandBuffers");
	must(vkCreateFence(v->dev, &fence, NULL, &v->fence), "vkCreateFence");
	vkGetPhysicalDeviceMemoryProperties(v->phys, &v->memory);
}

static uint32_t memory_type(struct vk *v, uint32_t allowed, VkMemoryPropertyFlags want,
			    VkMemoryPropertyFlags avoid)
{
	uint32_t i;

	for (i = 0; i < v->memory.memoryTypeCount; i++) {
		VkMemoryPropertyFlags has = v->memory.memoryTypes[i].propertyFlags;

		if (allowed >> i & 1 && (has & want) == want && !(has & avoid))
			return i;
	}
	if (avoid)
		return memory_type(v, allowed, want, 0);
	must(VK_ERROR_FEATURE_NOT_PRESENT, "a memory type");
	return 0;
}

static void new_buffer(struct vk *v, bool host, struct buffer *b)
{
	VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
				    .size = BYTES,
				    .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
					     VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	VkMemoryPropertyFlags host_flags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					   VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	VkMemoryRequirements need;

	must(vkCreateBuffer(v->dev, &info, NULL, &b->buffer), "vkCreateBuffer");
	vkGetBufferMemoryRequirements(v->dev, b->buffer, &need);
	alloc.allocationSize = need.size;
	alloc.memoryTypeIndex =
		host ? memory_type(v, need.memoryTypeBits, host_flags,
				   VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) :
		       memory_type(v, need.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
	must(vkAllocateMemory(v->dev, &alloc, NULL, &b->memory), "vkAllocateMemory");
	must(vkBindBufferMemory(v->dev, b->buffer, b->memory, 0), "vkBindBufferMemory");
	if (host)
		must(vkMapMemory(v->dev, b->memory, 0, BYTES, 0, (void **)&b->map), "vkMapMemory");
}

static void begin(struct vk *v)
{
	VkCommandBufferBeginInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };

	must(vkBeginCommandBuffer(v->cmd, &info), "vkBeginCommandBuffer");
}

static void barrier(struct vk *v)
{
	VkMemoryBarrier b = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
			      .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
			      .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT |
					       VK_ACCESS_HOST_READ_BIT |
					       VK_ACCESS_TRANSFER_WRITE_BIT };

	vkCmdPipelineBarrier(v->cmd, VK_PIPELINE_STAGE_TRANSFER_BIT,
			     VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &b,
			     0, NULL, 0, NULL);
}

static void submit(struct vk *v)
{
	VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
			      .commandBufferCount = 1,
			      .pCommandBuffers = &v->cmd };

	must(vkEndCommandBuffer(v->cmd), "vkEndCommandBuffer");
	must(vkQueueSubmit(v->queue, 1, &info, v->fence), "vkQueueSubmit");
	must(vkWaitForFences(v->dev, 1, &v->fence, VK_TRUE, wait_ns), "vkWaitForFences");
	must(vkResetFences(v->dev, 1, &v->fence), "vkResetFences");
}

static void copy_and_check(struct vk *v, struct buffer *src, struct buffer *vram,
			   struct buffer *dst)
{
	VkBufferCopy whole = { 0, 0, BYTES }, piece = { 1001, 2003, 12345 };
	uint8_t *expect = malloc(BYTES);
	int64_t bad;

	if (!expect)
		must(VK_ERROR_OUT_OF_HOST_MEMORY, "malloc");
	pattern_fill(src->map, BYTES, 1);
	memset(dst->map, 0, BYTES);
	memcpy(expect, src->map, BYTES);
	memcpy(expect + piece.dstOffset, src->map + piece.srcOffset, piece.size);
	begin(v);
	vkCmdCopyBuffer(v->cmd, src->buffer, vram->buffer, 1, &whole);
	barrier(v);
	vkCmdCopyBuffer(v->cmd, src->buffer, vram->buffer, 1, &piece);
	barrier(v);
	vkCmdCopyBuffer(v->cmd, vram->buffer, dst->buffer, 1, &whole);
	barrier(v);
	submit(v);
	bad = first_difference(dst->map, expect, BYTES);
	tap_result(bad < 0, "vkCmdCopyBuffer to device memory and back",
		   "%d bytes, wrong byte %lld", BYTES, (long long)bad);
	free(expect);
}

static void fill_and_check(struct vk *v, struct buffer *vram, struct buffer *dst)
{
	VkBufferCopy whole = { 0, 0, BYTES };
	const uint32_t *w = (const uint32_t *)dst->map;
	size_t i, wrong = 0;

	memset(dst->map, 0, BYTES);
	begin(v);
	vkCmdFillBuffer(v->cmd, vram->buffer, 0, VK_WHOLE_SIZE, FILL_WORD);
	barrier(v);
	vkCmdCopyBuffer(v->cmd, vram->buffer, dst->buffer, 1, &whole);
	barrier(v);
	submit(v);
	for (i = 0; i < BYTES / 4; i++)
		wrong += w[i] != FILL_WORD;
	tap_result(!wrong, "vkCmdFillBuffer", "%zu words wrong", wrong);
}

int main(void)
{
	struct buffer src, vram, dst;
	struct vk v = { 0 };

	open_instance(&v);
	if (!find_device(&v))
		return tap_finish();
	open_device(&v);
	new_buffer(&v, true, &src);
	new_buffer(&v, false, &vram);
	new_buffer(&v, true, &dst);
	copy_and_check(&v, &src, &vram, &dst);
	fill_and_check(&v, &vram, &dst);
	vkDeviceWaitIdle(v.dev);
	vkDestroyDevice(v.dev, NULL);
	vkDestroyInstance(v.instance, NULL);
	return tap_finish();
}
