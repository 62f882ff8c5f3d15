// Bitonic sort in the memory of a workgroup of 256 threads. The host defines CAPACITY, a power of two.

const THREADS: u32 = 256u;

var<workgroup> words: array<u32, CAPACITY>;

// Sorts the first `count` words, a power of two up to CAPACITY and the same for all threads.
fn bitonic_sort(count: u32, thread: u32) {
    workgroupBarrier();
    for (var size = 2u; size <= count; size *= 2u) {
        for (var stride = size / 2u; stride > 0u; stride /= 2u) {
            for (var pair = thread; pair < count / 2u; pair += THREADS) {
                let low = 2u * stride * (pair / stride) + pair % stride;
                let high = low + stride;
                let a = words[low];
                let b = words[high];
                if (a > b) == ((low & size) == 0u) {
                    words[low] = b;
                    words[high] = a;
                }
            }
            workgroupBarrier();
        }
    }
}
