// bcast halving_tree: the owner of a range of ranks hands the second half to its first rank; ⌈log₂P⌉ rounds
// (document 002, section 4, "tree topology").
#include "bcast.hpp"

namespace hockney::bcast_halving_tree {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, halving_tree(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("bcast", "halving_tree", generate).one_block());

}  // namespace
}  // namespace hockney::bcast_halving_tree
