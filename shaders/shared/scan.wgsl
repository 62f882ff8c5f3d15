// Scans over the 256 threads of a workgroup. With SUBGROUP, inside subgroups first; the host defines
// SUBGROUP only where all subgroups have one size and a self-test passed.

const THREADS: u32 = 256u;

var<workgroup> scan_words: array<u32, 256>;

#ifdef SUBGROUP
// Sums of the threads before this one, and of all of them in `scan_total`.
fn workgroup_exclusive_scan(value: u32, thread: u32, lane: u32, lanes: u32) -> u32 {
    let inside = subgroupExclusiveAdd(value);
    let subgroup = thread / lanes;
    if lane == lanes - 1u {
        scan_words[subgroup] = inside + value;
    }
    workgroupBarrier();
    let subgroups = THREADS / lanes;
    // At least four lanes make at most 64 subgroups; one thread adds up what is left.
    if thread == 0u {
        var sum = 0u;
        for (var s = 0u; s < subgroups; s++) {
            let next = scan_words[s];
            scan_words[s] = sum;
            sum += next;
        }
        scan_total = sum;
    }
    workgroupBarrier();
    let before = scan_words[subgroup] + inside;
    workgroupBarrier();
    return before;
}
#else
fn workgroup_exclusive_scan(value: u32, thread: u32, lane: u32, lanes: u32) -> u32 {
    var sum = value;
    scan_words[thread] = sum;
    workgroupBarrier();
    for (var step = 1u; step < THREADS; step *= 2u) {
        var before = 0u;
        if thread >= step {
            before = scan_words[thread - step];
        }
        workgroupBarrier();
        sum += before;
        scan_words[thread] = sum;
        workgroupBarrier();
    }
    if thread == THREADS - 1u {
        scan_total = sum;
    }
    workgroupBarrier();
    return sum - value;
}
#endif

var<workgroup> scan_total: u32;
