//! What ends a run early, and the exit status it ends with.

use crate::backend::DeviceError;
use crate::evaluate::EvaluateError;
use crate::input::InputError;

/// Exit status when all is done.
pub const DONE: u8 = 0;
/// Exit status when a gate is not met.
pub const GATE_NOT_MET: u8 = 1;
/// Exit status of usage errors and bad input.
pub const BAD_INPUT: u8 = 2;
/// Exit status when a gate can be neither met nor not.
pub const GATE_UNDECIDED: u8 = 3;
/// Exit status of a device failure that could not be recovered: the CPU may not stand in where a GPU was
/// asked for.
pub const DEVICE_FAILED: u8 = 4;

/// An error for the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What went wrong, where, and what to do.
    pub message: String,
    /// Exit status.
    pub status: u8,
}

impl Failure {
    /// A usage error, or input that cannot be used.
    pub fn input(message: impl ToString) -> Self {
        Failure {
            message: message.to_string(),
            status: BAD_INPUT,
        }
    }

    /// A device that is needed and cannot be used.
    pub fn device(message: impl ToString) -> Self {
        Failure {
            message: message.to_string(),
            status: DEVICE_FAILED,
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::input(error)
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Failure::device(error)
    }
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Self {
        match error {
            EvaluateError::Device(error) => error.into(),
            EvaluateError::Batch(_) | EvaluateError::Bins(_) | EvaluateError::BinsInAll { .. } => {
                Failure::input(error)
            }
        }
    }
}
