// A recorded run as the simulator plays it: each rank's steps, with what they wait for.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../simulate/cost.hpp"
#include "../simulate/program.hpp"
#include "channels.hpp"
#include "recording.hpp"

namespace hockney {

// How a collective call is done: collectives one after another.
using Parts = std::vector<std::pair<const Algorithm*, Problem>>;

// What is played, and how.
struct Replay {
    const Recording* recording = nullptr;
    std::vector<Parts> done_by;  // by the numbers of the recording's calls; none: nothing is sent
    bool uses_cpu = false;       // of computing, in place of the time that passed
    // Of computing: before each call site, and of each rank; and of all costs of each of the recording's
    // calls. Empty: 1.
    std::vector<double> site_factor, rank_factor, call_factor;
};

// The tag of messages of collectives, where a user's is at least 0.
constexpr std::int32_t collective_tag = INT32_MIN;

// Where time goes: a call site and a communicator as its rank numbers it, -1 for none.
struct Spot {
    std::uint32_t site;
    std::int32_t communicator, ranks;
};

// Writes ranks' acts, some at a time, in the order of their events.
class ReplayWriter {
  public:
    ReplayWriter(const Replay& replay, Sizes& sizes, bool rendezvous);

    // The next ones; none where the rank is through.
    void write(int rank, std::vector<Act>& acts);
    // A rank can go on no more. Returns where it ends there, as some trace does; else throws TraceFault.
    void stop(int rank, std::uint32_t step) const;
    // The first end of a message without the other, in words; "" for none.
    std::string alone() const;
    const std::vector<Spot>& spots() const { return spots_; }
    // The size of the ticks of computing: a nanosecond each.
    std::uint32_t tick() const { return tick_; }

  private:
    struct Template {
        std::vector<Act> acts;
        struct Message {
            int tag, peer;
            bool is_send;
        };
        std::vector<Message> messages;  // in the order of their tags
    };
    struct Rank {
        explicit Rank(RankReader&& reader_) : reader(std::move(reader_)) {}

        RankReader reader;
        std::uint64_t awaited = 0;              // behind the latest receive that was waited for
        double factor = 1;                      // of its computing
        std::size_t resolved = 0, dropped = 0;  // how many of those that the recording knows
        std::vector<Channel> probed;
        std::vector<std::vector<Act>> rest;  // of collectives that are under way
        std::vector<std::uint32_t> free;
        // Of the latest site and communicator.
        Spot spot{UINT32_MAX, 0, 0};
        std::uint32_t label = 0;
    };

    void take(int rank, Rank& mine, const TraceEvent& event, std::vector<Act>& acts);
    void compute(Rank& mine, const TraceEvent& event, std::vector<Act>& acts);
    std::uint32_t label(Rank& mine, std::uint32_t site, std::int32_t communicator);
    static bool is_own(int rank, const Rank& mine, std::int32_t communicator, const End& end);
    Act message(int rank, const Rank& mine, std::int32_t communicator, const End& end, bool is_send);
    // Each returns what is waited for.
    Act send(int rank, Rank& mine, std::int32_t communicator, const End& end, std::uint8_t mode,
             std::vector<Act>& acts);
    Act post(int rank, Rank& mine, std::int32_t communicator, const End& end, std::vector<Act>& acts);
    void begin(int rank, Rank& mine, std::uint64_t number, const RankReader::Persistent& of,
               std::vector<Act>& acts);
    void wait(Rank& mine, const TraceEvent& event, std::vector<Act>& acts);
    static void overtake(Rank& mine, Act& act);
    void probe(int rank, Rank& mine, const TraceEvent& event, std::vector<Act>& acts);
    bool was_probed(int rank, Rank& mine, std::int32_t communicator, const End& end);
    void collective(int rank, Rank& mine, const TraceEvent& event, std::vector<Act>& acts);
    const Template* known(Rank& mine, const TraceEvent& event);
    void plain(const Rank& mine, const TraceEvent& event, Template& into);
    void close(std::vector<Act>&& acts, Template& into) const;

    const Replay& replay_;
    Sizes& sizes_;
    bool rendezvous_;
    std::uint32_t tick_;
    Writer writer_;
    Builder builder_;
    Channels channels_;
    std::vector<Rank> ranks_;
    std::vector<Spot> spots_;
    std::unordered_map<std::uint64_t, std::uint32_t> labels_;
    std::unordered_map<std::uint64_t, Template> templates_;
    Template once_;
    std::size_t held_ = 0;  // acts of templates
    TraceEvent event_;
    std::vector<Act> receives_, sends_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> under_way_;
    std::vector<std::int32_t> numbers_;
};

// GOAL text of a run; costs say what local work takes. TraceFault where it cannot be written.
void write_goal(const Replay& replay, const std::string& path, const CostCurves& costs);

}  // namespace hockney
