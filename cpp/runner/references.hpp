// Bracketing by a reference, as metrology does it: a machine has levels that change within seconds, and what
// is measured at one level says nothing about another. Samples therefore come in groups, each between two
// timings of one and the same exchange; a reference closes a group and opens the next. What the levels are,
// and which groups lie at one, is found later, from all references of a campaign.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "causes.hpp"
#include "json.hpp"

namespace hockney {

// The time of one exchange: the median of several pieces and the distance between their quartiles. `large_s`:
// that of a large message right after it, 0 where none was timed. Caches and memory have levels of their own.
struct Reference {
    double time_s = 0, iqr_s = 0, large_s = 0;
};

// A reference that takes longer would take more than its share of a group.
inline constexpr double most_reference_s = 1e-3;

// Times `exchanges(count)`, a piece, several times over. Every rank of the exchange calls it with the same
// count.
Reference time_reference(long count, const std::function<void(long)>& exchanges);

// A reference of barriers. Collective.
Reference time_barriers(long count, MPI_Comm comm);

// All references of a visit, where between them its samples lie, and what the kernel told meanwhile.
struct References {
    std::vector<double> time_s, iqr_s, large_s;
    std::vector<long>
        group_begins;   // index of each group's first sample; group i is between references i and i+1
    double took_s = 0;  // all references together
    Causes causes;

    // Numbers the groups' samples anew where only those of the indices `kept`, in order, remain.
    void renumber(const std::vector<std::size_t>& kept);

    // Nothing where there are none.
    void add_to(JsonObject& record) const;
};

// Takes the references of one visit, on the rank that decides; none in a simulation, which has no levels.
class Bracket {
  public:
    // `take(count)` tells the other ranks, times a reference with that many exchanges a piece and returns it:
    // of each visit all references have a `large_s`, or none.
    explicit Bracket(std::function<Reference(long)> take);

    // Takes the first reference. To be called between the warm-up and the first sample.
    void open();
    // Closes a group that has lasted long enough. To be called before each sample, with the number of those
    // so far.
    void before_sample(long samples);
    // Takes the last reference; `samples`: the number of all.
    References close(long samples);

  private:
    void take_next();

    std::function<Reference(long)> take_;
    long count_ = 1;
    double group_start_s_ = 0, group_s_ = 0;
    References references_;
};

// The samples that all ranks of a communicator take together, in groups between references of barriers.
class Rounds {
  public:
    explicit Rounds(MPI_Comm comm);
    // Collective, before each sample: rank 0 says whether there is one more. Times a reference where one is
    // due.
    bool next(bool goes_on);
    // On rank 0 all references once `next` has returned false; nothing elsewhere.
    const References& references() const { return references_; }

  private:
    MPI_Comm comm_;
    int rank_;
    long samples_ = 0;
    CausesWatch watch_;
    Bracket bracket_;
    References references_;
};

}  // namespace hockney
