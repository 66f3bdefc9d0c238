// What minibatches need: rows of a matrix picked out, and sums of rows put back.

// y ← rows of x, `cols` entries each: those that `members` names, one after another.
HERE void gather_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            i64 row = (i + k) / a.cols, column = (i + k) % a.cols;
            a.y[i + k] = a.x[a.part.members[row] * a.cols + column];
        }
    });
}
KERNEL(gather, 0, gather_body)

// y ← 0.
HERE void clear_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) { EVERY a.y[i + k] = 0; });
}
KERNEL(clear, 0, clear_body)

// Rows of y ← sums of rows of x: those from ends[r] to ends[r + 1] belong to the row of y that `members` names there.
HERE void spread_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) {
        EVERY {
            i64 r = (i + k) / a.cols, column = (i + k) % a.cols, first = a.part.ends[r];
            double sum = 0;
            for (i64 e = first; e < a.part.ends[r + 1]; e++) sum += a.x[e * a.cols + column];
            a.y[a.part.members[first] * a.cols + column] = (real)sum;
        }
    });
}
KERNEL(spread, 0, spread_body)
