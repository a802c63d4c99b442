// Broadcasts down a tree: the root's message, or its segments, go from parent to children.
#include "bcast.hpp"

namespace hockney::bcast_trees {
namespace {

template <Tree (*tree)(int ranks, int root, int rank)>
void down(const Problem& p, int rank, Builder& builder) {
    pass_down(p, tree(p.ranks, p.root, rank), builder);
}

template <Tree (*tree)(int ranks, int root, int rank, int radix)>
void down(const Problem& p, int rank, Builder& builder) {
    pass_down(p, tree(p.ranks, p.root, rank, p.radix), builder);
}

// Down one chain by calls that block: a rank takes a segment, hands it on, and only then asks for the next.
void one_at_a_time(const Problem& p, int rank, Builder& builder) {
    const Tree tree = path_tree(p.ranks, p.root, rank);
    const Region message = builder.output(0, p.bytes);
    const Pieces segments = Pieces::segments(p.bytes, p.segment_B, p.element_B);
    int done = Builder::none;
    for (int segment = 0; segment < segments.count(); ++segment) {
        const Region piece = segments.of(message, segment);
        if (tree.parent >= 0) done = builder.receive(tree.parent, piece, {done});
        for (const int child : tree.children) done = builder.send(child, piece, {done});
    }
}

Algorithm bcast(const char* name, Generator generate) {
    return Algorithm("bcast", name, generate).one_block();
}

// The root sends to everybody, all at once (Open MPI coll/base bcast_intra_basic_linear).
const Register linear(bcast("linear", down<flat_tree>).grows(Growth::per_rank));

// One chain through all ranks; S segments take P − 2 + S rounds (Open MPI coll/base
// bcast_intra_pipeline).
const Register pipeline(bcast("pipeline", down<path_tree>).segmented().grows(Growth::per_rank));

// The same with MPI_Recv and MPI_Send in turn. A send that waits for its receive keeps a rank from receiving:
// 2 (S − 1) + P − 1 rounds (MPICH bcast_intra_pipelined_tree, chain, with MPIR_CVAR_BCAST_IS_NON_BLOCKING=0).
// It never beats the pipeline, and ties with it where sends are eager: no choice.
const Register blocking(
    bcast("blocking_pipeline", one_at_a_time).segmented().grows(Growth::per_rank).to_teach());

// `radix` chains of consecutive ranks hang on the root; segments follow one another along them (Open MPI
// coll/base bcast_intra_chain).
const Register chain(bcast("chain", down<chain_tree>).segmented().radix(4, 1));

// Segments down a complete tree of out-degree 2 (Open MPI coll/base bcast_intra_bintree).
const Register binary(bcast("binary", down<binary_tree>).segmented());

// ⌈log₂P⌉ rounds, each rank that has the message passes it on in every later round; segments follow one
// another down the tree (Open MPI coll/base bcast_intra_binomial).
const Register binomial(bcast("binomial", down<binomial_tree>).segmented().grows(Growth::per_doubling));

// A tree over the digits of the rank in base `radix`, radix − 1 messages on each of ⌈log P⌉ levels (Open MPI
// coll/base bcast_intra_knomial).
const Register knomial(bcast("knomial", down<knomial_tree>).segmented().radix(4, 2));

// The owner of a range of ranks hands the second half to its first rank; ⌈log₂P⌉ rounds.
const Register halved(bcast("halving_tree", down<halving_tree>).grows(Growth::per_doubling));

// The same with the message cut into segments, so that a rank passes a segment on while the next one arrives.
const Register pipelined(bcast("pipelined_tree", down<halving_tree>).segmented().grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::bcast_trees
