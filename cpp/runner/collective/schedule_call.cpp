#include "schedule_call.hpp"

#include <algorithm>

#include "../ranks.hpp"
#include "program.hpp"

namespace hockney {
namespace {

class ScheduleCall : public Call {
  public:
    ScheduleCall(const Algorithm& algorithm, const Problem& problem, const std::vector<int>& roots,
                 MPI_Comm comm) {
        const int rank = rank_of(comm);
        MPI_Comm_dup(comm, &comm_);  // no message of the measurement can meet one of the schedule
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
        Bytes scratch_B = 0;
        programs_.resize(static_cast<std::size_t>(problem.ranks));
        for (const int root : roots) {
            Problem rooted = problem;
            rooted.root = root;
            const RankSchedule schedule = generate(algorithm, rooted, rank);
            scratch_B = std::max(scratch_B, schedule.scratch_B);
            programs_[static_cast<std::size_t>(root)] = std::make_unique<Program>(schedule, comm_, MPI_FLOAT);
        }
        scratch_.reset(new std::byte[static_cast<std::size_t>(scratch_B)]());
    }
    ~ScheduleCall() override {
        programs_.clear();
        MPI_Comm_free(&comm_);
    }
    ScheduleCall(const ScheduleCall&) = delete;
    ScheduleCall& operator=(const ScheduleCall&) = delete;

    int run(std::byte* input, std::byte* output, int root) override {
        programs_[static_cast<std::size_t>(root)]->run(input, output, scratch_.get());
        return MPI_SUCCESS;  // an error in point-to-point ends the launch
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::vector<std::unique_ptr<Program>> programs_;
    std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace

std::unique_ptr<Call> schedule_call(const Algorithm& algorithm, const Problem& problem,
                                    const std::vector<int>& roots, MPI_Comm comm) {
    return std::make_unique<ScheduleCall>(algorithm, problem, roots, comm);
}

}  // namespace hockney
