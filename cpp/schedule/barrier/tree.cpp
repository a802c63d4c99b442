// barrier tree: reports go up a binomial tree to rank 0 and the release comes down again; 2⌈log₂P⌉ rounds
// (Open MPI coll/base barrier_intra_tree).
#include "../schedule.hpp"
#include "../trees.hpp"

namespace hockney::barrier_tree {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    const Tree tree = binomial_tree_in_order(p.ranks, 0, rank);
    std::vector<int> heard;
    for (const int child : tree.children) heard.push_back(builder.await(child, heard));
    if (tree.parent >= 0) {
        heard.push_back(builder.signal(tree.parent, heard));
        heard.push_back(builder.await(tree.parent, heard));
    }
    for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child)
        builder.signal(*child, heard);
}

const Register registered(Algorithm("barrier", "tree", generate).grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::barrier_tree
