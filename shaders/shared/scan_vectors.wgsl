// Scans of four numbers side by side over the 256 threads of a workgroup. With SUBGROUP as in scan.wgsl.

const THREADS: u32 = 256u;

var<workgroup> scanned_vectors: array<vec4<u32>, 256>;
// The sums of all threads, after a scan, until the next barrier.
var<workgroup> vectors_total: vec4<u32>;

#ifdef SUBGROUP
// Sums of the threads before this one, and of all of them in `vectors_total`.
fn scan_vectors(value: vec4<u32>, thread: u32, lane: u32, lanes: u32) -> vec4<u32> {
    let inside = subgroupExclusiveAdd(value);
    let subgroup = thread / lanes;
    if lane == lanes - 1u {
        scanned_vectors[subgroup] = inside + value;
    }
    workgroupBarrier();
    let subgroups = THREADS / lanes;
    // At least four lanes make at most 64 subgroups; one thread adds up what is left.
    if thread == 0u {
        var sum = vec4<u32>(0u);
        for (var s = 0u; s < subgroups; s++) {
            let next = scanned_vectors[s];
            scanned_vectors[s] = sum;
            sum += next;
        }
        vectors_total = sum;
    }
    workgroupBarrier();
    return scanned_vectors[subgroup] + inside;
}
#else
fn scan_vectors(value: vec4<u32>, thread: u32, lane: u32, lanes: u32) -> vec4<u32> {
    var sum = value;
    scanned_vectors[thread] = sum;
    workgroupBarrier();
    for (var step = 1u; step < THREADS; step *= 2u) {
        var before = vec4<u32>(0u);
        if thread >= step {
            before = scanned_vectors[thread - step];
        }
        workgroupBarrier();
        sum += before;
        scanned_vectors[thread] = sum;
        workgroupBarrier();
    }
    if thread == THREADS - 1u {
        vectors_total = sum;
    }
    workgroupBarrier();
    return sum - value;
}
#endif
