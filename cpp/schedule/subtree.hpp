// A rank's subtree in the in-order binomial tree: a range of ranks, counted from the root on.
#pragma once

#include <algorithm>

#include "schedule.hpp"
#include "trees.hpp"

namespace hockney {

struct Subtree {
    Subtree(const Problem& p, int rank)
        : tree(binomial_tree_in_order(p.ranks, p.root, rank)),
          first(Shift(p.ranks, p.root).of(rank)),
          end(first == 0 ? p.ranks : std::min(first + (first & -first), p.ranks)),
          to_last_rank(p.ranks - rank) {}

    int size() const { return end - first; }
    // Whether the ranks go past the last one, and how many come before that.
    bool wraps() const { return size() > to_last_rank; }
    int before_wrap() const { return std::min(size(), to_last_rank); }

    Tree tree;
    int first, end;
    int to_last_rank;
};

}  // namespace hockney
