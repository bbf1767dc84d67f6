/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job is one test of compute shaders, with its own device, command buffer and memory. A refused
 * call of Vulkan ends the process, so the functions return success.
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
};

/* shaders/NAME.comp, compiled: code_NAME up to code_NAME_end */
#define SHADER(name)                                                                 \
	extern const uint32_t code_##name[], code_##name##_end[];                    \
	__asm__(".pushsection .rodata\n.balign 4\ncode_" #name ":\n.incbin \"" #name \
		".spv\"\ncode_" #name "_end:\n.popsection\n")
#define CODE(name) code_##name, code_##name##_end

enum { VK_JOB_RESOURCES = 8, VK_JOB_PIPELINES = 4 };

/* a buffer, or an image whose twin has its texels row by row */
struct vk_resource {
	VkDescriptorType type;
	VkDeviceSize size;
	VkBuffer buffer, twin;
	VkDeviceMemory memory, twin_memory;
	VkImage image;
	VkImageView view;
	VkSampler sampler;
	uint32_t width, height;
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
	/* bindings of the set that all pipelines share */
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
void vk_job_begin(struct vk_job *j);
void vk_job_end(struct vk_job *j);

/* zeroed, or filled from @from */
struct vk_resource *vk_buffer(struct vk_job *j, VkDescriptorType type, size_t bytes,
			      const void *from);
static inline struct vk_resource *vk_storage(struct vk_job *j, size_t bytes, const void *from)
{
	return vk_buffer(j, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bytes, from);
}
/* false: not with this format */
bool vk_has_image(struct vk_job *j, VkFormat format, VkDescriptorType type);
/* @texel: bytes; samplers are linear and clamp to the edge */
struct vk_resource *vk_image(struct vk_job *j, VkDescriptorType type, VkFormat format,
			     uint32_t width, uint32_t height, size_t texel, const void *from);

/* after all resources; @spec may be NULL */
VkPipeline vk_pipeline(struct vk_job *j, const VkSpecializationInfo *spec);

void vk_begin(struct vk_job *j);
void vk_bind(struct vk_job *j, VkPipeline pipeline);
void vk_push(struct vk_job *j, const void *constants, size_t bytes);
void vk_dispatch(struct vk_job *j, uint32_t x, uint32_t y, uint32_t z);
/* work behind it sees what was written before */
void vk_barrier(struct vk_job *j);
void vk_submit(struct vk_job *j);

/* stays until the process ends */
void *vk_memory(struct vk_job *j, size_t bytes);
uint32_t *vk_random(struct vk_job *j, size_t words);

#endif
