// Reductions up a tree: partial results, or segments of them, go from children to parent.
#include "reduce.hpp"

namespace hockney::reduce_trees {
namespace {

template <Tree (*tree)(int ranks, int root, int rank)>
void up(const Problem& p, int rank, Builder& builder) {
    pass_up(p, tree(p.ranks, p.root, rank), builder);
}

template <Tree (*tree)(int ranks, int root, int rank, int radix)>
void up(const Problem& p, int rank, Builder& builder) {
    pass_up(p, tree(p.ranks, p.root, rank, p.radix), builder);
}

Algorithm reduce(const char* name, Generator generate) {
    return Algorithm("reduce", name, generate).segmented();
}

// One chain through all ranks to the root (Open MPI coll/base reduce_intra_pipeline).
const Register pipeline(reduce("pipeline", up<path_tree>).ordered_from_root().grows(Growth::per_rank));

// `radix` chains of consecutive ranks end at the root; segments follow one another along them (Open MPI
// coll/base reduce_intra_chain).
const Register chain(reduce("chain", up<chain_tree>).radix(4, 1).ordered_from_root());

// Up a complete tree of out-degree 2 (Open MPI coll/base reduce_intra_binary).
const Register binary(reduce("binary", up<binary_tree>));

// Up a binomial tree whose subtrees are ranges of ranks, ⌈log₂P⌉ rounds (Open MPI coll/base
// reduce_intra_binomial).
const Register binomial(
    reduce("binomial", up<binomial_tree_in_order>).ordered_from_root().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::reduce_trees
