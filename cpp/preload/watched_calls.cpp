// Calls that are watched for a profile, and otherwise passed on at once.
#include "channel.hpp"
#include "layer.hpp"
#include "library.hpp"
#include "types.hpp"
#include "watch.hpp"

namespace hockney {
namespace {

Watched& watched_of(MPI_Comm comm) {
    static Watched& of_none = Watched::of(MPI_COMM_NULL);
    return comm == MPI_COMM_NULL ? of_none : Channel::of(comm).watched();
}

// Of the blocks of all ranks. Between groups there are as many as the other has ranks: unknown.
template <class Number>
Bytes sum_of(const Number counts[], MPI_Datatype type, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || counts == nullptr) return 0;
    const Channel& channel = Channel::of(comm);
    Bytes sum = 0;
    for (int i = 0; !channel.is_inter() && i < channel.ranks(); ++i) sum += counts[i];
    return bytes_of(sum, channel.is_inter() ? MPI_DATATYPE_NULL : type);
}

// Of this rank's block, which lies in the other buffer where it is in place: its count and datatype then mean
// nothing, as some do between groups.
template <class Number>
Bytes own_bytes(const void* own, Number count, MPI_Datatype type, const Number counts[], MPI_Datatype other,
                MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return 0;
    const Channel& channel = Channel::of(comm);
    if (channel.is_inter()) return 0;
    if (own != MPI_IN_PLACE) return bytes_of(count, type);
    return counts == nullptr ? 0 : bytes_of(counts[channel.rank()], other);
}

bool is_watched(const void* returns_to) {
    if (!is_active.load(std::memory_order_relaxed) || !settings().is_watching) return false;
    return library::origin_of(call_site = returns_to) != library::Origin::library;
}

}  // namespace

#define HOCKNEY_WATCH(symbol, name, word, communicator, bytes, parameters, ...)                          \
    extern "C" __attribute__((visibility("default"))) int exported_##symbol parameters __asm__(#symbol); \
    extern "C" __attribute__((visibility("default"))) int exported_##symbol parameters {                 \
        if (!is_watched(__builtin_return_address(0))) return library::name(__VA_ARGS__);                 \
        const Seen seen(watched_of(communicator), #word, call_site, bytes, -1, false);                   \
        return library::name(__VA_ARGS__);                                                               \
    }
#define HOCKNEY_WATCH_BOTH(name, ...)            \
    HOCKNEY_WATCH(MPI_##name, name, __VA_ARGS__) \
    HOCKNEY_WATCH(PMPI_##name, name, __VA_ARGS__)
HOCKNEY_WATCHED(HOCKNEY_WATCH_BOTH, int, int)
HOCKNEY_WATCHED_WITHOUT_COUNTS(HOCKNEY_WATCH_BOTH)
#if MPI_VERSION >= 4
#define HOCKNEY_WATCH_LARGE(name, ...)                   \
    HOCKNEY_WATCH(MPI_##name##_c, name##_c, __VA_ARGS__) \
    HOCKNEY_WATCH(PMPI_##name##_c, name##_c, __VA_ARGS__)
HOCKNEY_WATCHED(HOCKNEY_WATCH_LARGE, MPI_Count, MPI_Aint)
#endif

}  // namespace hockney
