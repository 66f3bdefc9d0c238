// What the penalty answers to one unit of Tx: an entry of each component (PIXELS: to the norm of all).
//
// COMPONENTS: 1 where T picks entries, 2 for the differences of an image, 3 for those of a volume.

struct Unit {
    real at[COMPONENTS];
};

// All components, or one of them.
#define ALL -1
#define OF(only) _Pragma("unroll") for (int k = 0; k < COMPONENTS; k++) if (only == ALL || only == k)

HERE real weight(const Args& a, i64 i) {
#ifdef WEIGHTED
    return a.weights[i];
#else
    return 1;
#endif
}

HERE real norm_of(const Unit& d) {
    real squares = 0;
    OF(ALL) squares += d.at[k] * d.at[k];
    return root(squares);
}

// Entries of a component: unit i has its entry of component k at k·units + i.
HERE i64 units(const Args& a) { return COMPONENTS == 1 ? a.count : a.n; }

// ∇g_β at unit i; adds its squared norm.
HERE Unit slopes(const Args& a, const Psi& f, i64 i, const Unit& d, int only, double* squared) {
    Unit p;
    const real beta = (real)a.beta;
#ifdef PIXELS
    real w = weight(a, i), norm = norm_of(d), slope = weighed(w, psi_slope(f, norm, beta * w));
    real factor = over_norm(slope, norm);
    OF(only) p.at[k] = factor * d.at[k];
    if (squared) *squared += (double)slope * slope;
#else
    OF(only) {
        real w = weight(a, k * units(a) + i), slope = weighed(w, psi_slope(f, d.at[k], beta * w));
        p.at[k] = slope;
        if (squared) *squared += (double)slope * slope;
    }
#endif
    return p;
}

// An element of ∂g at unit i.
HERE Unit subgradients(const Args& a, const Psi& f, i64 i, const Unit& d, int only) {
    Unit p;
#ifdef PIXELS
    real norm = norm_of(d), factor = over_norm(weight(a, i) * psi_derivative(f, norm), norm);
    OF(only) p.at[k] = factor * d.at[k];
#else
    OF(only) p.at[k] = weight(a, k * units(a) + i) * psi_derivative(f, d.at[k]);
#endif
    return p;
}

// g at unit i.
HERE double value_of(const Args& a, const Psi& f, i64 i, const Unit& d) {
#ifdef PIXELS
    return weighed(weight(a, i), psi_value(f, norm_of(d)));
#else
    double value = 0;
    OF(ALL) value += weighed(weight(a, k * units(a) + i), psi_value(f, d.at[k]));
    return value;
#endif
}

// g_β at unit i.
HERE double envelope_of(const Args& a, const Psi& f, i64 i, const Unit& d) {
    const real beta = (real)a.beta;
#ifdef PIXELS
    real w = weight(a, i);
    return weighed(w, psi_envelope(f, norm_of(d), beta * w));
#else
    double value = 0;
    OF(ALL) {
        real w = weight(a, k * units(a) + i);
        value += weighed(w, psi_envelope(f, d.at[k], beta * w));
    }
    return value;
#endif
}

// z = prox_{βg}(u) at unit i, and g(z).
HERE Unit prox_of(const Args& a, const Psi& f, i64 i, const Unit& u, double* value) {
    Unit z;
    const real beta = (real)a.beta;
#ifdef PIXELS
    real w = weight(a, i), norm = norm_of(u), shrunk = w > 0 ? psi_prox(f, norm, beta * w) : norm;
    real factor = over_norm(shrunk, norm);
    OF(ALL) z.at[k] = factor * u.at[k];
    *value = weighed(w, psi_value(f, shrunk));
#else
    *value = 0;
    OF(ALL) {
        real w = weight(a, k * units(a) + i);
        z.at[k] = w > 0 ? psi_prox(f, u.at[k], beta * w) + (real)0 : u.at[k];
        *value += weighed(w, psi_value(f, z.at[k]));
    }
#endif
    return z;
}
