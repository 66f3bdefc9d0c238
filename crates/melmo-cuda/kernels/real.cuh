// Numbers, what a kernel is told, and how a body becomes a kernel: on a device, or as a loop over threads on a host (tests).
//
// REAL is float or double. A body is a function of one thread; bodies know nothing of blocks.

typedef REAL real;
typedef long long i64;

// A kernel of a convolution, row after row, and what stands outside the image: `Boundary` in crates/melmo/src/operator.
struct Blur {
    const real* taps;
    i64 rows, cols, boundary;
};

// A part of the penalty of a chain: groups of entries of Tx, member m of group g at start + g·step + m·stride, or where a list says.
struct Part {
    i64 start, groups, length, step, stride;
    i64 shares;               // threads of a group
    i64 by_norm;              // ψ of a group's norm; of its one entry otherwise
    double weight;            // of all of it
    const real* weights;      // of each group, where there are any
    const i64 *members, *ends;
    double *norms, *others;   // of the groups of u and of Tx, where they were measured before
};

// Everything that a kernel may be told. `Args` in src/machine/args.rs is the same, field by field.
struct Args {
    i64 n;                     // entries of x
    i64 slices, rows, cols;    // of the image: threads walk along slices
    i64 strip;                 // so many at a time
    i64 first, count;          // the entries of x that T picks, where it picks entries
    const real *x, *d;         // a point, and a direction or another point
    const real *target, *mask; // the data
    const real *weights;       // of the penalty
    const real *u;             // in the range of T
    real *y, *out;             // a new point, and a gradient
    real *tx, *z;              // in the range of T
    double a, b;               // factors
    double beta;               // the smoothing
    double psi[2];             // the parameters of the penalty
    const double* pieces;      // of ψ′, where it is piecewise linear
    i64 formula;               // which, where parts of the penalty have several
    double *parts, *norms;     // of lines of a matrix
    i64 from, to;              // formats of what is read and written, where that is not real
    i64 loose;                 // 1 where a block does not start at a multiple of four entries
    double *partial;           // sums of blocks
    unsigned int *ticket;      // how many blocks are done
    double *result;            // the sums, and when they are there
    double stamp;              // the name of this launch
    i64 at, more;              // where its sums go among the results, and whether they are added to what is there
    i64 components;            // of differences
    const real *mask_of_t;     // what T multiplies by
    i64 channels;              // planes of x, one after another
    double second;             // what second differences are multiplied by
    real *residual;            // of a loss with an operator
    Blur blur, of_loss;        // T, and the operator of the loss
    Part part;
};

// Where the stamp stands among the results.
#define STAMP 31

// Threads of a block, and entries that a thread takes at a time.
#define THREADS 256
#define WIDE 4

#ifdef __CUDACC__
#define HERE __device__ __forceinline__
#define HERE_METHOD __device__ __forceinline__
#else
#include <math.h>
#include <string.h>
#define HERE static inline
#define HERE_METHOD inline
#endif

HERE real larger(real a, real b) { return a > b ? a : b; }
HERE real smaller(real a, real b) { return a < b ? a : b; }
// The same in one instruction, for slopes: what is NaN in x is NaN in ∇f too, and is found there.
#ifdef DOUBLE
HERE real most(real a, real b) { return fmax(a, b); }
HERE real least(real a, real b) { return fmin(a, b); }
#else
HERE real most(real a, real b) { return fmaxf(a, b); }
HERE real least(real a, real b) { return fminf(a, b); }
#endif
// w·v, and 0 for w = 0 even where v is infinite.
HERE real weighed(real w, real v) { return w > 0 ? w * v : (real)0; }
// v/norm, and 0 where the norm is 0: such a unit has no direction.
HERE real over_norm(real v, real norm) { return norm == 0 ? (real)0 : v / norm; }
HERE real sign(real a) { return a > 0 ? (real)1 : a < 0 ? (real)-1 : (real)0; }
#ifdef DOUBLE
HERE real magnitude(real a) { return fabs(a); }
HERE real root(real a) { return sqrt(a); }
HERE real log_1p(real a) { return log1p(a); }
HERE real with_sign(real a, real of) { return copysign(a, of); }
#else
HERE real magnitude(real a) { return fabsf(a); }
HERE real root(real a) { return sqrtf(a); }
HERE real log_1p(real a) { return log1pf(a); }
HERE real with_sign(real a, real of) { return copysignf(a, of); }
#endif

// Σ in double, and the largest of some numbers: NaN if one is.
template <int N>
struct Sums {
    double at[N > 0 ? N : 1];
    double largest;

    HERE_METHOD void clear() {
        for (int k = 0; k < N; k++) at[k] = 0;
        largest = -1e308;
    }
    HERE_METHOD void top(double v) { largest = v > largest || v != v ? v : largest; }
};

// Four entries from i on, or `count` at an end. `aligned`: i is a multiple of four.
struct Four {
    real at[WIDE];
};

HERE Four load(const real* p, i64 i, int count, bool aligned) {
    Four v;
#ifdef __CUDACC__
    if (aligned && count == WIDE) {
#ifdef DOUBLE
        double2 lo = *reinterpret_cast<const double2*>(p + i), hi = *reinterpret_cast<const double2*>(p + i + 2);
        v.at[0] = lo.x, v.at[1] = lo.y, v.at[2] = hi.x, v.at[3] = hi.y;
#else
        float4 all = *reinterpret_cast<const float4*>(p + i);
        v.at[0] = all.x, v.at[1] = all.y, v.at[2] = all.z, v.at[3] = all.w;
#endif
        return v;
    }
#endif
#pragma unroll
    for (int k = 0; k < WIDE; k++) v.at[k] = k < count ? p[i + k] : (real)0;
    return v;
}

HERE void store(real* p, i64 i, int count, bool aligned, const Four& v) {
#ifdef __CUDACC__
    if (aligned && count == WIDE) {
#ifdef DOUBLE
        *reinterpret_cast<double2*>(p + i) = make_double2(v.at[0], v.at[1]);
        *reinterpret_cast<double2*>(p + i + 2) = make_double2(v.at[2], v.at[3]);
#else
        *reinterpret_cast<float4*>(p + i) = make_float4(v.at[0], v.at[1], v.at[2], v.at[3]);
#endif
        return;
    }
#endif
#pragma unroll
    for (int k = 0; k < WIDE; k++)
        if (k < count) p[i + k] = v.at[k];
}

// Rounds of a thread over entries: neighbouring threads take neighbouring fours.
#define ROUNDS 4

// each(i, count) for the entries of thread t.
template <class Each>
HERE void entries(i64 n, i64 t, const Each& each) {
    i64 start = t / THREADS * (THREADS * WIDE * ROUNDS) + t % THREADS * WIDE;
#pragma unroll
    for (int round = 0; round < ROUNDS; round++) {
        i64 i = start + round * (THREADS * WIDE);
        if (i < n) each(i, (int)(n - i < WIDE ? n - i : WIDE));
    }
}
