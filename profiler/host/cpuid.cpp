// SPDX-License-Identifier: Apache-2.0
#include "profiler/host/cpuid.hpp"

#include <cstdio>
#include <sstream>
#include <stdexcept>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace abortscope {

CpuidLeaf CpuidInstruction::leaf([[maybe_unused]] std::uint32_t number,
                                 [[maybe_unused]] std::uint32_t subleaf) const {
    CpuidLeaf result;
#if defined(__x86_64__)
    // Beyond the last leaf Intel CPUs repeat the last one: the bounds are asked first.
    const std::uint32_t range = number & 0xf000'0000u;
    const bool hypervisor_range = range == 0x4000'0000u;
    const auto last = static_cast<std::uint32_t>(__get_cpuid_max(range, nullptr));
    if (!hypervisor_range && last < number) return result;
    __cpuid_count(number, subleaf, result.eax, result.ebx, result.ecx, result.edx);
#endif
    return result;
}

CpuidRecording::CpuidRecording(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line;
    for (unsigned number = 1; std::getline(lines, line); ++number) {
        const auto first = line.find_first_not_of(" \t");
        if (first == std::string::npos || line.compare(first, 2, "0x") != 0) continue;
        std::uint32_t leaf = 0;
        std::uint32_t subleaf = 0;
        CpuidLeaf registers;
        if (std::sscanf(line.c_str(), " 0x%x 0x%x: eax=0x%x ebx=0x%x ecx=0x%x edx=0x%x", &leaf,
                        &subleaf, &registers.eax, &registers.ebx, &registers.ecx,
                        &registers.edx) != 6) {
            throw std::invalid_argument("line " + std::to_string(number) +
                                        " is not a CPUID leaf: " + line);
        }
        leaves_[{leaf, subleaf}] = registers;
    }
}

CpuidLeaf CpuidRecording::leaf(std::uint32_t number, std::uint32_t subleaf) const {
    const auto found = leaves_.find({number, subleaf});
    return found == leaves_.end() ? CpuidLeaf{} : found->second;
}

}  // namespace abortscope
