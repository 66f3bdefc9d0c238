//! Numbers by which a decomposition hears that it is enough.
//!
//! The linear algebra crate asks nobody while it works, for seconds where matrices are large. But it is generic over its
//! numbers, so it gets numbers of our own: [`Watched<f64>`] is an `f64`, with the same bits and the same instructions, except
//! that the scalar square root and the constant 1 now and then ask whether it is enough ([`crate::patience`]). Every
//! reflection and every rotation takes a root, every product has a factor 1, and no inner loop has either. Where it is
//! enough they unwind to [`unless_enough`], as a panic does but without a word; nothing on the way owns anything.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use faer::traits::num_traits::{Num, One, Zero};
use faer::traits::pulp::Simd;
use faer::traits::{ComplexField, RealField, SimdCapabilities};

use crate::patience;

/// A real number; see the module.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub(super) struct Watched<T>(T);

/// What unwinds.
struct Enough;

/// What `work` makes of watched numbers; none where it was given up.
pub(super) fn unless_enough<R>(work: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(made) => Some(made),
        Err(payload) if payload.is::<Enough>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Ends the decomposition where it is enough. A program whose panics abort it cannot unwind: there it goes on.
#[inline(always)]
fn listen() {
    if cfg!(panic = "unwind") && patience::is_over_now_and_then() {
        give_up();
    }
}

#[cold]
fn give_up() -> ! {
    resume_unwind(Box::new(Enough))
}

pub(super) use views::{watched, watched_mut};

#[allow(unsafe_code)]
mod views {
    use super::Watched;

    /// The same numbers, watched.
    pub fn watched<T>(numbers: &[T]) -> &[Watched<T>] {
        // SAFETY: `Watched` is transparent.
        unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) }
    }

    /// The same numbers, watched.
    pub fn watched_mut<T>(numbers: &mut [T]) -> &mut [Watched<T>] {
        // SAFETY: `Watched` is transparent, and the borrow is passed on.
        unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), numbers.len()) }
    }
}

macro_rules! operators {
    ($($name:ident $method:ident $assign:ident $assign_method:ident;)*) => {$(
        impl<T: $name<Output = T>> $name for Watched<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self { Self(self.0.$method(other.0)) }
        }
        impl<T: $name<Output = T> + Copy> $name<&Self> for Watched<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: &Self) -> Self { Self(self.0.$method(other.0)) }
        }
        impl<T: $name<Output = T> + Copy> $name<Watched<T>> for &Watched<T> {
            type Output = Watched<T>;
            #[inline(always)]
            fn $method(self, other: Watched<T>) -> Watched<T> { Watched(self.0.$method(other.0)) }
        }
        impl<T: $name<Output = T> + Copy> $name for &Watched<T> {
            type Output = Watched<T>;
            #[inline(always)]
            fn $method(self, other: Self) -> Watched<T> { Watched(self.0.$method(other.0)) }
        }
        impl<T: $assign> $assign for Watched<T> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) { self.0.$assign_method(other.0) }
        }
        impl<T: $assign + Copy> $assign<&Self> for Watched<T> {
            #[inline(always)]
            fn $assign_method(&mut self, other: &Self) { self.0.$assign_method(other.0) }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign;
    Sub sub SubAssign sub_assign;
    Mul mul MulAssign mul_assign;
    Div div DivAssign div_assign;
    Rem rem RemAssign rem_assign;
}

impl<T: Neg<Output = T>> Neg for Watched<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}
impl<T: Neg<Output = T> + Copy> Neg for &Watched<T> {
    type Output = Watched<T>;
    #[inline(always)]
    fn neg(self) -> Watched<T> {
        Watched(-self.0)
    }
}
impl<T: Zero> Zero for Watched<T> {
    #[inline(always)]
    fn zero() -> Self {
        Self(T::zero())
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
}
impl<T: One> One for Watched<T> {
    #[inline(always)]
    fn one() -> Self {
        Self(T::one())
    }
}
impl<T: Num> Num for Watched<T> {
    type FromStrRadixErr = T::FromStrRadixErr;
    fn from_str_radix(digits: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        T::from_str_radix(digits, radix).map(Self)
    }
}

/// Methods on numbers: the same of what is inside, and some listen first.
macro_rules! numbers {
    ($($($listen:ident)? => $name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $made:expr })*) => {$(
        #[inline(always)]
        fn $name($($arg: $ty),*) -> $out {
            $($listen();)?
            $made
        }
    )*};
}

/// Methods on vector registers: those of what is inside.
macro_rules! registers {
    ($($name:ident($($arg:ident: $ty:ident),*) -> $out:ident;)*) => {$(
        #[inline(always)]
        fn $name<S: Simd>(ctx: &Self::SimdCtx<S>, $($arg: Self::$ty<S>),*) -> Self::$out<S> {
            T::$name(ctx, $($arg),*)
        }
    )*};
}

impl<T: RealField + Copy> ComplexField for Watched<T> {
    type Arch = T::Arch;
    type Index = T::Index;
    type Real = Self;
    type SimdCtx<S: Simd> = T::SimdCtx<S>;
    type SimdIndex<S: Simd> = T::SimdIndex<S>;
    type SimdMask<S: Simd> = T::SimdMask<S>;
    type SimdMemMask<S: Simd> = T::SimdMemMask<S>;
    type SimdVec<S: Simd> = T::SimdVec<S>;
    type Unit = Self;

    // What products go by: with these they are those of the numbers inside.
    const IS_NATIVE_F32: bool = T::IS_NATIVE_F32;
    const IS_NATIVE_F64: bool = T::IS_NATIVE_F64;
    const IS_REAL: bool = true;
    const SIMD_CAPABILITIES: SimdCapabilities = T::SIMD_CAPABILITIES;

    numbers! {
        listen => one_impl() -> Self { Self(T::one_impl()) }
        listen => sqrt_impl(value: &Self) -> Self { Self(T::sqrt_impl(&value.0)) }
        => zero_impl() -> Self { Self(T::zero_impl()) }
        => nan_impl() -> Self { Self(T::nan_impl()) }
        => infinity_impl() -> Self { Self(T::infinity_impl()) }
        => from_real_impl(real: &Self) -> Self { *real }
        => from_f64_impl(real: f64) -> Self { Self(T::from_f64_impl(real)) }
        => real_part_impl(value: &Self) -> Self { *value }
        => imag_part_impl(value: &Self) -> Self { Self(T::imag_part_impl(&value.0)) }
        => copy_impl(value: &Self) -> Self { *value }
        => conj_impl(value: &Self) -> Self { *value }
        => recip_impl(value: &Self) -> Self { Self(T::recip_impl(&value.0)) }
        => abs_impl(value: &Self) -> Self { Self(T::abs_impl(&value.0)) }
        => abs1_impl(value: &Self) -> Self { Self(T::abs1_impl(&value.0)) }
        => abs2_impl(value: &Self) -> Self { Self(T::abs2_impl(&value.0)) }
        => mul_real_impl(lhs: &Self, rhs: &Self) -> Self { Self(T::mul_real_impl(&lhs.0, &rhs.0)) }
        => mul_pow2_impl(lhs: &Self, rhs: &Self) -> Self { Self(T::mul_pow2_impl(&lhs.0, &rhs.0)) }
        => is_finite_impl(value: &Self) -> bool { T::is_finite_impl(&value.0) }
        => is_nan_impl(value: &Self) -> bool { T::is_nan_impl(&value.0) }
    }
    registers! {
        simd_add(lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_sub(lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_neg(value: SimdVec) -> SimdVec;
        simd_conj(value: SimdVec) -> SimdVec;
        simd_abs1(value: SimdVec) -> SimdVec;
        simd_abs_max(value: SimdVec) -> SimdVec;
        simd_mul_real(lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_mul_pow2(lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_mul(lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_conj_mul(lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_mul_add(lhs: SimdVec, rhs: SimdVec, acc: SimdVec) -> SimdVec;
        simd_conj_mul_add(lhs: SimdVec, rhs: SimdVec, acc: SimdVec) -> SimdVec;
        simd_abs2(value: SimdVec) -> SimdVec;
        simd_abs2_add(value: SimdVec, acc: SimdVec) -> SimdVec;
        simd_equal(lhs: SimdVec, rhs: SimdVec) -> SimdMask;
        simd_less_than(lhs: SimdVec, rhs: SimdVec) -> SimdMask;
        simd_less_than_or_equal(lhs: SimdVec, rhs: SimdVec) -> SimdMask;
        simd_greater_than(lhs: SimdVec, rhs: SimdVec) -> SimdMask;
        simd_greater_than_or_equal(lhs: SimdVec, rhs: SimdVec) -> SimdMask;
        simd_select(mask: SimdMask, lhs: SimdVec, rhs: SimdVec) -> SimdVec;
        simd_index_select(mask: SimdMask, lhs: SimdIndex, rhs: SimdIndex) -> SimdIndex;
        simd_index_add(lhs: SimdIndex, rhs: SimdIndex) -> SimdIndex;
        simd_index_less_than(lhs: SimdIndex, rhs: SimdIndex) -> SimdMask;
        simd_and_mask(lhs: SimdMask, rhs: SimdMask) -> SimdMask;
        simd_or_mask(lhs: SimdMask, rhs: SimdMask) -> SimdMask;
        simd_not_mask(mask: SimdMask) -> SimdMask;
    }

    #[inline(always)]
    fn simd_ctx<S: Simd>(simd: S) -> Self::SimdCtx<S> {
        T::simd_ctx(simd)
    }
    #[inline(always)]
    fn ctx_from_simd<S: Simd>(ctx: &Self::SimdCtx<S>) -> S {
        T::ctx_from_simd(ctx)
    }
    #[inline(always)]
    fn simd_splat<S: Simd>(ctx: &Self::SimdCtx<S>, value: &Self) -> Self::SimdVec<S> {
        T::simd_splat(ctx, &value.0)
    }
    #[inline(always)]
    fn simd_splat_real<S: Simd>(ctx: &Self::SimdCtx<S>, value: &Self) -> Self::SimdVec<S> {
        T::simd_splat_real(ctx, &value.0)
    }
    #[inline(always)]
    fn simd_index_splat<S: Simd>(ctx: &Self::SimdCtx<S>, value: Self::Index) -> Self::SimdIndex<S> {
        T::simd_index_splat(ctx, value)
    }
    #[inline(always)]
    fn simd_reduce_sum<S: Simd>(ctx: &Self::SimdCtx<S>, value: Self::SimdVec<S>) -> Self {
        Self(T::simd_reduce_sum(ctx, value))
    }
    #[inline(always)]
    fn simd_reduce_max<S: Simd>(ctx: &Self::SimdCtx<S>, value: Self::SimdVec<S>) -> Self {
        Self(T::simd_reduce_max(ctx, value))
    }
    #[inline(always)]
    fn simd_first_true_mask<S: Simd>(ctx: &Self::SimdCtx<S>, mask: Self::SimdMask<S>) -> usize {
        T::simd_first_true_mask(ctx, mask)
    }
    #[inline(always)]
    fn simd_mask_between<S: Simd>(ctx: &Self::SimdCtx<S>, start: Self::Index, end: Self::Index) -> Self::SimdMask<S> {
        T::simd_mask_between(ctx, start, end)
    }
    #[inline(always)]
    fn simd_mem_mask_between<S: Simd>(
        ctx: &Self::SimdCtx<S>,
        start: Self::Index,
        end: Self::Index,
    ) -> Self::SimdMemMask<S> {
        T::simd_mem_mask_between(ctx, start, end)
    }
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn simd_mask_load_raw<S: Simd>(
        ctx: &Self::SimdCtx<S>,
        mask: Self::SimdMemMask<S>,
        from: *const Self::SimdVec<S>,
    ) -> Self::SimdVec<S> {
        // SAFETY: the caller's promise, passed on.
        unsafe { T::simd_mask_load_raw(ctx, mask, from) }
    }
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn simd_mask_store_raw<S: Simd>(
        ctx: &Self::SimdCtx<S>,
        mask: Self::SimdMemMask<S>,
        to: *mut Self::SimdVec<S>,
        values: Self::SimdVec<S>,
    ) {
        // SAFETY: the caller's promise, passed on.
        unsafe { T::simd_mask_store_raw(ctx, mask, to, values) }
    }
}

impl<T: RealField + Copy> RealField for Watched<T> {
    numbers! {
        => epsilon_impl() -> Self { Self(T::epsilon_impl()) }
        => nbits_impl() -> usize { T::nbits_impl() }
        => min_positive_impl() -> Self { Self(T::min_positive_impl()) }
        => max_positive_impl() -> Self { Self(T::max_positive_impl()) }
        => sqrt_min_positive_impl() -> Self { Self(T::sqrt_min_positive_impl()) }
        => sqrt_max_positive_impl() -> Self { Self(T::sqrt_max_positive_impl()) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::{Dense, Mat};
    use super::*;
    use crate::patience::Patience;

    fn matrix(n: usize) -> Vec<f64> {
        (0..n * n).map(|i| ((i * i) as f64 * 0.37).sin()).collect()
    }

    /// A name, and a decomposition that says whether it was found.
    type Named = (&'static str, Box<dyn FnMut() -> bool>);

    /// Every decomposition there is, of an n×n matrix.
    fn decompositions(n: usize) -> [Named; 4] {
        let (a, size) = (matrix(n), n * n);
        let mut g = vec![0.0; size];
        f64::gram(&mut g, Mat::new(&a, n, n));
        let room = move || (vec![0.0; n], vec![0.0; size], vec![0.0; size]);
        let (a2, g2) = (a.clone(), g.clone());
        let svd = move || {
            let (mut values, mut u, mut v) = room();
            let mut work = vec![0.0; f64::svd_work_len(n, n)];
            f64::svd(&mut values, &mut u, &mut v, Mat::new(&a, n, n), &mut work)
        };
        let singular_values = move || {
            let mut work = vec![0.0; f64::singular_values_work_len(n, n)];
            f64::singular_values(&mut room().0, Mat::new(&a2, n, n), &mut work)
        };
        let eigen = move || {
            let (mut values, mut q, _) = room();
            f64::eigen(&mut values, &mut q, &g, n, &mut vec![0.0; f64::eigen_work_len(n)])
        };
        let eigenvalues = move || f64::eigenvalues(&mut room().0, &g2, n, &mut vec![0.0; f64::eigenvalues_work_len(n)]);
        [
            ("svd", Box::new(svd)),
            ("singular values", Box::new(singular_values)),
            ("eigen", Box::new(eigen)),
            ("eigenvalues", Box::new(eigenvalues)),
        ]
    }

    /// Someone who has enough when asked for the n-th time, and how often that was.
    fn at_the(nth: usize) -> (Patience, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        (Patience::until(move || count.fetch_add(1, Ordering::Relaxed) + 1 >= nth), asked)
    }

    #[test]
    fn a_decomposition_ends_when_it_is_enough() {
        for (name, mut found) in decompositions(300) {
            let (endless, asked) = at_the(usize::MAX);
            assert!(endless.run(&mut found), "{name}");
            let whole = asked.load(Ordering::Relaxed);
            // Often enough: less than a fiftieth of the work lies between two questions.
            assert!(whole >= 50, "{name}: asked {whole} times");
            for nth in [1, 2, whole / 2, whole] {
                let (enough, asked) = at_the(nth);
                assert!(!enough.run(&mut found), "{name}: {nth} of {whole}");
                // Not once more: nothing else was tried in its place.
                assert!(asked.load(Ordering::Relaxed) <= nth + 1, "{name}: {nth} of {whole}");
            }
            assert!(found(), "{name}: as before");
        }
    }

    #[test]
    fn a_panic_stays_one() {
        let caught = catch_unwind(|| unless_enough(|| panic!("on purpose")));
        assert!(caught.is_err());
    }
}
