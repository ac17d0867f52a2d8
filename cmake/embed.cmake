# SPDX-License-Identifier: Apache-2.0
# Files that are part of the program: abortscope_embed(TARGET HEADER FILES...) makes a source file
# that defines `assets`, declared in HEADER, with the text of each.

if(CMAKE_SCRIPT_MODE_FILE)
  # As a script: -DOUTPUT=… -DHEADER=… -DFILES=a|b, at build time.
  set(text "// Made from the files that it names.\n#include \"${HEADER}\"\n\n")
  string(APPEND text "namespace abortscope {\n\nconst Asset assets[] = {\n")
  string(REPLACE "|" ";" files "${FILES}")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} content)
    string(APPEND text "    {\"${name}\", R\"_asset_(${content})_asset_\"},\n")
  endforeach()
  string(APPEND text "};\n\nconst std::size_t asset_count = sizeof(assets) / sizeof(assets[0]);\n")
  string(APPEND text "\n}  // namespace abortscope\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

set(ABORTSCOPE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(abortscope_embed target header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_assets.cpp)
  list(JOIN ARGN "|" files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${header} "-DFILES=${files}"
            -P ${ABORTSCOPE_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${ABORTSCOPE_EMBED_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
