// SPDX-License-Identifier: GPL-2.0-only
// What programs are made of: tiles, stencils, scans, sorts, histograms, transforms, graphs.
template<class T, int N> __global__ void matmul(const T *a, const T *b, T *c, int n)
{
	__shared__ T ta[N][N], tb[N][N + 1];
	int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
	T sum = 0;

	for (int k = 0; k < n; k += N) {
		ta[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
		__syncthreads();
#pragma unroll
		for (int i = 0; i < N; i++)
			sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
		__syncthreads();
	}
	c[y * n + x] = sum;
}
template __global__ void matmul<float, 16>(const float *, const float *, float *, int);
template __global__ void matmul<float, 32>(const float *, const float *, float *, int);
template __global__ void matmul<double, 16>(const double *, const double *, double *, int);
template __global__ void matmul<int, 8>(const int *, const int *, int *, int);

__global__ void stencil(const double *in, double *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
		out[y * w + x] = 0.25 * (in[y * w + x - 1] + in[y * w + x + 1] +
					 in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

__global__ void scan(int *data, int n)
{
	extern __shared__ int s[];
	int t = threadIdx.x;

	s[2 * t] = data[2 * t];
	s[2 * t + 1] = data[2 * t + 1];
	for (int d = 1; d < n; d <<= 1) {
		__syncthreads();
		int i = (t + 1) * d * 2 - 1;
		if (i < n)
			s[i] += s[i - d];
	}
	for (int d = n >> 1; d > 0; d >>= 1) {
		__syncthreads();
		int i = (t + 1) * d * 2 - 1;
		if (i + d < n)
			s[i + d] += s[i];
	}
	__syncthreads();
	data[2 * t] = s[2 * t];
	data[2 * t + 1] = s[2 * t + 1];
}

__global__ void bitonic(float *v, int j, int k)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;

	if (other > i && (v[i] > v[other]) == ((i & k) == 0)) {
		float t = v[i];
		v[i] = v[other];
		v[other] = t;
	}
}

__global__ void histogram(const unsigned char *data, int n, unsigned int *bins)
{
	__shared__ unsigned int local[256];

	local[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
		atomicAdd(&local[data[i]], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void fft(float2 *data, int n, int sign)
{
	extern __shared__ float2 line[];

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		line[__brev(i) >> (__clz(n) + 1)] = data[blockIdx.x * n + i];
	for (int m = 1; m < n; m <<= 1) {
		__syncthreads();
		for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
			int k = i % m, j = 2 * (i - k) + k;
			float c, s;
			sincospif(sign * (float)k / m, &s, &c);
			float2 a = line[j], b = line[j + m],
			       t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
			line[j] = make_float2(a.x + t.x, a.y + t.y);
			line[j + m] = make_float2(a.x - t.x, a.y - t.y);
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		data[blockIdx.x * n + i] = line[i];
}

__global__ void bfs(const int *first, const int *edges, int *level, int depth, int n, int *more)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;

	if (v < n && level[v] == depth)
		for (int e = first[v]; e < first[v + 1]; e++)
			if (atomicCAS(&level[edges[e]], -1, depth + 1) == -1)
				*more = 1;
}

__global__ void nbody(const float4 *p, float4 *v, int n, float dt)
{
	__shared__ float4 tile[128];
	float4 me = p[blockIdx.x * blockDim.x + threadIdx.x];
	float3 a = make_float3(0, 0, 0);

	for (int t = 0; t < n; t += 128) {
		tile[threadIdx.x] = p[t + threadIdx.x];
		__syncthreads();
#pragma unroll 8
		for (int i = 0; i < 128; i++) {
			float dx = tile[i].x - me.x, dy = tile[i].y - me.y, dz = tile[i].z - me.z;
			float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f),
			      f = tile[i].w * r * r * r;
			a.x += dx * f;
			a.y += dy * f;
			a.z += dz * f;
		}
		__syncthreads();
	}
	v[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(a.x * dt, a.y * dt, a.z * dt, 0);
}

__global__ void spmv(const int *row, const int *column, const double *value, const double *x,
		     double *y, int n)
{
	int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
	double sum = 0;

	if (warp >= n)
		return;
	for (int i = row[warp] + lane; i < row[warp + 1]; i += 32)
		sum += value[i] * x[column[i]];
	for (int d = 16; d; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (lane == 0)
		y[warp] = sum;
}

__global__ void mandelbrot(unsigned char *out, int w, int h, float scale)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	float cr = (x - w / 2) * scale, ci = (y - h / 2) * scale, r = 0, i = 0;
	int n = 0;

	while (r * r + i * i < 4 && n < 255) {
		float t = r * r - i * i + cr;
		i = 2 * r * i + ci;
		r = t;
		n++;
	}
	out[y * w + x] = n;
}

__global__ void edit_distance(const char *a, const char *b, int *row, int n)
{
	for (int d = 0; d < 2 * n - 1; d++) {
		int i = threadIdx.x, j = d - i;

		if (j >= 0 && j < n && i < n)
			row[i * n + j] = min(min(row[(i - 1) * n + j] + 1, row[i * n + j - 1] + 1),
					     row[(i - 1) * n + j - 1] + (a[i] != b[j]));
		__syncthreads();
	}
}

__global__ void crc(const unsigned int *table, const unsigned char *data, unsigned int *out, int n)
{
	unsigned int c = ~0u;

	for (int i = 0; i < n; i++)
		c = table[(c ^ data[threadIdx.x * n + i]) & 255] ^ c >> 8;
	out[threadIdx.x] = ~c;
}

__global__ void random_walk(unsigned long long *state, double *out)
{
	unsigned long long z = state[threadIdx.x];
	double x = 0;

	for (int i = 0; i < 100; i++) {
		z = z * 6364136223846793005ull + 1442695040888963407ull;
		x += (z >> 11) * (1.0 / 9007199254740992.0) < 0.5 ? -1 : exp(-x * x);
	}
	out[threadIdx.x] = x;
	state[threadIdx.x] = z;
}
