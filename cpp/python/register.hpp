// The parts of the module.
#pragma once

#include <nanobind/nanobind.h>

namespace hockney {

void register_schedule(nanobind::module_& module);
void register_replay(nanobind::module_& module);
void register_simulate(nanobind::module_& module);
void register_statistics(nanobind::module_& module);
void register_fit(nanobind::module_& module);

}  // namespace hockney
