// Spanning trees over the ranks, with the shapes and the order of children of Open MPI's coll/base (topology
// builders in coll_base_topo.c); written from their description, so that counts can be compared.
#pragma once

#include <vector>

namespace hockney {

// Ranks counted from the root on.
class Shift {
  public:
    Shift(int ranks, int root) : ranks_(ranks), root_(root) {}
    int of(int rank) const { return rank < root_ ? rank - root_ + ranks_ : rank - root_; }
    int back(int shifted) const {
        const int rank = shifted + root_;
        return rank < ranks_ ? rank : rank - ranks_;
    }

  private:
    int ranks_, root_;
};

// A rank's place in a tree; children in the order in which they are served.
struct Tree {
    int parent = -1;  // −1: the root
    std::vector<int> children;

    // TooLarge where a rank serves more children than its schedule can have steps.
    void add(int child);
};

// The root serves everybody.
Tree flat_tree(int ranks, int root, int rank);
// The other ranks in `fanout` chains of consecutive ranks, the first ones longer by one where they differ.
Tree chain_tree(int ranks, int root, int rank, int fanout);
// All ranks one after another: one chain.
Tree path_tree(int ranks, int root, int rank);
// Complete tree of out-degree 2, filled level by level: a node of level l has the children v + 2^l and v +
// 2^(l+1).
Tree binary_tree(int ranks, int root, int rank);
// v has the children v + 2^k for every 2^k > v; the first child heads the largest subtree.
Tree binomial_tree(int ranks, int root, int rank);
// v has the children v + 2^k below its lowest set bit, so that every subtree is a range of ranks.
Tree binomial_tree_in_order(int ranks, int root, int rank);
// The first of a range of ranks keeps its first half and hands the rest to the first rank of the second half,
// rank + ⌊n/2⌋ of n, and so on in both halves.
Tree halving_tree(int ranks, int root, int rank);
// As binomial_tree_in_order, in base `radix`, farthest children first.
Tree knomial_tree(int ranks, int root, int rank, int radix);

// ⌈log₂ n⌉ for n ≥ 1.
int ceil_log2(int n);

}  // namespace hockney
