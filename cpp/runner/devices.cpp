// The same files as src/hockney/runner/inventory.py reads (Linux, Documentation/ABI/testing/sysfs-class-net,
// stable/sysfs-class-infiniband).
#include "devices.hpp"

#include <dirent.h>
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

std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    if (DIR* folder = opendir((root + path).c_str())) {
        while (const dirent* entry = readdir(folder))
            if (entry->d_name[0] != '.') names.push_back(entry->d_name);
        closedir(folder);
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Files {
  public:
    void text(const std::string& path) {
        const std::string line = first_line(root + path);
        if (!line.empty()) object_.add(path, line);
    }

    void link(const std::string& path) {
        char target[PATH_MAX];
        const ssize_t length = readlink((root + path).c_str(), target, sizeof target);
        if (length <= 0) return;
        const std::string name(target, static_cast<std::size_t>(length));
        object_.add(path, name.substr(name.rfind('/') + 1));
    }

    void folder(const std::string& path) {
        struct stat status{};
        if (stat((root + path).c_str(), &status) == 0 && S_ISDIR(status.st_mode)) object_.add(path, "");
    }

    std::string json() const { return object_.str(); }

  private:
    JsonObject object_;
};

}  // namespace

std::string device_files_json() {
    Files files;
    for (const std::string& name : names_in("class/net")) {
        const std::string path = "class/net/" + name + "/";
        for (const char* file : {"type", "speed", "mtu", "operstate", "device/numa_node"})
            files.text(path + file);
        for (const char* link : {"device", "device/driver", "master"}) files.link(path + link);
        for (const char* folder : {"bridge", "bonding", "wireless"}) files.folder(path + folder);
    }
    for (const std::string& name : names_in("class/infiniband")) {
        const std::string path = "class/infiniband/" + name + "/";
        for (const char* file : {"hca_type", "device/numa_node"}) files.text(path + file);
        for (const char* link : {"device", "device/driver"}) files.link(path + link);
        for (const std::string& port : names_in(path + "ports"))
            for (const char* file : {"rate", "link_layer", "state"})
                files.text(path + "ports/" + port + "/" + file);
    }
    for (const char* file : {"cpuinfo_min_freq", "cpuinfo_max_freq"}) {
        std::set<std::string> seen;
        for (const std::string& policy : names_in("devices/system/cpu/cpufreq")) {
            const std::string path = "devices/system/cpu/cpufreq/" + policy + "/" + file;
            // Hundreds of processors have one or two frequencies.
            if (seen.insert(first_line(root + path)).second) files.text(path);
        }
    }
    return files.json();
}

}  // namespace hockney
