// The way through f and g∘T in one pass over memory: nothing as large as Tx is written down.
//
// A rule says what p ∈ range(T) is made of a unit of Tx, and what becomes of T*p. A field is a point: x, or x + ad.

struct Plain {
    const real* x;
    HERE_METHOD real at(i64 i) const { return x[i]; }
    HERE_METHOD Four four(i64 i, int count, bool aligned) const { return load(x, i, count, aligned); }
};

struct Moved {
    const real *x, *d;
    real a;
    HERE_METHOD real at(i64 i) const { return x[i] + a * d[i]; }
    HERE_METHOD Four four(i64 i, int count, bool aligned) const {
        Four v = load(x, i, count, aligned), w = load(d, i, count, aligned);
#pragma unroll
        for (int k = 0; k < WIDE; k++) v.at[k] += a * w.at[k];
        return v;
    }
};

#if COMPONENTS == 1

// T picks the entries first, first + 1, ….
template <class Field, class Rule>
HERE void walk(const Args& a, i64 t, const Field& x, Rule& rule) {
    const Psi f = psi_of(a);
    entries(a.n, t, [&](i64 i, int count) {
        Four here = x.four(i, count, true);
        rule.begin(a, i, count, true);
#pragma unroll
        for (int k = 0; k < WIDE; k++) {
            if (k >= count) break;
            i64 j = i + k - a.first;
            Unit d = {{here.at[k]}}, p = {{0}};
            if (j >= 0 && j < a.count) p = rule.p(a, f, j, d, ALL, true);
            rule.visit(a, i + k, k, here.at[k], p.at[0]);
        }
        rule.end(a, i, count, true);
    });
}

#else

#define LAST (COMPONENTS - 1)
#define MIDDLE (COMPONENTS == 3)
#ifdef PIXELS
#define JOINT true
#else
#define JOINT false
#endif
// WHOLE: columns come in fours, and no thread has fewer.
#ifdef WHOLE
#define FULL true
#else
#define FULL false
#endif

// Columns c − 1 … c + 4 of a row.
struct Window {
    real at[WIDE + 2];
};

// Of the row whose column c is entry i. Where there is no neighbour an entry of the row stands for it, and is not looked at: loads that
// depend on nothing are all under way at once.
template <class Field>
HERE Window window(const Field& x, i64 i, i64 c, int count, i64 cols) {
    Window w;
    real left = x.at(c > 0 ? i - 1 : i), right = x.at(c + WIDE < cols ? i + WIDE : i);
    Four four = x.four(i, FULL ? WIDE : count, FULL);
    w.at[0] = left, w.at[WIDE + 1] = right;
#pragma unroll
    for (int k = 0; k < WIDE; k++) w.at[k + 1] = four.at[k];
    return w;
}

// The differences at a column of a row: to the right, below, and in the next slice, 0 where there is none.
HERE Unit differences(const Window& here, const Window& below, const Window& next, int k, bool right, bool down, bool on) {
    Unit d;
    d.at[0] = right ? here.at[k + 1] - here.at[k] : (real)0;
    if (MIDDLE) d.at[1] = down ? below.at[k] - here.at[k] : (real)0;
    d.at[LAST] = on ? next.at[k] - here.at[k] : (real)0;
    return d;
}

// T are forward differences along columns, rows (of a volume) and slices; an image's rows are its slices. A thread takes four
// columns, and walks through a strip of slices.
template <class Field, class Rule>
HERE void walk(const Args& a, i64 t, const Field& x, Rule& rule) {
    const Psi f = psi_of(a);
    const i64 groups = (a.cols + WIDE - 1) / WIDE, cols = a.cols, slice = a.rows * a.cols;
    const i64 c = t % groups * WIDE, r = t / groups % a.rows, start = t / groups / a.rows * a.strip;
    if (start >= a.slices) return;
    const i64 stop = start + a.strip < a.slices ? start + a.strip : a.slices;
    const int count = FULL ? WIDE : (int)(cols - c < WIDE ? cols - c : WIDE);
    const bool down = r + 1 < a.rows, up = r > 0, beside = c + WIDE < cols;
    i64 i = start * slice + r * cols + c;
    Window here = window(x, i, c, count, cols), next = here, below = here, above = here, above_next = here;
    Four before = {{0, 0, 0, 0}};
    if (Rule::PULLS && start > 0) {
        Window past = window(x, i - slice, c, count, cols);
        if (MIDDLE && JOINT) below = window(x, i - slice + (down ? cols : 0), c, count, cols);
#pragma unroll
        for (int k = 0; k < WIDE; k++) {
            bool right = FULL && k + 1 < WIDE || c + k + 1 < cols;
            Unit d = differences(past, below, here, k + 1, right, down, true);
            if (FULL || k < count) before.at[k] = rule.p(a, f, i - slice + k, d, LAST, false).at[LAST];
        }
    }
    for (i64 z = start; z < stop; z++, i += slice) {
        const bool on = z + 1 < a.slices;
        next = window(x, on ? i + slice : i, c, count, cols);
        if (MIDDLE) below = window(x, down ? i + cols : i, c, count, cols);
        if (MIDDLE && Rule::PULLS) {
            above = window(x, up ? i - cols : i, c, count, cols);
            if (JOINT) above_next = window(x, (on ? i + slice : i) - (up ? cols : 0), c, count, cols);
        }
        rule.begin(a, i, count, FULL);
        real left = 0;
        if (Rule::PULLS && c > 0) {
            Unit d = differences(here, below, next, 0, true, down, on);
            left = rule.p(a, f, i - 1, d, 0, false).at[0];
        }
#pragma unroll
        for (int k = 0; k < WIDE; k++) {
            if (!FULL && k >= count) continue;
            const bool right = FULL ? k + 1 < WIDE || beside : c + k + 1 < cols;
            Unit d = differences(here, below, next, k + 1, right, down, on);
            Unit p = rule.p(a, f, i + k, d, ALL, true);
            real pulled = left - (right ? p.at[0] : (real)0);
            left = p.at[0];
            if (MIDDLE && Rule::PULLS) {
                real from_above = 0;
                if (up) {
                    Unit d = differences(above, here, above_next, k + 1, right, true, on);
                    from_above = rule.p(a, f, i + k - cols, d, 1, false).at[1];
                }
                pulled += from_above - (down ? p.at[1] : (real)0);
            }
            pulled += before.at[k] - (on ? p.at[LAST] : (real)0);
            before.at[k] = p.at[LAST];
            rule.visit(a, i + k, k, here.at[k + 1], pulled);
        }
        rule.end(a, i, count, FULL);
        here = next;
    }
}

#endif
