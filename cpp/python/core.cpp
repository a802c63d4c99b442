// hockney._core: one register_<part>.cpp per part. Data in, data out; names, units and errors are Python's.
#include <nanobind/nanobind.h>

#include "register.hpp"

NB_MODULE(_core, module) {
    // Caches on Python's side keep algorithms until the process ends; nanobind would list each as a leak.
    nanobind::set_leak_warnings(false);
    hockney::register_schedule(module);
    hockney::register_replay(module);
    hockney::register_simulate(module);
    hockney::register_statistics(module);
    hockney::register_fit(module);
}
