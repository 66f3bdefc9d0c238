// Norms of the rows or columns of a matrix, and steps along them: parts of lines are summed first, then the parts in their order.

// Entries of a part.
#define PART 256

HERE i64 parts_of(i64 length) { return (length + PART - 1) / PART; }

// Σ x² over part p of row r, for thread r·parts + p.
HERE void row_parts_body(const Args& a, i64 t, Sums<0>&) {
    const i64 parts = parts_of(a.cols), r = t / parts, from = t % parts * PART;
    if (r >= a.rows) return;
    const i64 to = from + PART < a.cols ? from + PART : a.cols;
    double squares = 0;
    for (i64 c = from; c < to; c++) squares += (double)a.x[r * a.cols + c] * (double)a.x[r * a.cols + c];
    a.parts[t] = squares;
}
KERNEL(row_parts, 0, row_parts_body)

// The same of columns, for thread p·cols + c: neighbouring threads take neighbouring columns.
HERE void column_parts_body(const Args& a, i64 t, Sums<0>&) {
    const i64 parts = parts_of(a.rows), c = t % a.cols, p = t / a.cols, from = p * PART;
    if (p >= parts) return;
    const i64 to = from + PART < a.rows ? from + PART : a.rows;
    double squares = 0;
    for (i64 r = from; r < to; r++) squares += (double)a.x[r * a.cols + c] * (double)a.x[r * a.cols + c];
    a.parts[c * parts + p] = squares;
}
KERNEL(column_parts, 0, column_parts_body)

// The norm of line t, of `first` parts, and the sum of all norms. NaN where the squares have left the range of numbers.
HERE void line_norms_body(const Args& a, i64 t, Sums<1>& s) {
    if (t >= a.count) return;
    double squares = 0;
    for (i64 p = 0; p < a.first; p++) squares += a.parts[t * a.first + p];
    double norm = squares == 0 || (squares > 1e-280 && squares < 1e280) ? sqrt(squares) : 0.0 / 0.0;
    a.norms[t] = norm;
    s.at[0] += norm;
}
KERNEL(line_norms, 1, line_norms_body)

// y ← x − a·d/‖d‖ in every line: rows where `first` is 1, else columns.
HERE void line_step_body(const Args& a, i64 t, Sums<0>&) {
    entries(a.n, t, [&](i64 i, int count) {
        Four x = load(a.x, i, count, true), d = load(a.d, i, count, true);
        EACH {
            if (k >= count) continue;
            double norm = a.norms[a.first ? (i + k) / a.cols : (i + k) % a.cols];
            x.at[k] -= norm == 0 ? (real)0 : (real)(a.a / norm) * d.at[k];
        }
        store(a.y, i, count, true, x);
    });
}
KERNEL(line_step, 0, line_step_body)
