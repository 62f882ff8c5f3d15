//! Quantiles of beta laws, with the same bits on every platform: all that is transcendental comes
//! from `libm`.

/// The beta law of parameters a and b.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beta {
    a: f64,
    b: f64,
    /// ln B(a, b).
    log_beta: f64,
}

/// The steps of the continued fraction: enough for parameters up to 10⁶, which take some 3,000.
const MOST_STEPS: u32 = 100_000;

/// The most steps of Newton's method before bisection takes over.
const NEWTON_STEPS: u32 = 40;

impl Beta {
    pub(super) fn new(a: f64, b: f64) -> Self {
        Beta {
            a,
            b,
            log_beta: libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b),
        }
    }

    /// The law of 1 - Z.
    pub(super) fn mirrored(self) -> Self {
        Beta {
            a: self.b,
            b: self.a,
            ..self
        }
    }

    /// P(Z <= x), the regularised incomplete beta function I_x(a, b), for 0 < x < 1.
    ///
    /// Source: DLMF 8.17.22, on the side of the mean where the fraction converges fast.
    pub(super) fn distribution(&self, x: f64) -> f64 {
        let Beta { a, b, .. } = *self;
        let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - self.log_beta);
        if x < (a + 1.0) / (a + b + 2.0) {
            front * fraction(a, b, x) / a
        } else {
            1.0 - front * fraction(b, a, 1.0 - x) / b
        }
    }

    fn density(&self, x: f64) -> f64 {
        let (a, b) = (self.a - 1.0, self.b - 1.0);
        libm::exp(a * libm::log(x) + b * libm::log1p(-x) - self.log_beta)
    }

    /// The x between `low` and `high` where P(Z <= x) = `probability`, to within 1e-13.
    ///
    /// It must lie there. Newton's method, kept inside the bracket by bisection.
    pub(super) fn root(&self, probability: f64, mut low: f64, mut high: f64) -> f64 {
        let mut x = low;
        for step in 0.. {
            let excess = self.distribution(x) - probability;
            if excess == 0.0 {
                return x;
            } else if excess < 0.0 {
                low = x;
            } else {
                high = x;
            }
            if high - low < 1e-13 {
                break;
            }
            let next = x - excess / self.density(x);
            let newton = step < NEWTON_STEPS && low <= next && next <= high;
            if newton && (next - x).abs() < 1e-14 {
                return next;
            }
            // At an end of the bracket Newton's method would stand still.
            x = if newton && low < next && next < high {
                next
            } else {
                low + (high - low) / 2.0
            };
        }
        low + (high - low) / 2.0
    }
}

/// The continued fraction of DLMF 8.17.22, by Lentz's method as Thompson and Barnett modified it.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let tiny = 1e-300;
    let guard = |value: f64| if value.abs() < tiny { tiny } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}
