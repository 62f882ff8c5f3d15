//! As much of complex arithmetic as the truths need.

use std::ops::{Add, Mul, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    pub(super) const ZERO: Complex = Complex::new(0.0, 0.0);
    pub(super) const ONE: Complex = Complex::new(1.0, 0.0);

    pub(super) const fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }

    pub(super) fn scale(self, factor: f64) -> Self {
        Complex::new(self.re * factor, self.im * factor)
    }

    pub(super) fn norm(self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    pub(super) fn exp(self) -> Self {
        let (sin, cos) = libm::sincos(self.im);
        Complex::new(cos, sin).scale(libm::exp(self.re))
    }

    /// 1/self; not for 0.
    pub(super) fn inverse(self) -> Self {
        // Never squares a number whose square overflows: the norm is divided out first.
        let norm = self.norm();
        Complex::new(self.re / norm, -self.im / norm).scale(1.0 / norm)
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}
