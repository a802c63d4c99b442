// JSON text from strings, numbers and lists.
#include "json.hpp"

#include <cmath>
#include <cstdio>

namespace hockney {

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (code < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            quoted += escape;
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string json_number(double value) {
    if (!std::isfinite(value)) return "null";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    return digits;
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts)
        if (!text.empty()) list += (list.empty() ? "" : ",") + text;
    return "[" + list + "]";
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
    if (!members_.empty()) members_ += ",";
    members_ += json_string(key);
    members_ += ":";
    members_ += json;
    return *this;
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(json_number(value));
    return raw(key, json_list(texts));
}

JsonObject& JsonObject::add(std::string_view key, const std::vector<long>& values) {
    std::vector<std::string> texts;
    for (const long value : values) texts.push_back(std::to_string(value));
    return raw(key, json_list(texts));
}

}  // namespace hockney
