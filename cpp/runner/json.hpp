// Just enough JSON to write records; the runner never reads any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hockney {

std::string json_string(std::string_view text);
std::string json_number(double value);  // six significant digits; `null` where it is not finite
// Of JSON texts; empty ones are left out.
std::string json_list(const std::vector<std::string>& texts);

// An object under construction: members in the order added.
class JsonObject {
  public:
    JsonObject& raw(std::string_view key, std::string_view json);
    JsonObject& add(std::string_view key, std::string_view text) { return raw(key, json_string(text)); }
    JsonObject& add(std::string_view key, const char* text) { return raw(key, json_string(text)); }
    JsonObject& add(std::string_view key, double value) { return raw(key, json_number(value)); }
    JsonObject& add(std::string_view key, long value) { return raw(key, std::to_string(value)); }
    JsonObject& add(std::string_view key, int value) { return raw(key, std::to_string(value)); }
    JsonObject& add(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
    JsonObject& add(std::string_view key, const std::vector<double>& values);
    JsonObject& add(std::string_view key, const std::vector<long>& values);
    std::string str() const { return "{" + members_ + "}"; }

  private:
    std::string members_;
};

}  // namespace hockney
