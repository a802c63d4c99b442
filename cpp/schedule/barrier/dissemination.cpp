// barrier dissemination: in round k every rank signals rank + 2^k; ⌈log₂P⌉ rounds for any P (Hensgen, Finkel
// and Manber 1988; Open MPI calls it bruck).
#include "../schedule.hpp"

namespace hockney::barrier_dissemination {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    int heard = Builder::none;
    for (int distance = 1; distance < p.ranks; distance *= 2) {
        builder.signal((rank + distance) % p.ranks, {heard});
        heard = builder.await((rank - distance + p.ranks) % p.ranks, {heard});
    }
}

const Register registered(
    Algorithm("barrier", "dissemination", generate).alike(Likeness::shift).grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::barrier_dissemination
