// SPDX-License-Identifier: GPL-2.0-only
#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { float as[]; };
layout(std430, binding = 1) readonly buffer B { float bs[]; };
layout(std430, binding = 2) writeonly buffer Out { float o[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x, at = i * 16;
	float a = as[i], b = bs[i];

	o[at] = sqrt(abs(a));
	o[at + 1] = inversesqrt(abs(b));
	o[at + 2] = exp2(a);
	o[at + 3] = log2(abs(b));
	o[at + 4] = sin(a);
	o[at + 5] = cos(a);
	o[at + 6] = a / b;
	o[at + 7] = floor(a);
	o[at + 8] = ceil(a);
	o[at + 9] = roundEven(a);
	o[at + 10] = trunc(a);
	o[at + 11] = fract(a);
	o[at + 12] = min(a, b) + 2 * max(a, b);
	o[at + 13] = mix(a, b, b > a);
	o[at + 14] = clamp(a, -1.5, 1.5);
	o[at + 15] = float(int(a)) + float(uint(abs(b)));
}
