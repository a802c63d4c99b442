// The same files as src/hockney/runner/inventory.py reads (Linux, Documentation/ABI/testing/sysfs-class-net,
// stable/sysfs-class-infiniband).
#include "devices.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <set>
#include <string>
#include <vector>

#include "json.hpp"
#include "placement.hpp"

namespace hockney {
namespace {

const std::string root = "/sys/";

constexpr const char* patterns[] = {
    "class/net/*/type",
    "class/net/*/speed",
    "class/net/*/mtu",
    "class/net/*/operstate",
    "class/net/*/device/numa_node",
    "class/net/*/device",
    "class/net/*/device/driver",
    "class/net/*/master",
    "class/net/*/bridge",
    "class/net/*/bonding",
    "class/net/*/wireless",
    "class/infiniband/*/hca_type",
    "class/infiniband/*/device/numa_node",
    "class/infiniband/*/device",
    "class/infiniband/*/device/driver",
    "class/infiniband/*/ports/*/rate",
    "class/infiniband/*/ports/*/link_layer",
    "class/infiniband/*/ports/*/state",
    "devices/system/cpu/cpufreq/*/cpuinfo_min_freq",
    "devices/system/cpu/cpufreq/*/cpuinfo_max_freq",
};

std::vector<std::string> matching(const char* pattern) {
    glob_t found{};
    std::vector<std::string> paths;
    if (glob((root + pattern).c_str(), 0, nullptr, &found) == 0)
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return paths;
}

}  // namespace

std::string device_files_json() {
    JsonObject files;
    for (const char* pattern : patterns) {
        std::set<std::string> frequencies;
        for (const std::string& path : matching(pattern)) {
            char target[PATH_MAX];
            const ssize_t length = readlink(path.c_str(), target, sizeof target);
            const std::string link(target, static_cast<std::size_t>(std::max<ssize_t>(0, length)));
            struct stat status{};
            const bool is_folder =
                link.empty() && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
            const std::string text = link.empty() ? first_line(path) : link.substr(link.rfind('/') + 1);
            if (text.empty() && !is_folder) continue;
            // Hundreds of processors have one or two frequencies.
            if (path.find("/cpufreq/") != std::string::npos && !frequencies.insert(text).second) continue;
            files.add(path.substr(root.size()), text);
        }
    }
    return files.str();
}

}  // namespace hockney
