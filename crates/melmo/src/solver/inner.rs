//! What a solver that is made of others shows of one of them.

/// All that a solver answers from its field `$inner`, a solver itself, inside its `impl Solver<S>`.
macro_rules! forward_to_inner {
    ($inner:ident) => {
        fn problem(&self) -> &Problem<S> {
            self.$inner.problem()
        }

        fn x(&self) -> &[S] {
            self.$inner.x()
        }

        fn objective(&mut self) -> f64 {
            self.$inner.objective()
        }

        fn smoothed(&mut self) -> f64 {
            self.$inner.smoothed()
        }

        fn exact_dual_norm(&mut self) -> f64 {
            self.$inner.exact_dual_norm()
        }

        fn norms(&self) -> Vec<BlockNorm> {
            self.$inner.norms()
        }

        fn evidence<'u>(&self, u: &'u mut [S]) -> Evidence<'u, S> {
            self.$inner.evidence(u)
        }

        fn start_measure(&self) -> Option<[f64; 2]> {
            self.$inner.start_measure()
        }
    };
}
pub(super) use forward_to_inner;
