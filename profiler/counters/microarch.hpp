// SPDX-License-Identifier: Apache-2.0
//
// Intel's micro-architectures as far as TSX is concerned: which CPU model is which, which list of
// events it has, and what has become of its RTM.
//
// Sources: family and model numbers, the mapping files of github.com/intel/perfmon and of Linux
// (tools/perf/pmu-events/arch/x86/mapfile.csv, arch/x86/include/asm/intel-family.h); what became
// of RTM, Linux Documentation/admin-guide/hw-vuln/tsx_async_abort.rst, Intel articles 000059422
// and 604224. Nothing here was tried on such a CPU by us: docs/hardware.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace abortscope {

/// CPUs that share one list of TSX events, as bits, so that a row of the event table names several.
enum EventGroup : std::uint8_t {
    events_none = 0,
    events_hsw = 1u << 0,  ///< Haswell
    events_bdw = 1u << 1,  ///< Broadwell
    events_skl = 1u << 2,  ///< Skylake to Cascade Lake
    events_icl = 1u << 3,  ///< Ice Lake and Rocket Lake clients
    events_icx = 1u << 4,  ///< Ice Lake server, Tiger Lake
    events_spr = 1u << 5,  ///< Sapphire, Emerald and Granite Rapids
};

/// What became of RTM on a CPU model.
enum class RtmHistory : std::uint8_t {
    never,            ///< the model has no TSX
    fused_off,        ///< the core has it, products were sold without
    broken,           ///< erratum of 2014: microcode removed it
    always_on,        ///< works; the kernel's tsx= has no effect, for want of MSR_TSX_CTRL
    forced_to_abort,  ///< microcode of 2021 makes every transaction abort
    boot_option,      ///< works if the kernel was booted with tsx=on, or tsx=auto where TAA-free
};

struct Microarch {
    std::string_view name;   ///< Intel perfmon's short name, in lower case: `skx`
    std::string_view title;  ///< `Skylake-SP`
    EventGroup events;
    std::uint8_t general_counters;  ///< per logical processor while SMT is on; 0: not known
    std::string_view libpfm;        ///< its PMU in libpfm4; Debian's 4.13 lacks emr and gnr
};

/// A row of the model table: family 6, this model, steppings `first` to `last`.
struct CpuModel {
    std::uint8_t model;
    std::uint8_t first_stepping;
    std::uint8_t last_stepping;
    std::string_view microarch;
    RtmHistory rtm;
};

std::span<const Microarch> microarchs();
std::span<const CpuModel> cpu_models();

/// By short name (`--cpu skx`); null if there is none.
const Microarch* microarch_named(std::string_view name);

/// The row of an Intel CPU; null for models that this table does not know.
const CpuModel* cpu_model(unsigned family, unsigned model, unsigned stepping);

}  // namespace abortscope
