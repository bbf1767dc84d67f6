/* SPDX-License-Identifier: MIT */
/* what a call of CUDA's, or a frame, gives */
#ifndef KVGPU_SELFTESTS_REMOTE_RESULT_H
#define KVGPU_SELFTESTS_REMOTE_RESULT_H

#define OK(call)	 assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, why) assert_int_equal(call, CUDA_ERROR_##why)

#endif
