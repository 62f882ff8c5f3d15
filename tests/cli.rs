//! The program as its users meet it: arguments and files in, text and an exit status out.

#[path = "cli/program.rs"]
mod program;

#[path = "cli/degenerate.rs"]
mod degenerate;
#[path = "cli/device.rs"]
mod device;
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/gate.rs"]
mod gate;
#[path = "cli/input.rs"]
mod input;
#[path = "cli/kernels.rs"]
mod kernels;
#[path = "cli/numbers.rs"]
mod numbers;
#[path = "cli/output.rs"]
mod output;
#[path = "cli/usage.rs"]
mod usage;
