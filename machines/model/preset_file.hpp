// SPDX-License-Identifier: Apache-2.0
//
// Which preset a machine name means, and presets from files.
//
//     model                  the default preset
//     model:haswell          a built-in one
//     model:./mine.json      a file (anything with a slash or ending in .json)
//     model:haswell+sockets=2+cores=8+smt=1+memory_cycles=300
//                            any of them with some fields changed (cores is cores_per_socket, smt
//                            threads_per_core); so a machine's name in a row says it all
//
// A file is one JSON object, derived from a built-in preset field by field:
//
//     { "derived_from": "skylake-sp", "description": "my server", "sockets": 4,
//       "remote_cycles": 280 }
//
// Fields are those of `preset_fields()`; a file with an unknown, misspelt, out-of-range or
// wrongly typed field is refused with file, field and reason.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "machines/model/preset.hpp"

namespace abortscope::model {

/// The file cannot be read or is no preset; what() is one line with file, field and reason.
class PresetFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// There is no built-in preset of that name.
class UnknownPreset : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The preset that `name` means, without the `model:` in front. Throws UnknownPreset or
/// PresetFileError.
Preset resolve_preset(std::string_view name);

/// Reads a preset file.
Preset read_preset_file(const std::string& path);

/// The same from text; `path` is for messages only.
Preset parse_preset(std::string_view text, const std::string& path);

/// Whether a preset's numbers fit together (it has as many CPUs as the engine can hold); throws
/// std::invalid_argument with the reason.
void check_preset(const Preset& preset);

}  // namespace abortscope::model
