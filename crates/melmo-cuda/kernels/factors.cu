// What losses of matrices do between products.

// Where entry i of a matrix stands in a pair of matrices that lie side by side (w columns each) or one above the other (w entries each);
// the second is w further.
HERE i64 in_pair(i64 i, i64 w) { return i / w * 2 * w + i % w; }

// y ← the first eleven digits of x, out ← the rest: y and out by themselves, or (cols > 0) as a pair; z ← x in `to`, where it is wanted.
HERE void split_body(const Args& a, i64 t, Sums<0>&) {
    float *high = (float*)a.y, *low = (float*)a.out;
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            float x = (float)a.x[i + k], h = to_tf32(x), l = x - h;
            if (a.cols > 0) {
                i64 at = in_pair(i + k, a.cols);
                high[at] = h, high[at + a.cols] = to_tf32(l);
                put(a.z, a.to, i + k, x);
            } else {
                high[i + k] = h;
                put(low, a.to, i + k, l);
            }
        }
    });
}
KERNEL(split, 0, split_body)

// y ← a·(one half + the other) of a pair d: ⟨x, y⟩ and ‖y‖².
HERE void fold_body(const Args& a, i64 t, Sums<2>& s) {
    const float* pair = (const float*)a.d;
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            i64 at = in_pair(i + k, a.cols);
            real v = (real)(a.a * ((double)pair[at] + (double)pair[at + a.cols]));
            a.y[i + k] = v;
            s.at[0] += a.x[i + k] * (double)v;
            s.at[1] += v * (double)v;
        }
    });
}
KERNEL(fold, 2, fold_body)

// y ← M⊙(y − d): ‖y‖².
HERE void residual_body(const Args& a, i64 t, Sums<1>& s) {
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            real r = a.y[i + k] - a.d[i + k];
            if (a.mask) r = a.mask[i + k] * r;
            a.y[i + k] = r;
            s.at[0] += r * (double)r;
        }
    });
}
KERNEL(residual, 1, residual_body)

// out ← M⊙(L + S − Y), twice, for x = [L | S] of n entries each: ‖out‖²/2.
HERE void apart_body(const Args& a, i64 t, Sums<1>& s) {
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            i64 j = i + k;
            real r = a.x[j] + a.x[a.n + j] - a.d[j];
            if (a.mask) r = a.mask[j] * r;
            a.out[j] = r, a.out[a.n + j] = r;
            s.at[0] += r * (double)r;
        }
    });
}
KERNEL(apart, 1, apart_body)
