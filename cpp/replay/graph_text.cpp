// A recorded run as GOAL text, for other simulators.
#include <cmath>
#include <cstdio>
#include <memory>
#include <unordered_map>

#include "replay.hpp"

namespace hockney {
namespace {

// What one rank's acts are in GOAL: each operation needs the last computation, and what was waited for since.
class RankText {
  public:
    RankText(std::FILE* file, const CostCurves& costs, const Sizes& sizes, const std::vector<Bytes>& sent_B)
        : file_(file), costs_(costs), sizes_(sizes), sent_B_(sent_B) {}

    void take(const Act& act) {
        const Bytes size_B = sizes_.all()[act.size];
        // What is waited for together stays together, and no operation needs too many others.
        const bool is_wait = act.op == Op::receive || act.op == Op::sent;
        if ((is_group_over_ && act.op == Op::receive) || (!is_wait && after_.size() > most_after)) compute(0);
        is_group_over_ = act.op == Op::receive && act.is_last;
        switch (act.op) {
            case Op::send:
            case Op::post:
                (act.op == Op::send ? sends_ : receives_)[act.tag] = next_;
                std::fprintf(file_, "l%zu: %s %lldb %s %d tag %d\n", next_,
                             act.op == Op::send ? "send" : "recv",
                             static_cast<long long>(sent_B_[static_cast<std::size_t>(act.tag)]),
                             act.op == Op::send ? "to" : "from", act.peer, act.tag);
                return need();
            case Op::receive:
            case Op::sent: {
                auto& known = act.op == Op::sent ? sends_ : receives_;
                const auto begun = known.find(act.tag);
                after_.push_back(begun->second);
                known.erase(begun);
                return;
            }
            case Op::work:
                return compute(act.ticks());
            default:
                return compute(
                    std::llround(1e9 * (act.op == Op::copy ? costs_.copy : costs_.reduce).at(size_B)));
        }
    }

  private:
    static constexpr std::size_t most_after = 8;
    void compute(Bytes ticks) {
        std::fprintf(file_, "l%zu: calc %lld\n", next_, static_cast<long long>(ticks));
        need();
        after_ = {next_ - 1};
    }
    void need() {
        for (const std::size_t before : after_) std::fprintf(file_, "l%zu requires l%zu\n", next_, before);
        ++next_;
    }

    std::FILE* file_;
    const CostCurves& costs_;
    const Sizes& sizes_;
    const std::vector<Bytes>& sent_B_;  // by the messages' numbers
    std::size_t next_ = 0;
    std::vector<std::size_t> after_;
    std::unordered_map<std::int32_t, std::size_t> sends_, receives_;
    bool is_group_over_ = false;
};

}  // namespace

void write_goal(const Replay& replay, const std::string& path, const CostCurves& costs) {
    std::vector<Act> acts;
    std::vector<Bytes> sent_B;
    const int ranks = replay.recording->ranks();
    Sizes sizes;
    // A receive has the size of what is sent to it: twice, and messages have the same numbers.
    ReplayWriter first(replay, sizes, true);
    for (int rank = 0; rank < ranks; ++rank)
        for (first.write(rank, acts); !acts.empty(); first.write(rank, acts))
            for (const Act& act : acts) {
                if (act.op != Op::send) continue;
                const auto number = static_cast<std::size_t>(act.tag);
                if (number >= sent_B.size()) sent_B.resize(number + number / 2 + 1);
                sent_B[number] = sizes.all()[act.size];
            }
    if (const std::string lone = first.alone(); !lone.empty())
        throw TraceFault(lone + "\nGOAL has whole messages alone: record the run again");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
    if (file == nullptr) throw TraceFault(path + " cannot be written\ncheck the folder and its rights");
    std::fprintf(file.get(), "num_ranks %d\n", ranks);
    ReplayWriter second(replay, sizes, true);
    for (int rank = 0; rank < ranks; ++rank) {
        std::fprintf(file.get(), "rank %d {\n", rank);
        RankText text(file.get(), costs, sizes, sent_B);
        for (second.write(rank, acts); !acts.empty(); second.write(rank, acts))
            for (const Act& act : acts) text.take(act);
        std::fprintf(file.get(), "}\n");
    }
    if (std::fflush(file.get()) != 0) throw TraceFault(path + " cannot be written\nis the disk full?");
}

}  // namespace hockney
