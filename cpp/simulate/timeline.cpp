#include "timeline.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace hockney {
namespace {

constexpr double unknown = -1;

class Simulation {
  public:
    Simulation(const Schedule& schedule, const LogGP& machine) : schedule_(schedule), machine_(machine) {
        for (const RankSchedule& mine : schedule) {
            const std::size_t n = mine.steps.size();
            result_.start_s.emplace_back(n, unknown);
            result_.end_s.emplace_back(n, unknown);
            result_.arrival_s.emplace_back(n, unknown);
        }
        result_.finish_s.resize(schedule.size());
        ranks_.resize(schedule.size());
    }

    Timeline run() {
        for (std::size_t r = schedule_.size(); r-- > 0;) ready_.push_back(r);
        while (!ready_.empty()) {
            const std::size_t r = ready_.back();
            ready_.pop_back();
            advance(r);
        }
        return std::move(result_);
    }

  private:
    struct Rank {
        std::size_t next = 0;
        double processor_free_s = 0, may_send_s = 0;
    };
    using Channel = std::tuple<int, int, int>;

    static Channel channel(std::size_t rank, const Step& step) {
        const int here = static_cast<int>(rank);
        return step.kind == Kind::send ? Channel{here, step.peer, step.tag}
                                       : Channel{step.peer, here, step.tag};
    }

    void occupy(std::size_t r, std::size_t i, double from_s, double duration_s) {
        double& free_s = ranks_[r].processor_free_s;
        result_.start_s[r][i] = std::max(from_s, free_s);
        free_s = result_.end_s[r][i] = result_.start_s[r][i] + duration_s;
        result_.finish_s[r] = std::max(result_.finish_s[r], free_s);
    }

    // Completes a receive; false where its data has not been sent yet.
    bool complete(std::size_t r, std::size_t i) {
        if (result_.end_s[r][i] != unknown) return true;
        const auto sent = arrivals_.find(channel(r, schedule_[r].steps[i]));
        if (sent == arrivals_.end()) {
            waiting_[channel(r, schedule_[r].steps[i])] = r;
            return false;
        }
        result_.arrival_s[r][i] = sent->second;
        occupy(r, i, sent->second, machine_.overhead_s);
        return true;
    }

    void send(std::size_t r, std::size_t i, double from_s) {
        const Step& step = schedule_[r].steps[i];
        occupy(r, i, from_s, machine_.overhead_s);
        const double further_B = std::max(0.0, static_cast<double>(step.from.length_B) - 1);
        const double leaves_s = std::max(result_.end_s[r][i], ranks_[r].may_send_s);
        ranks_[r].may_send_s = leaves_s + std::max(machine_.gap_s, further_B * machine_.gap_s_per_B);
        arrivals_[channel(r, step)] = leaves_s + machine_.latency_s + further_B * machine_.gap_s_per_B;
        if (const auto waits = waiting_.find(channel(r, step)); waits != waiting_.end()) {
            ready_.push_back(waits->second);
            waiting_.erase(waits);
        }
    }

    void advance(std::size_t r) {
        const std::vector<Step>& steps = schedule_[r].steps;
        for (std::size_t& next = ranks_[r].next; next < steps.size(); ++next) {
            const Step& step = steps[next];
            double from_s = 0;
            for (const int before : step.after) {
                if (!complete(r, static_cast<std::size_t>(before))) return;
                from_s = std::max(from_s, result_.end_s[r][static_cast<std::size_t>(before)]);
            }
            const auto length_B = static_cast<double>(step.into.length_B);
            if (step.kind == Kind::send) send(r, next, from_s);
            if (step.kind == Kind::copy) occupy(r, next, from_s, length_B * machine_.copy_s_per_B);
            if (step.kind == Kind::reduce) occupy(r, next, from_s, length_B * machine_.reduce_s_per_B);
        }
        for (std::size_t i = 0; i < steps.size(); ++i)
            if (steps[i].kind == Kind::receive && !complete(r, i)) return;
    }

    const Schedule& schedule_;
    LogGP machine_;
    Timeline result_;
    std::vector<Rank> ranks_;
    std::vector<std::size_t> ready_;
    std::map<Channel, double> arrivals_;
    std::map<Channel, std::size_t> waiting_;  // receiver by the message it needs
};

}  // namespace

Timeline timeline(const Schedule& schedule, const LogGP& machine) {
    return Simulation(schedule, machine).run();
}

}  // namespace hockney
