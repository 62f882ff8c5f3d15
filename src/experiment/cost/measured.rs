//! The ways in which tests are measured.

use serde::Serialize;

use crate::backend::kernels::{Kernel, Method, SkceNull};
use crate::inference::tests_of_calibration::TestName;

/// A test as it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// The test.
    pub test: TestName,
    /// Its kernel, if it has one.
    pub kernel: Option<Kernel>,
    /// The law of its null resamples, of `skce-u`.
    pub null: Option<SkceNull>,
    /// How sums over all pairs are computed: `pairs`, or `recursion` in O(n).
    pub method: Option<&'static str>,
    /// `cpu` or `gpu`.
    pub backend: &'static str,
}

const PAIRS: &str = "pairs";
const RECURSION: &str = "recursion";

impl Measured {
    /// How sums over pairs are computed.
    pub(super) fn method(&self) -> Method {
        match self.method {
            Some(PAIRS) => Method::Pairs,
            _ => Method::Fastest,
        }
    }

    /// The name in a table or legend: `skce-u laplace multinomial recursion`, `asymptotic (gpu)`.
    pub fn name(&self) -> String {
        let mut parts = vec![self.test.as_str()];
        parts.extend(self.kernel.map(Kernel::as_str));
        parts.extend(self.null.map(SkceNull::as_str));
        parts.extend(self.method);
        if self.backend != "cpu" {
            parts.push("(gpu)");
        }
        parts.join(" ")
    }
}

/// Everything that is measured: each test by its kernels, nulls and methods. A device does tests of
/// neighbours, null resamples of labels, and sums over all pairs; the rest has rows of the CPU alone.
pub(super) fn measured(tests: &[TestName], gpu: bool) -> Vec<Measured> {
    const NULLS: [SkceNull; 3] = [SkceNull::Multinomial, SkceNull::Wild, SkceNull::MonteCarlo];
    const WAYS: [(Kernel, &str); 3] = [
        (Kernel::Gaussian, PAIRS),
        (Kernel::Laplace, PAIRS),
        (Kernel::Laplace, RECURSION),
    ];
    let mut all = Vec::new();
    for &test in tests {
        let plain = Measured {
            test,
            kernel: None,
            null: None,
            method: None,
            backend: "cpu",
        };
        let mut push = |own: Measured, on_device: bool| {
            all.push(own);
            if gpu && on_device {
                all.push(Measured {
                    backend: "gpu",
                    ..own
                });
            }
        };
        match test {
            TestName::SkceU => {
                for null in NULLS {
                    for (kernel, method) in WAYS {
                        let own = Measured {
                            kernel: Some(kernel),
                            null: Some(null),
                            method: Some(method),
                            ..plain
                        };
                        push(own, method == PAIRS);
                    }
                }
            }
            TestName::SkceL => {
                for kernel in [Kernel::Gaussian, Kernel::Laplace] {
                    let own = Measured {
                        kernel: Some(kernel),
                        ..plain
                    };
                    push(own, false);
                }
            }
            TestName::Spiegelhalter => push(plain, false),
            _ => push(plain, true),
        }
    }
    all
}
