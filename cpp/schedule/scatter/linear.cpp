// scatter linear: the root sends to one rank after another, each message after the one before (Open MPI
// coll/base scatter_intra_basic_linear).
#include "scatter.hpp"

namespace hockney::scatter_linear {
namespace {

void generate(const Problem& p, int rank, Builder& builder) { scatter_from_root(p, rank, true, builder); }

const Register registered(Algorithm("scatter", "linear", generate));

}  // namespace
}  // namespace hockney::scatter_linear
