// Tied runs of a replicate of an empirical law. The kernel binds `score_runs` and defines
// word_at(base, row), the sorted uniform word of a row of the replicate that begins at `base`.

#import model
#import terms

#ifdef EMPIRICAL
// The tied run that begins at `row`.
fn run_at(params: Params, replicate: u32, base: u32, row: u32) -> Run {
    let index = score_index(params, word_at(base, row));
    let confidence = quantile[index];
    let chance = response_q30(params, confidence);
    let number = score_runs[index];
    var end = row;
    var positives = 0u;
    while end < params.rows && score_runs[score_index(params, word_at(base, end))] == number {
        let label = threefry(params.key, vec2<u32>(end, replicate)).y;
        positives += u32((label >> 2u) < chance);
        end++;
    }
    return Run(row, confidence, end - row, positives);
}

fn begins_run(params: Params, base: u32, row: u32) -> bool {
    if row == 0u {
        return true;
    }
    return score_runs[score_index(params, word_at(base, row))]
        != score_runs[score_index(params, word_at(base, row - 1u))];
}
#endif
