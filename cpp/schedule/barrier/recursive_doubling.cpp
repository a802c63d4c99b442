// barrier recursive_doubling: ranks whose numbers differ in one bit signal each other; the ranks beyond the
// largest power of two report to a partner first and are released by it last. The partner leaves when its
// guest has heard: Open MPI sends that message synchronously (coll/base barrier_intra_recursivedoubling),
// which is an acknowledgement here.
#include "../schedule.hpp"

namespace hockney::barrier_recursive_doubling {
namespace {

void generate(const Problem& p, int rank, Builder& builder) {
    int power = 1;
    while (power <= p.ranks / 2) power *= 2;
    if (rank >= power) {
        const int reported = builder.signal(rank - power);
        builder.signal(rank - power, {builder.await(rank - power, {reported})});
        return;
    }
    const bool has_guest = rank + power < p.ranks;
    int heard = has_guest ? builder.await(rank + power) : Builder::none;
    for (int bit = 1; bit < power; bit *= 2) {
        const int before = heard;
        heard = builder.await(rank ^ bit, {before});
        builder.signal(rank ^ bit, {before});
    }
    if (has_guest) builder.await(rank + power, {builder.signal(rank + power, {heard})});
}

const Register registered(Algorithm("barrier", "recursive_doubling", generate)
                              .alike(Likeness::exclusive_or)
                              .grows(Growth::per_doubling));

}  // namespace
}  // namespace hockney::barrier_recursive_doubling
