// ψ where parts of the penalty have formulas of their own: each is compiled for itself, and a part says which is its own.
//
// OF_EACH_FORMULA(name, ...) is ASK(k, name, ...) for every formula k, in the namespace formula_k.

struct Psi {
    real p, q;
    const double* pieces;
    i64 formula;
};

HERE Psi psi_of(const Args& a) {
    Psi f = {(real)a.psi[0], (real)a.psi[1], a.pieces, a.formula};
    return f;
}

#define ASK(k, name, ...)                                        \
    case k: {                                                    \
        const formula_##k::Psi own = {f.p, f.q, f.pieces};       \
        return formula_##k::name(own, __VA_ARGS__);              \
    }

HERE real psi_value(const Psi& f, real x) {
    switch (f.formula) { OF_EACH_FORMULA(psi_value, x) }
    return 0;
}
HERE real psi_prox(const Psi& f, real x, real beta) {
    switch (f.formula) { OF_EACH_FORMULA(psi_prox, x, beta) }
    return 0;
}
HERE real psi_slope(const Psi& f, real x, real beta) {
    switch (f.formula) { OF_EACH_FORMULA(psi_slope, x, beta) }
    return 0;
}
HERE real psi_envelope(const Psi& f, real x, real beta) {
    switch (f.formula) { OF_EACH_FORMULA(psi_envelope, x, beta) }
    return 0;
}
HERE real psi_derivative(const Psi& f, real x) {
    switch (f.formula) { OF_EACH_FORMULA(psi_derivative, x) }
    return 0;
}
