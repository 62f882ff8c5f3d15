//! Decoders that panic on damaged files, contained.
//!
//! The decoders of Parquet, Arrow and zip are written for files that are sound; on others some
//! assertion of theirs may fail. For a reader of files that is an error like any other.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// What the decoder returns, its error or its panic as text. Nothing is printed.
pub(super) fn contain<T, E: Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !CONTAINED.get() {
                report(panic);
            }
        }));
    });
    let outer = CONTAINED.replace(true);
    // A decoder that has panicked is never called again: every caller gives up on an error.
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    CONTAINED.set(outer);
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("its contents contradict each other".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(contain(|| Ok::<_, String>(1)), Ok(1));
        assert_eq!(contain(|| Err::<(), _>("no")), Err("no".to_owned()));
        let panicking = contain(|| -> Result<(), String> { panic!("on purpose") });
        assert!(panicking.unwrap_err().contains("contradict"));
        assert!(!CONTAINED.get());
    }
}
