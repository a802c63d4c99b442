// The LogGP timeline for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/bind_vector.h>
#include <nanobind/stl/vector.h>

#include "../simulate/timeline.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MAKE_OPAQUE(std::vector<hockney::RankSchedule>)

namespace hockney {

void register_simulate(nb::module_& module) {
    nb::class_<Timeline>(module, "Timeline")
        .def_ro("start_s", &Timeline::start_s)
        .def_ro("end_s", &Timeline::end_s)
        .def_ro("arrival_s", &Timeline::arrival_s)
        .def_ro("finish_s", &Timeline::finish_s);
    module.def(
        "timeline",
        [](const Schedule& schedule, double latency_s, double overhead_s, double gap_s, double gap_s_per_B,
           double reduce_s_per_B, double copy_s_per_B) {
            return timeline(schedule,
                            {latency_s, overhead_s, gap_s, gap_s_per_B, reduce_s_per_B, copy_s_per_B});
        },
        "schedule"_a, nb::kw_only(), "latency_s"_a, "overhead_s"_a, "gap_s"_a, "gap_s_per_B"_a,
        "reduce_s_per_B"_a = 0.0, "copy_s_per_B"_a = 0.0);
}

}  // namespace hockney
