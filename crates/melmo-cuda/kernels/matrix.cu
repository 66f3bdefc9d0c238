// What geometries of matrices do between products.

#define EVERY for (int k = 0; k < WIDE; k++) if (k < count)

// y ← ax, from one format to another.
HERE void convert_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) {
        Wide v = get_wide(a.x, a.from, i, count, !a.loose);
        EACH v.at[k] *= a.a;
        put_wide(a.y, a.to, i, count, !a.loose, v);
    });
}
KERNEL(convert, 0, convert_body)

// y ← aI + bx + βd for square matrices of so many columns, each in a format of its own: d in `count`.
HERE void factor_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) {
        Wide g = get_wide(a.x, a.from, i, count, true), h = get_wide(a.d, a.count, i, count, true);
        i64 off = i % (a.cols + 1);
        EACH {
            g.at[k] = a.b * g.at[k] + a.beta * h.at[k];
            if (off == 0) g.at[k] += a.a;
            off = off == a.cols ? 0 : off + 1;
        }
        put_wide(a.y, a.to, i, count, true, g);
    });
}
KERNEL(factor, 0, factor_body)

// ⟨x, d⟩, ‖d‖², Σ|x| and max |x|; x in one format, d in another.
HERE void pair_body(const Args& a, i64 t, Sums<3>& s) {
    entries(a.n, t, [&](i64 i, int count) {
        Wide x = get_wide(a.x, a.from, i, count, !a.loose), d = get_wide(a.d, a.to, i, count, !a.loose);
        EVERY {
            s.at[0] += x.at[k] * d.at[k];
            s.at[1] += d.at[k] * d.at[k];
            s.at[2] += fabs(x.at[k]);
            s.top(fabs(x.at[k]));
        }
    });
}
KERNEL(pair, 3, pair_body)

// What a block moves along: `slices` of block_step.
enum Way { ALONG, SIGNS, COORDINATE, ROWS, COLUMNS, OUTER };

// y ← x + ad in a block: d in a format, its signs, one entry of it, every line of it divided by its norm, or d = u·vᵀ for u and z.
HERE void block_step_body(const Args& a, i64 t, Sums<0>&) {
    const double *left = (const double*)a.u, *right = (const double*)a.z;
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, !a.loose);
        Wide d = {{0, 0, 0, 0}};
        if (a.slices != OUTER) d = get_wide(a.d, a.from, i, count, !a.loose);
        EVERY {
            double v = d.at[k];
            if (a.slices == SIGNS) v = v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0;
            if (a.slices == COORDINATE) v = i + k != a.first ? 0.0 : v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0;
            if (a.slices == ROWS || a.slices == COLUMNS) {
                double norm = a.norms[a.slices == ROWS ? (i + k) / a.cols : (i + k) % a.cols];
                v = norm == 0 ? 0.0 : v / norm;
            }
            if (a.slices == OUTER) v = left[(i + k) / a.cols] * right[(i + k) % a.cols];
            x.at[k] += (real)(a.a * v);
        }
        store(a.y, i, count, !a.loose, x);
    });
}
KERNEL(block_step, 0, block_step_body)
