// SPDX-License-Identifier: GPL-2.0-only
/* vk_job.h has the contracts. */
#include "vk_job.h"

#include <stdlib.h>
#include <string.h>

/* Vulkan promises 128 bytes */
enum { MAX_PUSH = 128 };

static const uint64_t wait_ns = 150ull * 1000000000;

void vk_must(struct vk_job *j, VkResult r, const char *call)
{
	if (r != VK_SUCCESS)
		verdict_die(j->verdict, "%s: VkResult %d", call, r);
}

/* ------------------------------------------------------------------ device */

static uint32_t compute_family(struct vk_job *j)
{
	VkQueueFamilyProperties families[8];
	uint32_t n = 8, i;

	vkGetPhysicalDeviceQueueFamilyProperties(j->phys, &n, families);
	for (i = 0; i < n; i++)
		if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
			return i;
	verdict_die(j->verdict, "no queue computes");
}

static void open_queue(struct vk_job *j)
{
	float priority = 1;
	VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
					  .queueFamilyIndex = compute_family(j),
					  .queueCount = 1,
					  .pQueuePriorities = &priority };
	VkPhysicalDeviceFeatures wanted = { 0 };
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queue,
				    .pEnabledFeatures = &wanted };
	VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
					 .queueFamilyIndex = queue.queueFamilyIndex };
	VkCommandBufferAllocateInfo cmd = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
					    .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
					    .commandBufferCount = 1 };
	VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };

	vkGetPhysicalDeviceFeatures(j->phys, &j->features);
	wanted.pipelineStatisticsQuery = j->features.pipelineStatisticsQuery;
	vk_must(j, vkCreateDevice(j->phys, &info, NULL, &j->dev), "vkCreateDevice");
	vkGetDeviceQueue(j->dev, queue.queueFamilyIndex, 0, &j->queue);
	vk_must(j, vkCreateCommandPool(j->dev, &pool, NULL, &j->pool), "vkCreateCommandPool");
	cmd.commandPool = j->pool;
	vk_must(j, vkAllocateCommandBuffers(j->dev, &cmd, &j->cmd), "vkAllocateCommandBuffers");
	vk_must(j, vkCreateFence(j->dev, &fence, NULL, &j->fence), "vkCreateFence");
	vkGetPhysicalDeviceMemoryProperties(j->phys, &j->memory);
}

void vk_job_begin(struct vk_job *j)
{
	static const VkDescriptorType types[] = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
						  VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
						  VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
						  VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER };
	enum { TYPES = sizeof(types) / sizeof(types[0]) };
	VkDescriptorPoolSize sizes[TYPES];
	VkDescriptorPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
					    .maxSets = 1,
					    .poolSizeCount = TYPES,
					    .pPoolSizes = sizes };
	int i;

	rng_init(&j->rng, 7);
	open_queue(j);
	for (i = 0; i < TYPES; i++)
		sizes[i] = (VkDescriptorPoolSize){ types[i], VK_JOB_RESOURCES };
	vk_must(j, vkCreateDescriptorPool(j->dev, &info, NULL, &j->descriptors),
		"vkCreateDescriptorPool");
}

static void free_resource(struct vk_job *j, struct vk_resource *r)
{
	if (r->image) {
		vkDestroySampler(j->dev, r->sampler, NULL);
		vkDestroyImageView(j->dev, r->view, NULL);
		vkDestroyImage(j->dev, r->image, NULL);
	}
	vkDestroyBuffer(j->dev, r->buffer, NULL);
	vkDestroyBuffer(j->dev, r->twin, NULL);
	vkFreeMemory(j->dev, r->memory, NULL);
	vkFreeMemory(j->dev, r->twin_memory, NULL);
}

/* a job that is skipped, too */
void vk_job_end(struct vk_job *j)
{
	vkDeviceWaitIdle(j->dev);
	while (j->nr_resources)
		free_resource(j, &j->resources[--j->nr_resources]);
	while (j->nr_pipelines)
		vkDestroyPipeline(j->dev, j->pipelines[--j->nr_pipelines], NULL);
	vkDestroyPipelineLayout(j->dev, j->layout, NULL);
	vkDestroyDescriptorSetLayout(j->dev, j->set_layout, NULL);
	vkDestroyDescriptorPool(j->dev, j->descriptors, NULL);
	vkDestroyFence(j->dev, j->fence, NULL);
	vkDestroyCommandPool(j->dev, j->pool, NULL);
	vkDestroyDevice(j->dev, NULL);
}

/* ------------------------------------------------------------------ memory */

static VkDeviceMemory new_memory(struct vk_job *j, const VkMemoryRequirements *need,
				 VkMemoryPropertyFlags want)
{
	VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
				      .allocationSize = need->size };
	VkDeviceMemory memory;
	uint32_t i;

	for (i = 0; i < j->memory.memoryTypeCount; i++)
		if (need->memoryTypeBits >> i & 1 &&
		    (j->memory.memoryTypes[i].propertyFlags & want) == want)
			break;
	if (i == j->memory.memoryTypeCount)
		verdict_die(j->verdict, "no memory with properties %#x", want);
	info.memoryTypeIndex = i;
	vk_must(j, vkAllocateMemory(j->dev, &info, NULL, &memory), "vkAllocateMemory");
	return memory;
}

static VkBuffer new_buffer(struct vk_job *j, VkDeviceSize size, VkBufferUsageFlags usage,
			   VkMemoryPropertyFlags want, VkDeviceMemory *memory)
{
	VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
				    .size = size,
				    .usage = usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
					     VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	VkMemoryRequirements need;
	VkBuffer buffer;

	vk_must(j, vkCreateBuffer(j->dev, &info, NULL, &buffer), "vkCreateBuffer");
	vkGetBufferMemoryRequirements(j->dev, buffer, &need);
	*memory = new_memory(j, &need, want);
	vk_must(j, vkBindBufferMemory(j->dev, buffer, *memory, 0), "vkBindBufferMemory");
	return buffer;
}

static struct vk_resource *new_resource(struct vk_job *j, VkDescriptorType type, size_t bytes,
					const void *from)
{
	struct vk_resource *r = &j->resources[j->nr_resources++];

	if (j->nr_resources > VK_JOB_RESOURCES)
		abort();
	r->type = type;
	r->size = (bytes + 3) & ~(size_t)3;
	r->twin = new_buffer(j, r->size, 0,
			     VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
				     VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
			     &r->twin_memory);
	vk_must(j, vkMapMemory(j->dev, r->twin_memory, 0, r->size, 0, &r->map), "vkMapMemory");
	memset(r->map, 0, r->size);
	if (from)
		memcpy(r->map, from, bytes);
	return r;
}

struct vk_resource *vk_buffer(struct vk_job *j, VkDescriptorType type, size_t bytes,
			      const void *from)
{
	struct vk_resource *r = new_resource(j, type, bytes, from);
	VkBufferUsageFlags usage = type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER ?
					   VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT :
					   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
						   VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;

	r->buffer = new_buffer(j, r->size, usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &r->memory);
	return r;
}

bool vk_has_image(struct vk_job *j, VkFormat format, VkDescriptorType type)
{
	VkFormatFeatureFlags want =
		type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ?
			VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT :
			VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
				VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
	VkFormatProperties has;

	vkGetPhysicalDeviceFormatProperties(j->phys, format, &has);
	return (has.optimalTilingFeatures & want) == want;
}

static void new_view(struct vk_job *j, struct vk_resource *r, VkFormat format)
{
	VkImageViewCreateInfo info = { .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
				       .image = r->image,
				       .viewType = VK_IMAGE_VIEW_TYPE_2D,
				       .format = format,
				       .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0,
							     1 } };
	VkSamplerCreateInfo sampler = { .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
					.magFilter = VK_FILTER_LINEAR,
					.minFilter = VK_FILTER_LINEAR,
					.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
					.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
					.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE };

	vk_must(j, vkCreateImageView(j->dev, &info, NULL, &r->view), "vkCreateImageView");
	vk_must(j, vkCreateSampler(j->dev, &sampler, NULL, &r->sampler), "vkCreateSampler");
}

struct vk_resource *vk_image(struct vk_job *j, VkDescriptorType type, VkFormat format,
			     uint32_t width, uint32_t height, size_t texel, const void *from)
{
	struct vk_resource *r = new_resource(j, type, width * height * texel, from);
	VkImageCreateInfo info = { .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
				   .imageType = VK_IMAGE_TYPE_2D,
				   .format = format,
				   .extent = { width, height, 1 },
				   .mipLevels = 1,
				   .arrayLayers = 1,
				   .samples = VK_SAMPLE_COUNT_1_BIT,
				   .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
					    VK_IMAGE_USAGE_TRANSFER_DST_BIT |
					    (type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ?
						     VK_IMAGE_USAGE_STORAGE_BIT :
						     VK_IMAGE_USAGE_SAMPLED_BIT) };
	VkMemoryRequirements need;

	r->width = width;
	r->height = height;
	vk_must(j, vkCreateImage(j->dev, &info, NULL, &r->image), "vkCreateImage");
	vkGetImageMemoryRequirements(j->dev, r->image, &need);
	r->memory = new_memory(j, &need, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	vk_must(j, vkBindImageMemory(j->dev, r->image, r->memory, 0), "vkBindImageMemory");
	new_view(j, r, format);
	return r;
}

void *vk_memory(struct vk_job *j, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		verdict_die(j->verdict, "no memory");
	return memory;
}

uint32_t *vk_random(struct vk_job *j, size_t words)
{
	uint32_t *w = vk_memory(j, words * sizeof(*w));
	size_t i;

	for (i = 0; i < words; i++)
		w[i] = rng_next(&j->rng);
	return w;
}

/* ------------------------------------------------------------------ pipeline */

static void new_layout(struct vk_job *j)
{
	VkDescriptorSetLayoutBinding bindings[VK_JOB_RESOURCES];
	VkDescriptorSetLayoutCreateInfo set = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = j->nr_resources,
		.pBindings = bindings
	};
	VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, MAX_PUSH };
	VkPipelineLayoutCreateInfo layout = { .sType =
						      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
					      .setLayoutCount = 1,
					      .pSetLayouts = &j->set_layout,
					      .pushConstantRangeCount = 1,
					      .pPushConstantRanges = &push };
	unsigned int i;

	for (i = 0; i < j->nr_resources; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){ i, j->resources[i].type, 1,
							      VK_SHADER_STAGE_COMPUTE_BIT, NULL };
	vk_must(j, vkCreateDescriptorSetLayout(j->dev, &set, NULL, &j->set_layout),
		"vkCreateDescriptorSetLayout");
	vk_must(j, vkCreatePipelineLayout(j->dev, &layout, NULL, &j->layout),
		"vkCreatePipelineLayout");
}

static void fill_set(struct vk_job *j)
{
	VkDescriptorSetAllocateInfo info = { .sType =
						     VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
					     .descriptorPool = j->descriptors,
					     .descriptorSetCount = 1,
					     .pSetLayouts = &j->set_layout };
	unsigned int i;

	vk_must(j, vkAllocateDescriptorSets(j->dev, &info, &j->set), "vkAllocateDescriptorSets");
	for (i = 0; i < j->nr_resources; i++) {
		const struct vk_resource *r = &j->resources[i];
		VkDescriptorBufferInfo buffer = { r->buffer, 0, VK_WHOLE_SIZE };
		VkDescriptorImageInfo image = { r->sampler, r->view, VK_IMAGE_LAYOUT_GENERAL };
		VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
					       .dstSet = j->set,
					       .dstBinding = i,
					       .descriptorCount = 1,
					       .descriptorType = r->type,
					       .pBufferInfo = &buffer,
					       .pImageInfo = &image };

		vkUpdateDescriptorSets(j->dev, 1, &write, 0, NULL);
	}
}

VkPipeline vk_pipeline(struct vk_job *j, const VkSpecializationInfo *spec)
{
	VkShaderModuleCreateInfo module = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
					    .codeSize = (j->what->code_end - j->what->code) *
							sizeof(uint32_t),
					    .pCode = j->what->code };
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			   .pName = "main",
			   .pSpecializationInfo = spec }
	};
	VkPipeline *pipeline = &j->pipelines[j->nr_pipelines++];

	if (j->nr_pipelines > VK_JOB_PIPELINES)
		abort();
	if (!j->layout) {
		new_layout(j);
		fill_set(j);
	}
	info.layout = j->layout;
	vk_must(j, vkCreateShaderModule(j->dev, &module, NULL, &info.stage.module),
		"vkCreateShaderModule");
	vk_must(j, vkCreateComputePipelines(j->dev, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
		"vkCreateComputePipelines");
	vkDestroyShaderModule(j->dev, info.stage.module, NULL);
	return *pipeline;
}

/* ------------------------------------------------------------------ commands */

void vk_barrier(struct vk_job *j)
{
	VkMemoryBarrier all = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
				.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
				.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT |
						 VK_ACCESS_MEMORY_WRITE_BIT };

	vkCmdPipelineBarrier(j->cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
			     &all, 0, NULL, 0, NULL);
}

static void image_layout(struct vk_job *j, const struct vk_resource *r)
{
	VkImageMemoryBarrier b = { .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
				   .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
				   .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
				   .newLayout = VK_IMAGE_LAYOUT_GENERAL,
				   .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
				   .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
				   .image = r->image,
				   .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };

	vkCmdPipelineBarrier(j->cmd, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
			     VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &b);
}

static void copy_all(struct vk_job *j, bool back)
{
	unsigned int i;

	vk_barrier(j);
	for (i = 0; i < j->nr_resources; i++) {
		const struct vk_resource *r = &j->resources[i];
		VkBufferCopy whole = { 0, 0, r->size };
		VkBufferImageCopy texels = { .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0,
								   1 },
					     .imageExtent = { r->width, r->height, 1 } };

		if (!r->image)
			vkCmdCopyBuffer(j->cmd, back ? r->buffer : r->twin,
					back ? r->twin : r->buffer, 1, &whole);
		else if (back)
			vkCmdCopyImageToBuffer(j->cmd, r->image, VK_IMAGE_LAYOUT_GENERAL, r->twin,
					       1, &texels);
		else {
			image_layout(j, r);
			vkCmdCopyBufferToImage(j->cmd, r->twin, r->image, VK_IMAGE_LAYOUT_GENERAL,
					       1, &texels);
		}
	}
	vk_barrier(j);
}

void vk_begin(struct vk_job *j)
{
	VkCommandBufferBeginInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
					  .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT };

	vk_must(j, vkBeginCommandBuffer(j->cmd, &info), "vkBeginCommandBuffer");
	copy_all(j, false);
}

void vk_bind(struct vk_job *j, VkPipeline pipeline)
{
	vkCmdBindPipeline(j->cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(j->cmd, VK_PIPELINE_BIND_POINT_COMPUTE, j->layout, 0, 1, &j->set, 0,
				NULL);
}

void vk_push(struct vk_job *j, const void *constants, size_t bytes)
{
	vkCmdPushConstants(j->cmd, j->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes, constants);
}

void vk_dispatch(struct vk_job *j, uint32_t x, uint32_t y, uint32_t z)
{
	vkCmdDispatch(j->cmd, x, y, z);
}

void vk_submit(struct vk_job *j)
{
	VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
			      .commandBufferCount = 1,
			      .pCommandBuffers = &j->cmd };

	copy_all(j, true);
	vk_must(j, vkEndCommandBuffer(j->cmd), "vkEndCommandBuffer");
	vk_must(j, vkQueueSubmit(j->queue, 1, &info, j->fence), "vkQueueSubmit");
	vk_must(j, vkWaitForFences(j->dev, 1, &j->fence, VK_TRUE, wait_ns), "vkWaitForFences");
}
