// What a part of the penalty answers to Tx, group by group: several threads share a long group, whose norm was measured before.

// A group, and the first of a thread's members of it.
struct Share {
    i64 group, from;
    bool any;
};

// Neighbouring threads read neighbouring numbers: groups where their members lie apart, members where they lie together.
HERE Share share_of(const Part& p, i64 t) {
    const bool apart = p.step == 1 && !p.members;
    Share own = {apart ? t % p.groups : t / p.shares, apart ? t / p.groups : t % p.shares, t < p.groups * p.shares};
    return own;
}

HERE i64 length_of(const Part& p, i64 g) { return p.members ? p.ends[g + 1] - p.ends[g] : p.length; }

HERE i64 member(const Part& p, i64 g, i64 m) {
    return p.start + (p.members ? p.members[p.ends[g] + m] : g * p.step + m * p.stride);
}

#define MEMBERS(p, own) \
    for (i64 m = own.from, length = length_of(p, own.group), j = m < length ? member(p, own.group, m) : 0; m < length; \
         m += p.shares, j = m < length ? member(p, own.group, m) : 0)

// The members of a short group: all are read at once, and stay in registers.
#define SHORT 16
struct Few {
    real at[SHORT];
};
#define EACH_OF(p) _Pragma("unroll") for (int m = 0; m < SHORT; m++) if (m < (p).length)

HERE bool is_short(const Part& p) { return !p.members && p.length <= SHORT; }

HERE Few few(const Part& p, const Share& own, const real* u) {
    Few all = {{0}};
    const real* first = u + member(p, own.group, 0);
    EACH_OF(p) all.at[m] = first[m * p.stride];
    return all;
}

HERE real size_of_few(const Part& p, const Few& all) {
    if (!p.by_norm) return all.at[0];
    double squares = 0;
    EACH_OF(p) squares += (double)all.at[m] * (double)all.at[m];
    return (real)sqrt(squares);
}

HERE double squares_of(const Part& p, const Share& own, const real* u) {
    double squares = 0;
    MEMBERS(p, own) squares += (double)u[j] * (double)u[j];
    return squares;
}

// Σ x² over a thread's members.
HERE void group_parts_body(const Args& a, i64 t, Sums<0>&) {
    const Share own = share_of(a.part, t);
    if (own.any) a.parts[own.group * a.part.shares + own.from] = squares_of(a.part, own, a.x);
}
KERNEL(group_parts, 0, group_parts_body)

// The norm of group t.
HERE void group_norms_body(const Args& a, i64 t, Sums<0>&) {
    if (t >= a.part.groups) return;
    double squares = 0;
    for (i64 s = 0; s < a.part.shares; s++) squares += a.parts[t * a.part.shares + s];
    a.norms[t] = sqrt(squares);
}
KERNEL(group_norms, 0, group_norms_body)

// What ψ is asked of: the norm of a group, or the number that it is.
HERE real size_of(const Part& p, const Share& own, const real* u, const double* norms) {
    if (!p.by_norm) return u[member(p, own.group, 0)];
    return (real)(norms ? norms[own.group] : sqrt(squares_of(p, own, u)));
}

HERE real weight_of(const Part& p, i64 g) { return (real)p.weight * (p.weights ? p.weights[g] : (real)1); }

// A group that is asked for its size, and gets another.
struct Asked {
    real w, size;
};

HERE Asked asked(const Part& p, const Share& own, const real* u, const double* norms) {
    Asked q = {weight_of(p, own.group), size_of(p, own, u, norms)};
    return q;
}

// An entry of a group whose size becomes `answer`: in the direction that it has.
HERE real entry_of(const Part& p, const Asked& q, real answer, real entry) {
    return p.by_norm ? over_norm(answer, q.size) * entry : answer;
}

// tx ← ∇g_β(tx): its squared norm.
HERE void answer_gradient_body(const Args& a, i64 t, Sums<1>& s) {
    const Share own = share_of(a.part, t);
    if (!own.any) return;
    const Psi f = psi_of(a);
    Few all;
    Asked q = {weight_of(a.part, own.group), 0};
    if (is_short(a.part)) {
        all = few(a.part, own, a.tx);
        q.size = size_of_few(a.part, all);
    } else {
        q = asked(a.part, own, a.tx, a.part.norms);
    }
    const real slope = weighed(q.w, psi_slope(f, q.size, (real)a.beta * q.w));
    if (own.from == 0) s.at[0] += (double)slope * slope;
    if (is_short(a.part)) {
        real* first = a.tx + member(a.part, own.group, 0);
        EACH_OF(a.part) first[m * a.part.stride] = entry_of(a.part, q, slope, all.at[m]);
    } else {
        MEMBERS(a.part, own) a.tx[j] = entry_of(a.part, q, slope, a.tx[j]);
    }
}
KERNEL(answer_gradient, 1, answer_gradient_body)

// g(tx), and g_β(tx).
HERE void answer_value_body(const Args& a, i64 t, Sums<2>& s) {
    const Share own = share_of(a.part, t);
    if (!own.any || own.from > 0) return;
    const Psi f = psi_of(a);
    const Asked q = asked(a.part, own, a.tx, a.part.norms);
    s.at[0] += weighed(q.w, psi_value(f, q.size));
    s.at[1] += weighed(q.w, psi_envelope(f, q.size, (real)a.beta * q.w));
}
KERNEL(answer_value, 2, answer_value_body)

// z ← v ∈ ∂g(tx): g(tx).
HERE void answer_subgradient_body(const Args& a, i64 t, Sums<1>& s) {
    const Share own = share_of(a.part, t);
    if (!own.any) return;
    const Psi f = psi_of(a);
    const Asked q = asked(a.part, own, a.tx, a.part.norms);
    const real slope = q.w * psi_derivative(f, q.size);
    if (own.from == 0) s.at[0] += weighed(q.w, psi_value(f, q.size));
    MEMBERS(a.part, own) a.z[j] = entry_of(a.part, q, slope, a.tx[j]);
}
KERNEL(answer_subgradient, 1, answer_subgradient_body)

// The size of z = prox_{βg}(u).
HERE real shrunk(const Args& a, const Psi& f, const Asked& q) {
    return q.w > 0 ? psi_prox(f, q.size, (real)a.beta * q.w) + (real)0 : q.size;
}

// w = (u − z)/β.
HERE real dual_of(const Args& a, real u, real z) { return (real)(((double)u - (double)z) / a.beta); }

// tx ← w, as a look at (Tx, u, β) finds it.
enum Answered { AT_Z, AT_TX, OVERLAP, GAP, TX, U, W, ANSWERED };
HERE void answer_look_body(const Args& a, i64 t, Sums<ANSWERED>& s) {
    const Share own = share_of(a.part, t);
    if (!own.any) return;
    const Psi f = psi_of(a);
    const real* u = a.u ? a.u : a.tx;
    const Asked q = asked(a.part, own, u, a.part.norms);
    const real to = shrunk(a, f, q);
    if (own.from == 0) {
        s.at[AT_Z] += weighed(q.w, psi_value(f, to));
        s.at[AT_TX] += weighed(q.w, psi_value(f, size_of(a.part, own, a.tx, a.part.others)));
    }
    MEMBERS(a.part, own) {
        const real d = a.tx[j], z = entry_of(a.part, q, to, u[j]), w = dual_of(a, u[j], z);
        const double apart = (double)d - (double)z;
        s.at[OVERLAP] += w * apart;
        s.at[GAP] += apart * apart;
        s.at[TX] += d * (double)d;
        s.at[U] += u[j] * (double)u[j];
        s.at[W] += w * (double)w;
        a.tx[j] = w;
    }
}
KERNEL(answer_look, ANSWERED, answer_look_body)

// z ← z and tx ← w, as a look at (tx, u, β) finds them.
HERE void answer_dual_body(const Args& a, i64 t, Sums<0>&) {
    const Share own = share_of(a.part, t);
    if (!own.any) return;
    const Psi f = psi_of(a);
    const real* u = a.u ? a.u : a.tx;
    const Asked q = asked(a.part, own, u, a.part.norms);
    const real to = shrunk(a, f, q);
    MEMBERS(a.part, own) {
        const real at_u = u[j], z = entry_of(a.part, q, to, at_u);
        a.z[j] = z;
        a.tx[j] = dual_of(a, at_u, z);
    }
}
KERNEL(answer_dual, 0, answer_dual_body)
