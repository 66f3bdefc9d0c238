// f(x) = ½‖M⊙(x − y)‖² and g(Tx): gradients, values, subgradients, and what a certificate asks.

// ∇f at an entry. GIVEN: products have left it where the target is.
struct Loss {
    Four target, mask;
    HERE_METHOD void fetch(const Args& a, i64 i, int count, bool aligned) {
        target = load(a.target, i, count, aligned);
#ifdef MASKED
        mask = load(a.mask, i, count, aligned);
#endif
    }
    HERE_METHOD real at(int k, real x) const {
#ifdef GIVEN
        return target.at[k];
#elif defined(MASKED)
        return mask.at[k] * (x - target.at[k]);
#else
        return x - target.at[k];
#endif
    }
};

// out ← ∇f + T*∇g_β(Tx), and y ← x where x is made on the way: 2f, ‖∇g_β(Tx)‖², ‖out‖².
template <bool MOVES>
struct Gradient {
    static const bool PULLS = true;
    Sums<3>& s;
    Loss loss;
    Four out, y;
    HERE_METHOD Gradient(Sums<3>& sums) : s(sums) {}
    HERE_METHOD void begin(const Args& a, i64 i, int count, bool aligned) { loss.fetch(a, i, count, aligned); }
    HERE_METHOD Unit p(const Args& a, const Psi& f, i64 i, const Unit& d, int only, bool own) {
        return slopes(a, f, i, d, only, own ? &s.at[1] : 0);
    }
    HERE_METHOD void visit(const Args& a, i64 i, int k, real x, real pulled) {
        real of_f = loss.at(k, x), all = of_f + pulled;
        s.at[0] += of_f * (double)of_f;
        s.at[2] += all * (double)all;
        out.at[k] = all;
        y.at[k] = x;
    }
    HERE_METHOD void end(const Args& a, i64 i, int count, bool aligned) {
        store(a.out, i, count, aligned, out);
        if (MOVES) store(a.y, i, count, aligned, y);
    }
};

// As many as measured best on an H200.
#ifdef DOUBLE
#define GRADIENTS_AT_ONCE 2
#elif COMPONENTS == 3
#define GRADIENTS_AT_ONCE 3
#else
#define GRADIENTS_AT_ONCE 4
#endif

HERE void gradient_body(const Args& a, i64 t, Sums<3>& s) {
    Gradient<false> rule(s);
    walk(a, t, Plain{a.x}, rule);
}
KERNEL_AT_ONCE(gradient, 3, gradient_body, GRADIENTS_AT_ONCE)

// y ← x + ad and out ← ∇F_β(y). out must not be d where T looks at neighbours.
HERE void advance_gradient_body(const Args& a, i64 t, Sums<3>& s) {
    Gradient<true> rule(s);
    walk(a, t, Moved{a.x, a.d, (real)a.a}, rule);
}
KERNEL_AT_ONCE(advance_gradient, 3, advance_gradient_body, GRADIENTS_AT_ONCE)

// g(Tx), and g_β(Tx).
struct Value {
    static const bool PULLS = false;
    Sums<2>& s;
    HERE_METHOD Value(Sums<2>& sums) : s(sums) {}
    HERE_METHOD void begin(const Args&, i64, int, bool) {}
    HERE_METHOD Unit p(const Args& a, const Psi& f, i64 i, const Unit& d, int, bool) {
        s.at[0] += value_of(a, f, i, d);
        s.at[1] += envelope_of(a, f, i, d);
        return d;
    }
    HERE_METHOD void visit(const Args&, i64, int, real, real) {}
    HERE_METHOD void end(const Args&, i64, int, bool) {}
};

HERE void value_body(const Args& a, i64 t, Sums<2>& s) {
    Value rule(s);
    walk(a, t, Plain{a.x}, rule);
}
KERNEL(value, 2, value_body)

// out ← ∇f + T*v, tx ← Tx, z ← v ∈ ∂g(Tx): F(x).
struct Subgradient {
    static const bool PULLS = true;
    Sums<1>& s;
    Loss loss;
    Four out;
    HERE_METHOD Subgradient(Sums<1>& sums) : s(sums) {}
    HERE_METHOD void begin(const Args& a, i64 i, int count, bool aligned) { loss.fetch(a, i, count, aligned); }
    HERE_METHOD Unit p(const Args& a, const Psi& f, i64 i, const Unit& d, int only, bool own) {
        Unit v = subgradients(a, f, i, d, only);
        if (own) {
            s.at[0] += value_of(a, f, i, d);
            OF(ALL) a.tx[k * units(a) + i] = d.at[k], a.z[k * units(a) + i] = v.at[k];
        }
        return v;
    }
    HERE_METHOD void visit(const Args& a, i64 i, int k, real x, real pulled) {
        real of_f = loss.at(k, x);
#ifndef GIVEN
        s.at[0] += 0.5 * of_f * (double)of_f;
#endif
        out.at[k] = of_f + pulled;
    }
    HERE_METHOD void end(const Args& a, i64 i, int count, bool aligned) { store(a.out, i, count, aligned, out); }
};

HERE void subgradient_body(const Args& a, i64 t, Sums<1>& s) {
    Subgradient rule(s);
    walk(a, t, Plain{a.x}, rule);
}
KERNEL(subgradient, 1, subgradient_body)

// u at unit i: what was stored, or Tx.
HERE Unit evidence(const Args& a, i64 i, const Unit& d) {
    Unit u = d;
    if (a.u) OF(ALL) u.at[k] = a.u[k * units(a) + i];
    return u;
}

// w = (u − z)/β.
HERE Unit dual_of(const Args& a, const Unit& u, const Unit& z) {
    Unit w;
    OF(ALL) w.at[k] = (real)(((double)u.at[k] - (double)z.at[k]) / a.beta);
    return w;
}

// What one look at (x, u, β) sees, v = ∇f(x) + T*w; its norms in ℓ2, ℓ1 and ℓ∞. out ← v where it is wanted.
enum Looked { AT_Z, AT_TX, OVERLAP, OF_F, OF_G, OF_SUM, GAP, X, TX, U, W, ABSOLUTE, LOOKED };
struct Look {
    static const bool PULLS = true;
    Sums<LOOKED>& s;
    Loss loss;
    Four v;
    HERE_METHOD Look(Sums<LOOKED>& sums) : s(sums) {}
    HERE_METHOD void begin(const Args& a, i64 i, int count, bool aligned) { loss.fetch(a, i, count, aligned); }
    HERE_METHOD Unit p(const Args& a, const Psi& f, i64 i, const Unit& d, int only, bool own) {
        double at_z;
        Unit u = evidence(a, i, d), z = prox_of(a, f, i, u, &at_z), w = dual_of(a, u, z);
        if (own) {
            s.at[AT_Z] += at_z;
            s.at[AT_TX] += value_of(a, f, i, d);
            OF(ALL) {
                double apart = (double)d.at[k] - (double)z.at[k];
                s.at[OVERLAP] += w.at[k] * apart;
                s.at[GAP] += apart * apart;
                s.at[TX] += d.at[k] * (double)d.at[k];
                s.at[U] += u.at[k] * (double)u.at[k];
                s.at[W] += w.at[k] * (double)w.at[k];
            }
        }
        return w;
    }
    HERE_METHOD void visit(const Args& a, i64 i, int k, real x, real pulled) {
        real of_f = loss.at(k, x), all = of_f + pulled;
        s.at[OF_F] += of_f * (double)of_f;
        s.at[OF_G] += pulled * (double)pulled;
        s.at[OF_SUM] += all * (double)all;
        s.at[X] += x * (double)x;
        s.at[ABSOLUTE] += magnitude(all);
        s.top(magnitude(all));
        v.at[k] = all;
    }
    HERE_METHOD void end(const Args& a, i64 i, int count, bool aligned) {
        if (a.out) store(a.out, i, count, aligned, v);
    }
};

HERE void look_body(const Args& a, i64 t, Sums<LOOKED>& s) {
    Look rule(s);
    walk(a, t, Plain{a.x}, rule);
}
KERNEL(look, LOOKED, look_body)

// z ← z and tx ← w, as a look at (x, u, β) finds them.
struct Dual {
    static const bool PULLS = false;
    HERE_METHOD void begin(const Args&, i64, int, bool) {}
    HERE_METHOD Unit p(const Args& a, const Psi& f, i64 i, const Unit& d, int, bool) {
        double at_z;
        Unit u = evidence(a, i, d), z = prox_of(a, f, i, u, &at_z), w = dual_of(a, u, z);
        OF(ALL) a.z[k * units(a) + i] = z.at[k], a.tx[k * units(a) + i] = w.at[k];
        return d;
    }
    HERE_METHOD void visit(const Args&, i64, int, real, real) {}
    HERE_METHOD void end(const Args&, i64, int, bool) {}
};

HERE void dual_body(const Args& a, i64 t, Sums<0>&) {
    Dual rule;
    walk(a, t, Plain{a.x}, rule);
}
KERNEL(dual, 0, dual_body)
