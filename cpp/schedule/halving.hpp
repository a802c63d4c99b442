// What recursive halving and doubling share: the largest power of two of ranks takes part, as "nodes"; the
// ranks too many hand their data to a neighbour first (Thakur, Rabenseifner and Gropp 2005).
#pragma once

#include "schedule.hpp"

namespace hockney {

struct PowerOfTwoGroup {
    explicit PowerOfTwoGroup(int ranks) {
        while (nodes <= ranks / 2) nodes *= 2;
        extra = ranks - nodes;
    }
    // Of the first 2 · extra ranks, an even and the following odd one make a pair.
    bool is_paired(int rank) const { return rank < 2 * extra; }
    int neighbour(int rank) const { return rank ^ 1; }
    int node(int rank) const { return is_paired(rank) ? rank / 2 : rank - extra; }
    // The odd rank of a pair takes part.
    int rank(int node_) const { return node_ < extra ? 2 * node_ + 1 : node_ + extra; }
    // The first rank that a node stands for.
    int first_rank(int node_) const { return node_ < extra ? 2 * node_ : node_ + extra; }

    int nodes = 1, extra = 0;
};

// The even rank of a pair hands its vector over and gets its result last. False for ranks that take part.
inline bool hands_over(const PowerOfTwoGroup& group, int rank, const Region& own, const Region& result,
                       Builder& builder) {
    if (!group.is_paired(rank) || rank % 2 == 1) return false;
    const int handed = builder.send(group.neighbour(rank), own);
    builder.receive(group.neighbour(rank), result, {handed});
    return true;
}

}  // namespace hockney
