// One call of a blocking collective, looked at step by step.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "asked.hpp"
#include "channel.hpp"
#include "layer.hpp"
#include "library.hpp"
#include "noted_groups.hpp"
#include "trace.hpp"
#include "types.hpp"
#include "watch.hpp"

namespace hockney {

// Larger calls need counts that MPI_Pack and the library's own calls do not have.
constexpr Bytes most_B = std::numeric_limits<int>::max();

// As the program calls them.
inline const char* function_of(Operation operation) {
    static constexpr std::array<const char*, operations> names = {
        "MPI_Bcast",     "MPI_Scatter",        "MPI_Gather",   "MPI_Reduce", "MPI_Allreduce",
        "MPI_Allgather", "MPI_Reduce_scatter", "MPI_Alltoall", "MPI_Barrier"};
    return names[static_cast<std::size_t>(operation)];
}

// The first reason against a schedule stays.
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
        traces(type, op);
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

    // What a trace has of a reduction: blocks only where they are not alike.
    void traces(MPI_Datatype type, MPI_Op op) {
        if (!trace::is_on) return;
        asked_.element_B = static_cast<int>(bytes_of(1, type));
        if (op != MPI_OP_NULL) asked_.commutative = operator_of(op).is_commutative;
    }
    template <class Number>
    void traces(const void* from, const Number counts[], MPI_Datatype type, MPI_Op op) {
        if (!trace::is_on || channel_.is_inter()) return;
        traces(type, op);
        if (from == MPI_IN_PLACE) in_place();
        if (std::all_of(counts, counts + ranks(), [&](Number count) { return count == counts[0]; })) return;
        for (int i = 0; i < ranks(); ++i) blocks_.push_back(bytes_of(counts[i], type));
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
            const void* const site = library::program_site(call_site);
            trace::Visit visit(function_of(asked_.operation), site);
            visit.enter();
            const int code = library();
            visit.leave();
            watched.add(name_of(asked_.operation), site, asked_.bytes, asked_.root, is_ordered,
                        visit.start_s(), visit.end_s());
            if (visit.is_traced()) write(visit, code);
            return code;
        }
        bool is_served = false;
        const int code = run_and_count(library, is_served);
        if (is_served && code != MPI_SUCCESS) channel_.tell(code);
        return code;
    }

  private:
    void write(const trace::Visit& visit, int code) {
        Group noted(static_cast<trace::Operation>(asked_.operation), channel_.comm());
        noted.root = asked_.root;
        noted.bytes = asked_.bytes;
        noted.element_B = asked_.element_B;
        noted.is_in_place = asked_.in_place;
        noted.is_commutative = asked_.commutative;
        if (!blocks_.empty()) noted.vectors.push_back(std::move(blocks_));
        Noted::write(noted, visit, code);
    }

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
    std::vector<Bytes> blocks_;  // for a trace
};

}  // namespace hockney
