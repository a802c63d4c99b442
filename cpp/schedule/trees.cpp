#include "trees.hpp"

#include <algorithm>

#include "schedule.hpp"

namespace hockney {

void Tree::add(int child) {
    expect_held((static_cast<Bytes>(children.size()) + 1) * static_cast<Bytes>(sizeof(Step)));
    children.push_back(child);
}

Tree flat_tree(int ranks, int root, int rank) {
    const Shift shifted(ranks, root);
    Tree tree;
    if (rank != root) {
        tree.parent = root;
    } else {
        for (int v = 1; v < ranks; ++v) tree.add(shifted.back(v));
    }
    return tree;
}

Tree chain_tree(int ranks, int root, int rank, int fanout) {
    const Shift shifted(ranks, root);
    const int v = shifted.of(rank), others = ranks - 1;
    const int chains = std::min(fanout, others);
    Tree tree;
    int first = 1;
    for (int chain = 0; chain < chains; ++chain) {
        const int length = others / chains + (chain < others % chains ? 1 : 0);
        if (v == 0) tree.add(shifted.back(first));
        if (v >= first && v < first + length) {
            tree.parent = shifted.back(v == first ? 0 : v - 1);
            if (v + 1 < first + length) tree.add(shifted.back(v + 1));
        }
        first += length;
    }
    return tree;
}

Tree path_tree(int ranks, int root, int rank) { return chain_tree(ranks, root, rank, 1); }

Tree binary_tree(int ranks, int root, int rank) {
    const Shift shifted(ranks, root);
    const int v = shifted.of(rank);
    int width = 1, first = 0;  // of the level that v is on
    while (v >= first + width) {
        first += width;
        width *= 2;
    }
    Tree tree;
    for (const long child : {v + long{width}, v + 2L * width})
        if (child < ranks) tree.add(shifted.back(static_cast<int>(child)));
    if (v > 0) {
        // The parent lies one level up: its first child is v, or its second is.
        const int above = v - width / 2;
        tree.parent = shifted.back(above < first ? above : above - width / 2);
    }
    return tree;
}

Tree binomial_tree(int ranks, int root, int rank) {
    const Shift shifted(ranks, root);
    const int v = shifted.of(rank);
    int bit = 1;
    while (bit <= v) bit *= 2;
    Tree tree;
    if (v > 0) tree.parent = shifted.back(v - bit / 2);
    for (; v + bit < ranks; bit *= 2) tree.add(shifted.back(v + bit));
    return tree;
}

Tree binomial_tree_in_order(int ranks, int root, int rank) {
    const Shift shifted(ranks, root);
    const int v = shifted.of(rank);
    Tree tree;
    for (int bit = 1; bit < ranks; bit *= 2) {
        if ((v & bit) != 0) {
            tree.parent = shifted.back(v - bit);
            break;
        }
        if (v + bit < ranks) tree.add(shifted.back(v + bit));
    }
    return tree;
}

Tree halving_tree(int ranks, int root, int rank) {
    const Shift shifted(ranks, root);
    const int v = shifted.of(rank);
    Tree tree;
    for (int first = 0, last = ranks - 1; first != last;) {
        const int middle = first + (last - first + 1) / 2;
        if (v == first) tree.add(shifted.back(middle));
        if (v == middle) tree.parent = shifted.back(first);
        if (v < middle)
            last = middle - 1;
        else
            first = middle;
    }
    return tree;
}

Tree knomial_tree(int ranks, int root, int rank, int radix) {
    const Shift shifted(ranks, root);
    const int v = shifted.of(rank);
    Tree tree;
    long step = 1;
    while (step < ranks && v % (radix * step) == 0) step *= radix;
    if (step < ranks) tree.parent = shifted.back(static_cast<int>(v / (radix * step) * (radix * step)));
    for (step /= radix; step > 0; step /= radix)
        for (int digit = 1; digit < radix && v + digit * step < ranks; ++digit)
            tree.add(shifted.back(static_cast<int>(v + digit * step)));
    return tree;
}

int ceil_log2(int n) {
    int exponent = 0;
    while ((1L << exponent) < n) ++exponent;
    return exponent;
}

}  // namespace hockney
