// Sorts words that are spread evenly, in the memory of a workgroup of 256 threads. The host defines
// CAPACITY, a power of two of at least 256, and BUCKETS; the kernel defines bucket_of(params, word),
// below BUCKETS and never less for a larger word.
//
// Words go to their bucket, and within it to their rank, which is counted. Where words are even this is
// a few reads for each; however they are spread, the result is sorted.

#import dispatch
#import scan

// Words of a thread at most.
const PER_THREAD: u32 = CAPACITY / THREADS;
const BUCKETS_PER_THREAD: u32 = BUCKETS / THREADS;

var<workgroup> words: array<u32, CAPACITY>;
// How many words a bucket has, then where it begins.
var<workgroup> buckets: array<atomic<u32>, BUCKETS>;

fn bucket_end(bucket: u32, count: u32) -> u32 {
    if bucket + 1u == BUCKETS {
        return count;
    }
    return atomicLoad(&buckets[bucket + 1u]);
}

// Leaves in `words` the first `count` of the workgroup's words, sorted; word `thread + 256 i` of the
// workgroup is own[i] of its thread.
fn even_sort(
    params: Params,
    own: ptr<function, array<u32, PER_THREAD>>,
    count: u32,
    thread: u32,
    lane: u32,
    lanes: u32,
) {
    for (var bucket = thread; bucket < BUCKETS; bucket += THREADS) {
        atomicStore(&buckets[bucket], 0u);
    }
    workgroupBarrier();
    // The number of words that came to the bucket before; later the place in `words`.
    var place: array<u32, PER_THREAD>;
    for (var i = 0u; i < PER_THREAD; i++) {
        if i * THREADS + thread < count {
            place[i] = atomicAdd(&buckets[bucket_of(params, (*own)[i])], 1u);
        }
    }
    workgroupBarrier();
    var size = 0u;
    for (var i = 0u; i < BUCKETS_PER_THREAD; i++) {
        size += atomicLoad(&buckets[thread * BUCKETS_PER_THREAD + i]);
    }
    var start = workgroup_exclusive_scan(size, thread, lane, lanes);
    for (var i = 0u; i < BUCKETS_PER_THREAD; i++) {
        let bucket = thread * BUCKETS_PER_THREAD + i;
        size = atomicLoad(&buckets[bucket]);
        atomicStore(&buckets[bucket], start);
        start += size;
    }
    workgroupBarrier();
    for (var i = 0u; i < PER_THREAD; i++) {
        if i * THREADS + thread < count {
            let word = (*own)[i];
            place[i] += atomicLoad(&buckets[bucket_of(params, word)]);
            words[place[i]] = word;
        }
    }
    workgroupBarrier();
    for (var i = 0u; i < PER_THREAD; i++) {
        if i * THREADS + thread < count {
            let word = (*own)[i];
            let bucket = bucket_of(params, word);
            let first = atomicLoad(&buckets[bucket]);
            let end = bucket_end(bucket, count);
            var rank = first;
            for (var other = first; other < end; other++) {
                let theirs = words[other];
                rank += u32(theirs < word || (theirs == word && other < place[i]));
            }
            place[i] = rank;
        }
    }
    workgroupBarrier();
    for (var i = 0u; i < PER_THREAD; i++) {
        if i * THREADS + thread < count {
            words[place[i]] = (*own)[i];
        }
    }
    workgroupBarrier();
}
