// What the layer keeps of a communicator of the program, for as long as that lives: an attribute of it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "../runner/collective/program.hpp"
#include "asked.hpp"
#include "settings.hpp"
#include "watch.hpp"

namespace hockney {

struct Count {
    long calls = 0;
    long bytes = 0;
    double time_s = 0;
    // Of calls that were compared: their time, and what they would have taken by the library.
    double compared_s = 0, library_s = 0;
    void add(const Count& other) {
        calls += other.calls;
        bytes += other.bytes;
        time_s += other.time_s;
        compared_s += other.compared_s;
        library_s += other.library_s;
    }
};

// By operation, and by what ran: the rule of the table, or why the library's own code did.
struct Used {
    std::string operation;
    int rule = -1;
    std::string why;
    bool operator<(const Used& other) const {
        return std::tie(operation, rule, why) < std::tie(other.operation, other.rule, other.why);
    }
};
using Totals = std::map<Used, Count>;

// A schedule that is ready to run.
struct Prepared {
    std::unique_ptr<Program> program;
    Used used;
    bool writes_output = false;
    Count count, by_library;
    // Those by the schedule, beside what the library's would have taken.
    Count compared() const;
    void add_to(Totals& totals) const;
};

// MPI allows one collective at a time on a communicator, so nothing here is locked but what makes it:
// messages of several threads may be the first.
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

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    bool is_inter() const { return is_inter_; }
    // Of a profile.
    Watched& watched() { return *watched_; }
    // The same of its blocking collectives.
    Watched& taken() {
        if (taken_ == nullptr) taken_ = &Watched::taken(user_);
        return *taken_;
    }

    // Whether there is a rule for the operation on so many ranks; and for so many bytes of it.
    bool has_rules(Operation operation) const { return !rules_of(operation).empty(); }
    bool has_rule(const Asked& asked) const { return rule_for(asked) != nullptr; }
    // nullptr: the library's own code, because of `asked.why`, which it may set. Collective the first time
    // that the communicator has a rule.
    Prepared* prepare(Asked& asked);
    // The first error that the schedule met, after the program's handler had it.
    int run(Prepared& prepared, const Asked& asked, const Data& input, const Data& output);
    // Half of the times, where calls are compared: on all ranks alike, as all make the same calls, and in the
    // sequence of Thue and Morse, which no loop of the program keeps time with.
    bool is_librarys_turn(Operation operation) {
        if (!settings().is_compared) return false;
        return __builtin_parityl(turns_[static_cast<std::size_t>(operation)]++) != 0;
    }
    Count& passed(const Asked& asked) {
        return passed_[static_cast<std::size_t>(asked.operation)][static_cast<std::size_t>(asked.why)];
    }

  private:
    struct Key {
        Bytes bytes = -1, elements = 0;
        std::uint64_t how = 0;   // root and element
        std::uint32_t what = 0;  // operation, in place, commutative
        bool operator==(const Key& o) const {
            return bytes == o.bytes && elements == o.elements && how == o.how && what == o.what;
        }
    };
    struct Slot {
        bool is_used = false;
        Why why = Why::served;
        Key key;
        std::unique_ptr<Prepared> prepared;
    };

    const std::vector<Rule>& rules_of(Operation operation) const {
        return rules_[static_cast<std::size_t>(operation)];
    }
    // The first that fits; nullptr for none.
    const Rule* rule_for(const Asked& asked) const;
    static Key key_of(const Asked& asked);
    Slot& slot_of(const Key& key);
    // Why not, where there is none.
    Why make(std::unique_ptr<Prepared>& prepared, const Asked& asked);
    bool is_private();
    bool agreed(bool mine) const;
    void forget();
    // Where the executor finds a buffer's data: less than INT_MAX bytes, as larger calls are the library's.
    std::byte* staged(const Data& data, std::vector<std::byte>& stage, int& code);
    int pack(const Data& data, const void* from, std::vector<std::byte>& into) const;
    void add_to(Totals& totals) const;

    long ordinal_ = 0;               // how many were made before
    MPI_Comm user_;                  // the program's
    MPI_Comm comm_ = MPI_COMM_NULL;  // where no message of ours meets the program's
    bool is_tried_ = false;          // whether it was made, or could not be
    int rank_ = 0, ranks_ = 0;
    bool is_inter_ = false;
    Watched *watched_ = nullptr, *taken_ = nullptr;
    std::array<std::vector<Rule>, operations> rules_;  // those for this number of ranks
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    Bytes held_B_ = 0;
    std::vector<std::byte> scratch_, staged_input_, staged_output_, packed_;
    std::array<std::array<Count, whys>, operations> passed_{};
    std::array<unsigned long, operations> turns_{};
    Totals forgotten_;
};

}  // namespace hockney
