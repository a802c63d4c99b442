// Stop when the median is known well enough.
#include "criterion.hpp"

namespace hockney {
namespace {

class Interval : public Criterion {
  public:
    Interval(double tolerance, long least, double least_s)
        : tolerance_(tolerance), next_(least), least_s_(least_s) {}
    const char* name() const override { return "interval"; }

    bool is_finished(const std::vector<Sample>& samples, double elapsed_s) override {
        const long n = static_cast<long>(samples.size());
        // Looking at every sample costs n² log n and finds a lucky moment; looking ever more rarely does
        // neither.
        if (n < next_ || elapsed_s < least_s_) return false;
        next_ = n + n / 4 + 1;
        const Summary summary = summarise(samples);
        // The extremes of fewer than six samples are no 95 % interval.
        return summary.used >= 6 && summary.high_s - summary.low_s < 2 * tolerance_ * summary.median_s;
    }

  private:
    double tolerance_;
    long next_;
    double least_s_;
};

}  // namespace

std::unique_ptr<Criterion> interval_criterion(double tolerance, long least, double least_s) {
    return std::make_unique<Interval>(tolerance, least, least_s);
}

}  // namespace hockney
