// What the program calls. Each call becomes words that are the same on all ranks (Asked), from which follows
// whether a schedule or the library's own code runs; whatever is not plainly right goes to the library, which
// says what is wrong with it.
#include <limits>
#include <mutex>
#include <type_traits>

#include "asked.hpp"
#include "channel.hpp"
#include "layer.hpp"
#include "library.hpp"
#include "types.hpp"
#include "watch.hpp"

namespace hockney {
namespace {

// Larger calls need counts that MPI_Pack and the library's own calls do not have.
constexpr Bytes most_B = std::numeric_limits<int>::max();

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

// One call, looked at step by step; the first reason against a schedule stays.
class Looked {
  public:
    Looked(Operation operation, MPI_Comm comm) : channel_(Channel::of(comm)) {
        asked_.operation = operation;
        if (channel_.is_inter()) refuse(Why::intercommunicator);
        if (channel_.ranks() == 1) refuse(Why::one_rank);
        if (!channel_.has_rules(operation)) refuse(Why::no_rule);
    }

    bool is_open() const { return asked_.why == Why::served; }
    void refuse(Why why) {
        if (is_open()) asked_.why = why;
    }
    bool is_inter() const { return channel_.is_inter(); }
    int rank() const { return channel_.rank(); }
    int ranks() const { return channel_.ranks(); }

    // False for a root that is none of the ranks, and between groups, where roots mean something else.
    bool rooted(int root) {
        asked_.root = root;
        if (channel_.is_inter()) return false;
        if (root < 0 || root >= ranks()) refuse(Why::unknown);
        return root >= 0 && root < ranks();
    }
    bool is_root() const { return rank() == asked_.root; }

    // `count` elements of what all ranks agree on: the whole vector, or one of `blocks`. A call that no rule
    // is for costs no more than these questions.
    void moves(Bytes count, MPI_Datatype type, int blocks) {
        // Between groups not every argument means something.
        if (channel_.is_inter()) return;
        if (count < 0 || type == MPI_DATATYPE_NULL) return refuse(Why::unknown);
        asked_.bytes = bytes_of(count, type);
        if (count > most_B || asked_.bytes > most_B / blocks) return refuse(Why::large);
        if (asked_.bytes == 0) return refuse(Why::empty);
        if (!channel_.has_rule(asked_)) refuse(Why::no_rule);
    }

    void reduces(Bytes count, MPI_Datatype type, MPI_Op op, int blocks, bool is_bitwise) {
        moves(count, type, blocks);
        if (!is_open()) return;
        if (op == MPI_OP_NULL) return refuse(Why::unknown);
        const Type element = type_of(type);
        const Operator how = operator_of(op);
        if (how.is_predefined && (how.families & element.family) == 0) return refuse(Why::unknown);
        if (!element.is_dense && element.extent_B == 0) return refuse(Why::gaps);
        if (count * element.extent_B > most_B / blocks) return refuse(Why::large);
        if (is_bitwise &&
            (!how.is_predefined || (element.family & (floating | complex | floating_pair)) != 0))
            return refuse(Why::bitwise);
        asked_.element = type;
        asked_.elements = count;
        asked_.element_B = static_cast<int>(element.extent_B);
        asked_.op = op;
        asked_.commutative = how.is_commutative;
    }

    void in_place() { asked_.in_place = true; }
    void gives(const void* at, Bytes count, MPI_Datatype type) { input_ = data(at, count, type); }
    void keeps() { output_.is_kept = true; }
    void takes(void* at, Bytes count, MPI_Datatype type) { output_ = data(at, count, type); }

    // Runs a schedule, or what `library` does.
    template <class Library>
    int run(Library library) {
        if (settings().is_watching) {
            const bool is_ordered = !channel_.is_inter() && ranks() > 1;
            Watched& watched = is_ordered ? channel_.taken() : channel_.watched();
            const Seen seen(watched, name_of(asked_.operation), call_site, asked_.bytes, asked_.root,
                            is_ordered);
            return library();
        }
        bool is_served = false;
        const int code = run_and_count(library, is_served);
        if (is_served && code != MPI_SUCCESS) channel_.tell(code);
        return code;
    }

  private:
    template <class Library>
    int run_and_count(Library library, bool& is_served) {
        double start_s = timed_s();
        auto held = is_open() ? channel_.hold() : std::unique_lock<std::mutex>();
        Prepared* const prepared = channel_.prepare(asked_, input_, output_);
        is_served = prepared != nullptr && !channel_.is_librarys_turn(asked_.operation);
        if (is_served) {
            const int code = channel_.run(*prepared, asked_, input_, output_);
            prepared->count.add(one_call(start_s));
            return code;
        }
        held = {};
        if (prepared != nullptr) {
            asked_.why = Why::compared;
            start_s = timed_s();  // without the layer, nothing is prepared
        }
        const long ordinal = channel_.ordinal(), gone = Channel::gone();
        const int code = library();
        // The program's handler of an error may have freed the communicator, or ended MPI and its clock,
        // whatever MPICH then returns.
        if (gone == Channel::gone())
            channel_.count(asked_, one_call(start_s));
        else if (is_active)
            Channel::count(ordinal, asked_, one_call(start_s));
        return code;
    }

    static double timed_s() { return settings().is_timed ? PMPI_Wtime() : 0; }
    // That ends now.
    Count one_call(double start_s) const {
        Count one;
        one.calls = 1;
        one.bytes = asked_.bytes;
        one.time_s = timed_s() - start_s;
        return one;
    }

    Data data(const void* at, Bytes count, MPI_Datatype type) {
        Data made{const_cast<void*>(at), count, type};
        if (!is_open()) return made;
        if (count < 0 || count > most_B || type == MPI_DATATYPE_NULL) {
            refuse(Why::unknown);
            return made;
        }
        const Type found = type_of(type);
        if (!found.is_dense) made.staged_B = count * found.size_B;
        if (!found.is_dense && asked_.elements != 0) {
            made.staged_B = count * found.extent_B;
            made.spread_B = (count - 1) * found.extent_B + found.end_B;
        }
        // An address of a type without an address of its own.
        if (found.is_dense && (at == nullptr || at == MPI_IN_PLACE)) refuse(Why::unknown);
        return made;
    }

    Channel& channel_;
    Asked asked_;
    Data input_, output_;
};

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
    if (call.is_open()) reduction(call, from, into, counts[0], type, op, call.ranks());
    return call.run([&] { return HOCKNEY_OWN(Reduce_scatter)(from, into, counts, type, op, comm); });
}

}  // namespace

#define HOCKNEY_EXPORT extern "C" __attribute__((visibility("default")))
// A definition under the library's name, which its header declares with handles of its own width.
#define HOCKNEY_EXPORTED(symbol, parameters)                          \
    HOCKNEY_EXPORT int exported_##symbol parameters __asm__(#symbol); \
    HOCKNEY_EXPORT int exported_##symbol parameters

// What the layer has no part in.
#define HOCKNEY_IS_PASSED_ON                                                          \
    (!hockney::is_active.load(std::memory_order_relaxed) || comm == MPI_COMM_NULL ||  \
     hockney::library::origin_of(hockney::call_site = __builtin_return_address(0)) == \
         hockney::library::Origin::library)

#define HOCKNEY_STAND_BEFORE(prefix, name, parameters, ...)                   \
    HOCKNEY_EXPORTED(prefix##name, parameters) {                              \
        if (HOCKNEY_IS_PASSED_ON) return hockney::library::name(__VA_ARGS__); \
        return hockney::call_##name(__VA_ARGS__);                             \
    }
#define HOCKNEY_BOTH(name, parameters, ...)                   \
    HOCKNEY_STAND_BEFORE(MPI_, name, parameters, __VA_ARGS__) \
    HOCKNEY_STAND_BEFORE(PMPI_, name, parameters, __VA_ARGS__)
HOCKNEY_COLLECTIVES(HOCKNEY_BOTH)
#define HOCKNEY_STAND_BEFORE_LARGE(prefix, name, parameters, ...)                 \
    HOCKNEY_EXPORTED(prefix##name##_c, parameters) {                              \
        if (HOCKNEY_IS_PASSED_ON) return hockney::library::name##_c(__VA_ARGS__); \
        return hockney::call_##name(__VA_ARGS__);                                 \
    }
#define HOCKNEY_BOTH_LARGE(name, parameters, ...)                   \
    HOCKNEY_STAND_BEFORE_LARGE(MPI_, name, parameters, __VA_ARGS__) \
    HOCKNEY_STAND_BEFORE_LARGE(PMPI_, name, parameters, __VA_ARGS__)
HOCKNEY_LARGE(HOCKNEY_BOTH_LARGE)

}  // namespace hockney

namespace {

int begun(int code) {
    if (code == MPI_SUCCESS) hockney::begin_layer();
    return code;
}

int ended() {
    hockney::end_layer();
    return hockney::library::Finalize();
}

}  // namespace

HOCKNEY_EXPORT int MPI_Init(int* count, char*** words) { return begun(hockney::library::Init(count, words)); }
HOCKNEY_EXPORT int PMPI_Init(int* count, char*** words) {
    return begun(hockney::library::Init(count, words));
}
HOCKNEY_EXPORT int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
    return begun(hockney::library::Init_thread(count, words, required, provided));
}
HOCKNEY_EXPORT int PMPI_Init_thread(int* count, char*** words, int required, int* provided) {
    return begun(hockney::library::Init_thread(count, words, required, provided));
}
HOCKNEY_EXPORT int MPI_Finalize() { return ended(); }
HOCKNEY_EXPORT int PMPI_Finalize() { return ended(); }
