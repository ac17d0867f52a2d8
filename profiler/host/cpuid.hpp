// SPDX-License-Identifier: Apache-2.0
//
// Where CPUID leaves come from: the instruction, or a recording of it.
//
// A recording is text in the format of `cpuid -1 -r`, so that a user's own dump can be replayed:
//
//     0x00000007 0x00: eax=0x00000000 ebx=0x00000800 ecx=0x00000000 edx=0x00002000
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace abortscope {

struct CpuidLeaf {
    std::uint32_t eax = 0;
    std::uint32_t ebx = 0;
    std::uint32_t ecx = 0;
    std::uint32_t edx = 0;

    bool operator==(const CpuidLeaf&) const = default;
};

class CpuidSource {
  public:
    virtual ~CpuidSource() = default;
    /// All zero for leaves that the CPU does not have.
    virtual CpuidLeaf leaf(std::uint32_t number, std::uint32_t subleaf = 0) const = 0;
};

/// This CPU. On other architectures every leaf is zero.
class CpuidInstruction final : public CpuidSource {
  public:
    CpuidLeaf leaf(std::uint32_t number, std::uint32_t subleaf = 0) const override;
};

class CpuidRecording final : public CpuidSource {
  public:
    /// Lines that are not leaves ("CPU 0:") are passed over; throws std::invalid_argument, with the
    /// line's number, for one that starts like a leaf and is none.
    explicit CpuidRecording(std::string_view text);
    CpuidLeaf leaf(std::uint32_t number, std::uint32_t subleaf = 0) const override;

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidLeaf> leaves_;
};

}  // namespace abortscope
