// What is noted of calls of a whole communicator: collectives, and what makes communicators (noted.hpp).
#pragma once

#include <mpi.h>

#include <type_traits>
#include <vector>

#include "noted.hpp"

namespace hockney {

// A collective, in words that a trace has.
struct Group : Noted {
    Group(trace::Operation kind, MPI_Comm on, MPI_Request* made = nullptr)
        : Noted(on), operation(kind), request(made) {}
    void write(const trace::Visit& visit) const;

    trace::Operation operation;
    int root = 0;
    Bytes element_B = 1;
    bool is_in_place = false, is_commutative = true;
    // Blocks of different sizes: of the root, of all, or those that go out and those that come in.
    std::vector<std::vector<Bytes>> vectors;
    MPI_Request* request;

  protected:
    bool is_inter() const { return channel == nullptr || channel->is_inter(); }
    bool is_root() const { return !is_inter() && channel->rank() == root; }
    void reduces(Bytes count, MPI_Datatype type, MPI_Op op) {
        bytes = bytes_of(count, type);
        element_B = bytes_of(1, type);
        if (op != MPI_OP_NULL) is_commutative = operator_of(op).is_commutative;
    }
    static MPI_Datatype at(MPI_Datatype type, std::size_t) { return type; }
    static MPI_Datatype at(const MPI_Datatype types[], std::size_t i) { return types[i]; }
    // Bytes of the first blocks; between groups there are as many as the other has ranks: unknown.
    template <class Number, class Types>
    std::vector<Bytes> blocks(const Number counts[], Types types, std::size_t number) const {
        std::vector<Bytes> sizes;
        if (is_inter() || counts == nullptr) return sizes;
        sizes.reserve(number);
        for (std::size_t i = 0; i < number; ++i) sizes.push_back(bytes_of(counts[i], at(types, i)));
        return sizes;
    }
    template <class Number, class Types>
    std::vector<Bytes> blocks(const Number counts[], Types types) const {
        return blocks(counts, types, is_inter() ? 0 : static_cast<std::size_t>(channel->ranks()));
    }
    static Bytes sum(const std::vector<Bytes>& sizes) {
        Bytes all = 0;
        for (const Bytes size_B : sizes) all += size_B;
        return all;
    }
    // Of this rank's block, which lies in the other buffer where it is in place: its count and datatype then
    // mean nothing, as some do between groups.
    template <class Number, class Counts>
    void own(const void* mine, Number count, MPI_Datatype type, const Counts counts[], MPI_Datatype other) {
        is_in_place = mine == MPI_IN_PLACE;
        if (is_inter()) return;
        if (!is_in_place)
            bytes = bytes_of(count, type);
        else if (counts != nullptr)
            bytes = bytes_of(counts[channel->rank()], other);
    }
};

// Those that have a request have it at their end.
template <trace::Operation kind>
struct Rooted : Group {
    template <class Number, class... Request>
    Rooted(const trace::Visit&, void*, Number count, MPI_Datatype type, int from_root, MPI_Comm on,
           Request... made)
        : Group(kind, on, made...) {
        root = from_root;
        bytes = bytes_of(count, type);
    }
    template <class Number, class... Request>
    Rooted(const trace::Visit&, const void* from, void* into, Number count, MPI_Datatype type, MPI_Op op,
           int to_root, MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        root = to_root;
        is_in_place = from == MPI_IN_PLACE || into == MPI_IN_PLACE;
        reduces(count, type, op);
    }
    // The root's block, or the other's, as the tidy table has it.
    template <class Number, class... Request>
    Rooted(const trace::Visit&, const void* from, Number count, MPI_Datatype type, void* into,
           Number into_count, MPI_Datatype into_type, int at_root, MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        root = at_root;
        is_in_place = from == MPI_IN_PLACE || into == MPI_IN_PLACE;
        const bool is_sent = (kind == trace::scatter) == is_root();
        if (!is_inter()) bytes = is_sent ? bytes_of(count, type) : bytes_of(into_count, into_type);
    }
};

// Without a root: a block for each, or a vector.
template <trace::Operation kind>
struct Everyones : Group {
    template <class... Request>
    Everyones(const trace::Visit&, MPI_Comm on, Request... made) : Group(kind, on, made...) {}
    template <class Number, class... Request>
    Everyones(const trace::Visit&, const void* from, Number, MPI_Datatype, void*, Number into_count,
              MPI_Datatype into_type, MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        is_in_place = from == MPI_IN_PLACE;
        bytes = bytes_of(into_count, into_type);
    }
    template <class Number, class... Request>
    Everyones(const trace::Visit&, const void* from, void*, Number count, MPI_Datatype type, MPI_Op op,
              MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        is_in_place = from == MPI_IN_PLACE;
        reduces(count, type, op);
    }
    template <class Number, class... Request>
    Everyones(const trace::Visit& visit, const void* from, void*, const Number counts[], MPI_Datatype type,
              MPI_Op op, MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        is_in_place = from == MPI_IN_PLACE;
        reduces(is_inter() || counts == nullptr ? 0 : counts[channel->rank()], type, op);
        if (visit.is_traced()) vectors.push_back(blocks(counts, type));
    }
};

struct Allgathers : Group {
    template <class Number, class Place, class... Request>
    Allgathers(const trace::Visit& visit, const void* from, Number count, MPI_Datatype type, void*,
               const Number counts[], const Place*, MPI_Datatype into_type, MPI_Comm on, Request... made)
        : Group(trace::allgatherv, on, made...) {
        own(from, count, type, counts, into_type);
        if (visit.is_traced()) vectors.push_back(blocks(counts, into_type));
    }
};
struct Gathers : Group {
    template <class Number, class Place, class... Request>
    Gathers(const trace::Visit& visit, const void* from, Number count, MPI_Datatype type, void*,
            const Number counts[], const Place*, MPI_Datatype into_type, int to_root, MPI_Comm on,
            Request... made)
        : Group(trace::gatherv, on, made...) {
        root = to_root;
        own(from, count, type, counts, into_type);
        if (visit.is_traced() && is_root()) vectors.push_back(blocks(counts, into_type));
    }
};
struct Scatters : Group {
    template <class Number, class Place, class... Request>
    Scatters(const trace::Visit& visit, const void*, const Number counts[], const Place*, MPI_Datatype type,
             void* into, Number into_count, MPI_Datatype into_type, int from_root, MPI_Comm on,
             Request... made)
        : Group(trace::scatterv, on, made...) {
        root = from_root;
        own(into, into_count, into_type, counts, type);
        if (visit.is_traced() && is_root()) vectors.push_back(blocks(counts, type));
    }
};

// MPI_Alltoallv and MPI_Alltoallw, whose types are vectors too.
struct Exchanged : Group {
    template <class Number, class Place, class Types, class... Request>
    Exchanged(const trace::Visit& visit, const void* from, const Number counts[], const Place*, Types types,
              void*, const Number into_counts[], const Place*, Types into_types, MPI_Comm on, Request... made)
        : Group(trace::alltoallv, on, made...) {
        is_in_place = from == MPI_IN_PLACE;
        auto out = is_in_place ? blocks(into_counts, into_types) : blocks(counts, types);
        bytes = sum(out);
        if (visit.is_traced()) vectors = {std::move(out), blocks(into_counts, into_types)};
    }
};

// With the neighbours of a topology; blocks of those that are not there are left out.
template <trace::Operation kind>
struct Neighbours : Group {
    template <class Number, class... Request>
    Neighbours(const trace::Visit&, const void*, Number count, MPI_Datatype type, void*, Number, MPI_Datatype,
               MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        bytes = bytes_of(count, type);
    }
    template <class Number, class Place, class... Request>
    Neighbours(const trace::Visit& visit, const void*, Number count, MPI_Datatype type, void*,
               const Number into_counts[], const Place*, MPI_Datatype into_type, MPI_Comm on, Request... made)
        : Group(kind, on, made...) {
        bytes = bytes_of(count, type);
        if (!knows(visit)) return;
        const trace::Traced& traced = channel->traced;
        vectors = {
            std::vector<Bytes>(there(traced.targets, std::vector<Bytes>(traced.targets.size(), bytes))),
            there(traced.sources, blocks(into_counts, into_type, traced.sources.size()))};
    }
    template <class Number, class Place, class Types, class... Request>
    Neighbours(const trace::Visit& visit, const void*, const Number counts[], const Place*, Types types,
               void*, const Number into_counts[], const Place*, Types into_types, MPI_Comm on,
               Request... made)
        : Group(kind, on, made...) {
        if (!knows(visit)) return;
        const trace::Traced& traced = channel->traced;
        vectors = {there(traced.targets, blocks(counts, types, traced.targets.size())),
                   there(traced.sources, blocks(into_counts, into_types, traced.sources.size()))};
        bytes = sum(vectors.front());
    }

  private:
    bool knows(const trace::Visit& visit) const {
        return visit.is_traced() && !is_inter() && trace::comm_number(comm, *channel) >= 0;
    }
    static std::vector<Bytes> there(const std::vector<int>& ranks, std::vector<Bytes> sizes) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (ranks[i] >= 0) sizes[kept++] = sizes[i];
        sizes.resize(kept);
        return sizes;
    }
};

// A communicator is made of the one that comes first.
template <trace::How how>
struct Makes : Noted {
    template <class... Arguments>
    Makes(const trace::Visit&, MPI_Comm of, Arguments... others) : Noted(of) {
        (keep(others), ...);
    }
    void write(const trace::Visit& visit) const {
        const std::int64_t of = number(visit);
        if (of < 0) return;
        std::int64_t fresh = -1;
        if (made != nullptr && *made != MPI_COMM_NULL) fresh = trace::comm_number(*made, Channel::of(*made));
        trace::Event(trace::made, visit).add(of, how, std::max<std::int64_t>(fresh, -1) + 1);
    }

    const MPI_Comm* made = nullptr;

  private:
    template <class Argument>
    void keep(const Argument& argument) {
        if constexpr (std::is_same_v<Argument, MPI_Comm*>) made = argument;
    }
};

// MPI_Comm_idup
struct DuplicatesLater : Noted {
    DuplicatesLater(const trace::Visit&, MPI_Comm of, MPI_Comm* duplicate, MPI_Request* under_way)
        : Noted(of), made(duplicate), request(under_way) {}
    DuplicatesLater(const trace::Visit& visit, MPI_Comm of, MPI_Info, MPI_Comm* duplicate,
                    MPI_Request* under_way)
        : DuplicatesLater(visit, of, duplicate, under_way) {}
    void write(const trace::Visit& visit) const;

    const MPI_Comm* made;
    const MPI_Request* request;
};

struct FreesComm : Noted {
    FreesComm(const trace::Visit& visit, const MPI_Comm* freed) {
        if (visit.is_traced() && *freed != MPI_COMM_NULL)
            gone = trace::comm_number(*freed, Channel::of(*freed));
    }
    void write(const trace::Visit& visit) const {
        if (gone < 0) return write_other(visit);
        trace::Event(trace::freed, visit).add(gone);
    }

    std::int64_t gone = trace::Traced::outside;
};

}  // namespace hockney
