// A schedule is data: for each rank the sends, receives, copies and reductions of an algorithm, with their
// dependencies. The runner executes it, the verifier proves it, the counter counts it, drawings and exports
// show it.
//
// What a schedule means: a rank starts its steps in the order they are listed; a step starts when all steps
// before it have started and the steps it depends on are complete. A send and its receive match by (from, to,
// tag) and are complete when both have started and the data has moved (rendezvous), so nothing relies on
// buffering. Steps that do not depend on one another may overlap in time: dependencies alone must protect
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hockney {

using Bytes = std::int64_t;

// Sums of two ranks, and a rank and its distance to another, stay within an int.
constexpr int most_ranks = 1 << 30;
// Memory that schedules may take, those of one rank or those of all that are held at once.
constexpr Bytes most_held_B = Bytes{4} << 30;
constexpr int most_ranks_held = 1 << 20;

// More than is held in memory; says what.
struct TooLarge : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// Throws TooLarge where `held_B` is more than most_held_B.
void expect_held(Bytes held_B);

enum class Memory : std::uint8_t { input, output, scratch };

// A contiguous range of one of a rank's memories.
struct Region {
    Memory memory = Memory::input;
    Bytes offset_B = 0, length_B = 0;
};

inline bool operator==(const Region& a, const Region& b) {
    return a.memory == b.memory && a.offset_B == b.offset_B && a.length_B == b.length_B;
}

// A part of a region: `length_B` bytes from `offset_B` on.
inline Region part(const Region& region, Bytes offset_B, Bytes length_B) {
    return {region.memory, region.offset_B + offset_B, length_B};
}

enum class Kind : std::uint8_t {
    send,     // `from` to `peer`
    receive,  // `into` from `peer`
    copy,     // into = from
    reduce    // into = from ⊕ into, as MPI_Reduce_local: `from` is the left operand
};

// Numbers of steps. A million ranks have few each, so a few are held without memory of their own.
class Steps {
  public:
    Steps() = default;
    Steps(std::initializer_list<int> steps) : Steps(steps.begin(), steps.end()) {}
    Steps(const std::vector<int>& steps) : Steps(steps.begin(), steps.end()) {}
    template <class Iterator>
    Steps(Iterator first, Iterator last) {
        for (; first != last; ++first) push_back(*first);
    }
    void push_back(int step) {
        if (count_ < few_.size()) {
            few_[count_++] = step;
            return;
        }
        if (count_ == few_.size())
            many_ = std::make_shared<std::vector<int>>(few_.begin(), few_.end());
        else if (many_.use_count() > 1)
            many_ = std::make_shared<std::vector<int>>(*many_);
        many_->push_back(step);
        ++count_;
    }
    const int* begin() const { return count_ <= few_.size() ? few_.data() : many_->data(); }
    const int* end() const { return begin() + count_; }
    bool empty() const { return count_ == 0; }
    // Memory of their own.
    Bytes held_B() const { return many_ ? static_cast<Bytes>(many_->size() * sizeof(int)) : 0; }
    // Whether it is a copy of another long list: those share their memory until one of them grows.
    bool is_copy_of(const Steps& other) const { return many_ != nullptr && many_ == other.many_; }

  private:
    std::uint32_t count_ = 0;
    std::array<int, 3> few_{};
    std::shared_ptr<std::vector<int>> many_;
};

struct Step {
    Kind kind = Kind::copy;
    int peer = -1;
    int tag = 0;             // counts the messages from one rank to another
    std::uint16_t line = 0;  // of the user's text that it was written in; 0: one of our algorithms
    Region from, into;
    Steps after;  // earlier steps of the same rank that must be complete

    Bytes held_B() const { return static_cast<Bytes>(sizeof(Step)) + after.held_B(); }
};

struct RankSchedule {
    std::vector<Step> steps;
    Bytes scratch_B = 0;
};

using Schedule = std::vector<RankSchedule>;  // by rank

constexpr int most_tags = 1 << 28;

// "", or why `step`, the one at `index` of `rank`, is no step of a schedule of so many ranks: its peer, tag,
// regions or dependencies cannot be.
std::string fault(const Step& step, std::size_t index, int rank, int ranks);

// Steps that fit, if they depend on few others.
constexpr Bytes most_steps = most_held_B / static_cast<Bytes>(sizeof(Step));

// What is asked of an algorithm.
struct Problem {
    int ranks = 1;
    int root = 0;
    // The whole vector of bcast, reduce and allreduce; one rank's block of scatter, gather, allgather,
    // reduce_scatter and alltoall; 0 for barrier. A multiple of element_B.
    Bytes bytes = 0;
    Bytes element_B = 1;  // never divided between two messages
    Bytes segment_B = 0;  // 0: the message is not cut into segments
    int radix = 0;        // fan-out of a chain, radix of a k-nomial tree; 0: the algorithm's default
    bool in_place = false;
    bool commutative = true;  // whether the operator may be applied in another than rank order
};

struct Collective;

// How many messages there were with each peer. A hash table with linear probing that is used again for the
// next rank: with a std::unordered_map in its place, generating all ranks' steps takes 4.6 times as long for
// alltoall linear (1,500 ranks), 1.8 times for barrier dissemination (200,000), 1.3 times for bcast binomial
// (10^6).
class Tally {
  public:
    void clear() { ++round_, count_ = 0; }
    // The number so far; then there is one more.
    int next(int peer);

  private:
    struct Entry {
        int peer, messages;
        std::uint32_t round;
    };
    Entry& of(int peer);

    std::vector<Entry> table_;
    std::uint32_t round_ = 1;
    std::size_t count_ = 0;
};

// Takes a rank's steps as they come, for the simulator, which needs no memories but how long the region is
// that is sent or written, and of vectors that are cut unevenly where it lies. `after` may hold
// Builder::none, and lacks the copy of an input that the output would overwrite: who takes steps in order has
// had it before.
class StepTaker {
  public:
    virtual void take(Kind kind, int peer, int tag, const Region& region, const Steps& after) = 0;

  protected:
    ~StepTaker() = default;
};

// The steps of one rank, as a generator writes them down.
class Builder {
  public:
    static constexpr int none = -1;  // no step: depending on it means nothing

    Builder() = default;
    // The steps go there, and into no schedule.
    explicit Builder(StepTaker& taker) : taker_(&taker) {}
    // Begins a rank's schedule; memory of the last one is used again.
    void begin(const Collective& collective, const Problem& problem, int rank);

    // The operation's own buffers. In place, they are where MPI_IN_PLACE says that the data is.
    Region input(Bytes offset_B, Bytes length_B) const;
    Region output(Bytes offset_B, Bytes length_B) const;
    // New temporary memory.
    Region scratch(Bytes length_B);

    // Each returns the number of the step, `none` where there is nothing to move: an empty region, a copy of
    // a region onto itself. Both ends of an empty message leave it out.
    int send(int peer, const Region& from, const Steps& after = {});
    int receive(int peer, const Region& into, const Steps& after = {});
    int copy(const Region& from, const Region& into, const Steps& after = {});
    int reduce(const Region& from, const Region& into, const Steps& after = {});
    // Messages without data, for synchronisation.
    int signal(int peer, const Steps& after = {});
    int await(int peer, const Steps& after = {});

    // Steps from here on are written in this line of a user's text.
    void at_line(std::uint16_t line) { line_ = line; }
    // The latest step; `none` before the first.
    int latest() const { return latest_; }

    const RankSchedule& schedule() const { return schedule_; }
    // Memory of its steps and their dependencies.
    Bytes held_B() const { return held_B_; }
    // What a user's text took, of all ranks that it wrote.
    Bytes& operations() { return operations_; }

  private:
    int add(Kind kind, int peer, int tag, const Region& from, const Region& into, const Steps& after);

    StepTaker* taker_ = nullptr;
    RankSchedule schedule_;
    int latest_ = none;
    std::uint16_t line_ = 0;
    Region input_, output_;  // where they begin
    int staged_ = none;      // the copy of an input that the output would overwrite
    Bytes held_B_ = 0, operations_ = 0;
    Tally sent_, received_;
};

using Generator = void (*)(const Problem&, int rank, Builder&);
// "" or why the algorithm does not do this.
using Constraint = std::string (*)(const Problem&);

// Whether ranks do the same as seen from each: r does with r + d, or with r ⊕ d (at powers of two), what 0
// does with d.
enum class Likeness : std::uint8_t { none, shift, exclusive_or };

// How an algorithm's critical path grows with the ranks, so that two small numbers of ranks tell of large
// ones.
enum class Growth : std::uint8_t {
    irregular,
    per_rank,     // each further rank adds the same messages of the same size
    per_doubling  // each doubling of the ranks adds the same rounds
};

// What an algorithm is; the calls after the constructor say it where the algorithm registers.
struct Algorithm {
    std::string collective, name;
    const Collective* operation = nullptr;
    Generator generate = nullptr;
    std::shared_ptr<const std::vector<std::int64_t>>
        written;                // a user's, in place of `generate`: written.hpp
    bool is_segmented = false;  // whether segment_B changes anything
    int default_radix = 0;      // 0: takes none
    int least_radix = 0;
    bool is_ordered = false;            // a reduction that applies the operator in rank order
    bool is_ordered_from_root = false;  // … in the order that begins with the root
    bool is_one_block = false;          // a broadcast each of whose messages is one block (segment)
    bool is_divided = false;            // cuts the whole vector into a block for each rank
    Growth growth = Growth::irregular;
    Likeness likeness = Likeness::none;
    bool has_like_copies = true;  // else ranks that are alike differ in what they copy
    bool is_offered = true;       // as a choice; else it is there to teach, and runs where it is named
    Constraint constraint = nullptr;

    Algorithm() = default;
    Algorithm(const char* collective_, const char* name_, Generator generate_);
    Algorithm& segmented() { return is_segmented = true, *this; }
    Algorithm& radix(int standard, int least) { return default_radix = standard, least_radix = least, *this; }
    Algorithm& ordered() { return is_ordered = true, *this; }
    Algorithm& ordered_from_root() { return is_ordered = is_ordered_from_root = true, *this; }
    Algorithm& divided() { return is_divided = true, *this; }
    Algorithm& grows(Growth how) { return growth = how, *this; }
    Algorithm& one_block() { return is_one_block = true, *this; }
    Algorithm& alike(Likeness how) { return likeness = how, *this; }
    Algorithm& but_for_copies() { return has_like_copies = false, *this; }
    Algorithm& to_teach() { return is_offered = false, *this; }
    Algorithm& only(Constraint refuses) { return constraint = refuses, *this; }
};

// All algorithms by collective and name; each registers itself.
std::map<std::pair<std::string, std::string>, Algorithm>& algorithms();

struct Register {
    explicit Register(const Algorithm& algorithm) {
        algorithms()[{algorithm.collective, algorithm.name}] = algorithm;
    }
};

// "" where the algorithm, or some algorithm of the collective, does what is asked; otherwise the reason, in
// words for the user. Never replaced silently.
std::string refusal(const Algorithm& algorithm, const Problem& problem);
std::string refusal(const Collective& collective, const Problem& problem);

// One rank's steps, or all ranks'. The problem is one that is not refused. A builder that is used for many
// ranks spares their memory; what it returns is valid until its next use. TooLarge where one rank's, or
// all that are returned, take more than most_held_B, or are of more than most_ranks_held ranks.
const RankSchedule& generate(const Algorithm& algorithm, const Problem& problem, int rank, Builder& builder);
RankSchedule generate(const Algorithm& algorithm, const Problem& problem, int rank);
Schedule generate(const Algorithm& algorithm, const Problem& problem);
// The steps of all ranks, counted until there are more than `enough`.
Bytes count_steps(const Algorithm& algorithm, const Problem& problem, Bytes enough);

}  // namespace hockney
