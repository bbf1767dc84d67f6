// SPDX-License-Identifier: GPL-2.0-only
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uint as[]; };
layout(std430, binding = 1) readonly buffer B { uint bs[]; };
layout(std430, binding = 2) writeonly buffer Out { uint o[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x, a = as[i], b = bs[i], n = b & 31, at = i * 24, high, low;
	int x = int(a), y = int(b), shigh, slow;

	umulExtended(a, b, high, low);
	o[at] = high;
	o[at + 1] = low;
	imulExtended(x, y, shigh, slow);
	o[at + 2] = uint(shigh);
	o[at + 3] = uint(bitCount(a));
	o[at + 4] = bitfieldReverse(a);
	o[at + 5] = uint(findLSB(a));
	o[at + 6] = uint(findMSB(a));
	o[at + 7] = uint(findMSB(x));
	o[at + 8] = bitfieldExtract(a, int(n) / 2, 13);
	o[at + 9] = uint(bitfieldExtract(x, int(n) / 2, 13));
	o[at + 10] = bitfieldInsert(a, b, 7, int(n) / 2);
	o[at + 11] = a << n;
	o[at + 12] = a >> n;
	o[at + 13] = uint(x >> n);
	o[at + 14] = b != 0 ? a / b : 0;
	o[at + 15] = b != 0 ? a % b : 0;
	o[at + 16] = y != 0 && y != -1 ? uint(x / y) : 0;
	low = uaddCarry(a, b, high);
	o[at + 17] = low + 2 * high;
	low = usubBorrow(a, b, high);
	o[at + 18] = low + 2 * high;
	o[at + 19] = uint(clamp(x, -1000, 1000)) ^ uint(abs(y));
	o[at + 20] = uint(sign(x)) ^ (~a & b);
	o[at + 21] = packUnorm4x8(vec4(a & 255, a >> 8 & 255, a >> 16 & 255, a >> 24) / 255.0);
	o[at + 22] = floatBitsToUint(unpackHalf2x16((a & 0x83ff83ff) | 0x3c003c00).y);
	o[at + 23] = uint(int(a << 8) >> 24) + (b >> 16 & 255) * 3;
}
