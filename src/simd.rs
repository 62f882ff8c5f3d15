//! The widest vector instructions of this processor, chosen when the program runs.

/// Calls `$body` compiled for AVX-512, AVX2 or the baseline (which on 64-bit Arm includes NEON),
/// whichever is the best that the processor has. The body must be `#[inline(always)]`.
macro_rules! dispatch {
    ($body:ident$(<$word:ident: $bound:ident>)?($($argument:ident: $type:ty),*) -> $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            fn avx512$(<$word: $bound>)?($($argument: $type),*) -> $result {
                $body($($argument),*)
            }
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2$(<$word: $bound>)?($($argument: $type),*) -> $result {
                $body($($argument),*)
            }
            match $crate::simd::level() {
                // SAFETY: the level says that the processor has these features.
                $crate::simd::Level::Avx512 => return unsafe { avx512($($argument),*) },
                // SAFETY: as above.
                $crate::simd::Level::Avx2 => return unsafe { avx2($($argument),*) },
                $crate::simd::Level::Baseline => {}
            }
        }
        $body($($argument),*)
    }};
}
pub(crate) use dispatch;

/// As [`dispatch`], for what AVX-512 would slow down.
macro_rules! dispatch_avx2 {
    ($body:ident($($argument:ident: $type:ty),*) -> $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2($($argument: $type),*) -> $result {
                $body($($argument),*)
            }
            if $crate::simd::level() != $crate::simd::Level::Baseline {
                // SAFETY: the level says that the processor has these features.
                return unsafe { avx2($($argument),*) };
            }
        }
        $body($($argument),*)
    }};
}
pub(crate) use dispatch_avx2;

/// A set of vector instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Avx512,
    Avx2,
    Baseline,
}

/// The best level that this processor has.
#[cfg(target_arch = "x86_64")]
pub fn level() -> Level {
    // The macro keeps its answer, so that asking costs a load. Bit counting came before AVX2 on
    // every processor, and fused multiplication with it, but they are asked for all the same.
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        _ => Level::Baseline,
    }
}
