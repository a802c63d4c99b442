// The runner's statistics, so that what Python says of samples it chose is what the runner would say of them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "arguments.hpp"
#include "register.hpp"
#include "runner/statistics.hpp"

namespace hockney {

void register_statistics(nanobind::module_& module) {
    module.def(
        "median_interval",
        [](const std::vector<double>& values_s) {
            if (values_s.empty()) throw nanobind::value_error("no values");
            for (const double value_s : values_s) expect_time(value_s);
            const MedianInterval interval = median_interval(values_s);
            return std::make_tuple(interval.median_s, interval.low_s, interval.high_s);
        },
        nanobind::arg("values_s"));
}

}  // namespace hockney
