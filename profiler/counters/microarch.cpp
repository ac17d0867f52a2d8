// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/microarch.hpp"

#include <algorithm>
#include <array>

namespace abortscope {
namespace {

constexpr std::array<Microarch, 20> microarch_table{{
    {"hsw", "Haswell", events_hsw, 4, "hsw"},
    {"hsx", "Haswell-EP/EX", events_hsw, 4, "hsw_ep"},
    {"bdw", "Broadwell", events_bdw, 4, "bdw"},
    {"bdx", "Broadwell-EP/EX", events_bdw, 4, "bdw_ep"},
    {"bdw-de", "Broadwell-DE", events_bdw, 4, "bdw_ep"},
    {"skl", "Skylake to Comet Lake client", events_skl, 4, "skl"},
    {"skx", "Skylake-SP", events_skl, 4, "skx"},
    {"clx", "Cascade Lake, Cooper Lake", events_skl, 4, "clx"},
    {"icl", "Ice Lake client", events_icl, 8, "icl"},
    {"rkl", "Rocket Lake", events_icl, 8, "icl"},
    {"icx", "Ice Lake-SP", events_icx, 8, "icx"},
    {"tgl", "Tiger Lake", events_icx, 8, "icl"},
    {"spr", "Sapphire Rapids", events_spr, 8, "spr"},
    {"emr", "Emerald Rapids", events_spr, 8, "emr"},
    {"gnr", "Granite Rapids", events_spr, 8, "gnr"},
    {"adl", "Alder Lake", events_none, 0, ""},
    {"rpl", "Raptor Lake", events_none, 0, ""},
    {"mtl", "Meteor Lake, Arrow Lake", events_none, 0, ""},
    {"srf", "Sierra Forest", events_none, 0, ""},
    {"cwf", "Clearwater Forest", events_none, 0, ""},
}};

constexpr std::uint8_t any = 15;  // the last stepping that the field can hold

constexpr std::array<CpuModel, 42> model_table{{
    {0x3c, 0, any, "hsw", RtmHistory::broken},
    {0x45, 0, any, "hsw", RtmHistory::broken},
    {0x46, 0, any, "hsw", RtmHistory::broken},
    // Stepping 4 is Haswell-EX, the one Haswell whose TSX was kept.
    {0x3f, 0, 3, "hsx", RtmHistory::broken},
    {0x3f, 4, any, "hsx", RtmHistory::always_on},
    {0x3d, 0, any, "bdw", RtmHistory::always_on},
    {0x47, 0, any, "bdw", RtmHistory::always_on},
    {0x4f, 0, any, "bdx", RtmHistory::always_on},
    {0x56, 0, any, "bdw-de", RtmHistory::always_on},
    {0x4e, 0, any, "skl", RtmHistory::forced_to_abort},
    {0x5e, 0, any, "skl", RtmHistory::forced_to_abort},
    {0x8e, 0, 11, "skl", RtmHistory::forced_to_abort},
    {0x8e, 12, any, "skl", RtmHistory::boot_option},
    {0x9e, 0, 12, "skl", RtmHistory::forced_to_abort},
    {0x9e, 13, any, "skl", RtmHistory::boot_option},
    {0xa5, 0, any, "skl", RtmHistory::fused_off},
    {0xa6, 0, any, "skl", RtmHistory::fused_off},
    {0x55, 0, 4, "skx", RtmHistory::always_on},
    {0x55, 5, any, "clx", RtmHistory::boot_option},
    {0x7d, 0, any, "icl", RtmHistory::fused_off},
    {0x7e, 0, any, "icl", RtmHistory::fused_off},
    {0xa7, 0, any, "rkl", RtmHistory::fused_off},
    {0x6a, 0, any, "icx", RtmHistory::boot_option},
    {0x6c, 0, any, "icx", RtmHistory::boot_option},
    {0x8c, 0, any, "tgl", RtmHistory::fused_off},
    {0x8d, 0, any, "tgl", RtmHistory::fused_off},
    {0x8f, 0, any, "spr", RtmHistory::boot_option},
    {0xcf, 0, any, "emr", RtmHistory::boot_option},
    {0xad, 0, any, "gnr", RtmHistory::boot_option},
    {0xae, 0, any, "gnr", RtmHistory::boot_option},
    {0x97, 0, any, "adl", RtmHistory::fused_off},
    {0x9a, 0, any, "adl", RtmHistory::fused_off},
    {0xbe, 0, any, "adl", RtmHistory::never},
    {0xb7, 0, any, "rpl", RtmHistory::fused_off},
    {0xba, 0, any, "rpl", RtmHistory::fused_off},
    {0xbf, 0, any, "rpl", RtmHistory::fused_off},
    {0xaa, 0, any, "mtl", RtmHistory::never},
    {0xac, 0, any, "mtl", RtmHistory::never},
    {0xb5, 0, any, "mtl", RtmHistory::never},
    {0xc5, 0, any, "mtl", RtmHistory::never},
    {0xaf, 0, any, "srf", RtmHistory::never},
    {0xdd, 0, any, "cwf", RtmHistory::never},
}};

}  // namespace

std::span<const Microarch> microarchs() {
    return microarch_table;
}
std::span<const CpuModel> cpu_models() {
    return model_table;
}

const Microarch* microarch_named(std::string_view name) {
    const auto* found = std::find_if(microarch_table.begin(), microarch_table.end(),
                                     [&](const Microarch& row) { return row.name == name; });
    return found == microarch_table.end() ? nullptr : found;
}

const CpuModel* cpu_model(unsigned family, unsigned model, unsigned stepping) {
    if (family != 6) return nullptr;
    const auto* found =
        std::find_if(model_table.begin(), model_table.end(), [&](const CpuModel& row) {
            return row.model == model && stepping >= row.first_stepping &&
                   stepping <= row.last_stepping;
        });
    return found == model_table.end() ? nullptr : found;
}

}  // namespace abortscope
