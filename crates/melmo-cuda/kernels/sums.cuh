// From the sums of threads to one number each, in a fixed order: two runs give the same bits.

#ifdef __CUDACC__

HERE double above(double a, double b) { return a > b || a != a ? a : b; }

// The sums of a block, in its first thread.
template <int N>
HERE void join(Sums<N>& s) {
    __shared__ double part[N + 1][THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < N; k++) {
#pragma unroll
        for (int o = 16; o > 0; o /= 2) s.at[k] += __shfl_down_sync(0xffffffffu, s.at[k], o);
        if (lane == 0) part[k][warp] = s.at[k];
    }
#pragma unroll
    for (int o = 16; o > 0; o /= 2) s.largest = above(__shfl_down_sync(0xffffffffu, s.largest, o), s.largest);
    if (lane == 0) part[N][warp] = s.largest;
    __syncthreads();
    if (threadIdx.x != 0) return;
#pragma unroll
    for (int k = 0; k < N; k++)
        for (int w = 1; w < THREADS / 32; w++) s.at[k] += part[k][w];
    for (int w = 1; w < THREADS / 32; w++) s.largest = above(part[N][w], s.largest);
}

// The block that is done last adds up what all blocks found, block by block, and tells the host.
template <int N>
HERE void settle(const Args& a, Sums<N>& s) {
    __shared__ bool last;
    const i64 blocks = gridDim.x;
    join<N>(s);
    if (threadIdx.x == 0) {
#pragma unroll
        for (int k = 0; k < N; k++) a.partial[k * blocks + blockIdx.x] = s.at[k];
        a.partial[N * blocks + blockIdx.x] = s.largest;
        __threadfence();
        last = atomicAdd(a.ticket, 1u) == (unsigned int)blocks - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    s.clear();
    for (i64 b = threadIdx.x; b < blocks; b += THREADS) {
#pragma unroll
        for (int k = 0; k < N; k++) s.at[k] += __ldcg(a.partial + k * blocks + b);
        s.top(__ldcg(a.partial + N * blocks + b));
    }
    join<N>(s);
    if (threadIdx.x != 0) return;
    volatile double* result = a.result;
    volatile double* here = result + a.at;
#pragma unroll
    for (int k = 0; k < N; k++) here[k] = a.more ? here[k] + s.at[k] : s.at[k];
    here[N] = s.largest;
    *a.ticket = 0;
    __threadfence_system();
    result[STAMP] = a.stamp;
}

// A kernel of a body and the number of its sums. A multiprocessor holds so many blocks of it at once, at least: that bounds the registers
// of a thread.
#define KERNEL(name, N, body) KERNEL_AT_ONCE(name, N, body, 1)
#define KERNEL_AT_ONCE(name, N, body, blocks)                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, blocks) name(const Args a) { \
        Sums<N> s;                                                              \
        s.clear();                                                              \
        body(a, (i64)blockIdx.x * THREADS + threadIdx.x, s);                    \
        if (N > 0) settle<N>(a, s);                                             \
    }

#else

#define KERNEL(name, N, body) KERNEL_AT_ONCE(name, N, body, 1)
#define KERNEL_AT_ONCE(name, N, body, blocks)                                                   \
    extern "C" void name(const Args* a, i64 threads) {                          \
        Sums<N> total, s;                                                       \
        total.clear();                                                          \
        for (i64 t = 0; t < threads; t++) {                                     \
            s.clear();                                                          \
            body(*a, t, s);                                                     \
            for (int k = 0; k < N; k++) total.at[k] += s.at[k];                 \
            total.top(s.largest);                                               \
        }                                                                       \
        double* here = a->result + a->at;                                       \
        for (int k = 0; k < N; k++) here[k] = a->more ? here[k] + total.at[k] : total.at[k]; \
        if (N > 0) here[N] = total.largest;                                     \
        a->result[STAMP] = a->stamp;                                            \
    }

#endif
