// SPDX-License-Identifier: GPL-2.0
/*
 * A small transformer's forward pass in CUDA, to look at with grtrace: RMS norms,
 * matrix products, attention, a gated layer, in functions of their own, so that a
 * flame graph has something to tell.
 *
 *	nvcc -O2 -o transformer transformer.cu                    # cudart inside
 *	nvcc -O2 -cudart shared -o transformer transformer.cu     # cudart as a library
 *	grtrace record -e cuda -- ./transformer [STEPS]
 *	grtrace flame -o transformer.svg
 *	grtrace report --by kernel
 *
 * It checks its result against the same pass on the CPU, and prints how many kernels
 * it has launched: `grtrace report --by device` must say the same.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                          \
	do {                                                                                                 \
		cudaError_t status = (call);                                                                 \
		if (status != cudaSuccess) {                                                                 \
			fprintf(stderr, "transformer: %s: %s\n", #call, cudaGetErrorString(status));         \
			exit(1);                                                                             \
		}                                                                                            \
	} while (0)

enum { TOKENS = 64, WIDTH = 128, HEADS = 4, HEAD = WIDTH / HEADS, HIDDEN = 256, LAYERS = 4, TILE = 16 };

static long kernels;

/* Like <<<>>>, counted. */
#define LAUNCH(kernel, grid, block, ...)                       \
	do {                                                   \
		kernel<<<(grid), (block)>>>(__VA_ARGS__);      \
		CHECK(cudaGetLastError());                     \
		kernels++;                                     \
	} while (0)

/* --------------------------------------------------------------- kernels */

__global__ void rmsnorm_kernel(const float *x, const float *gain, float *out)
{
	__shared__ float part[WIDTH];
	int row = blockIdx.x, at = threadIdx.x;
	float v = x[row * WIDTH + at];

	part[at] = v * v;
	__syncthreads();
	for (int half = WIDTH / 2; half; half /= 2) {
		if (at < half)
			part[at] += part[at + half];
		__syncthreads();
	}
	out[row * WIDTH + at] = v * rsqrtf(part[0] / WIDTH + 1e-5f) * gain[at];
}

/* out[rows][columns] = a[rows][inner] * b[inner][columns] */
__global__ void matmul_kernel(const float *a, const float *b, float *out, int inner, int columns)
{
	__shared__ float as[TILE][TILE], bs[TILE][TILE];
	int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;

	for (int k = 0; k < inner; k += TILE) {
		as[threadIdx.y][threadIdx.x] = a[row * inner + k + threadIdx.x];
		bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * columns + column];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
		__syncthreads();
	}
	out[row * columns + column] = sum;
}

/* A block is a token of a head; tokens look at themselves and those before. */
__global__ void attention_kernel(const float *q, const float *k, const float *v, float *out)
{
	__shared__ float score[TOKENS];
	int token = blockIdx.x, head = blockIdx.y * HEAD, at = threadIdx.x;
	float largest = -1e30f, total = 0, sum = 0;

	if (at <= token) {
		float dot = 0;

		for (int i = 0; i < HEAD; i++)
			dot += q[token * WIDTH + head + i] * k[at * WIDTH + head + i];
		score[at] = dot * rsqrtf(HEAD);
	}
	__syncthreads();
	for (int i = 0; i <= token; i++)
		largest = fmaxf(largest, score[i]);
	for (int i = 0; i <= token; i++)
		total += expf(score[i] - largest);
	if (at >= HEAD)
		return;
	for (int i = 0; i <= token; i++)
		sum += expf(score[i] - largest) / total * v[i * WIDTH + head + at];
	out[token * WIDTH + head + at] = sum;
}

__global__ void gate_kernel(float *up, const float *gate)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;

	up[at] *= gate[at] / (1 + expf(-gate[at]));
}

__global__ void add_kernel(float *x, const float *y)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;

	x[at] += y[at];
}

/* ----------------------------------------------------------------- model */

struct Layer {
	float *norm1, *q, *k, *v, *o, *norm2, *up, *gate, *down;
};

struct Buffers {
	float *x, *y, *q, *k, *v, *up, *gate;
};

static std::vector<std::vector<float>> weights;

static float *weight(size_t n, float size)
{
	std::vector<float> w(n);
	float *device;

	for (float &f : w)
		f = size * (2.0f * (float)rand() / (float)RAND_MAX - 1);
	CHECK(cudaMalloc(&device, n * sizeof(float)));
	CHECK(cudaMemcpy(device, w.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	weights.push_back(w);
	return device;
}

static __attribute__((noinline)) void matmul(const float *a, const float *b, float *out, int inner, int columns)
{
	LAUNCH(matmul_kernel, dim3(columns / TILE, TOKENS / TILE), dim3(TILE, TILE), a, b, out, inner, columns);
}

static __attribute__((noinline)) void rmsnorm(const float *x, const float *gain, float *out)
{
	LAUNCH(rmsnorm_kernel, TOKENS, WIDTH, x, gain, out);
}

static __attribute__((noinline)) void attention(const Layer &l, const Buffers &b)
{
	rmsnorm(b.x, l.norm1, b.y);
	matmul(b.y, l.q, b.q, WIDTH, WIDTH);
	matmul(b.y, l.k, b.k, WIDTH, WIDTH);
	matmul(b.y, l.v, b.v, WIDTH, WIDTH);
	LAUNCH(attention_kernel, dim3(TOKENS, HEADS), TOKENS, b.q, b.k, b.v, b.y);
	matmul(b.y, l.o, b.q, WIDTH, WIDTH);
	LAUNCH(add_kernel, TOKENS, WIDTH, b.x, b.q);
}

static __attribute__((noinline)) void feed_forward(const Layer &l, const Buffers &b)
{
	rmsnorm(b.x, l.norm2, b.y);
	matmul(b.y, l.up, b.up, WIDTH, HIDDEN);
	matmul(b.y, l.gate, b.gate, WIDTH, HIDDEN);
	LAUNCH(gate_kernel, TOKENS, HIDDEN, b.up, b.gate);
	matmul(b.up, l.down, b.y, HIDDEN, WIDTH);
	LAUNCH(add_kernel, TOKENS, WIDTH, b.x, b.y);
}

static __attribute__((noinline)) void forward(const std::vector<Layer> &layers, const Buffers &b)
{
	for (const Layer &l : layers) {
		attention(l, b);
		feed_forward(l, b);
	}
}

/* ----------------------------------------------------- the same on the CPU */

typedef std::vector<float> Matrix;

static Matrix cpu_matmul(const Matrix &a, const Matrix &b, int inner, int columns)
{
	Matrix out(TOKENS * (size_t)columns);

	for (int r = 0; r < TOKENS; r++)
		for (int k = 0; k < inner; k++)
			for (int c = 0; c < columns; c++)
				out[r * columns + c] += a[r * inner + k] * b[k * columns + c];
	return out;
}

static Matrix cpu_rmsnorm(const Matrix &x, const Matrix &gain)
{
	Matrix out(x.size());

	for (int r = 0; r < TOKENS; r++) {
		float sum = 0;

		for (int c = 0; c < WIDTH; c++)
			sum += x[r * WIDTH + c] * x[r * WIDTH + c];
		for (int c = 0; c < WIDTH; c++)
			out[r * WIDTH + c] = x[r * WIDTH + c] / sqrtf(sum / WIDTH + 1e-5f) * gain[c];
	}
	return out;
}

static Matrix cpu_attention(const Matrix &q, const Matrix &k, const Matrix &v)
{
	Matrix out(TOKENS * WIDTH);

	for (int h = 0; h < WIDTH; h += HEAD)
		for (int t = 0; t < TOKENS; t++) {
			float score[TOKENS], total = 0;

			for (int i = 0; i <= t; i++) {
				float dot = 0;

				for (int c = 0; c < HEAD; c++)
					dot += q[t * WIDTH + h + c] * k[i * WIDTH + h + c];
				total += score[i] = expf(dot / sqrtf(HEAD));
			}
			for (int i = 0; i <= t; i++)
				for (int c = 0; c < HEAD; c++)
					out[t * WIDTH + h + c] += score[i] / total * v[i * WIDTH + h + c];
		}
	return out;
}

static Matrix cpu_forward(Matrix x)
{
	for (size_t l = 0; l < LAYERS; l++) {
		const Matrix *w = &weights[l * 9];
		Matrix y = cpu_rmsnorm(x, w[0]);
		Matrix a = cpu_attention(cpu_matmul(y, w[1], WIDTH, WIDTH), cpu_matmul(y, w[2], WIDTH, WIDTH),
					 cpu_matmul(y, w[3], WIDTH, WIDTH));
		Matrix o = cpu_matmul(a, w[4], WIDTH, WIDTH), up, gate, down;

		for (size_t i = 0; i < x.size(); i++)
			x[i] += o[i];
		y = cpu_rmsnorm(x, w[5]);
		up = cpu_matmul(y, w[6], WIDTH, HIDDEN);
		gate = cpu_matmul(y, w[7], WIDTH, HIDDEN);
		for (size_t i = 0; i < up.size(); i++)
			up[i] *= gate[i] / (1 + expf(-gate[i]));
		down = cpu_matmul(up, w[8], HIDDEN, WIDTH);
		for (size_t i = 0; i < x.size(); i++)
			x[i] += down[i];
	}
	return x;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100;
	std::vector<Layer> layers(LAYERS);
	Matrix x(TOKENS * WIDTH), out(x.size()), want;
	Buffers b;
	float worst = 0;

	srand(1);
	for (Layer &l : layers) {
		l.norm1 = weight(WIDTH, 1);
		for (float **w : {&l.q, &l.k, &l.v, &l.o})
			*w = weight(WIDTH * WIDTH, 0.1f);
		l.norm2 = weight(WIDTH, 1);
		l.up = weight(WIDTH * HIDDEN, 0.1f);
		l.gate = weight(WIDTH * HIDDEN, 0.1f);
		l.down = weight(HIDDEN * WIDTH, 0.1f);
	}
	for (float &f : x)
		f = (float)rand() / (float)RAND_MAX - 0.5f;
	for (float **at : {&b.x, &b.y, &b.q, &b.k, &b.v, &b.up, &b.gate})
		CHECK(cudaMalloc(at, TOKENS * HIDDEN * sizeof(float)));
	for (int step = 0; step < steps; step++) {
		CHECK(cudaMemcpy(b.x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
		forward(layers, b);
		CHECK(cudaMemcpy(out.data(), b.x, x.size() * sizeof(float), cudaMemcpyDeviceToHost));
	}
	want = cpu_forward(x);
	for (size_t i = 0; steps && i < out.size(); i++)
		worst = fmaxf(worst, fabsf(out[i] - want[i]) / (1 + fabsf(want[i])));
	printf("%d steps, %ld kernels, largest difference to the CPU %.1e\n", steps, kernels, worst);
	return !(worst < 1e-3f);
}
