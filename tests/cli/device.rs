//! Devices: the same bytes as the CPU, and what follows when there is none or it fails.

use super::program::{
    CIFAR10, FLIGHTS, FLIGHTS_F32, LLM_STATED, NFL, Outcome, evaluate, has_adapter, rankece,
};

/// Output without what names backend, adapter and driver: the first line of CSV, the last lines of
/// a table, and in JSON what stands before the seed.
fn without_backend<'a>(outcome: &'a Outcome, format: &str) -> (&'a str, &'a str) {
    let text = outcome.stdout.as_str();
    let parts = match format {
        "csv" => text.split_once('\n'),
        "json" => text.split_once("\"seed\""),
        _ => text
            .rsplit_once(concat!("\nrankece ", env!("CARGO_PKG_VERSION"), ", "))
            .map(|(rest, named)| (named, rest)),
    };
    parts.expect("output that names its backend")
}

/// Asserts that GPU and CPU print the same. Few resamples: a software adapter is slow.
fn same_bytes(arguments: &str) {
    if !has_adapter() {
        return;
    }
    for format in ["table", "json", "csv"] {
        let run = |backend: &str| {
            let outcome = evaluate(&format!(
                "{arguments} --resamples 19 --format {format} --backend {backend}"
            ))
            .done();
            assert_eq!(outcome.warnings(), [""; 0]);
            outcome
        };
        let (cpu, gpu) = (run("cpu"), run("gpu"));
        let (cpu_named, cpu) = without_backend(&cpu, format);
        let (gpu_named, gpu) = without_backend(&gpu, format);
        assert!(
            cpu_named.contains("cpu") && gpu_named.contains("gpu"),
            "{gpu_named}"
        );
        assert_eq!(cpu, gpu, "{arguments} {format}");
    }
}

const EVERYTHING: &str = "--bins 1,10,sqrt,n/20 --bin-scheme equal-width,equal-mass";

#[test]
fn nfl() {
    same_bytes(&format!("{NFL} {EVERYTHING}"));
    same_bytes(&format!("{NFL} --group-by group --closed left"));
}

#[test]
fn llm_stated() {
    same_bytes(&format!("{LLM_STATED} {EVERYTHING}"));
    same_bytes(&format!("{LLM_STATED} --group-by group,qset --ties random"));
    same_bytes(&format!("{LLM_STATED} --ties stable"));
}

#[test]
fn cifar10_of_both_reductions() {
    same_bytes(&format!("{CIFAR10} {EVERYTHING}"));
    same_bytes(&format!("{CIFAR10} --reduce class-wise"));
}

#[test]
fn flights() {
    same_bytes(&format!("{FLIGHTS} {EVERYTHING}"));
    same_bytes(&format!("{FLIGHTS} --group-by group"));
}

#[test]
fn flights_in_single_precision() {
    same_bytes(&format!("{FLIGHTS_F32} --ties random"));
    same_bytes(&format!("{FLIGHTS_F32} --group-by group"));
}

#[test]
fn several_files_of_several_types() {
    same_bytes(&format!("{NFL} {FLIGHTS_F32} {CIFAR10} {LLM_STATED}"));
}

#[test]
fn without_an_adapter_a_gpu_is_no_choice() {
    evaluate(&format!("{NFL} --backend gpu"))
        .without_adapters()
        .outcome()
        .failed(4, &["--backend gpu", "no GPU adapter", "--backend cpu"]);
    rankece(["selfcheck", "--backend", "gpu"])
        .without_adapters()
        .outcome()
        .failed(4, &["--backend gpu"]);
}

#[test]
fn without_an_adapter_an_adapter_cannot_be_named() {
    evaluate(&format!("{NFL} --adapter 0"))
        .without_adapters()
        .refused(&["--adapter 0", "no adapter"]);
}

#[test]
fn without_an_adapter_auto_is_the_cpu() {
    let alone = evaluate(&format!("{NFL} --format json"))
        .without_adapters()
        .done();
    assert_eq!(alone.json()["backend"], "cpu");
    let cpu = evaluate(&format!("{NFL} --format json --backend cpu")).done();
    assert_eq!(alone.stdout, cpu.stdout);
    let list = rankece(["devices"]).without_adapters().done();
    assert!(list.stdout.contains("--backend auto uses the CPU"));
    assert!(list.stdout.contains("--backend gpu cannot be used"));
}

#[test]
fn a_software_adapter_is_warned_of_and_named() {
    if !has_adapter() {
        return;
    }
    let list = rankece(["devices", "--format", "json"]).done().json();
    for adapter in list["adapters"].as_array().expect("a list") {
        let index = adapter["index"].to_string();
        let name = adapter["name"].as_str().expect("a name");
        let outcome = evaluate(&format!("{NFL} --format json --adapter {index}")).done();
        assert_eq!(outcome.json()["backend"], "gpu");
        assert_eq!(outcome.json()["adapter"]["name"], *name);
        assert_eq!(outcome.json()["adapter"]["type"], adapter["type"]);
        let software = adapter["type"] == "cpu";
        assert_eq!(outcome.stderr.contains(" is software on the CPU"), software);
        let quiet = evaluate(&format!("{NFL} --quiet --adapter {index}")).done();
        assert_eq!(quiet.stderr, "");
    }
}

/// Runs with this fault after 0, 1, 2, … submissions, until the device gets through without it.
/// Each must end with the CPU's numbers and a warning, or with status 4 and an error that says
/// `what`.
fn every_moment(fault: &str, what: &str) {
    if !has_adapter() {
        return;
    }
    let expected = evaluate(&format!("{NFL} --format csv --backend cpu")).done();
    let (_, expected) = without_backend(&expected, "csv");
    let (mut refused, mut recovered) = (0, 0);
    for after in 0..200 {
        let outcome = evaluate(&format!("{NFL} --format csv --backend gpu"))
            .environment("RANKECE_FAULT", &format!("{fault}:{after}"))
            .outcome();
        if outcome.status == 4 {
            outcome.failed(4, &["cannot be used", what, "--backend cpu"]);
            refused += 1;
            continue;
        }
        assert_eq!(outcome.status, 0, "{fault}:{after} {}", outcome.stderr);
        let (named, numbers) = without_backend(&outcome, "csv");
        assert_eq!(numbers, expected, "{fault}:{after}");
        if named.starts_with("# backend gpu") {
            assert_eq!(outcome.warnings(), [""; 0]);
            // The check of the device is refused, what follows it is recovered from.
            assert!(refused > 0 && recovered > 0, "{refused} {recovered}");
            return;
        }
        assert_eq!(named, "# backend cpu");
        let warnings = outcome.warnings();
        assert_eq!(warnings.len(), 1, "{fault}:{after} {}", outcome.stderr);
        assert!(warnings[0].contains(what) && warnings[0].contains("the CPU took over"));
        recovered += 1;
    }
    panic!("200 submissions and no end");
}

#[test]
fn lost_at_every_moment() {
    every_moment("lost", "the device was lost");
}

#[test]
fn out_of_memory_at_every_moment() {
    every_moment("memory", "out of memory");
}

#[test]
fn timeout_at_every_moment() {
    every_moment("timeout", "did not finish");
}

/// A device that is wrong from the start is found out by its own check. One that becomes wrong
/// later cannot be: nothing says so.
#[test]
fn wrong_from_the_start() {
    if !has_adapter() {
        return;
    }
    for command in [
        vec!["evaluate", NFL, "--backend", "gpu"],
        vec!["selfcheck", "--backend", "gpu"],
    ] {
        rankece(command)
            .environment("RANKECE_FAULT", "wrong:0")
            .outcome()
            .failed(4, &["wrong numbers", "--backend cpu"]);
    }
}

#[test]
fn a_device_that_fails_under_another_file_goes_on_with_all_of_them() {
    if !has_adapter() {
        return;
    }
    // Files of different types are batches of their own: what comes after the loss is computed too.
    let arguments = format!("{NFL} {FLIGHTS_F32} --resamples 19 --format json");
    let expected = evaluate(&format!("{arguments} --backend cpu")).done();
    let mut recovered = 0;
    for after in (16..200).step_by(7) {
        let outcome = evaluate(&format!("{arguments} --backend gpu"))
            .environment("RANKECE_FAULT", &format!("lost:{after}"))
            .done();
        if outcome.json()["backend"] == "gpu" {
            break;
        }
        assert_eq!(outcome.stdout, expected.stdout);
        assert_eq!(outcome.warnings().len(), 1, "{}", outcome.stderr);
        recovered += 1;
    }
    assert!(recovered >= 5, "{recovered}");
}

#[test]
fn selfcheck_passes() {
    let cpu = rankece(["selfcheck", "--backend", "cpu"]).done();
    assert!(cpu.stdout.starts_with("pass: "), "{}", cpu.stdout);
    if has_adapter() {
        let gpu = rankece(["selfcheck", "--backend", "gpu"]).done();
        assert!(gpu.stdout.starts_with("pass: "), "{}", gpu.stdout);
        assert!(gpu.stdout.contains("the same bits"));
    }
}

#[test]
fn devices_are_listed_with_their_limits() {
    let list = rankece(["devices", "--format", "json"]).done().json();
    assert_eq!(list["schema"], 1);
    let table = rankece(["devices"]).done();
    for adapter in list["adapters"].as_array().expect("a list") {
        assert!(
            table
                .stdout
                .contains(adapter["name"].as_str().expect("a name"))
        );
        assert!(adapter["limits"]["rows_f32"].as_u64() > adapter["limits"]["rows_f64"].as_u64());
    }
}
