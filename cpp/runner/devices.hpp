// What the kernel's files say of a host's network devices and of the frequencies of its processors.
#pragma once

#include <string>

namespace hockney {

// One JSON object: path below /sys → first line of the file, name that a link leads to, or "" for a folder.
// What it means is for the reader to say (src/hockney/records/nodes.py).
std::string device_files_json();

}  // namespace hockney
