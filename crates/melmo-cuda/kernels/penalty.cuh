// ψ of one number, as in crates/melmo/src/penalty: its value, prox, derivative, and the slope and value of its envelope.
//
// SHAPE says which. NONNEGATIVE: ∞ below 0.

#define SHAPE_L1 1
#define SHAPE_MCP 2
#define SHAPE_SCAD 3
#define SHAPE_HUBER 4
#define SHAPE_LOG_SUM 5
#define SHAPE_ELASTIC_NET 6
#define SHAPE_RIDGE 7
#define SHAPE_INTERVAL 8
#define SHAPE_SPLINE 9

// Its parameters, as numbers of the arrays; and the pieces of ψ′ where it is piecewise linear.
struct Psi {
    real p, q;
    const double* pieces;
};

HERE Psi psi_of(const Args& a) {
    Psi f = {(real)a.psi[0], (real)a.psi[1], a.pieces};
    return f;
}

#define FAR_OUT ((real)(1e300 * 1e300))

#if SHAPE == SHAPE_L1
HERE real formula(const Psi& f, real x) { return f.p * magnitude(x); }
HERE real formula_prox(const Psi& f, real x, real beta) {
    return with_sign(larger(0, magnitude(x) - beta * f.p), x);
}
HERE real formula_derivative(const Psi& f, real x) { return f.p * sign(x); }
HERE real formula_slope(const Psi& f, real x, real beta) {
    return with_sign(least(f.p, magnitude(x) * ((real)1 / beta)), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real slope = smaller(f.p, magnitude(x) * ((real)1 / beta));
    return slope * (magnitude(x) - (real)0.5 * beta * slope);
}
#elif SHAPE == SHAPE_MCP
HERE real formula(const Psi& f, real x) {
    real s = smaller(f.q * f.p, magnitude(x));
    return s * (f.p - (real)0.5 * s / f.q);
}
HERE real formula_prox(const Psi& f, real x, real beta) {
    real s = magnitude(x);
    real firm = larger(0, s - beta * f.p) / ((real)1 - beta / f.q);
    return with_sign(s <= f.q * f.p ? firm : s, x);
}
HERE real formula_derivative(const Psi& f, real x) { return larger(0, f.p - magnitude(x) / f.q) * sign(x); }
HERE real formula_slope(const Psi& f, real x, real beta) {
    real s = magnitude(x), steep = (real)1 / beta, scale = (real)1 / (f.q - beta);
    real falling = scale * f.q * f.p - scale * s;
    return with_sign(most(0, least(falling, steep * s)), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real ratio = f.q / beta, scale = (real)1 / (f.q - beta), near = beta * f.p, far = ratio * near;
    real k = smaller(near, larger(-near, x)), l = smaller(far, larger(-far, x));
    real slope = scale * (ratio * k - l);
    return (real)0.5 * (l * slope + scale * ratio * k * (l - k));
}
#elif SHAPE == SHAPE_SCAD
HERE real past(const Psi& f, real s, real beta) {
    return smaller(f.p, larger(0, (f.q * f.p - s) * ((real)1 / (f.q - (real)1 - beta))));
}
HERE real formula(const Psi& f, real x) {
    real s = smaller(f.q * f.p, magnitude(x)), over = larger(0, s - f.p);
    return f.p * smaller(f.p, s) + over * (f.q * f.p - f.p - (real)0.5 * over) * ((real)1 / (f.q - (real)1));
}
HERE real formula_prox(const Psi& f, real x, real beta) {
    real s = magnitude(x);
    return with_sign(larger(0, s - beta * past(f, s, beta)), x);
}
HERE real formula_derivative(const Psi& f, real x) { return past(f, magnitude(x), 0) * sign(x); }
HERE real formula_slope(const Psi& f, real x, real beta) {
    real s = magnitude(x);
    return with_sign(smaller(s * ((real)1 / beta), past(f, s, beta)), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real slope = formula_slope(f, x, beta);
    return formula(f, formula_prox(f, x, beta)) + (real)0.5 * beta * slope * slope;
}
#elif SHAPE == SHAPE_HUBER
HERE real huber(real s, real lambda, real delta) {
    real t = smaller(delta, s);
    return t * (lambda / delta) * (s - (real)0.5 * t);
}
HERE real huber_slope(real s, real lambda, real delta) { return smaller(delta, s) * (lambda / delta); }
HERE real formula(const Psi& f, real x) { return huber(magnitude(x), f.p, f.q); }
HERE real formula_prox(const Psi& f, real x, real beta) {
    real s = magnitude(x), shift = beta * f.p;
    return with_sign(larger(s - shift, s * (f.q / (f.q + shift))), x);
}
HERE real formula_derivative(const Psi& f, real x) { return with_sign(huber_slope(magnitude(x), f.p, f.q), x); }
HERE real formula_slope(const Psi& f, real x, real beta) {
    return with_sign(huber_slope(magnitude(x), f.p, f.q + beta * f.p), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) { return huber(magnitude(x), f.p, f.q + beta * f.p); }
#elif SHAPE == SHAPE_LOG_SUM
HERE real over(const Psi& f, real s, real beta) { return larger(0, s - beta * f.p / f.q); }
HERE real discriminant(const Psi& f, real s, real beta) {
    return smaller(root((s - f.q) * (s - f.q) + (real)4 * f.q * over(f, s, beta)), s + f.q);
}
HERE real formula(const Psi& f, real x) { return f.p * log_1p(magnitude(x) / f.q); }
HERE real formula_prox(const Psi& f, real x, real beta) {
    real s = magnitude(x), d = discriminant(f, s, beta);
    real near = (real)2 * f.q * over(f, s, beta) / (f.q - s + d), far = (real)0.5 * (s - f.q) + (real)0.5 * d;
    return with_sign(s < f.q ? near : far, x);
}
HERE real formula_derivative(const Psi& f, real x) { return f.p / (f.q + magnitude(x)) * sign(x); }
HERE real formula_slope(const Psi& f, real x, real beta) {
    real s = magnitude(x), curved = (real)2 * f.p / (s + f.q + discriminant(f, s, beta));
    return with_sign(smaller(s * ((real)1 / beta), curved), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real slope = formula_slope(f, x, beta);
    return formula(f, formula_prox(f, x, beta)) + (real)0.5 * beta * slope * slope;
}
#elif SHAPE == SHAPE_ELASTIC_NET
HERE real formula(const Psi& f, real x) {
    real s = magnitude(x);
    return s * (f.p + (real)0.5 * f.q * s);
}
HERE real formula_prox(const Psi& f, real x, real beta) {
    return with_sign(larger(0, magnitude(x) - beta * f.p) * ((real)1 / ((real)1 + beta * f.q)), x);
}
HERE real formula_derivative(const Psi& f, real x) { return f.p * sign(x) + f.q * x; }
HERE real formula_slope(const Psi& f, real x, real beta) {
    real s = magnitude(x);
    return with_sign(smaller(s * ((real)1 / beta), (f.p + f.q * s) * ((real)1 / ((real)1 + beta * f.q))), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real slope = formula_slope(f, x, beta);
    return formula(f, formula_prox(f, x, beta)) + (real)0.5 * beta * slope * slope;
}
#elif SHAPE == SHAPE_RIDGE
HERE real formula(const Psi& f, real x) { return (real)0.5 * f.p * x * x; }
HERE real formula_prox(const Psi& f, real x, real beta) { return x * ((real)1 / ((real)1 + beta * f.p)); }
HERE real formula_derivative(const Psi& f, real x) { return f.p * x; }
HERE real formula_slope(const Psi& f, real x, real beta) { return x * (f.p / ((real)1 + beta * f.p)); }
HERE real formula_envelope(const Psi& f, real x, real beta) { return (real)0.5 * formula_slope(f, x, beta) * x; }
#elif SHAPE == SHAPE_INTERVAL
HERE real formula_prox(const Psi& f, real x, real beta) { return smaller(f.q, larger(f.p, x)); }
HERE real formula(const Psi& f, real x) {
    real nearest = formula_prox(f, x, 0);
    return x == nearest ? (real)0 : magnitude(x - nearest) * FAR_OUT;
}
HERE real formula_derivative(const Psi& f, real x) { return 0; }
HERE real formula_slope(const Psi& f, real x, real beta) { return (x - formula_prox(f, x, beta)) / beta; }
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real slope = formula_slope(f, x, beta);
    return (real)0.5 * beta * slope * slope;
}
#elif SHAPE == SHAPE_SPLINE
// Where piece j begins and ψ′ there, how wide it is, and the slope of ψ′: from 0 on. ψ′ is q from p on.
#define PIECES 12
struct Piece {
    real start, value, width, slope;
};
HERE Piece piece(const Psi& f, int j) {
    Piece own = {(real)f.pieces[4 * j], (real)f.pieces[4 * j + 1], (real)f.pieces[4 * j + 2], (real)f.pieces[4 * j + 3]};
    return own;
}
// ψ′(s) for s ≥ 0, and ψ(s): what every piece that s has passed, or stands on, adds.
HERE real bent(const Psi& f, real s, real* value) {
    real slope = 0, sum = 0;
    for (int j = 0; j < PIECES; j++) {
        const Piece own = piece(f, j);
        const real along = larger(0, smaller(own.width, s - own.start));
        sum += along * (own.value + (real)0.5 * own.slope * along);
        slope += along * own.slope;
    }
    *value = sum + f.q * larger(0, s - f.p);
    return slope;
}
// z ↦ z + βψ′(z), undone piece by piece.
HERE real formula_prox(const Psi& f, real x, real beta) {
    real s = magnitude(x), z = 0;
    for (int j = 0; j < PIECES; j++) {
        const Piece own = piece(f, j);
        const real from = own.start + beta * own.value, steep = (real)1 + beta * own.slope;
        z += larger(0, smaller(own.width, (s - from) / steep));
    }
    return with_sign(z + larger(0, s - (f.p + beta * f.q)), x);
}
HERE real formula(const Psi& f, real x) {
    real value;
    bent(f, magnitude(x), &value);
    return value;
}
HERE real formula_derivative(const Psi& f, real x) {
    real value;
    return with_sign(bent(f, magnitude(x), &value), x);
}
HERE real formula_slope(const Psi& f, real x, real beta) {
    real value;
    return with_sign(bent(f, magnitude(formula_prox(f, x, beta)), &value), x);
}
HERE real formula_envelope(const Psi& f, real x, real beta) {
    real value, slope = bent(f, magnitude(formula_prox(f, x, beta)), &value);
    return value + (real)0.5 * beta * slope * slope;
}
#endif

#ifdef NONNEGATIVE
HERE real psi_value(const Psi& f, real x) { return x >= 0 ? formula(f, x) : magnitude(x) * FAR_OUT; }
HERE real psi_prox(const Psi& f, real x, real beta) { return formula_prox(f, larger(0, x), beta); }
HERE real psi_slope(const Psi& f, real x, real beta) {
    return formula_slope(f, larger(0, x), beta) + smaller(0, x) / beta;
}
HERE real psi_envelope(const Psi& f, real x, real beta) {
    real below = smaller(0, x);
    return formula_envelope(f, larger(0, x), beta) + (real)0.5 * below * (below / beta);
}
#else
HERE real psi_value(const Psi& f, real x) { return formula(f, x); }
HERE real psi_prox(const Psi& f, real x, real beta) { return formula_prox(f, x, beta); }
HERE real psi_slope(const Psi& f, real x, real beta) { return formula_slope(f, x, beta); }
HERE real psi_envelope(const Psi& f, real x, real beta) { return formula_envelope(f, x, beta); }
#endif
HERE real psi_derivative(const Psi& f, real x) { return formula_derivative(f, x); }
