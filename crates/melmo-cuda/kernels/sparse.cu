// A sparse matrix times a narrow dense one: what factors of sparse data are made of.

// y ← a·(AB) for B in d, rows of `cols` numbers each: ⟨x, AB⟩ where there is an x. Every sum runs in double precision. A has its values in
// `target`, their columns in `members`, and ends each row where `ends` says.
HERE void sparse_times_body(const Args& a, i64 t, Sums<1>& s) {
    const u32* columns = (const u32*)a.part.members;
    entries(a.n, t, [&](i64 i, int count) {
        double sums[WIDE] = {0, 0, 0, 0};
        i64 row = i / a.cols, first = i % a.cols;
        if (first + count <= a.cols) {
            for (i64 e = a.part.ends[row]; e < a.part.ends[row + 1]; e++) {
                const real* b = a.d + columns[e] * a.cols + first;
                double v = a.target[e];
                EVERY sums[k] += v * b[k];
            }
        } else {
            EVERY {
                i64 own = (i + k) / a.cols, column = (i + k) % a.cols;
                for (i64 e = a.part.ends[own]; e < a.part.ends[own + 1]; e++)
                    sums[k] += a.target[e] * (double)a.d[columns[e] * a.cols + column];
            }
        }
        EVERY {
            a.y[i + k] = (real)(a.a * sums[k]);
            if (a.x) s.at[0] += a.x[i + k] * sums[k];
        }
    });
}
KERNEL(sparse_times, 1, sparse_times_body)

// y ← y − the rows of A that `members` names, one after another. A has its values in `target`, their columns in `u`, and ends each row
// where `ends` says; 32 threads share a row, which has no column twice.
HERE void subtract_rows_body(const Args& a, i64 t, Sums<0>&) {
    const i64 r = t / 32;
    if (r >= a.rows) return;
    const u32* columns = (const u32*)a.u;
    const i64 row = a.part.members[r];
    for (i64 e = a.part.ends[row] + t % 32; e < a.part.ends[row + 1]; e += 32) a.y[r * a.cols + columns[e]] -= a.target[e];
}
KERNEL(subtract_rows, 0, subtract_rows_body)

// y ← xᵀ for a rows×cols matrix x.
HERE void turn_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            i64 at = i + k;
            a.y[at] = a.x[at % a.rows * a.cols + at / a.rows];
        }
    });
}
KERNEL(turn, 0, turn_body)
