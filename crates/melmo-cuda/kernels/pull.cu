// ∇f + T*p for a p that was written down: the last link of a chain.
//
// BLURRED: f(x) = ½‖Kx − y‖² with K a convolution, whose residual was written down. GIVEN: products have left ∇f where the target is.
// ½‖M⊙(x − y)‖² otherwise.

#ifdef BLURRED
// residual ← Kx − y: its squared norm.
HERE void convolved_residual_body(const Args& a, i64 t, Sums<1>& s) {
    if (t >= a.n) return;
    const real r = convolved(a.of_loss, a.x, place_of(a, t), a.n / a.cols, a.cols) - a.target[t];
    a.residual[t] = r;
    s.at[0] += r * (double)r;
}
KERNEL(convolved_residual, 1, convolved_residual_body)
#endif

// ∇f at entry i.
HERE real loss_at(const Args& a, const Place& q, i64 i) {
#if defined(GIVEN)
    return a.target[i];
#elif defined(BLURRED)
    return correlated(a.of_loss, a.residual, q, a.n / a.cols, a.cols);
#elif defined(MASKED)
    return a.mask[i] * (a.x[i] - a.target[i]);
#else
    return a.x[i] - a.target[i];
#endif
}

// each(i, ∇f, T*p) for the entries of a place.
template <class Each>
HERE void pull(const Args& a, i64 t, const real* p, const Each& each) {
    if (t >= places(a)) return;
    const Place q = place_of(a, t);
    for (i64 channel = 0; channel < a.channels; channel++) {
        const i64 i = channel * places(a) + t;
        each(i, loss_at(a, q, i), adjoint_at(a, p, q, channel));
    }
}

// out ← ∇f + T*tx: ‖∇f‖², ‖out‖².
HERE void pull_gradient_body(const Args& a, i64 t, Sums<2>& s) {
    pull(a, t, a.tx, [&](i64 i, real of_f, real of_g) {
        const real all = of_f + of_g;
        s.at[0] += of_f * (double)of_f;
        s.at[1] += all * (double)all;
        a.out[i] = all;
    });
}
KERNEL(pull_gradient, 2, pull_gradient_body)

// out ← ∇f + T*z: ‖∇f‖².
HERE void pull_subgradient_body(const Args& a, i64 t, Sums<1>& s) {
    pull(a, t, a.z, [&](i64 i, real of_f, real of_g) {
        s.at[0] += of_f * (double)of_f;
        a.out[i] = of_f + of_g;
    });
}
KERNEL(pull_subgradient, 1, pull_subgradient_body)

// What a look sees of v = ∇f + T*tx; its norms in ℓ2, ℓ1 and ℓ∞. out ← v where it is wanted.
enum Pulled { OF_F, OF_G, OF_SUM, X, ABSOLUTE, PULLED };
HERE void pull_look_body(const Args& a, i64 t, Sums<PULLED>& s) {
    pull(a, t, a.tx, [&](i64 i, real of_f, real of_g) {
        const real all = of_f + of_g;
        s.at[OF_F] += of_f * (double)of_f;
        s.at[OF_G] += of_g * (double)of_g;
        s.at[OF_SUM] += all * (double)all;
        s.at[X] += a.x[i] * (double)a.x[i];
        s.at[ABSOLUTE] += magnitude(all);
        s.top(magnitude(all));
        if (a.out) a.out[i] = all;
    });
}
KERNEL(pull_look, PULLED, pull_look_body)
