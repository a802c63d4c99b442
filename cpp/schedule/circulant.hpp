// What the circulant algorithms share (Träff, arXiv 2407.18004 and 2410.14234).
#pragma once

#include <vector>

#include "pieces.hpp"
#include "schedule.hpp"

namespace hockney {

// skip[q] = P with q = ⌈log₂P⌉, skip[k] = ⌈skip[k+1] / 2⌉ down to skip[0] = 1. One entry, {1}, for one rank.
std::vector<int> circulant_skips(int ranks);

// A vector of one block for each rank, stored from this rank's block on and round to the one before it.
class Rotated {
  public:
    Rotated(const Pieces& blocks, int rank, const Region& memory)
        : blocks_(blocks), rank_(rank), memory_(memory) {}

    // Blocks rank + first to before rank + last.
    Region of(int first, int last) const {
        return part(memory_, offset_B(first), offset_B(last) - offset_B(first));
    }
    Bytes total_B() const { return blocks_.span_B(0, blocks_.count()); }
    // Between this order and the blocks' own, in two copies.
    int load(const Region& vector, Builder& builder) const;
    void store(const Region& vector, const std::vector<int>& after, Builder& builder) const;

  private:
    Bytes offset_B(int place) const {
        const int whole = (rank_ + place) / blocks_.count();
        return blocks_.offset_B((rank_ + place) % blocks_.count()) + whole * total_B() -
               blocks_.offset_B(rank_);
    }

    Pieces blocks_;
    int rank_;
    Region memory_;
};

// Afterwards block 0 of `vector` is reduced over all ranks: ⌈log₂P⌉ rounds, P − 1 blocks sent. Returns the
// steps after which it is complete and the other blocks may be overwritten; `loaded`: the step after which
// the vector holds the rank's own contributions.
std::vector<int> circulant_reduce_scatter(const Problem& problem, int rank, const Rotated& vector, int loaded,
                                          Builder& builder);

// From block 0 of every rank's `vector` to all blocks on all ranks: ⌈log₂P⌉ rounds, P − 1 blocks sent.
// Returns the steps after which all of it is there.
std::vector<int> circulant_allgather(const Problem& problem, int rank, const Rotated& vector,
                                     const std::vector<int>& loaded, Builder& builder);

}  // namespace hockney
