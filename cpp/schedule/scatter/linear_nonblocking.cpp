// scatter linear_nonblocking: the root starts all its messages at once (Open MPI coll/base
// scatter_intra_linear_nb).
#include "scatter.hpp"

namespace hockney::scatter_linear_nonblocking {
namespace {

void generate(const Problem& p, int rank, Builder& builder) { scatter_from_root(p, rank, false, builder); }

const Register registered(Algorithm("scatter", "linear_nonblocking", generate));

}  // namespace
}  // namespace hockney::scatter_linear_nonblocking
