// Allreduces round a ring: a reduce-scatter and an allgather, 2(P − 1) rounds, twice (P − 1)/P of the vector
// per rank.
#include <deque>

#include "../pieces.hpp"
#include "../schedule.hpp"

namespace hockney::allreduce_ring {
namespace {

// One block for each rank goes round the ring and is added to at each stop, in segments or whole; then the
// finished blocks go round once more.
void generate(const Problem& p, int rank, Builder& builder) {
    const Region result = builder.output(0, p.bytes);
    const Pieces blocks = Pieces::blocks(p.bytes, p.ranks, p.element_B);
    const int next = (rank + 1) % p.ranks, previous = (rank - 1 + p.ranks) % p.ranks;
    const int loaded = builder.copy(builder.input(0, p.bytes), result);
    const auto segments_of = [&](int block) {
        return Pieces::segments(blocks.length_B(block), p.segment_B, p.element_B);
    };
    const auto given_in = [&](int step) { return (rank - step + p.ranks) % p.ranks; };
    const auto taken_in = [&](int step) { return given_in(step + 1); };
    // The first block is the largest. Two buffers in turn: one is added while the other receives.
    const Region buffers[2] = {builder.scratch(blocks.length_B(0)), builder.scratch(blocks.length_B(0))};
    const auto most = static_cast<std::size_t>(segments_of(0).count());
    std::vector<int> used[2] = {std::vector<int>(most, Builder::none), std::vector<int>(most, Builder::none)};
    std::vector<int> valid(most, loaded);  // of each segment of the block to be given next
    expect_held(p.ranks * static_cast<Bytes>(sizeof(std::vector<int>)));
    std::vector<std::vector<int>> given(static_cast<std::size_t>(p.ranks));  // the sends of each block
    // The next receive is posted before what has arrived is added.
    std::deque<int> arriving;
    int ahead_step = 0, ahead_segment = 0;
    const auto receive_ahead = [&] {
        if (ahead_step >= p.ranks - 1) return;
        const Pieces segments = segments_of(taken_in(ahead_step));
        arriving.push_back(builder.receive(previous, segments.of(buffers[ahead_step % 2], ahead_segment),
                                           {used[ahead_step % 2][static_cast<std::size_t>(ahead_segment)]}));
        if (++ahead_segment == segments.count()) ahead_segment = 0, ++ahead_step;
    };
    receive_ahead();
    for (int step = 0; step < p.ranks - 1; ++step) {
        const int give = given_in(step), take = taken_in(step);
        const Pieces giving = segments_of(give), taking = segments_of(take);
        const Region& buffer = buffers[step % 2];
        std::vector<int> sums(most, loaded);
        for (int segment = 0; segment < std::max(giving.count(), taking.count()); ++segment) {
            const auto s = static_cast<std::size_t>(segment);
            int arrived = Builder::none;
            if (segment < taking.count()) {
                receive_ahead();
                arrived = arriving.front();
                arriving.pop_front();
            }
            if (segment < giving.count())
                given[static_cast<std::size_t>(give)].push_back(
                    builder.send(next, giving.of(blocks.of(result, give), segment), {valid[s]}));
            if (arrived == Builder::none) continue;  // an empty block
            sums[s] = used[step % 2][s] = builder.reduce(
                taking.of(buffer, segment), taking.of(blocks.of(result, take), segment), {arrived, loaded});
        }
        valid = sums;
    }
    // Whole blocks now; a finished one replaces the partial one that has been given away.
    std::vector<int> have = valid;
    for (int step = 0; step < p.ranks - 1; ++step) {
        const int give = given_in(step - 1), take = taken_in(step - 1);
        const int arrived =
            builder.receive(previous, blocks.of(result, take), given[static_cast<std::size_t>(take)]);
        builder.send(next, blocks.of(result, give), have);
        have = {arrived};
    }
}

Algorithm ring(const char* name) {
    return Algorithm("allreduce", name, generate).alike(Likeness::shift).divided().grows(Growth::per_rank);
}

// In whole blocks (Patarasuk and Yuan 2009; Open MPI coll/base allreduce_intra_ring).
const Register whole(ring("ring"));

// In the reduce-scatter each block goes round in segments, so that a segment is added while the next one
// arrives (Open MPI coll/base allreduce_intra_ring_segmented).
const Register segmented(ring("segmented_ring").segmented());

}  // namespace
}  // namespace hockney::allreduce_ring
