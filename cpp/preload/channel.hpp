// What the layer keeps of a communicator of the program, for as long as that lives: an attribute of it.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "asked.hpp"
#include "kept.hpp"
#include "prepared.hpp"
#include "settings.hpp"
#include "trace.hpp"
#include "watch.hpp"

namespace hockney {

// MPI allows one collective at a time on a communicator, so nothing here is locked but what makes it, as
// messages of several threads may be the first, and its schedules, which calls on other communicators may
// drop.
class Channel {
  public:
    // Of a communicator; made when it is first asked for.
    static Channel& of(MPI_Comm comm);
    // Before the first and after the last: the key of the attribute, and the end of all.
    static void open();
    static void close();
    // What the channels that have ended counted, and those that live.
    static Totals totals();

    explicit Channel(MPI_Comm comm);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    MPI_Comm comm() const { return user_; }
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    bool is_inter() const { return is_inter_; }
    // Of a profile.
    Watched& watched() {
        // The same, whichever thread asks first.
        Watched* known = watched_.load(std::memory_order_acquire);
        if (known == nullptr) {
            const trace::Once once;
            watched_.store(known = &Watched::of(user_), std::memory_order_release);
        }
        return *known;
    }
    // The same of its blocking collectives.
    Watched& taken() {
        if (taken_ == nullptr) taken_ = &Watched::taken(user_);
        return *taken_;
    }

    // Of its trace.
    trace::Traced traced;

    // Whether there is a rule for the operation on so many ranks; and for so many bytes of it.
    bool has_rules(Operation operation) const { return !rules_of(operation).empty(); }
    bool has_rule(const Asked& asked) const { return rule_for(asked) != nullptr; }
    // While it is held, what `prepare` returns stays.
    std::unique_lock<std::mutex> hold() { return kept_.hold(); }
    // nullptr: the library's own code, because of `asked.why`, which it may set. Collective the first time
    // that the communicator has a rule, and where a call is large.
    Prepared* prepare(Asked& asked, const Data& input, const Data& output);
    // The first error that the schedule met, which the program's handler is still to be told.
    int run(Prepared& prepared, const Asked& asked, const Data& input, const Data& output);
    void tell(int code) { PMPI_Comm_call_errhandler(user_, code); }
    // Half of the times, where calls are compared: on all ranks alike, as all make the same calls, and in the
    // sequence of Thue and Morse, which no loop of the program keeps time with.
    bool is_librarys_turn(Operation operation) {
        if (!settings().is_compared) return false;
        return __builtin_parityl(turns_[static_cast<std::size_t>(operation)]++) != 0;
    }
    // Counts a call that the library ran, because of `asked.why`. Takes the lock itself.
    void count(const Asked& asked, const Count& one);
    // The same where the communicator may have been freed meanwhile: the one before which so many were made.
    static void count(long ordinal, const Asked& asked, const Count& one);
    long ordinal() const { return ordinal_; }
    // How many have ended.
    static long gone() { return gone_.load(std::memory_order_relaxed); }

  private:
    const std::vector<Rule>& rules_of(Operation operation) const {
        return rules_[static_cast<std::size_t>(operation)];
    }
    // The first that fits; nullptr for none.
    const Rule* rule_for(const Asked& asked) const;
    static Kept::Key key_of(const Asked& asked);
    // Why not, where there is none.
    Why make(std::unique_ptr<Prepared>& prepared, const Asked& asked);
    bool is_private();
    bool agreed(bool mine) const;
    // Whether all ranks may take the memory that they need for the call, this one `needed_B`.
    bool has_room(const Asked& asked, Bytes needed_B) const;
    void add_to(Totals& totals);

    inline static std::atomic<long> gone_{0};

    long ordinal_ = 0;               // how many were made before
    MPI_Comm user_;                  // the program's
    MPI_Comm comm_ = MPI_COMM_NULL;  // where no message of ours meets the program's
    bool is_tried_ = false;          // whether it was made, or could not be
    int rank_ = 0, ranks_ = 0;
    bool is_inter_ = false;
    std::atomic<Watched*> watched_{nullptr};
    Watched* taken_ = nullptr;
    std::array<std::vector<Rule>, operations> rules_;  // those for this number of ranks
    Kept kept_;
    std::array<std::array<Count, whys>, operations> passed_{};
    std::array<unsigned long, operations> turns_{};
};

}  // namespace hockney
