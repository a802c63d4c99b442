// bcast pipelined_tree: the halving tree with the message cut into segments, so that a rank passes a segment
// on while the next one arrives: what document 002 calls hyper mode and left undone.
#include "bcast.hpp"

namespace hockney::bcast_pipelined_tree {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    pass_down(p, halving_tree(p.ranks, p.root, rank), builder);
}

const Register registered(Algorithm("bcast", "pipelined_tree", generate).segmented().one_block());

}  // namespace
}  // namespace hockney::bcast_pipelined_tree
