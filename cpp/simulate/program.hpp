// One rank's steps as the processor takes them: what it starts, and where it waits.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

enum class Op : std::uint8_t {
    send,
    post,     // a receive is ready for its message
    receive,  // wait for a message
    sent,     // wait until a message is out of the sender's hands
    copy,
    reduce,
    work,    // so many ticks: reductions of one byte
    finish,  // a phase
    enter,   // a message comes to the links that it shares
    arrive   // and has passed them
};

// As their numbers are held.
constexpr std::uint32_t most_sizes = (1U << 24U) - 1;

struct Act {
    Act(std::int32_t peer_, std::int32_t tag_, std::uint32_t step_, std::uint32_t size_, Op op_)
        : peer(peer_),
          tag(tag_),
          step(step_),
          size(size_ & most_sizes),
          op(op_),
          is_last(true),
          is_overtaken(false),
          is_disordered(false) {}
    Act(Bytes ticks, std::uint32_t step_, std::uint32_t size_)
        : Act(static_cast<std::int32_t>(ticks >> 32), static_cast<std::int32_t>(ticks & UINT32_MAX), step_,
              size_, Op::work) {}
    Bytes ticks() const { return Bytes{peer} << 32 | static_cast<std::uint32_t>(tag); }

    std::int32_t peer, tag;  // of work: its ticks
    std::uint32_t step;
    std::uint32_t size : 24;  // index into the sizes
    Op op : 5;
    bool is_last : 1;        // of the receives that are waited for together
    bool is_overtaken : 1;   // receives that are listed after this one are waited for before it
    bool is_disordered : 1;  // some receive of the rank is overtaken
};
static_assert(sizeof(Act) == 16, "a million ranks are in memory at once");

// How a size is paid for: its costs are so many times as long, and its messages wait for their receivers,
// however short they are.
struct Terms {
    double factor = 1;
    bool is_synchronous = false;

    bool are_usual() const { return factor == 1 && !is_synchronous; }
};
inline bool operator<(const Terms& a, const Terms& b) {
    return std::tie(a.factor, a.is_synchronous) < std::tie(b.factor, b.is_synchronous);
}

// The sizes that occur, each once on the same terms.
class Sizes {
  public:
    std::uint32_t index(Bytes size_B);
    std::uint32_t index(Bytes size_B, const Terms& terms);
    const std::vector<Bytes>& all() const { return size_B_; }
    Terms terms(std::size_t index) const {
        const auto known = unusual_.find(static_cast<std::uint32_t>(index));
        return known == unusual_.end() ? Terms{} : known->second;
    }
    bool has_unusual() const { return !unusual_.empty(); }

  private:
    std::uint32_t add(Bytes size_B);

    std::vector<Bytes> size_B_;
    std::unordered_map<Bytes, std::uint32_t> index_;
    std::map<std::pair<Bytes, Terms>, std::uint32_t> unusual_index_;
    std::unordered_map<std::uint32_t, Terms> unusual_;
    std::uint32_t latest_ = 0;
};

class Uneven;

// Writes one rank's program as its steps come. A receive is waited for where a step needs it, the rest in the
// end, all that are needed at one place together: just as the runner does. Without `rendezvous` there are no
// `post` and `sent`.
class Writer final : public StepTaker {
  public:
    Writer(bool rendezvous, Sizes& sizes) : rendezvous_(rendezvous), sizes_(sizes) {}

    // With `uneven`, acts have numbers of its parts in place of sizes.
    void begin(std::vector<Act>& acts, Uneven* uneven = nullptr);
    void take(Kind kind, int peer, int tag, const Region& region, const Steps& after) override;
    void take(const RankSchedule& schedule);
    // A computation of so many ticks.
    void work(Bytes ticks, const Steps& after);
    void end();
    // Steps and dependencies of all ranks so far.
    std::size_t looked() const { return looked_; }

  private:
    void await(const Steps& after);
    std::size_t await(Act& step, Op op, std::size_t last);
    void mark_overtaken();

    bool rendezvous_;
    Sizes& sizes_;
    std::size_t looked_ = 0;
    std::vector<Act>* acts_ = nullptr;
    Uneven* uneven_ = nullptr;
    std::vector<Act> steps_;     // what waiting for each is; `finish` where there is nothing to wait for
    Steps latest_;               // that were waited for together
    std::uint32_t awaited_ = 0;  // the last receive of the list that is waited for so far
    bool goes_back_ = false;     // from it to one that is listed before it
};

}  // namespace hockney
