// SPDX-License-Identifier: GPL-2.0-only
/* remainders for the polynomial 0xedb88320 */
constant uint nibble[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
	0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

/* a CRC of each piece by a table in the program, mixed by an argument's */
kernel void crc(global const uchar *in, int length, constant uint *mix, global uint *out)
{
	size_t i = get_global_id(0);
	uint crc = ~0u;
	int k;

	for (k = 0; k < length; k++) {
		crc ^= in[i * length + k];
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	out[i] = ~crc ^ mix[i % 32] ^ mix[crc % 32] * 3;
}
