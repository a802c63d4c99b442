// What the program calls. Each call becomes words that are the same on all ranks (Asked), from which follows
// whether a schedule or the library's own code runs; whatever is not plainly right goes to the library, which
// says what is wrong with it.
#include <type_traits>

#include "looked.hpp"

namespace hockney {
namespace {

// The library's own call with counts of type Number, an int or what may be larger.
#if MPI_VERSION >= 4
#define HOCKNEY_OWN(name)                           \
    [](auto... arguments) {                         \
        if constexpr (std::is_same_v<Number, int>)  \
            return library::name(arguments...);     \
        else                                        \
            return library::name##_c(arguments...); \
    }
#else
#define HOCKNEY_OWN(name) [](auto... arguments) { return library::name(arguments...); }
#endif

int call_Barrier(MPI_Comm comm) {
    return Looked(Operation::barrier, comm).run([&] { return library::Barrier(comm); });
}

template <class Number>
int call_Bcast(void* buffer, Number count, MPI_Datatype type, int root, MPI_Comm comm) {
    Looked call(Operation::bcast, comm);
    call.rooted(root);
    call.moves(count, type, 1);
    call.takes(buffer, count, type);
    if (call.is_root()) call.keeps();
    return call.run([&] { return HOCKNEY_OWN(Bcast)(buffer, count, type, root, comm); });
}

template <class Number>
int call_Scatter(const void* from, Number count, MPI_Datatype type, void* into, Number into_count,
                 MPI_Datatype into_type, int root, MPI_Comm comm) {
    Looked call(Operation::scatter, comm);
    if (call.rooted(root) && call.is_root()) {
        call.moves(count, type, call.ranks());
        call.gives(from, product(count, call.ranks()), type);
        if (into == MPI_IN_PLACE)
            call.in_place();
        else
            call.takes(into, into_count, into_type);
    } else {
        call.moves(into_count, into_type, call.ranks());
        call.takes(into, into_count, into_type);
    }
    return call.run(
        [&] { return HOCKNEY_OWN(Scatter)(from, count, type, into, into_count, into_type, root, comm); });
}

template <class Number>
int call_Gather(const void* from, Number count, MPI_Datatype type, void* into, Number into_count,
                MPI_Datatype into_type, int root, MPI_Comm comm) {
    Looked call(Operation::gather, comm);
    if (call.rooted(root) && call.is_root()) {
        call.moves(into_count, into_type, call.ranks());
        if (from == MPI_IN_PLACE)
            call.in_place();
        else
            call.gives(from, count, type);
        call.takes(into, product(into_count, call.ranks()), into_type);
    } else {
        call.moves(count, type, call.ranks());
        call.gives(from, count, type);
    }
    return call.run(
        [&] { return HOCKNEY_OWN(Gather)(from, count, type, into, into_count, into_type, root, comm); });
}

// Allgather and alltoall: a block for each rank comes in.
void between_all(Looked& call, const void* from, Bytes elements, MPI_Datatype type, void* into,
                 Bytes into_count, MPI_Datatype into_type) {
    call.moves(into_count, into_type, call.ranks());
    if (from == MPI_IN_PLACE)
        call.in_place();
    else
        call.gives(from, elements, type);
    call.takes(into, product(into_count, call.ranks()), into_type);
}

template <class Number>
int call_Allgather(const void* from, Number count, MPI_Datatype type, void* into, Number into_count,
                   MPI_Datatype into_type, MPI_Comm comm) {
    Looked call(Operation::allgather, comm);
    between_all(call, from, count, type, into, into_count, into_type);
    return call.run(
        [&] { return HOCKNEY_OWN(Allgather)(from, count, type, into, into_count, into_type, comm); });
}

template <class Number>
int call_Alltoall(const void* from, Number count, MPI_Datatype type, void* into, Number into_count,
                  MPI_Datatype into_type, MPI_Comm comm) {
    Looked call(Operation::alltoall, comm);
    between_all(call, from, product(count, call.ranks()), type, into, into_count, into_type);
    return call.run(
        [&] { return HOCKNEY_OWN(Alltoall)(from, count, type, into, into_count, into_type, comm); });
}

template <class Number>
int call_Reduce(const void* from, void* into, Number count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm) {
    Looked call(Operation::reduce, comm);
    call.rooted(root);
    call.reduces(count, type, op, 1, settings().is_bitwise);
    if (call.is_root() && from == MPI_IN_PLACE)
        call.in_place();
    else
        call.gives(from, count, type);
    if (call.is_root()) call.takes(into, count, type);
    return call.run([&] { return HOCKNEY_OWN(Reduce)(from, into, count, type, op, root, comm); });
}

// Of reductions without a root: `blocks` of `count` elements go in.
void reduction(Looked& call, const void* from, void* into, Bytes count, MPI_Datatype type, MPI_Op op,
               int blocks) {
    call.reduces(count, type, op, blocks, settings().is_bitwise);
    if (from == MPI_IN_PLACE)
        call.in_place();
    else
        call.gives(from, product(count, blocks), type);
    // In place, all that goes in lies where a part of it comes out.
    call.takes(into, from == MPI_IN_PLACE ? product(count, blocks) : count, type);
}

template <class Number>
int call_Allreduce(const void* from, void* into, Number count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    Looked call(Operation::allreduce, comm);
    reduction(call, from, into, count, type, op, 1);
    return call.run([&] { return HOCKNEY_OWN(Allreduce)(from, into, count, type, op, comm); });
}

template <class Number>
int call_Reduce_scatter_block(const void* from, void* into, Number count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm) {
    Looked call(Operation::reduce_scatter, comm);
    reduction(call, from, into, count, type, op, call.ranks());
    return call.run([&] { return HOCKNEY_OWN(Reduce_scatter_block)(from, into, count, type, op, comm); });
}

template <class Number>
int call_Reduce_scatter(const void* from, void* into, const Number counts[], MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
    Looked call(Operation::reduce_scatter, comm);
    if (counts == nullptr) call.refuse(Why::unknown);
    for (int rank = 1; call.is_open() && rank < call.ranks(); ++rank)
        if (counts[rank] != counts[0]) call.refuse(Why::irregular);
    if (counts != nullptr) call.moves(counts[call.rank()], type, call.ranks());
    if (counts != nullptr) call.traces(from, counts, type, op);
    if (call.is_open()) reduction(call, from, into, counts[0], type, op, call.ranks());
    return call.run([&] { return HOCKNEY_OWN(Reduce_scatter)(from, into, counts, type, op, comm); });
}

}  // namespace

#define HOCKNEY_EXPORT extern "C" __attribute__((visibility("default")))
// By both of the library's names, which its header declares with handles of its own width.
#define HOCKNEY_STAND_BEFORE(name, own, parameters, ...)                                             \
    HOCKNEY_EXPORT int exported_##own parameters __asm__("MPI_" #own);                               \
    HOCKNEY_EXPORT int exported_##own parameters {                                                   \
        /* What the layer has no part in. */                                                         \
        if (!is_active.load(std::memory_order_relaxed) || comm == MPI_COMM_NULL ||                   \
            library::origin_of(call_site = __builtin_return_address(0)) == library::Origin::library) \
            return library::own(__VA_ARGS__);                                                        \
        return call_##name(__VA_ARGS__);                                                             \
    }                                                                                                \
    HOCKNEY_EXPORT int profiling_##own parameters __asm__("PMPI_" #own) __attribute__((alias("MPI_" #own)));
#define HOCKNEY_BOTH(name, ...) HOCKNEY_STAND_BEFORE(name, name, __VA_ARGS__)
HOCKNEY_COLLECTIVES(HOCKNEY_BOTH)
#define HOCKNEY_BOTH_LARGE(name, ...) HOCKNEY_STAND_BEFORE(name, name##_c, __VA_ARGS__)
HOCKNEY_LARGE(HOCKNEY_BOTH_LARGE)

}  // namespace hockney

namespace {

// `site` of MPI_Init, whose file is looked up before calls are timed.
int begun(int code, const void* site) {
    hockney::library::origin_of(site);
    if (code == MPI_SUCCESS) hockney::begin_layer();
    return code;
}

int ended(const void* site) {
    hockney::end_layer(site);
    return hockney::library::Finalize();
}

}  // namespace

HOCKNEY_EXPORT int MPI_Init(int* count, char*** words) {
    return begun(hockney::library::Init(count, words), __builtin_return_address(0));
}
HOCKNEY_EXPORT int PMPI_Init(int*, char***) __attribute__((alias("MPI_Init")));
HOCKNEY_EXPORT int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
    return begun(hockney::library::Init_thread(count, words, required, provided),
                 __builtin_return_address(0));
}
HOCKNEY_EXPORT int PMPI_Init_thread(int*, char***, int, int*) __attribute__((alias("MPI_Init_thread")));
HOCKNEY_EXPORT int MPI_Finalize() { return ended(__builtin_return_address(0)); }
HOCKNEY_EXPORT int PMPI_Finalize() __attribute__((alias("MPI_Finalize")));
