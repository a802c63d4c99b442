// Stop after a fixed number of samples: the bound on what one record may hold.
#include "criterion.hpp"

namespace hockney {
namespace {

class Count : public Criterion {
  public:
    explicit Count(long most) : most_(most) {}
    const char* name() const override { return "count"; }

    bool is_finished(const std::vector<Sample>& samples, double) override {
        return static_cast<long>(samples.size()) >= most_;
    }

  private:
    long most_;
};

}  // namespace

std::unique_ptr<Criterion> count_criterion(long most) { return std::make_unique<Count>(most); }

std::string finished(const std::vector<std::unique_ptr<Criterion>>& criteria,
                     const std::vector<Sample>& samples, double elapsed_s) {
    for (const auto& criterion : criteria)
        if (criterion->is_finished(samples, elapsed_s)) return criterion->name();
    return "";
}

}  // namespace hockney
