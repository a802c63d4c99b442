// Stop when the point's time is used up.
#include "criterion.hpp"

namespace hockney {
namespace {

class Budget : public Criterion {
  public:
    Budget(double budget_s, long least) : budget_s_(budget_s), least_(least) {}
    const char* name() const override { return "budget"; }

    bool is_finished(const std::vector<Sample>& samples, double elapsed_s) override {
        return elapsed_s >= budget_s_ && static_cast<long>(samples.size()) >= least_;
    }

  private:
    double budget_s_;
    long least_;
};

}  // namespace

std::unique_ptr<Criterion> budget_criterion(double budget_s, long least) {
    return std::make_unique<Budget>(budget_s, least);
}

}  // namespace hockney
