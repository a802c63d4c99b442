// alltoall bruck: in round k all blocks whose distance to their target has bit k set travel together to rank
// + 2^k; ⌈log₂P⌉ rounds, about P/2 blocks in each, with packing and rotations by copies (Bruck et al. 1997;
// Open MPI coll/base alltoall_intra_bruck).
#include "../circulant.hpp"

namespace hockney::alltoall_bruck {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    expect_held(p.ranks / 2 * static_cast<Bytes>(sizeof(Step)));  // a copy for each run of the first round
    const Region in = builder.input(0, p.ranks * p.bytes), out = builder.output(0, p.ranks * p.bytes);
    const Region blocks = builder.scratch(p.ranks * p.bytes);  // by distance to the target
    const Pieces pieces = Pieces::equal(p.ranks, p.bytes);
    const Rotated rotated(pieces, rank, blocks);
    int loaded = rotated.load(in, builder);
    // Of the two copies of the rotation the second waits for the first.
    Steps before{loaded};
    // At most every other distance has a given bit set.
    const Region packed[2] = {builder.scratch(p.ranks / 2 * p.bytes), builder.scratch(p.ranks / 2 * p.bytes)};
    for (int bit = 1; bit < p.ranks; bit *= 2) {
        // Blocks with that bit set come in runs of `bit`.
        std::vector<Span> runs;
        Bytes total_B = 0;
        for (int first = bit; first < p.ranks; first += 2 * bit) {
            runs.push_back(pieces.span(first, std::min(first + bit, p.ranks)));
            total_B += runs.back().length_B;
        }
        const auto copy_runs = [&](bool pack, const Region& memory, const Steps& after) {
            Steps copies;
            Bytes offset_B = 0;
            for (const Span& run : runs) {
                const Region place = part(blocks, run.offset_B, run.length_B);
                const Region dense = part(memory, offset_B, run.length_B);
                copies.push_back(pack ? builder.copy(place, dense, after)
                                      : builder.copy(dense, place, after));
                offset_B += run.length_B;
            }
            return copies;
        };
        Steps ready = copy_runs(true, packed[0], before);
        const int to = (rank + bit) % p.ranks, from = (rank - bit + p.ranks) % p.ranks;
        const int arrived = builder.receive(from, part(packed[1], 0, total_B), before);
        const int sent = builder.send(to, part(packed[0], 0, total_B), ready);
        ready.push_back(arrived);
        before = copy_runs(false, packed[1], ready);
        before.push_back(sent);
    }
    for (int distance = 0; distance < p.ranks; ++distance)
        builder.copy(pieces.of(blocks, distance), pieces.of(out, (rank - distance + p.ranks) % p.ranks),
                     before);
}

const Register registered(Algorithm("alltoall", "bruck", generate).alike(Likeness::shift).but_for_copies());

}  // namespace
}  // namespace hockney::alltoall_bruck
