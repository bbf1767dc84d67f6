/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job is one test of compute shaders: its own device, command buffer and memory. What a call of
 * Vulkan refuses ends the job (and its process: workers.c starts another for the next), so the
 * functions return only success.
 *
 * Buffers and images lie in memory of the device; each has a twin that the host sees. vk_begin()
 * records the copies from the twins, vk_submit() those back, and waits.
 */
#ifndef KVGPU_SELFTESTS_VK_JOB_H
#define KVGPU_SELFTESTS_VK_JOB_H

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "pattern.h"
#include "verdict.h"

struct vk_job;

struct vk_case {
	const char *name;
	void (*run)(struct vk_job *j);
	/* SPIR-V */
	const uint32_t *code, *code_end;
	/* as in workers.h */
	const char *xfail, *sign;
};

/* words of shaders/NAME.comp, compiled, as code_NAME up to code_NAME_end */
#define SHADER(name)                                                                 \
	extern const uint32_t code_##name[], code_##name##_end[];                    \
	__asm__(".pushsection .rodata\n.balign 4\ncode_" #name ":\n.incbin \"" #name \
		".spv\"\ncode_" #name "_end:\n.popsection\n")
#define CODE(name) code_##name, code_##name##_end

enum { VK_JOB_RESOURCES = 8, VK_JOB_PIPELINES = 4 };

/* a buffer, or an image whose texels are those of the buffer's twin, row by row */
struct vk_resource {
	VkDescriptorType type;
	VkDeviceSize size;
	VkBuffer buffer, twin;
	VkDeviceMemory memory, twin_memory;
	VkImage image;
	VkImageView view;
	VkSampler sampler;
	uint32_t width, height;
	/* what the host sees */
	void *map;
};

struct vk_job {
	const struct vk_case *what;
	struct verdict *verdict;
	VkPhysicalDevice phys;
	VkPhysicalDeviceFeatures features;
	VkPhysicalDeviceMemoryProperties memory;
	VkDevice dev;
	VkQueue queue;
	VkCommandPool pool;
	VkCommandBuffer cmd;
	VkFence fence;
	VkDescriptorPool descriptors;
	/* bindings 0, 1, ... of the set that all pipelines of the job share */
	struct vk_resource resources[VK_JOB_RESOURCES];
	unsigned int nr_resources;
	VkDescriptorSetLayout set_layout;
	VkDescriptorSet set;
	VkPipelineLayout layout;
	VkPipeline pipelines[VK_JOB_PIPELINES];
	unsigned int nr_pipelines;
	struct rng rng;
};

void vk_must(struct vk_job *j, VkResult r, const char *call);
/* with the features of @phys that shaders may want */
void vk_job_begin(struct vk_job *j);
void vk_job_end(struct vk_job *j);

/* the next binding: zeroed, or filled from @from */
struct vk_resource *vk_buffer(struct vk_job *j, VkDescriptorType type, size_t bytes,
			      const void *from);
static inline struct vk_resource *vk_storage(struct vk_job *j, size_t bytes, const void *from)
{
	return vk_buffer(j, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bytes, from);
}
/* false if the device does not do that with the format */
bool vk_has_image(struct vk_job *j, VkFormat format, VkDescriptorType type);
/* @texel: bytes of one; a sampler of combined images is linear and clamps to the edge */
struct vk_resource *vk_image(struct vk_job *j, VkDescriptorType type, VkFormat format,
			     uint32_t width, uint32_t height, size_t texel, const void *from);

/* all resources have been made. Of the job's code; @spec may be NULL */
VkPipeline vk_pipeline(struct vk_job *j, const VkSpecializationInfo *spec);

void vk_begin(struct vk_job *j);
void vk_bind(struct vk_job *j, VkPipeline pipeline);
void vk_push(struct vk_job *j, const void *constants, size_t bytes);
void vk_dispatch(struct vk_job *j, uint32_t x, uint32_t y, uint32_t z);
/* whatever comes behind it sees what was written before it */
void vk_barrier(struct vk_job *j);
void vk_submit(struct vk_job *j);

/* memory that stays until the process ends */
void *vk_memory(struct vk_job *j, size_t bytes);
uint32_t *vk_random(struct vk_job *j, size_t words);

#endif
