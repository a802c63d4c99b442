// Placement as Linux tells it in /sys/devices/system (Documentation/ABI/stable/sysfs-devices-system-cpu).
#include "placement.hpp"

#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "devices.hpp"
#include "json.hpp"

namespace hockney {
namespace {

// Without /sys a cache larger than most is assumed, so that "off cache" stays true.
constexpr double default_cache_B = 256.0 * 1024 * 1024;

// "0-3,8" → 0 1 2 3 8
std::vector<long> parse_list(const std::string& text) {
    std::vector<long> numbers;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::istringstream range(part);
        long first = 0, last = 0;
        if (!(range >> first)) continue;
        last = first;
        char dash = 0;
        if (range >> dash) range >> last;
        for (long number = first; number <= last; ++number) numbers.push_back(number);
    }
    return numbers;
}

double parse_cache_size(const std::string& text) {
    std::istringstream stream(text);
    double size = 0;
    char unit = 0;
    stream >> size >> unit;
    return unit == 'K' ? size * 1024 : unit == 'M' ? size * 1024 * 1024 : size;
}

std::string cpu_folder(int cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

std::vector<Cache> caches(int cpu) {
    std::vector<Cache> found;
    for (int index = 0; index < 10; ++index) {
        const std::string folder = cpu_folder(cpu) + "/cache/index" + std::to_string(index);
        const std::string level = first_line(folder + "/level");
        if (level.empty()) break;
        found.push_back({std::stoi(level), first_line(folder + "/type"),
                         parse_cache_size(first_line(folder + "/size")),
                         parse_list(first_line(folder + "/shared_cpu_list"))});
    }
    return found;
}

// The NUMA domain is a link `nodeN` in the processor's folder.
int numa_domain(int cpu) {
    int domain = -1;
    if (DIR* folder = opendir(cpu_folder(cpu).c_str())) {
        while (const dirent* entry = readdir(folder)) {
            const std::string name = entry->d_name;
            if (name.size() > 4 && name.compare(0, 4, "node") == 0 &&
                name.find_first_not_of("0123456789", 4) == std::string::npos)
                domain = std::stoi(name.substr(4));
        }
        closedir(folder);
    }
    return domain;
}

std::vector<long> members(const cpu_set_t& set) {
    std::vector<long> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, 10, "model name") == 0) {
            const auto colon = line.find(": ");
            if (colon != std::string::npos) return line.substr(colon + 2);
        }
    return "";
}

double memory_field_B(const std::string& field) {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, field.size(), field) == 0) return std::stod(line.substr(field.size() + 1)) * 1024;
    return 0;
}

double number_in(const std::string& path) {
    std::istringstream text(first_line(path));
    double number = -1;
    text >> number;
    return text ? number : -1;
}

// What the control groups of this process leave of their limits: a container's, a batch job's. A group is
// bounded by those around it too. (Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.)
double left_of_limits_B() {
    double left_B = HUGE_VAL;
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const bool is_unified = line.compare(0, 3, "0::") == 0;
        const auto memory = line.find(":memory:");
        if (!is_unified && memory == std::string::npos) continue;
        const std::string root = is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        std::string group = is_unified ? line.substr(3) : line.substr(memory + 8);
        for (;; group.resize(group.rfind('/'))) {
            const std::string folder = root + group + "/memory.";
            const double limit_B = number_in(folder + (is_unified ? "max" : "limit_in_bytes"));
            const double used_B = number_in(folder + (is_unified ? "current" : "usage_in_bytes"));
            if (limit_B > 0 && used_B >= 0) left_B = std::min(left_B, std::max(limit_B - used_B, 1.0));
            if (group.rfind('/') == std::string::npos) break;
        }
    }
    return left_B;
}

#if defined(__GLIBC__) && !defined(SMPI_H)
cpu_set_t launched_set;
bool has_launched_set = false;

void read_launched_set(int, char**, char**) {
    has_launched_set = sched_getaffinity(0, sizeof launched_set, &launched_set) == 0;
}

// What is listed in this section runs before the constructors of shared libraries do (System V ABI).
__attribute__((section(".preinit_array"), used)) void (*before_libraries)(int, char**,
                                                                          char**) = read_launched_set;
#endif

std::string list_of(const std::vector<std::string>& words) {
    std::vector<std::string> texts;
    for (const std::string& word : words) texts.push_back(json_string(word));
    return json_list(texts);
}

std::string cache_json(const Cache& cache) {
    JsonObject one;
    one.add("level", cache.level).add("type", cache.type).add("size_B", static_cast<long>(cache.size_B));
    return one.add("shared", cache.shared).str();
}

std::string caches_json(const std::vector<Cache>& caches) {
    std::vector<std::string> texts;
    for (const Cache& cache : caches) texts.push_back(cache_json(cache));
    return json_list(texts);
}

}  // namespace

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::vector<long> affinity() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
    return members(set);
}

std::vector<long> other_threads(const std::vector<long>& processors) {
    std::vector<long> others;
    for (const long processor : processors)
        for (const long thread : parse_list(
                 first_line(cpu_folder(static_cast<int>(processor)) + "/topology/thread_siblings_list")))
            if (std::find(processors.begin(), processors.end(), thread) == processors.end())
                others.push_back(thread);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return others;
}

std::vector<long> launched_affinity() {
#if defined(__GLIBC__) && !defined(SMPI_H)
    if (has_launched_set) return members(launched_set);
#endif
    return affinity();
}

#ifdef SMPI_H

// A simulated host, of which nothing but its name is known.
std::string placement_json(int rank, const std::vector<std::string>& progress_threads) {
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    JsonObject place;
    place.add("rank", rank).add("host", host).add("machine", host).add("simulated", true);
    place.raw("progress_threads", list_of(progress_threads));
    return place.add("kernel", "SimGrid").add("cpu_model", "simulated").str();
}

std::string processors_json() { return "[]"; }

std::string node_json() { return ""; }

#else

std::string processors_json() {
    std::vector<std::string> list;
    for (const long number : parse_list(first_line("/sys/devices/system/cpu/online"))) {
        const int cpu = static_cast<int>(number);
        const std::string topology = cpu_folder(cpu) + "/topology/";
        const std::string package = first_line(topology + "physical_package_id");
        const std::vector<long> siblings = parse_list(first_line(topology + "thread_siblings_list"));
        long shares_cache = number, level = 0;
        for (const Cache& cache : caches(cpu))
            if (cache.holds_data() && cache.level > level && !cache.shared.empty()) {
                level = cache.level;
                shares_cache = cache.shared.front();
            }
        JsonObject one;
        one.add("cpu", number).add("package", package.empty() ? -1 : std::stol(package));
        one.add("numa", numa_domain(cpu)).add("cache", shares_cache);
        one.add("core", siblings.empty() ? number : siblings.front());
        list.push_back(one.str());
    }
    return json_list(list);
}

std::string node_json() {
    std::vector<Cache> all;
    for (const long cpu : parse_list(first_line("/sys/devices/system/cpu/online")))
        for (const Cache& cache : caches(static_cast<int>(cpu)))
            // Each cache once.
            if (!cache.shared.empty() && cache.shared.front() == cpu) all.push_back(cache);
    JsonObject node;
    node.raw("processors", processors_json()).raw("caches", caches_json(all));
    return node.raw("files", device_files_json()).str();
}

std::string placement_json(int rank, const std::vector<std::string>& progress_threads) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    utsname system{};
    uname(&system);
    const int cpu = sched_getcpu();
    JsonObject place;
    place.add("rank", rank).add("host", host).add("pid", static_cast<long>(getpid()));
    // Two hosts with one boot id are containers or network namespaces of one machine: they share its
    // processors.
    place.add("machine", first_line("/proc/sys/kernel/random/boot_id"));
    place.add("kernel", std::string(system.sysname) + " " + system.release + " " + system.machine);
    place.add("cpu_model", cpu_model());
    place.add("cpus", static_cast<long>(sysconf(_SC_NPROCESSORS_ONLN)));
    place.add("memory_B", static_cast<long>(memory_field_B("MemTotal:")));
    place.add("affinity", affinity());
    place.raw("progress_threads", list_of(progress_threads));
    if (cpu >= 0) {
        place.add("cpu", cpu).add("numa", numa_domain(cpu));
        const std::string topology = cpu_folder(cpu) + "/topology/";
        const std::string package = first_line(topology + "physical_package_id");
        const std::string core = first_line(topology + "core_id");
        if (!package.empty()) place.add("package", std::stol(package));
        if (!core.empty()) place.add("core", std::stol(core));
        place.add("siblings", parse_list(first_line(topology + "thread_siblings_list")));
        place.add("governor", first_line(cpu_folder(cpu) + "/cpufreq/scaling_governor"));
        place.raw("caches", caches_json(caches(cpu)));
    }
    return place.str();
}

#endif

double available_memory_B() { return std::min(memory_field_B("MemAvailable:"), left_of_limits_B()); }

double last_level_cache_B() {
    double largest = 0;
    for (const Cache& cache : own_caches()) largest = std::max(largest, cache.size_B);
    return largest > 0 ? largest : default_cache_B;
}

std::vector<Cache> own_caches() {
    const int cpu = sched_getcpu();
    return cpu >= 0 ? caches(cpu) : std::vector<Cache>();
}

}  // namespace hockney
