// Resident memory of this process, now and at its peak, as the kernel counts it.
#pragma once

#include <fstream>
#include <string>

namespace heed {

// A line of /proc/self/status, in bytes: VmRSS is the resident memory now, VmHWM its peak.
inline double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == name + ':' && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

inline double resident_bytes() { return status_bytes("VmRSS"); }
inline double peak_resident_bytes() { return status_bytes("VmHWM"); }

// Restarts the peak from the current value.
inline void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace heed
