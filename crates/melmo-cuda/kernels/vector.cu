// What solvers do to whole points: combinations, sums, norms, and moves along the directions of ℓ2, ℓ∞ and ℓ1.

#define EACH for (int k = 0; k < WIDE; k++)

// y ← x + ad.
HERE void add_scaled_body(const Args& a, i64 t, Sums<0>&) {
    const real by = (real)a.a;
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true), d = load(a.d, i, count, true);
        EACH x.at[k] += by * d.at[k];
        store(a.y, i, count, true, x);
    });
}
KERNEL(add_scaled, 0, add_scaled_body)

// y ← ay.
HERE void scale_body(const Args& a, i64 t, Sums<0>&) {
    const real by = (real)a.a;
    entries(a.n, t, [&](i64 i, int count) {
        Four y = load(a.y, i, count, true);
        EACH y.at[k] *= by;
        store(a.y, i, count, true, y);
    });
}
KERNEL(scale, 0, scale_body)

// y ← x + a(x − d).
HERE void extrapolate_body(const Args& a, i64 t, Sums<0>&) {
    const real by = (real)a.a;
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true), d = load(a.d, i, count, true);
        EACH x.at[k] += by * (x.at[k] - d.at[k]);
        store(a.y, i, count, true, x);
    });
}
KERNEL(extrapolate, 0, extrapolate_body)

// y ← x − a·sign(d).
HERE void sign_step_body(const Args& a, i64 t, Sums<0>&) {
    const real by = (real)a.a;
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true), d = load(a.d, i, count, true);
        EACH x.at[k] -= by * sign(d.at[k]);
        store(a.y, i, count, true, x);
    });
}
KERNEL(sign_step, 0, sign_step_body)

// y ← x, and y_j ← x_j − a·sign(d_j) for j = first.
HERE void coordinate_step_body(const Args& a, i64 t, Sums<0>&) {
    const real by = (real)a.a;
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true);
        EACH if (i + k == a.first) x.at[k] -= by * sign(a.d[i + k]);
        store(a.y, i, count, true, x);
    });
}
KERNEL(coordinate_step, 0, coordinate_step_body)

// ⟨x, d⟩.
HERE void dot_body(const Args& a, i64 t, Sums<1>& s) {
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true), d = load(a.d, i, count, true);
        EACH s.at[0] += x.at[k] * (double)d.at[k];
    });
}
KERNEL(dot, 1, dot_body)

// Σ (ax)², Σ |x| and max |x|.
HERE void measure_body(const Args& a, i64 t, Sums<2>& s) {
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true);
        EACH {
            double scaled = a.a * x.at[k];
            s.at[0] += scaled * scaled;
            s.at[1] += magnitude(x.at[k]);
            s.top(magnitude(x.at[k]));
        }
    });
}
KERNEL(measure, 2, measure_body)

// −j for the first j with |x_j| = a.
HERE void find_body(const Args& a, i64 t, Sums<1>& s) {
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, !a.loose);
        EACH if (k < count && (double)magnitude(x.at[k]) == a.a) s.top(-(double)(i + k));
    });
}
KERNEL(find, 1, find_body)
