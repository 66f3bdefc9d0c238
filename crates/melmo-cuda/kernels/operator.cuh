// T of a chain, written down: entries of Tx, and of T*p. OPERATOR says which T. A place is a pixel of every channel of x.

#define OPERATOR_SELECT 1      // the entries first, first + 1, …, times `mask_of_t` where there is one
#define OPERATOR_DIFFERENCES 2 // of an image or a volume
#define OPERATOR_JET 3         // first and second differences of an image of several channels
#define OPERATOR_CONVOLUTION 4

struct Place {
    i64 t, r, c; // its number, its row and its column
};

HERE i64 places(const Args& a) { return a.n / a.channels; }

HERE Place place_of(const Args& a, i64 t) {
    Place q = {t, t / a.cols, t % a.cols};
    return q;
}

// −1 where no pixel stands at i of n.
HERE i64 pixel_at(const Blur& k, i64 i, i64 n) {
    if (k.boundary == 0) return i >= 0 && i < n ? i : -1;
    i64 period = k.boundary == 1 ? n : 2 * n, j = i % period;
    if (j < 0) j += period;
    return j < n ? j : 2 * n - 1 - j;
}

// The pixel of n whose mirror image number `mirror` stands at m, moved by `shift`; −1 where there is none.
HERE i64 seen_from(const Blur& k, i64 m, i64 shift, i64 n, int mirror) {
    if (k.boundary != 2) return mirror ? -1 : pixel_at(k, m + shift, n);
    i64 j = ((mirror ? 2 * n - 1 - m : m) + shift) % (2 * n);
    if (j < 0) j += 2 * n;
    return j < n ? j : -1;
}

// Σ_ab k_ab x at (r − (a − a₀), c − (b − b₀)).
HERE real convolved(const Blur& k, const real* x, const Place& q, i64 rows, i64 cols) {
    const i64 top = (k.rows - 1) / 2, left = (k.cols - 1) / 2;
    real sum = 0;
    for (i64 i = 0; i < k.rows; i++) {
        i64 r = pixel_at(k, q.r - (i - top), rows);
        if (r < 0) continue;
        for (i64 j = 0; j < k.cols; j++) {
            i64 c = pixel_at(k, q.c - (j - left), cols);
            if (c >= 0) sum += k.taps[i * k.cols + j] * x[r * cols + c];
        }
    }
    return sum;
}

// Its adjoint: every y that x at (r, c) went into, as often as it did.
HERE real correlated(const Blur& k, const real* y, const Place& q, i64 rows, i64 cols) {
    const i64 top = (k.rows - 1) / 2, left = (k.cols - 1) / 2;
    const int mirrors = k.boundary == 2 ? 2 : 1;
    real sum = 0;
    for (i64 i = 0; i < k.rows; i++)
        for (int up = 0; up < mirrors; up++) {
            i64 r = seen_from(k, q.r, i - top, rows, up);
            if (r < 0) continue;
            for (i64 j = 0; j < k.cols; j++)
                for (int over = 0; over < mirrors; over++) {
                    i64 c = seen_from(k, q.c, j - left, cols, over);
                    if (c >= 0) sum += k.taps[i * k.cols + j] * y[r * cols + c];
                }
        }
    return sum;
}

#if OPERATOR == OPERATOR_SELECT

HERE void apply_at(const Args& a, const real* x, const Place& q, i64, real* tx) {
    const i64 j = q.t - a.first;
    if (j >= 0 && j < a.count) tx[j] = a.mask_of_t ? a.mask_of_t[q.t] * x[q.t] : x[q.t];
}

HERE real adjoint_at(const Args& a, const real* p, const Place& q, i64) {
    const i64 j = q.t - a.first;
    if (j < 0 || j >= a.count) return 0;
    return a.mask_of_t ? a.mask_of_t[q.t] * p[j] : p[j];
}

#elif OPERATOR == OPERATOR_DIFFERENCES

// Along columns, along rows of a volume, and along slices, which are the rows of an image.
struct Axis {
    i64 step, at, length;
};

HERE Axis axis_of(const Args& a, const Place& q, i64 k) {
    const i64 slice = a.rows * a.cols;
    Axis along_cols = {1, q.c, a.cols}, along_rows = {a.cols, q.r % a.rows, a.rows}, on = {slice, q.t / slice, a.slices};
    return k == 0 ? along_cols : k == 1 && a.components == 3 ? along_rows : on;
}

HERE void apply_at(const Args& a, const real* x, const Place& q, i64, real* tx) {
    for (i64 k = 0; k < a.components; k++) {
        Axis axis = axis_of(a, q, k);
        tx[k * a.n + q.t] = axis.at + 1 < axis.length ? x[q.t + axis.step] - x[q.t] : (real)0;
    }
}

HERE real adjoint_at(const Args& a, const real* p, const Place& q, i64) {
    real sum = 0;
    for (i64 k = 0; k < a.components; k++) {
        Axis axis = axis_of(a, q, k);
        if (axis.at > 0) sum += p[k * a.n + q.t - axis.step];
        if (axis.at + 1 < axis.length) sum -= p[k * a.n + q.t];
    }
    return sum;
}

#elif OPERATOR == OPERATOR_JET

// x before, here and after along a line: 0 where one of them is missing.
HERE real bend(const real* x, i64 t, i64 step, i64 at, i64 length, real weight) {
    if (at < 1 || at + 1 >= length) return 0;
    return weight * (x[t + step] - x[t] - (x[t] - x[t - step]));
}

HERE void apply_at(const Args& a, const real* x, const Place& q, i64 channel, real* tx) {
    const i64 n = places(a), rows = n / a.cols;
    const bool right = q.c + 1 < a.cols, down = q.r + 1 < rows;
    x += channel * n;
    real* first = tx + 2 * channel * n;
    first[q.t] = right ? x[q.t + 1] - x[q.t] : (real)0;
    first[n + q.t] = down ? x[q.t + a.cols] - x[q.t] : (real)0;
    if (a.second == 0) return;
    const real weight = (real)a.second, twist = (real)(a.second * 1.4142135623730951);
    real* second = tx + 2 * a.channels * n + 3 * channel * n;
    second[q.t] = bend(x, q.t, 1, q.c, a.cols, weight);
    second[n + q.t] = bend(x, q.t, a.cols, q.r, rows, weight);
    second[2 * n + q.t] =
        right && down ? twist * (x[q.t + a.cols + 1] - x[q.t + a.cols] - (x[q.t + 1] - x[q.t])) : (real)0;
}

// The adjoints of a forward difference and of a second one along a line.
HERE real pulled(const real* p, i64 t, i64 step, i64 at, i64 length) {
    return (at > 0 ? p[t - step] : (real)0) - (at + 1 < length ? p[t] : (real)0);
}

HERE real unbent(const real* p, i64 t, i64 step, i64 at, i64 length) {
    real before = at > 1 ? p[t - step] : (real)0, after = at + 2 < length ? p[t + step] : (real)0;
    real here = at > 0 && at + 1 < length ? p[t] : (real)0;
    return before + after - 2 * here;
}

HERE real adjoint_at(const Args& a, const real* p, const Place& q, i64 channel) {
    const i64 n = places(a), rows = n / a.cols, cols = a.cols;
    const real* first = p + 2 * channel * n;
    real sum = pulled(first, q.t, 1, q.c, cols) + pulled(first + n, q.t, cols, q.r, rows);
    if (a.second == 0) return sum;
    const real* second = p + 2 * a.channels * n + 3 * channel * n;
    const real* square = second + 2 * n + q.t;
    const bool right = q.c + 1 < cols, down = q.r + 1 < rows, left = q.c > 0, up = q.r > 0;
    real twisted = (right && down ? square[0] : (real)0) - (left && down ? square[-1] : (real)0);
    twisted -= (right && up ? square[-cols] : (real)0) - (left && up ? square[-cols - 1] : (real)0);
    sum += (real)a.second * (unbent(second, q.t, 1, q.c, cols) + unbent(second + n, q.t, cols, q.r, rows));
    return sum + (real)(a.second * 1.4142135623730951) * twisted;
}

#elif OPERATOR == OPERATOR_CONVOLUTION

HERE void apply_at(const Args& a, const real* x, const Place& q, i64, real* tx) {
    tx[q.t] = convolved(a.blur, x, q, a.n / a.cols, a.cols);
}

HERE real adjoint_at(const Args& a, const real* p, const Place& q, i64) {
    return correlated(a.blur, p, q, a.n / a.cols, a.cols);
}

#endif

// tx ← Tx.
HERE void apply_body(const Args& a, i64 t, Sums<0>&) {
    if (t >= places(a)) return;
    const Place q = place_of(a, t);
    for (i64 channel = 0; channel < a.channels; channel++) apply_at(a, a.x, q, channel, a.tx);
}
KERNEL(apply, 0, apply_body)
